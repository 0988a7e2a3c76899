"""What an import refuses, with place and values, and what it reports."""

import re
from datetime import UTC, datetime

import pytest

from annotations.exchange import InputError
from annotations.exchange.importing import (
    import_answers,
    import_batches,
    import_mturk,
    import_passages,
    import_questions,
)
from annotations.exchange.importing.report import DRY_RUN, NOTHING_CHANGED
from annotations.exchange.importing.target import (
    find_next_position,
    quote_beginning,
    split_in_chunks,
)
from annotations.models import Passage, Question, QuestionSet, Response
from tests.annotations import world
from tests.annotations.exchange import reports
from tests.annotations.exchange.files import HEADER, write
from tests.annotations.exchange.importing.test_mturk import batch
from tests.problems import check_problem, raises_problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def rivers():
    """Two questions, r1 and r2, in a draft."""
    return world.version(world.user("rana")).question_set


def problems_of(do, *arguments, **options):
    with pytest.raises(InputError) as caught:
        do(*arguments, **options)
    return caught.value.problems


def test_an_unknown_question_of_answers(rivers, tmp_path):
    path = write(tmp_path, HEADER + "ada,r1,north\nada,r9,x\nben,r9,y\n")
    expected = {"version": "rivers, version 1", "question": "r9"}
    place = {"file": "answers.csv", "line": 3, "column": "question"}
    with raises_problem("question_unknown", **place, **expected):
        import_answers(rivers, path)
    rivers.latest_version().publish()
    with raises_problem("version_published", file="answers.csv", line=None, **expected):
        import_answers(rivers, path, create_questions=True)
    with raises_problem("version_unknown", line=None, question_set="rivers", number=7):
        import_answers(rivers, path, version=7)


def test_an_id_that_is_too_long(rivers, tmp_path):
    path = write(tmp_path, HEADER + f"{'w' * 256},r1,x\n")
    with raises_problem("id_too_long", line=2, column="worker", size=256, most=255):
        import_answers(rivers, path)
    import_answers(rivers, write(tmp_path, HEADER + f"{'w' * 255},r1,x\n"))


def test_another_text_or_time_than_the_stored_one(rivers, tmp_path):
    import_answers(rivers, write(tmp_path, HEADER + f"ada,r1,{'long ' * 20}\nada,r2,\n"))
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    path = write(tmp_path, HEADER + "ada,r2,now\nada,r1,short\n")
    found = problems_of(import_answers, rivers, path)
    stored = {"r2": quote_beginning(""), "r1": f"'{('long ' * 20)[:60]}...'"}
    for problem, line, question in zip(found, (2, 3), ("r2", "r1"), strict=True):
        expected = {"worker": "ada", "question": question, "since": today, "what": "text"}
        place = {"file": "answers.csv", "line": line, "column": None}
        text = stored[question]
        check_problem(problem, "stored_answer_differs", text=text, **place, **expected)
    Response.objects.filter(question__external_id="r2").update(work_seconds=3)
    timed = "worker,question,answer,work_seconds,crowdgrade:answers\nada,r2,,{},1\n"
    with raises_problem("stored_answer_differs", question="r2", what="time"):
        import_answers(rivers, write(tmp_path, timed.format(4)))
    same = import_answers(rivers, write(tmp_path, timed.format(3)))
    assert (same.n_new, same.n_unchanged) == (0, 1)


def test_another_flag_than_the_stored_one(rivers, tmp_path):
    flagged = "worker,question,answer,rejected,crowdgrade:answers\nada,r1,x,{},1\n"
    import_answers(rivers, write(tmp_path, flagged.format("false")))
    path = write(tmp_path, flagged.format("true"))
    (problem,) = problems_of(import_answers, rivers, path)
    check_problem(problem, "stored_flag_differs", what="flag", worker="ada", question="r1")
    assert "--update-flags" in problem.on_terminal
    assert "--" not in problem.remedy
    report = import_answers(rivers, path, update_flags=True)
    assert (report.n_reflagged, report.n_unchanged, report.changed) == (1, 1, True)
    assert Response.objects.get().rejected
    # A file that says nothing of flags contradicts none.
    assert not import_answers(rivers, write(tmp_path, HEADER + "ada,r1,x\n")).changed
    report = import_answers(rivers, write(tmp_path, flagged.format("false")), update_flags=True)
    assert (report.n_reflagged, Response.objects.get().rejected) == (1, False)


