"""The smallest and the most uniform files: a reason for each empty cell, and no number of them."""

import csv
import json

import pytest

from tests.evaluation.commands.running import manage

SEA = "The sea is blue"


def file(path, rows):
    with path.open("w", newline="") as target:
        csv.writer(target).writerows([("worker", "question", "answer"), *rows])
    return path


def graded(tmp_path, rows, *flags):
    """Return the rows of workers.csv, and why its contrasts and grades are empty."""
    answers = file(tmp_path / "answers.csv", rows)
    ran = manage(
        "evaluate", "aqer", answers, "--output", tmp_path / "out", "--embedder", "tfidf-word",
        "--question-contrast", *flags,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    with (tmp_path / "out" / "workers.csv").open(newline="") as source:
        workers = list(csv.DictReader(source))
    undefined = json.loads((tmp_path / "out" / "summary.json").read_text())["undefined"]
    table = [row for row in undefined if row["file"] == "workers.csv"]
    return workers, {row["column"]: row["reason"] for row in table}


def test_one_question_has_no_contrast_and_says_why(tmp_path):
    rows = [(f"w{n}", "q", f"{SEA} and {n}") for n in range(5)]
    workers, why = graded(tmp_path, rows)
    assert {(row["contrast"], row["grade"]) for row in workers} == {("", "")}
    assert why["contrast"] == why["grade"] == "contrast_needs_5_questions"
    # The mean over the others needs no second question.
    assert all(float(row["raw_leave_one_out"]) > 0 for row in workers)


def test_equal_answers_to_all_questions_earn_a_contrast_of_0(tmp_path):
    rows = [(f"w{n}", f"q{q}", SEA) for n in range(5) for q in range(6)]
    workers, _ = graded(tmp_path, rows)
    # Agreement 1 with the own question, 1 with each other one.
    assert [float(row["contrast"]) for row in workers] == pytest.approx([0] * 5)
    assert [float(row["raw_leave_one_out"]) for row in workers] == pytest.approx([1] * 5)
    assert {row["rank"] for row in workers} <= {"", "1"}


@pytest.mark.parametrize("n_questions", [1, 6])
@pytest.mark.parametrize("flag", ["--leave-one-out", "--no-leave-one-out"])
def test_one_worker_has_no_grade(tmp_path, n_questions, flag):
    rows = [("w", f"q{q}", f"{SEA} {q}") for q in range(n_questions)]
    (worker,), why = graded(tmp_path, rows, flag)
    assert (worker["grade"], worker["contrast"], worker["rank"]) == ("", "", "")
    assert why["grade"] == "fewer_than_3_workers"
    assert why["contrast"] == "only_answer_to_its_question"


def test_a_file_without_a_text_is_refused(tmp_path):
    answers = file(tmp_path / "answers.csv", [(f"w{n}", "q", "") for n in range(4)])
    ran = manage("evaluate", "aqer", answers, "--output", tmp_path / "out", "--question-contrast")
    assert ran.code == 2
    assert not (tmp_path / "out").exists()


def test_a_group_of_one_question_is_compared_with_all_questions(tmp_path):
    words = ("sea", "lake", "sky", "tree", "stone", "fire")
    rows = [(f"w{n}", f"q{q}", f"{word} {n}") for n in range(4) for q, word in enumerate(words)]
    questions = tmp_path / "questions.csv"
    lines = [f"q{q},Thing {q}?,{'many' if q else 'alone'}" for q in range(6)]
    questions.write_text("\n".join(["question,text,category", *lines]))
    graded(tmp_path, rows, "--questions", questions)
    with (tmp_path / "out" / "answers.csv").open(newline="") as source:
        contrasts = [row["contrast"] for row in csv.DictReader(source)]
    # 4 workers, 6 questions: also the question that has no other of its category.
    assert len(contrasts) == 24
    assert "" not in contrasts
