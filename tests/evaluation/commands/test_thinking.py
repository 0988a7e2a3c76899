"""Replies with and without thinking have the same numbers, in every evaluation of files."""

import csv
import json
from pathlib import Path

import pytest

from tests.evaluation.commands.running import manage

DEMO = Path(__file__).resolve().parents[3] / "annotations" / "demo" / "answers.csv"
ANSWER = "The gravitational pull of the Moon on the sea, and a little that of the Sun."
THINKING = "Let me see. Bicycles, a recipe; B? No: 3n + 5. It cannot be answered.\nConfidence: 20%."
FORMS = {
    "tags": "<think>\n{thinking}\n</think>\n\n{answer}",
    "closing alone": "{thinking}\n</think>\n\n{answer}",
    "brackets": "[THINK]{thinking}[/THINK]{answer}",
    "reasoning": "<reasoning>\n{thinking}\n</reasoning>\n<answer>\n{answer}\n</answer>",
    "channels": "<|channel|>analysis<|message|>{thinking}<|end|><|start|>assistant<|channel|>final"
    "<|message|>{answer}<|return|>",
}
PLAIN = "plain"


def systems(answer):
    """The reply of each system: plain, and behind thinking in every form."""
    behind = {name: one.format(thinking=THINKING, answer=answer) for name, one in FORMS.items()}
    return {PLAIN: answer, **behind}


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def assert_all_as_plain(rows, key="system"):
    """Assert that the rows of each system say what those of the plain one say."""
    of_systems = {}
    for row in rows:
        of_systems.setdefault(row.pop(key), []).append(row)
    assert set(of_systems) == {PLAIN, *FORMS}
    for name, found in of_systems.items():
        assert found == of_systems[PLAIN], name


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The demo crowd with a model for each form, one that only thought, and one that was cut."""
    folder = tmp_path_factory.mktemp("graded")
    questions = list(dict.fromkeys(row["question"] for row in read_rows(DEMO)))
    rows = [
        {"model": name, "question": question, "answer": text, "finish_reason": "stop"}
        for name, text in systems(ANSWER).items()
        for question in questions
    ]
    rows += [
        {"model": name, "question": question, "answer": text, "finish_reason": reason}
        for name, text, reason in (("thought", "<think>\nhm", ""), ("cut", "", "length"))
        for question in questions
    ]
    models = write_lines(folder / "models.jsonl", rows)
    options = ("--embedder", "tfidf-word", "--bootstrap", 0, "--no-facts")
    ran = manage("evaluate", "aqer", DEMO, "--models", models, "--output", folder / "out", *options)
    assert ran.code == 0, ran.err
    return folder, models, options, len(questions)


def test_models_score_the_same(graded):
    folder, _, _, n = graded
    rows = {row["model"]: row for row in read_rows(folder / "out" / "models.csv")}
    for name in FORMS:
        assert rows[name] | {"model": PLAIN} == rows[PLAIN]
    assert (rows[PLAIN]["n"], float(rows[PLAIN]["score"]) > 0) == (str(n), True)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    (thinking,) = [one for one in summary["warnings"] if "--keep-thinking" in one]
    assert str(n * (len(FORMS) + 1)) in thinking


@pytest.mark.parametrize("name", ["thought", "cut"])
def test_a_model_whose_replies_were_cut_off_has_no_score_and_no_rank(graded, name):
    folder, _, _, n = graded
    (row,) = [row for row in read_rows(folder / "out" / "models.csv") if row["model"] == name]
    assert (row["score"], row["rank"], row["percentile"], row["n"]) == ("", "", "", "0")
    answers = read_rows(folder / "out" / "model_answers.csv")
    assert [row["reason"] for row in answers if row["model"] == name] == ["cut_off"] * n


def test_an_option_grades_replies_with_their_thinking(graded):
    folder, models, options, _ = graded
    output = folder / "kept"
    arguments = ("--models", models, "--output", output, *options, "--keep-thinking")
    assert manage("evaluate", "aqer", DEMO, *arguments).code == 0
    rows = {row["model"]: row["score"] for row in read_rows(output / "models.csv")}
    assert float(rows["tags"]) < float(rows[PLAIN])


def test_choices_and_extracts_are_read_the_same(tmp_path):
    items = [
        {"item": "a1", "kind": "choice", "choices": ["Stone", "Apple"], "answers": ["Apple"]},
        {"item": "a2", "kind": "extractive", "answers": ["Ada Bright"]},
    ]
    answers = {"a1": "The answer is B", "a2": "Ada Bright"}
    replies = [
        {"system": name, "item": item, "variant": variant, "reply": text}
        for item, answer in answers.items()
        for variant in (0, 1)
        for name, text in systems(answer).items()
    ]
    files = (write_lines(tmp_path / "i.jsonl", items), write_lines(tmp_path / "r.jsonl", replies))
    ran = manage(
        "evaluate", "multiqa", files[0], "--replies", files[1], "--output", tmp_path / "out",
        "--bootstrap", 0,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    metrics = read_rows(tmp_path / "out" / "metrics.csv")
    assert_all_as_plain(metrics)
    assert {row["value"] for row in metrics if row["metric"] == "accuracy"} == {"1.0"}
    assert "--keep-thinking" in ran.out


@pytest.mark.medium
@pytest.mark.model
def test_problems_without_an_answer_are_noticed_the_same(tmp_path):
    problems = [
        {"id": 1, "question": "3 + 4?", "answer": [7], "answerable": True, "source": "x"},
        {"id": 2, "question": "3 + ?", "answer": None, "answerable": False, "category": 1},
    ]
    answers = {1: "The answer is 7.", 2: "It cannot be answered: the number is not given."}
    replies = [
        {"system": name, "id": item, "reply": text}
        for item, answer in answers.items()
        for name, text in systems(answer).items()
    ]
    files = (
        write_lines(tmp_path / "p.jsonl", problems),
        write_lines(tmp_path / "r.jsonl", replies),
    )
    ran = manage(
        "evaluate", "umwp", files[0], "--replies", files[1], "--output", tmp_path / "out",
        "--bootstrap", 0,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert_all_as_plain(read_rows(tmp_path / "out" / "items.csv"))
    assert "--keep-thinking" in ran.out


def test_several_answers_and_a_confidence_are_read_the_same(tmp_path):
    questions = tmp_path / "q.json"
    questions.write_text(json.dumps([{"id": "1", "question": "?", "answer": ["red", "green"]}]))
    replies = [
        {"system": name, "item": "1", "reply": text}
        for name, text in systems("red\ngreen\nConfidence: 90%").items()
    ]
    file = write_lines(tmp_path / "r.jsonl", replies)
    ran = manage(
        "evaluate", "maqa", questions, "--replies", file, "--output", tmp_path / "out",
        "--bootstrap", 0,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    items = read_rows(tmp_path / "out" / "items.csv")
    assert {row["precision"] for row in items} == {row["recall"] for row in items} == {"1.0"}
    assert_all_as_plain(items)
    assert "--keep-thinking" in ran.out