def test_a_question_about_a_passage_that_is_not_there(rivers, tmp_path):
    path = write(tmp_path, "question,text,passage\nq1,Why?,p1\n", "q.csv")
    place = {"file": "q.csv", "line": 2, "column": "passage"}
    with raises_problem("passage_unknown", **place, version="rivers, version 1", passage="p1"):
        import_questions(rivers, path)


def test_another_content_than_the_stored_one(rivers, tmp_path):
    import_passages(rivers, write(tmp_path, "passage,title,text\np,A,Long.\n", "p.csv"))
    other = write(tmp_path, "passage,title,text,language\np,B,Short.,de\n", "p.csv")
    version = "rivers, version 1"
    what = ", ".join(["title", "text", "language"])
    with raises_problem("stored_differs", line=2, version=version, name="p", what=what):
        import_passages(rivers, other)
    rest = "question,text,passage,category\n"
    path = write(tmp_path, rest + "r1,Where is river 1?,p,hard\n", "q.csv")
    what = "passage, category"
    with raises_problem("stored_differs", line=2, version=version, name="r1", what=what):
        import_questions(rivers, path)


def test_questions_and_passages_stand_behind_those_that_are_there(rivers, tmp_path):
    import_passages(rivers, write(tmp_path, "passage,text\np1,One.\np2,Two.\n", "p.csv"))
    report = import_passages(
        rivers, write(tmp_path, "passage,text\np2,Two.\np3,Three.\np3,Three.\n", "p.csv")
    )
    assert (report.n_rows, report.n_new, report.n_unchanged, report.n_repeated) == (3, 1, 1, 1)
    assert list(Passage.objects.order_by("pk").values_list("external_id", "position")) == [
        ("p1", 1), ("p2", 2), ("p3", 3),
    ]  # fmt: skip
    path = write(tmp_path, "question,text\nr2,Where is river 2?\nq1,Why?\nq2,Who?\n", "q.csv")
    report = import_questions(rivers, path)
    assert (report.what, report.n_new, report.n_unchanged, report.dry_run) == (
        "questions", 2, 1, False,
    )  # fmt: skip
    assert list(Question.objects.order_by("pk").values_list("external_id", "position")) == [
        ("r1", 1), ("r2", 2), ("q1", 3), ("q2", 4),
    ]  # fmt: skip


def test_a_dry_run_of_passages_stores_none_and_says_so(rivers, tmp_path):
    path = write(tmp_path, "passage,text\np1,One.\n", "p.csv")
    report = import_passages(rivers, path, dry_run=True)
    assert (report.what, report.n_new, report.dry_run) == ("passages", 1, True)
    assert not Passage.objects.exists()
    assert import_passages(rivers, path).dry_run is False
    assert Passage.objects.count() == 1


def test_a_file_that_is_not_utf8_is_read_with_a_warning(rivers, tmp_path):
    text = "question,text\nq1,Où?\n".encode("cp1252")
    report = import_questions(rivers, write(tmp_path, text, "q.csv"))
    assert len(report.warnings) == 1
    assert list(report.lines())[-1] == f"Warning: {report.warnings[0]}"
    text = (HEADER + "ada,r1,à gauche\n").encode("cp1252")
    assert len(import_answers(rivers, write(tmp_path, text)).warnings) == 1


def test_a_batch_goes_into_the_version_that_is_named(tmp_path):
    lakes = QuestionSet.objects.create(owner=world.user("otto"), name="lakes")
    assert import_mturk(lakes, batch(tmp_path)).version == 1
    lakes.latest_version().copy_as_draft()
    again = import_mturk(lakes, batch(tmp_path), version=1)
    assert (again.version, again.n_unchanged, again.changed) == (1, 2, False)
    assert import_mturk(lakes, batch(tmp_path)).version == 2
    with raises_problem("version_unknown", file="batch.csv", question_set="lakes", number=3):
        import_mturk(lakes, batch(tmp_path), version=3)
    expected = {"version": "lakes, version 1", "question": "3XE:translation"}
    with raises_problem("batch_into_published", file="batch.csv", line=2, **expected):
        import_mturk(lakes, batch(tmp_path, {"HITId": "3XE"}), version=1)


