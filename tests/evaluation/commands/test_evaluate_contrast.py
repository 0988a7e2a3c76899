"""``evaluate aqer --question-contrast``: who pastes one sentence everywhere comes last."""

import csv
import json

import pytest

from tests.evaluation.commands.running import evaluate

TOPICS = ("river bank", "tax law", "oak tree", "steam engine", "violin string", "river boat")
SAME = "river tax oak steam violin boat"


@pytest.fixture
def files(tmp_path):
    """Return the files of answers of five workers, of a model, and of questions with passages."""
    answers, models = tmp_path / "answers.csv", tmp_path / "models.csv"
    with answers.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("worker", "question", "answer"))
        for worker in range(4):
            for q, topic in enumerate(TOPICS):
                rows.writerow((f"w{worker}", f"q{q}", f"{topic} {'vague ' * worker}said"))
        for q in range(6):
            rows.writerow(("paster", f"q{q}", SAME))
    with models.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("model", "question", "answer"))
        for q, topic in enumerate(TOPICS):
            rows.writerow(("good", f"q{q}", topic))
            rows.writerow(("parrot", f"q{q}", SAME))
    questions = tmp_path / "questions.csv"
    questions.write_text(
        "question,text,passage\n"
        + "".join(f"q{q},What is said?,{'p1' if q < 5 else 'p2'}\n" for q in range(6))
    )
    return answers, models, questions


def run(files, output, *options, questions=False):
    answers, models, about = files
    more = ("--questions", about) if questions else ()
    ran = evaluate(
        *(answers, "--models", models, "--output", output, "--embedder", "tfidf-word"),
        *("--bootstrap", "0", "--no-facts", *more, *options),
    )
    assert ran.code == 0, ran.err
    tables = {}
    for name, key in (("workers", "worker"), ("models", "model")):
        with (output / f"{name}.csv").open(newline="") as file:
            tables[name] = {row[key]: row for row in csv.DictReader(file)}
    return tables, json.loads((output / "summary.json").read_text()), ran.out


def test_the_switch_makes_raw_and_grade_of_the_contrast(files, tmp_path):
    plain, before, _ = run(files, tmp_path / "plain")
    switched, after, shown = run(files, tmp_path / "switched", "--question-contrast")
    for worker, row in switched["workers"].items():
        assert row["contrast"] == plain["workers"][worker]["contrast"] == row["raw"]
        assert (row["raw_low"], row["raw_high"]) == (row["contrast_low"], row["contrast_high"])
        assert row["weight"] == plain["workers"][worker]["weight"]
    assert float(switched["workers"]["paster"]["raw"]) == pytest.approx(0, abs=1e-9)
    assert switched["workers"]["paster"]["grade"] == "0.0"
    assert switched["workers"]["paster"]["rank"] == "5"
    assert "|question_contrast:yes|" in after["signature"]
    assert "contrast" not in before["signature"]
    assert "question contrast" in shown
    # A model that says the same to everything earns as little as a worker who does.
    assert float(switched["models"]["parrot"]["contrast"]) == pytest.approx(0, abs=0.02)
    assert float(switched["models"]["good"]["contrast_low"]) > 0.2
    assert switched["models"]["good"]["score"] == plain["models"]["good"]["score"]


def test_passages_of_the_file_of_questions_are_the_groups(files, tmp_path):
    whole, _, _ = run(files, tmp_path / "whole")
    grouped, summary, _ = run(files, tmp_path / "grouped", questions=True)
    assert whole["workers"]["w0"]["contrast"] != grouped["workers"]["w0"]["contrast"]
    assert not [one for one in summary["undefined"] if one["column"] == "contrast"]


@pytest.mark.parametrize("more", [("--similarity", "euclidean"), ("--difficulty",), ("--camps",)])
def test_what_has_no_contrast_is_refused(files, tmp_path, more):
    ran = evaluate(files[0], "--output", tmp_path / "out", "--question-contrast", *more)
    assert ran.code == 2
    assert "--question-contrast" in ran.err
    assert not (tmp_path / "out").exists()


def test_without_the_switch_a_distance_leaves_the_columns_empty(files, tmp_path):
    tables, summary, _ = run(files, tmp_path / "out", "--similarity", "euclidean")
    assert {row["contrast"] for row in tables["workers"].values()} == {""}
    reasons = {one["reason"] for one in summary["undefined"] if one["column"] == "contrast"}
    assert reasons == {"contrast_needs_cosine"}
