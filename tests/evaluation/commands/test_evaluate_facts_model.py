"""``evaluate aqer --facts-model``: a chat server on loopback, and the packaged model for form."""

import csv
import json
import re

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.commands.test_evaluate_facts import other_cells
from tests.evaluation.core.backends.chat.fake import FakeChat, error, needs_packaged_model, said

QUESTION = "Where is the gap?"
PLACES = [*["left"] * 7, "right"]
PLAIN = ("--embedder", "tfidf-char", "--bootstrap", "0")


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def files(tmp_path):
    rows = [(f"w{at}", "q", f"It is on the {place}, says {at}") for at, place in enumerate(PLACES)]
    write(tmp_path / "answers.csv", [("worker", "question", "answer"), *rows])
    models = [("model", "question", "answer"), ("small", "q", "right"), ("mute", "q", "")]
    write(tmp_path / "models.csv", models)
    write(tmp_path / "questions.csv", [("question", "text"), ("q", QUESTION)])
    return tmp_path


def evaluate(folder, spec, *more):
    ran = manage(
        *("evaluate", "aqer", folder / "answers.csv", "--models", folder / "models.csv"),
        *("--questions", folder / "questions.csv", "--output", folder / "out"),
        *("--facts-model", spec, *PLAIN, *more),
    )
    return folder / "out", ran


def place_of(body):
    """Reply as a model that reads the side out of the answer that it is shown."""
    shown = body["messages"][0]["content"]
    if "Some of the answers" in shown:
        return said('{"slots": ["side"]}')
    answer = re.search(r"^Answer: (.*)$", shown, re.M)[1]
    side = "left" if "left" in answer else "right"
    return said(json.dumps({"facts": [{"slot": "side", "value": side, "quote": side}]}))


@pytest.fixture
def chat():
    fake = FakeChat(place_of)
    yield fake
    fake.close()


def test_the_tables_hold_what_the_model_read_and_asking_again_costs_nothing(files, chat):
    out, ran = evaluate(files, chat.spec, "--facts-price-in", "100", "--facts-price-out", "200")
    assert (ran.code, ran.err) == (0, "")
    # 7 of 8 say left: Wilson's lower bound is .53, and of 6 of 7 others .49.
    assert [tuple(row.values()) for row in table(out / "facts.csv")] == [
        ("q", "side", "left", "7", "8", "agreed"), ("q", "side", "right", "1", "8", "open"),
    ]  # fmt: skip
    rows = {row["name"]: row for row in table(out / "answer_facts.csv")}
    assert rows["w7"]["verdict"] == rows["small"]["verdict"] == "contradicts"
    assert (rows["w0"]["verdict"], rows["w0"]["of"], rows["small"]["of"]) == ("agrees", "7", "8")
    summary = json.loads((out / "summary.json").read_text())
    read = summary["facts"]["read_by"]
    assert (read["model"], read["answers"], read["facts"], read["unread"]) == ("small", 9, 9, 0)
    # One conversation about the question and one about each of nine answers.
    assert len(chat.bodies) == 10
    assert [(one["step"], one["requests"]) for one in summary["asked"]] == [
        ("slots", 1), ("facts", 9),
    ]  # fmt: skip
    # Each of 10 tokens read and 5 written: (10 x 100 + 5 x 200) / 1,000,000 = .002.
    assert sum(one["cost"] for one in summary["asked"]) == pytest.approx(10 * 0.002)
    assert "Read by small: 9 facts in 9 answers to 1 question" in " ".join(ran.out.split())
    first = {name: (out / name).read_text() for name in ("facts.csv", "answer_facts.csv")}
    _, ran = evaluate(files, chat.spec)
    assert ran.code == 0
    assert len(chat.bodies) == 10
    assert first == {name: (out / name).read_text() for name in first}


def test_no_grade_moves(files, chat):
    out, _ = evaluate(files, chat.spec)
    with_model = other_cells(out / "workers.csv")
    manage(
        *("evaluate", "aqer", files / "answers.csv", "--models", files / "models.csv"),
        *("--questions", files / "questions.csv", "--output", files / "plain", *PLAIN),
    )
    assert with_model == other_cells(files / "plain/workers.csv")


