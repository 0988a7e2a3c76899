"""`manage.py evaluate crowd-size`: files in, files out."""

import csv
import json

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.runs.run_types.crowds import write, write_files
from tests.evaluation.runs.run_types.texts import numbers_of, places_of
from tests.problems import check_problem
from tests.sentences import terminal_sentence

QUICK = ("--embedder", "tfidf-word", "--repetitions", "3", "--bootstrap", "20")


@pytest.fixture
def files(tmp_path):
    return write_files(tmp_path)


def crowd_size(*arguments):
    return manage("evaluate", "crowd-size", *arguments, *QUICK)


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.medium
def test_it_writes_the_curve_its_pictures_and_the_sentence(files, tmp_path):
    answers, judgements = files
    out = tmp_path / "out"
    ran = crowd_size(answers, "--judgements", judgements, "--output", out)
    assert ran.code == 0, ran.err
    assert {path.name for path in out.iterdir()} == {
        "crowd_size.csv",
        "crowd-size-workers.svg",
        "crowd-size-questions.svg",
        "summary.json",
    }
    rows = table(out / "crowd_size.csv")
    assert {(row["by"], row["measure"]) for row in rows} == {
        ("workers", "workers"),
        ("workers", "answers"),
        ("workers", "crowd"),
        ("questions", "workers"),
        ("questions", "crowd"),
    }
    sizes = [int(r["size"]) for r in rows if (r["by"], r["measure"]) == ("workers", "workers")]
    assert sizes == [3, 4, 5, 6, 8, 9]
    summary = json.loads((out / "summary.json").read_text())
    assert summary["counts"] == {
        "answers": 108,
        "workers": 9,
        "questions": 12,
        "judged": 54,
        "judged_workers": 9,
    }
    assert summary["measure"] == "workers"
    first = summary["verdicts"][0]
    whole = float(next(r["pearson"] for r in rows if (r["size"], r["measure"]) == ("9", "workers")))
    assert first["full"]["value"] == pytest.approx(whole)
    assert first["full"]["low"] < whole
    assert summary["said"][0] in ran.out
    assert f"With {first['enough']} workers you reach 95%" in ran.out
    assert summary["signature"].startswith("crowd-size|embedder:Tfidf")
    assert set(summary["input_hashes"]) == {"answers", "judgements"}


@pytest.mark.medium
def test_the_same_seed_gives_the_same_files(files, tmp_path):
    answers, _ = files
    for name in ("one", "two"):
        crowd_size(answers, "--output", tmp_path / name)
    one, two = ((tmp_path / name / "crowd_size.csv").read_bytes() for name in ("one", "two"))
    assert one == two
    crowd_size(answers, "--seed", "1", "--output", tmp_path / "three")
    assert (tmp_path / "three" / "crowd_size.csv").read_bytes() != one


def test_without_judgements_it_says_that_the_crowd_is_its_own_measure(files, tmp_path):
    ran = crowd_size(files[0], "--output", tmp_path / "out")
    assert terminal_sentence("crowd_size.by_crowd", workers=9) in ran.out


@pytest.mark.medium
def test_grades_of_models_answers_in_the_file_of_judgements_are_left_out(
    files, tmp_path, told_problems
):
    answers, judgements = files
    crowd_size(answers, "--judgements", judgements, "--output", tmp_path / "one")
    with judgements.open(newline="") as file:
        _, *graded = csv.reader(file)
    mixed = [(worker, "", question, grade) for worker, question, grade in graded]
    # A model may have answered a question that no worker was asked.
    models = [("", "gpt", "q0", 5), ("", "gpt", "q99", 0)]
    header = ("worker", "model", "question", "grade")
    both = write(tmp_path / "both.csv", header, models + mixed)
    ran = crowd_size(answers, "--judgements", both, "--output", tmp_path / "two")
    assert ran.code == 0, ran.err
    assert (tmp_path / "one" / "crowd_size.csv").read_bytes() == (
        tmp_path / "two" / "crowd_size.csv"
    ).read_bytes()
    only_models = write(tmp_path / "models.csv", header, models)
    ran = crowd_size(answers, "--judgements", only_models, "--output", tmp_path / "three")
    assert ran.code == 2
    check_problem(told_problems[0], "no_grade", file="models.csv", line=None, column=None)


def test_a_grade_of_an_answer_that_is_not_there_is_told_with_its_line(
    files, tmp_path, told_problems
):
    rows = [("w0", "q0", 4), ("w0", "q99", 4), ("stranger", "q0", 1)]
    judgements = write(tmp_path / "j.csv", ("worker", "question", "grade"), rows)
    ran = crowd_size(files[0], "--judgements", judgements, "--output", tmp_path / "out")
    assert ran.code == 2
    code, at = "graded_answer_unknown", {"file": "j.csv", "column": None}
    first, second = told_problems
    check_problem(first, code, **at, line=3, name="w0", question="q99")
    check_problem(second, code, **at, line=4, name="stranger", question="q0")
    assert f"{first}\n{second}" in ran.err
    assert not (tmp_path / "out").exists()


def test_two_workers_are_refused(tmp_path):
    rows = [("a", "q1", "x y"), ("b", "q1", "x z")]
    answers = write(tmp_path / "few.csv", ("worker", "question", "answer"), rows)
    ran = crowd_size(answers, "--output", tmp_path / "out")
    assert ran.code == 2
    assert places_of(ran.err) == [("few.csv", None, None)]
    assert numbers_of(ran.err.partition(": ")[2])[0] == 3


def test_an_input_in_the_folder_is_not_replaced(tmp_path):
    answers, _ = write_files(tmp_path)
    mine = answers.rename(tmp_path / "crowd_size.csv")
    before = mine.read_bytes()
    ran = crowd_size(mine, "--output", tmp_path)
    assert ran.code == 2
    assert str(mine) in ran.err
    assert mine.read_bytes() == before
