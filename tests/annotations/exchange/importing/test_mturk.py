"""Batch results of Mechanical Turk: counts in are counts out, and rejected rows are flagged."""

import csv
from datetime import UTC, datetime

import pytest

from annotations.exchange import InputError
from annotations.exchange.importing import import_batches, import_mturk
from annotations.exchange.reading.mturk import QuestionTemplate
from annotations.models import Question, QuestionSet, Response, Submission, Worker
from tests.annotations import world
from tests.problems import check_problem, faults, only_problem, raises_problem

pytestmark = pytest.mark.django_db

ROW = {
    "HITId": "3XA",
    "HITTypeId": "T1",
    "Title": "Translate",
    "AssignmentId": "A1",
    "WorkerId": "W1",
    "AssignmentStatus": "Approved",
    "AcceptTime": "Wed Nov 15 09:11:32 PST 2023",
    "SubmitTime": "Wed Nov 15 09:12:33 PST 2023",
    "WorkTimeInSeconds": "61",
    "RequesterFeedback": "",
    "Input.sentence": "Guten Tag",
    "Input.tone of voice": "formal",
    "Answer.translation": "Good day",
    "Answer.comment": "",
}
TEMPLATE = "${Answer} of: $sentence (${tone of voice})"


def batch(folder, *changes, name="batch.csv"):
    rows = [ROW | change for change in changes or ({},)]
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return path


THREE = (
    {},
    {"WorkerId": "W2", "AssignmentStatus": "Rejected", "Answer.translation": "asdf"},
    {"HITId": "3XB", "Input.sentence": "Ade", "Answer.translation": "=bye"},
)


@pytest.fixture
def lakes():
    return QuestionSet.objects.create(owner=world.user("rana"), name="lakes")


def test_every_answer_column_of_a_hit_is_a_question(lakes, tmp_path):
    report = import_mturk(lakes, batch(tmp_path, *THREE), question_template=TEMPLATE)
    # 3 assignments x 2 columns = 6 answers, of which the 3 comments are empty.
    assert (report.n_rows, report.n_new, report.n_empty, report.n_rejected) == (6, 6, 3, 2)
    assert report.created == {"workers": 2, "questions": 4}
    assert list(Question.objects.order_by("position").values_list("external_id", "text")) == [
        ("3XA:translation", "translation of: Guten Tag (formal)"),
        ("3XA:comment", "comment of: Guten Tag (formal)"),
        ("3XB:translation", "translation of: Ade (formal)"),
        ("3XB:comment", "comment of: Ade (formal)"),
    ]
    told = "\n".join(report.lines())
    assert "3 assignments x 2 Answer columns = 6 answers" in told
    assert "Columns left out: HITTypeId, Title" in told
    assert Question.objects.first().metadata["Input.sentence"] == "Guten Tag"


def test_times_are_kept_in_utc_with_the_time_on_task(lakes, tmp_path):
    import_mturk(lakes, batch(tmp_path, *THREE))
    answer = Response.objects.get(text="Good day")
    # 09:11:32 in PST is eight hours behind UTC.
    assert answer.started_at == datetime(2023, 11, 15, 17, 11, 32, tzinfo=UTC)
    assert answer.submitted_at == datetime(2023, 11, 15, 17, 12, 33, tzinfo=UTC)
    assert answer.work_seconds == 61
    assert answer.extra == {"AssignmentId": "A1", "AssignmentStatus": "Approved"}
    first = Submission.objects.get(worker__external_id="W1")
    assert (first.started_at, first.state) == (answer.started_at, "submitted")
    assert set(Worker.objects.values_list("panel", flat=True)) == {"MTurk"}


def test_summer_time_is_seven_hours_behind(lakes, tmp_path):
    times = {"AcceptTime": "Sat Jul 01 00:00:00 PDT 2023", "SubmitTime": ""}
    import_mturk(lakes, batch(tmp_path, times))
    answer = Response.objects.first()
    assert answer.started_at == datetime(2023, 7, 1, 7, tzinfo=UTC)
    assert answer.submitted_at is None


def test_rejected_assignments_are_flagged(lakes, tmp_path):
    import_mturk(lakes, batch(tmp_path, *THREE))
    flagged = Response.objects.filter(rejected=True)
    assert {r.submission.worker.external_id for r in flagged} == {"W2"}
    assert flagged.count() == 2


def test_the_same_batch_again_changes_nothing_and_a_dry_run_stores_nothing(lakes, tmp_path):
    path = batch(tmp_path, *THREE)
    report = import_mturk(lakes, path, dry_run=True)
    assert (report.n_new, report.dry_run, Response.objects.count()) == (6, True, 0)
    import_mturk(lakes, path)
    report = import_mturk(lakes, path)
    assert (report.n_new, report.n_unchanged, report.changed) == (0, 6, False)


