"""``reproduce graded FILE``: which method to trust, through the command."""

import csv

import pytest

from tests.evaluation.commands.crowd import header_of, summary_of, table
from tests.evaluation.commands.running import manage
from tests.evaluation.evidence.graded.answers import of_nobody, of_workers

LETTERS = ("--embedder", "tfidf-char", "--core", "--repetitions", "2")


def written(path, answers, grade="grade"):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["worker", "question", "answer", grade])
        rows.writerows([one.worker, one.question, one.text, one.grade] for one in answers)
    return path


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graded")
    path = written(folder / "mine.csv", of_workers(10, 10))
    return folder / "out", manage(
        *("reproduce", "graded", path, "--output", folder / "out", *LETTERS)
    )


@pytest.mark.model
class TestOwnFile:
    def test_it_ends_with_one_sentence_that_names_a_method_and_an_interval(self, ran):
        folder, found = ran
        assert (found.code, found.err) == (0, "")
        said = summary_of(folder)["said"][0]
        assert said in found.out
        assert "95%" in said
        assert "aqer" in said

    def test_the_tables_have_every_method_on_all_questions_and_on_the_half_held_out(self, ran):
        rows = table(ran[0] / "table.csv")
        assert {row["setting"] for row in rows} == {"workers", "workers-heldout"}
        methods = table(ran[0] / "methods.csv")
        assert [row["method"] for row in methods] == [
            row["method"] for row in rows if row["setting"] == "workers"
        ]
        of_aqer = next(row for row in methods if row["method"] == "aqer")
        assert float(of_aqer["low"]) < float(of_aqer["pearson"]) < float(of_aqer["high"])
        assert header_of(ran[0] / "choosing.csv")[0] == "method"

    def test_the_summary_says_what_it_rests_on(self, ran):
        found = summary_of(ran[0])
        assert (found["answers"], found["workers"], found["questions"]) == (100, 10, 10)
        assert (found["dealt"], found["layout"], found["held"]) == ("", "table", 5)
        assert found["verdict"] in ("better", "default", "apart")
        assert len(found["input_hash"]) == 64

    @pytest.mark.long
    def test_without_workers_crowds_are_dealt_and_that_is_said(self, tmp_path, rendered_messages):
        path = written(tmp_path / "mine.csv", of_nobody(22, 6))
        found = manage("reproduce", "graded", path, "--output", tmp_path / "out", *LETTERS)
        assert found.code == 0
        (message,) = [one for one in rendered_messages if one.code.startswith("graded.by_")]
        assert message.code != "graded.by_workers"
        assert (message.values["answers"], message.values["questions"]) == (132, 6)
        assert summary_of(tmp_path / "out")["repetitions"] == 2


@pytest.mark.parametrize(
    ("answers", "code"),
    [(of_workers(1, 9), "graded.few_workers"), (of_nobody(1, 9), "graded.few_answers")],
)
def test_what_is_too_little_is_told_with_exit_code_2_and_nothing_written(tmp_path, answers, code):
    if answers[0].worker:
        answers = answers[:4]
    path = written(tmp_path / "mine.csv", answers)
    found = manage("reproduce", "graded", path, "--output", tmp_path / "out", *LETTERS)
    assert (found.code, found.refusals) == (2, (path.name, code))
    assert not (tmp_path / "out").exists()


def test_one_grade_for_all_is_told(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("question,answer,grade\n1,a,1\n1,b,1\n2,c,1\n")
    found = manage("reproduce", "graded", path, "--output", tmp_path / "out")
    assert (found.code, found.refusals) == (2, (path.name, "graded.one_grade"))


def test_an_unknown_label_is_told_with_its_line_and_the_option(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("question,answer,label\n1,a,right\n1,b,wrong\n")
    found = manage(
        *("reproduce", "graded", path, "--output", tmp_path / "out", "--labels", "right=1")
    )
    assert found.code == 2
    assert "mine.csv, line 3, column grade: the label 'wrong' has no value" in found.err
    assert "--labels right=1,wrong=..." in found.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("graded",),
        ("questions",),
        ("questions", "a.csv", "--data", "."),
        ("questions", "--data", ".", "--labels", "a=1"),
        ("graded", "a.csv", "--labels", "a"),
        ("graded", "a.csv", "--columns", "who=x"),
    ],
)
def test_arguments_that_do_not_fit_the_study_are_refused(tmp_path, arguments):
    found = manage("reproduce", *arguments, "--output", tmp_path)
    assert found.code == 2
    assert "Traceback" not in found.err


def test_a_file_that_would_be_written_over_is_refused(tmp_path):
    path = written(tmp_path / "table.csv", of_workers(6, 6))
    found = manage("reproduce", "graded", path, "--output", tmp_path)
    assert found.code == 2
    assert path.read_text().startswith("worker,question")