def test_a_batch_with_other_words_or_an_id_that_is_too_long_is_refused(tmp_path):
    lakes = QuestionSet.objects.create(owner=world.user("otto"), name="lakes")
    long = "H" * 250
    found = problems_of(import_mturk, lakes, batch(tmp_path, {"HITId": long}))
    # 250 + 1 + 11 and 250 + 1 + 7: the comment of the HIT is too long as well.
    for problem, size in zip(found, (262, 258), strict=True):
        expected = {"line": 2, "name": f"'{long[:60]}...'", "size": size, "most": 255}
        check_problem(problem, "assignment_id_long", **expected)
    name = "H" * 243
    import_mturk(lakes, batch(tmp_path, {"HITId": name}))
    found = problems_of(
        import_mturk, lakes, batch(tmp_path, {"HITId": name}), question_template="$sentence?"
    )
    expected = {"version": "lakes, version 1", "name": f"{name}:translation", "line": 2}
    text = "'sentence: Guten Tag tone of voice: formal'"
    check_problem(found[0], "assignment_text_differs", text=text, **expected)


def test_questions_of_a_batch_complete_those_without_a_text(tmp_path):
    lakes = QuestionSet.objects.create(owner=world.user("otto"), name="lakes")
    version = lakes.draft()
    for number in range(3):
        Question.objects.create(version=version, external_id=f"q{number}", position=number + 1)
    Question.objects.create(version=version, external_id="3XA:comment", position=4)
    (report,) = import_batches(lakes, [batch(tmp_path)], question_template="$sentence")
    assert report.created["questions"] == 1
    assert list(version.questions.order_by("position").values_list("external_id", "text")) == [
        ("q0", ""), ("q1", ""), ("q2", ""), ("3XA:comment", "Guten Tag"),
        ("3XA:translation", "Guten Tag"),
    ]  # fmt: skip
    assert report.kept_aside == ()


def report_of(**changes):
    counts = {"n_rows": 9, "n_new": 4, "n_unchanged": 3, "n_repeated": 2}
    return reports.report_of(**{**counts, **changes})


def test_a_report_is_told_line_by_line():
    report = report_of(
        n_empty=5, n_completed=6, n_rejected=7, n_reflagged=8, kept_aside=("mood", "seconds"),
        created={"workers": 2, "questions": 0, "passages": 1}, notes=["A note."],
        warnings=["It is late."], dry_run=True,
    )  # fmt: skip
    lines = list(report.lines())
    assert [re.findall(r"\d+", line) for line in lines[:6]] == [
        ["2"],  # the version
        ["9", "4", "3", "2", "5"],
        ["7"],
        ["8"],
        ["6"],
        ["2", "1"],
    ]
    assert "questions" not in lines[5]
    assert lines[6].endswith(": mood, seconds")
    assert lines[7:] == ["A note.", "Warning: It is late.", DRY_RUN]
    assert report.as_dict()["created"] == {"workers": 2, "questions": 0, "passages": 1}
    assert len(list(report_of().lines())) == 2


@pytest.mark.parametrize(
    ("changes", "changed"),
    [
        ({}, True),
        ({"n_new": 0, "n_unchanged": 7}, False),
        ({"n_new": 0, "n_unchanged": 7, "n_reflagged": 1}, True),
        ({"n_new": 0, "n_unchanged": 7, "created": {"workers": 0, "questions": 1}}, True),
        ({"n_new": 0, "n_unchanged": 7, "created": {"workers": 0}}, False),
    ],
)
def test_something_changed_if_a_row_a_flag_or_something_beside_them_is_new(changes, changed):
    report = report_of(dry_run=not changed, **changes)
    assert report.changed is changed
    last = list(report.lines())[-1]
    assert (last == NOTHING_CHANGED) is not changed


def test_a_report_that_loses_rows_is_an_error():
    with pytest.raises(AssertionError, match=r"a\.csv"):
        report_of(n_rows=10)


def test_stored_texts_are_quoted_on_one_line_and_at_most_sixty_characters():
    assert quote_beginning("up \n north") == "'up north'"
    assert quote_beginning(" \n ") == "no answer"
    assert quote_beginning("x" * 60) == repr("x" * 60)
    assert quote_beginning("x" * 61) == repr("x" * 60 + "...")


def test_values_are_taken_in_lists_and_positions_go_on():
    assert list(split_in_chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(split_in_chunks([], 2)) == []
    assert (find_next_position([]), find_next_position([2, 7, 3])) == (1, 8)
