"""What an import says: each refusal whole, with line and remedy, and the report line by line."""

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
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.target import chunks, next_position, quoted
from annotations.models import Passage, Question, QuestionSet, Response
from tests.annotations import world
from tests.annotations.exchange.files import HEADER, write
from tests.annotations.exchange.importing.test_mturk import batch

pytestmark = pytest.mark.django_db


@pytest.fixture
def rivers():
    """Two questions, r1 and r2, in a draft."""
    return world.version(world.user("rana")).question_set


def refusal(do, *arguments, **options):
    with pytest.raises(InputError) as caught:
        do(*arguments, **options)
    return str(caught.value)


def test_an_unknown_question_of_answers(rivers, tmp_path):
    path = write(tmp_path, HEADER + "ada,r1,north\nada,r9,x\nben,r9,y\n")
    assert refusal(import_answers, rivers, path) == (
        "answers.csv, line 3, column question: rivers, version 1 has no question r9. Correct the "
        "id, or import the questions first."
    )
    rivers.latest_version().publish()
    assert refusal(import_answers, rivers, path, create_questions=True) == (
        "answers.csv: rivers, version 1 is published and takes no new questions, such as r9. "
        "Import the questions first: that opens the next version."
    )
    assert refusal(import_answers, rivers, path, version=7) == (
        "answers.csv: rivers has no version 7."
    )


def test_an_id_that_is_too_long(rivers, tmp_path):
    path = write(tmp_path, HEADER + f"{'w' * 256},r1,x\n")
    assert refusal(import_answers, rivers, path) == (
        "answers.csv, line 2, column worker: the id has 256 characters, more than 255. Shorten it "
        "everywhere."
    )
    import_answers(rivers, write(tmp_path, HEADER + f"{'w' * 255},r1,x\n"))


def test_another_text_or_time_than_the_stored_one(rivers, tmp_path):
    import_answers(rivers, write(tmp_path, HEADER + f"ada,r1,{'long ' * 20}\nada,r2,\n"))
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    path = write(tmp_path, HEADER + "ada,r2,now\nada,r1,short\n")
    assert sorted(refusal(import_answers, rivers, path).splitlines()) == [
        f"answers.csv, line 2: worker ada answered question r2 already (stored on {today}: no "
        "answer), with another text. Stored answers are not overwritten: correct the row or leave "
        "it out.",
        f"answers.csv, line 3: worker ada answered question r1 already (stored on {today}: "
        f"'{('long ' * 20)[:60]}...'), with another text. Stored answers are not overwritten: "
        "correct the row or leave it out.",
    ]
    Response.objects.filter(question__external_id="r2").update(work_seconds=3)
    timed = "worker,question,answer,work_seconds,crowdgrade:answers\nada,r2,,{},1\n"
    told = refusal(import_answers, rivers, write(tmp_path, timed.format(4)))
    assert "with another time. Stored answers are not overwritten" in told
    same = import_answers(rivers, write(tmp_path, timed.format(3)))
    assert (same.n_new, same.n_unchanged) == (0, 1)


def test_another_flag_than_the_stored_one(rivers, tmp_path):
    flagged = "worker,question,answer,rejected,crowdgrade:answers\nada,r1,x,{},1\n"
    import_answers(rivers, write(tmp_path, flagged.format("false")))
    path = write(tmp_path, flagged.format("true"))
    with pytest.raises(InputError) as caught:
        import_answers(rivers, path)
    (problem,) = caught.value.problems
    assert problem.reason.endswith("with another flag")
    assert problem.remedy == (
        "Import it with “Update which answers were rejected” to store the flags of the file."
    )
    assert problem.on_terminal == "Import it with --update-flags to store the flags of the file."
    report = import_answers(rivers, path, update_flags=True)
    assert (report.n_reflagged, report.n_unchanged, report.changed) == (1, 1, True)
    assert Response.objects.get().rejected
    # A file that says nothing of flags contradicts none.
    assert not import_answers(rivers, write(tmp_path, HEADER + "ada,r1,x\n")).changed
    report = import_answers(rivers, write(tmp_path, flagged.format("false")), update_flags=True)
    assert (report.n_reflagged, Response.objects.get().rejected) == (1, False)


def test_a_question_about_a_passage_that_is_not_there(rivers, tmp_path):
    path = write(tmp_path, "question,text,passage\nq1,Why?,p1\n", "q.csv")
    assert refusal(import_questions, rivers, path) == (
        "q.csv, line 2, column passage: rivers, version 1 has no passage p1. Correct the id, or "
        "import the passages first."
    )