def test_a_server_that_fails_leaves_what_came_and_the_same_command_goes_on(files, chat):
    def fails(body):
        return error(400) if "says 3" in body["messages"][0]["content"] and (
            "Some of the answers" not in body["messages"][0]["content"]
        ) else place_of(body)  # fmt: skip

    chat.reply = fails
    out, ran = evaluate(files, chat.spec)
    assert ran.code == 3
    assert json.loads((out / "summary.json").read_text())["facts"]["read_by"]["errors"] == 1
    asked = len(chat.bodies)
    chat.reply = place_of
    _, ran = evaluate(files, chat.spec)
    assert (ran.code, len(chat.bodies) - asked) == (0, 1)
    assert table(out / "facts.csv")[0]["mentions"] == "7"


def test_a_budget_ends_it_before_any_table_is_written(files, chat):
    prices = ("--facts-price-in", "100", "--facts-price-out", "200")
    out, ran = evaluate(files, chat.spec, "--facts-budget", "0.0001", *prices)
    assert ran.code == 3
    assert "not asked" in ran.out
    assert not (out / "facts.csv").exists()
    _, ran = evaluate(files, chat.spec, "--facts-budget", "5")
    assert (ran.code, ran.refusals) == (2, ("--facts-budget, budget_without_prices",))


def test_a_model_that_answers_prose_gives_no_fact_and_is_counted(files, chat):
    chat.reply = lambda body: said("I would say that it is on the left.")
    out, ran = evaluate(files, chat.spec)
    assert ran.code == 0
    assert table(out / "facts.csv") == []
    summary = json.loads((out / "summary.json").read_text())["facts"]
    assert summary["read_by"]["without_slots"] == 1
    assert summary["silent"] == {"no_shared_slot": 1}
    assert len(chat.bodies) == 2  # asked for once more


@pytest.mark.parametrize(
    ("spec", "more", "refusal"),
    [
        ("gpt", (), "chat"),
        ("openai:m", (), "chat"),
        ("replies:nowhere.csv", (), "nowhere.csv, file_missing"),
        ("openai:m@http://127.0.0.1:9/v1", ("--no-facts",), "--facts-model, facts_model_idle"),
    ],
)
def test_what_will_not_do_is_refused_before_anything_is_written(files, spec, more, refusal):
    out, ran = evaluate(files, spec, *more)
    assert (ran.code, ran.refusals) == (2, (refusal,))
    assert refusal != "chat" or repr(spec) in ran.err
    assert not out.exists()


@pytest.mark.parametrize("texts", [["alone"], ["", "", "one of three"]])
def test_one_answer_and_empty_ones_are_no_crash(files, chat, texts):
    rows = [(f"w{at}", "q", text) for at, text in enumerate(texts)]
    write(files / "answers.csv", [("worker", "question", "answer"), *rows])
    out, ran = evaluate(files, chat.spec)
    assert ran.code == 0, ran.err
    assert {row["verdict"] for row in table(out / "answer_facts.csv")} <= {"too_few"}


@pytest.mark.long
def test_the_packaged_model_is_asked_and_whatever_it_says_is_taken_or_counted(files):
    needs_packaged_model()
    out, ran = evaluate(files, "local:smollm2", "--facts-max-tokens", "80")
    assert ran.code == 0, ran.err
    read = json.loads((out / "summary.json").read_text())["facts"]["read_by"]
    assert read["model"] == "SmolLM2-135M-Instruct"
    assert read["questions"] == 1
    assert read["answers"] in (0, 9)
    # Whatever it says, each reply is read, or counted as one that could not be.
    assert read["errors"] == 0
    replies = [json.loads(line) for line in (out / "requests.jsonl").read_text().splitlines()]
    assert {one["model"] for one in replies} <= {
        f"SmolLM2-135M-Instruct ({step})"
        for step in ("slots", "slots again", "facts", "facts again")
    }