def test_a_batch_that_was_reviewed_since_needs_update_flags(lakes, tmp_path):
    submitted = {"AssignmentStatus": "Submitted"}
    import_mturk(lakes, batch(tmp_path, submitted))
    reviewed = batch(tmp_path, {"AssignmentStatus": "Rejected"})
    with pytest.raises(InputError) as caught:
        import_mturk(lakes, reviewed)
    assert [problem.code for problem in caught.value.problems] == ["stored_flag_differs"] * 2
    assert "--update-flags" in caught.value.problems[0].on_terminal
    assert import_mturk(lakes, reviewed, update_flags=True).n_reflagged == 2
    assert Response.objects.filter(rejected=True).count() == 2


def test_batches_that_belong_together_come_in_together_or_not_at_all(lakes, tmp_path):
    one = batch(tmp_path, {}, name="one.csv")
    two = batch(tmp_path, {"HITId": "3XC"}, name="two.csv")
    bad = batch(tmp_path, {"HITId": "3XD", "WorkerId": ""}, name="bad.csv")
    with raises_problem("assignment_id_missing", file="bad.csv", line=2, column="WorkerId"):
        import_batches(lakes, [one, bad])
    assert not Question.objects.exists()
    reports = import_batches(lakes, [one, two])
    assert [(r.file, r.n_new) for r in reports] == [("one.csv", 2), ("two.csv", 2)]
    with raises_problem("batch_into_published", line=2, question="3XE:translation"):
        import_mturk(lakes, batch(tmp_path, {"HITId": "3XE"}))


def test_without_a_template_the_input_cells_are_the_question(lakes, tmp_path):
    import_mturk(lakes, batch(tmp_path))
    assert Question.objects.first().text == "sentence: Guten Tag\ntone of voice: formal"


def test_another_template_than_before_is_refused(lakes, tmp_path):
    import_mturk(lakes, batch(tmp_path))
    with pytest.raises(InputError) as caught:
        import_mturk(lakes, batch(tmp_path), question_template=TEMPLATE)
    assert faults(caught.value) == [(2, None, "assignment_text_differs")] * 2
    assert {one.file for one in caught.value.problems} == {batch(tmp_path).name}


@pytest.mark.parametrize(
    ("changes", "column", "code", "values"),
    [
        (
            [{"WorkTimeInSeconds": "long"}],
            *("WorkTimeInSeconds", "seconds_unreadable", {"cell": "long"}),
        ),
        (
            [{}, {"Answer.translation": "x"}],
            *(None, "assignments_differ", {"question": "3XA:translation", "first_line": 2}),
        ),
    ],
)
def test_a_bad_row_is_told_with_its_line_and_nothing_is_stored(
    lakes, tmp_path, changes, column, code, values
):
    with raises_problem(code, line=1 + len(changes), column=column, **values):
        import_mturk(lakes, batch(tmp_path, *changes))
    assert not lakes.versions.exists()
    assert not Worker.objects.exists()


def test_an_unknown_field_of_the_template_is_told_with_the_known_ones(lakes, tmp_path):
    known = "${sentence}, ${tone of voice}, ${Answer}"
    with raises_problem("template_column_missing", name="word", known=known):
        import_mturk(lakes, batch(tmp_path), question_template="${word}")
    with pytest.raises(ValueError, match="is no template"):
        QuestionTemplate.parse("50 $")


def test_headings_in_any_case_are_those_of_mechanical_turk(lakes, tmp_path):
    path = batch(tmp_path, *THREE)
    header, rows = path.read_text(encoding="utf-8").split("\n", 1)
    path.write_text(f"{header.lower()}\n{rows}", encoding="utf-8")
    report = import_mturk(lakes, path, question_template=TEMPLATE)
    assert (report.n_rows, report.n_new, report.n_rejected) == (6, 6, 2)
    answer = Response.objects.get(text="Good day")
    assert answer.work_seconds == 61
    assert answer.extra == {"AssignmentId": "A1", "AssignmentStatus": "Approved"}
    assert answer.question.text == "translation of: Guten Tag (formal)"


def test_a_column_that_is_not_there_is_told_without_an_option_that_there_is_not(lakes, tmp_path):
    path = tmp_path / "batch.csv"
    path.write_text("HIT,WorkerId,Answer.one\na,b,c\n")
    with pytest.raises(InputError) as caught:
        import_mturk(lakes, path)
    problem = only_problem(caught.value)
    expected = {"name": "HITId", "suggestion": None, "option": ""}
    check_problem(problem, "column_missing", **expected)
    assert problem.on_terminal == ""
    path.write_text("HITId,hitid,WorkerId,Answer.one\na,b,c,d\n")
    with raises_problem("column_twice", column="HITId"):
        import_mturk(lakes, path)


def test_a_file_without_answers_is_no_batch(lakes, tmp_path):
    path = tmp_path / "batch.csv"
    path.write_text("HITId,WorkerId\na,b\n")
    with raises_problem("answer_columns_missing"):
        import_mturk(lakes, path)