def test_another_content_than_the_stored_one(rivers, tmp_path):
    import_passages(rivers, write(tmp_path, "passage,title,text\np,A,Long.\n", "p.csv"))
    other = write(tmp_path, "passage,title,text,language\np,B,Short.,de\n", "p.csv")
    assert refusal(import_passages, rivers, other) == (
        "p.csv, line 2: rivers, version 1 has p already, with another title, text, language. What "
        "is stored is not overwritten: correct the row, or use another id."
    )
    rest = "question,text,passage,category\n"
    path = write(tmp_path, rest + "r1,Where is river 1?,p,hard\n", "q.csv")
    assert refusal(import_questions, rivers, path) == (
        "q.csv, line 2: rivers, version 1 has r1 already, with another passage, category. What is "
        "stored is not overwritten: correct the row, or use another id."
    )


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
    lakes.latest_version().copy()
    again = import_mturk(lakes, batch(tmp_path), version=1)
    assert (again.version, again.n_unchanged, again.changed) == (1, 2, False)
    assert import_mturk(lakes, batch(tmp_path)).version == 2
    assert refusal(import_mturk, lakes, batch(tmp_path), version=3) == (
        "batch.csv: lakes has no version 3."
    )
    new = batch(tmp_path, {"HITId": "3XE"})
    assert refusal(import_mturk, lakes, new, version=1) == (
        "batch.csv, line 2: lakes, version 1 is published and takes no new questions, such as "
        "3XE:translation. Import the batches that belong together by one command, or this one "
        "into a set of its own."
    )


def test_a_batch_with_other_words_or_an_id_that_is_too_long_is_refused(tmp_path):
    lakes = QuestionSet.objects.create(owner=world.user("otto"), name="lakes")
    long = "H" * 250
    told = refusal(import_mturk, lakes, batch(tmp_path, {"HITId": long}))
    assert told.splitlines()[0] == (
        f"batch.csv, line 2: the question '{long[:60]}...' has an id of 262 characters, more "
        "than 255."
    )
    # 250 + 1 + 7: the comment of the HIT is too long as well.
    assert "has an id of 258 characters" in told
    import_mturk(lakes, batch(tmp_path, {"HITId": "H" * 243}))
    told = refusal(
        import_mturk, lakes, batch(tmp_path, {"HITId": "H" * 243}), question_template="$sentence?"
    )
    name = "H" * 243
    assert told.splitlines()[0] == (
        f"batch.csv, line 2: lakes, version 1 has the question {name}:translation already, with "
        "another text ('sentence: Guten Tag tone of voice: formal'). Use the same template as "
        "before."
    )


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
    about = ("answers", "a.csv", "ab" * 32, "rivers", 2)
    return ImportReport(*about, **{**counts, **changes})


def test_a_report_is_told_line_by_line():
    report = report_of(
        n_empty=5, n_completed=6, n_rejected=7, n_reflagged=8, kept_aside=("mood", "seconds"),
        created={"workers": 2, "questions": 0, "passages": 1}, notes=["A note."],
        warnings=["It is late."], dry_run=True,
    )  # fmt: skip
    assert list(report.lines()) == [
        "a.csv into rivers, version 2",
        "9 answers in the file = 4 new + 3 unchanged + 2 repeated; 5 of them empty",
        "7 of them were rejected where they were collected: they are flagged, and left out of runs",
        "8 unchanged ones got the flag of the file",
        "6 questions got the text they lacked",
        "New beside them: 2 workers, 1 passages",
        "Columns kept aside: mood, seconds",
        "A note.",
        "Warning: It is late.",
        "This was a dry run: nothing was stored.",
    ]
    assert report.as_dict()["created"] == {"workers": 2, "questions": 0, "passages": 1}
    assert list(report_of().lines()) == [
        "a.csv into rivers, version 2",
        "9 answers in the file = 4 new + 3 unchanged + 2 repeated",
    ]


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
    assert (last == "Nothing changed: all of it was there already.") is not changed


def test_a_report_that_loses_rows_is_an_error():
    with pytest.raises(AssertionError, match=r"a\.csv: rows were lost or doubled"):
        report_of(n_rows=10)


def test_stored_texts_are_quoted_on_one_line_and_at_most_sixty_characters():
    assert quoted("up \n north") == "'up north'"
    assert quoted(" \n ") == "no answer"
    assert quoted("x" * 60) == repr("x" * 60)
    assert quoted("x" * 61) == repr("x" * 60 + "...")


def test_values_are_taken_in_lists_and_positions_go_on():
    assert list(chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(chunks([], 2)) == []
    assert (next_position([]), next_position([2, 7, 3])) == (1, 8)
