"""Decisions are a log: from a file whole or not at all, and the last one counts."""

import csv
import io
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotations.exchange.importing import import_mturk
from annotations.exchange.reading.source import bytes_source
from annotations.exchange.sentences import DECISIONS as WRONG
from annotations.ledger import deciding
from annotations.ledger.sentences import DECISIONS, LISTS, PAYMENTS
from annotations.models import Decision, QuestionSet, Worker
from annotations.panels.people import standing
from annotations.panels.sentences import REPORTS
from tests.annotations import world

pytestmark = pytest.mark.django_db

# 100 characters: "The answer repeats the question " (32) + 68 points.
REASON = "The answer repeats the question " + "." * 68
HEADER = "worker,decision,category,reason\n"


@pytest.fixture
def rana():
    return world.user("rana", is_staff=True)


@pytest.fixture
def rivers(rana):
    """Ada, Ben, Cy and Di took part."""
    version = world.version(rana)
    for name in ("ada", "ben", "cy", "di"):
        world.submission(version, name)
    return version


@pytest.fixture
def file(tmp_path):
    def write(text, name="decisions.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def decide(file, by="rana", **options):
    out = StringIO()
    call_command("decide", "rivers", file=file, by=by, stdout=out, **options)
    return out.getvalue()


def refused(*arguments, **options):
    before = Decision.objects.count()
    with pytest.raises(CommandError) as caught:
        decide(*arguments, **options)
    assert caught.value.returncode == 2
    assert Decision.objects.count() == before
    return str(caught.value)


def exported(tmp_path, form, **options):
    path, out = tmp_path / f"out-{form}", StringIO()
    call_command("export_decisions", "rivers", format=form, output=path, stdout=out, **options)
    return path.read_bytes().decode(), out.getvalue()


def in_file(kinds, n_new, n_unchanged):
    counts = {"n": sum(kinds.values()), "kinds": kinds, "n_new": n_new}
    return DECISIONS.text("decisions_in_file", **counts, n_unchanged=n_unchanged)


def test_a_reason_of_this_test_has_100_characters():
    assert len(REASON) == 100


def test_decisions_of_a_file_are_rows_with_who_when_and_why(rivers, file):
    said = decide(file(HEADER + f"ada,approve,,\nben,reject,low effort,{REASON}\n"))
    assert in_file({"approve": 1, "reject": 1}, n_new=2, n_unchanged=0) in said
    row = Decision.objects.get(kind="reject")
    assert (row.category, row.reason, row.decided_by.username) == ("LOW_EFFORT", REASON, "rana")
    assert row.submission.worker.external_id == "ben"
    assert abs((timezone.now() - row.created_at).total_seconds()) < 3600


def test_the_same_file_again_adds_nothing_and_the_last_decision_counts(rivers, file):
    path = file(HEADER + f"ada,approve,,\nben,reject,OTHER,{REASON}\n")
    decide(path)
    assert "= 0 new + 2 unchanged" in decide(path)
    decide(file(HEADER + "ben,approve,,\nada,open,,\n"))
    # Two rows, and two that came on top: none was changed.
    assert [row.kind for row in Decision.objects.order_by("pk")] == [
        *("approve", "reject", "approve", "open"),
    ]
    assert [row.submission.worker.external_id for row in standing(rivers).values()] == ["ben"]


def test_a_dry_run_keeps_nothing(rivers, file):
    said = decide(file(HEADER + "ada,approve,,\n"), dry_run=True)
    assert REPORTS.text("dry_run") in said
    assert not Decision.objects.exists()


def category(code, **values):
    return "column category: " + WRONG.text(code, **values)


def too_short(n):
    return "column reason: " + WRONG.text("reason_too_short", least=100, n=n)


def too_long(n):
    return "column reason: " + WRONG.text("reason_too_long", most=1000, n=n)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("ben,reject,OTHER," + REASON[:-1], too_short(99)),
        # 98 blanks between two letters are 3 characters for who reads it.
        ("ben,reject,OTHER,a" + " " * 98 + "b", too_short(3)),
        # Nobody sees a character without a width.
        ("ben,reject,OTHER,a" + "\u200b" * 98 + "b", too_short(2)),
        ("ben,reject,OTHER,a" + " \u200d\x07 \ufeff" * 40 + " b", too_short(3)),
        (f"ben,reject,,{REASON}", category("category_missing")),
        (
            f"ben,reject,AI,{REASON}",
            category("category_unknown", text="AI"),
        ),
        ("ben,approve,OTHER,", category("category_not_allowed")),
        ("ben,perhaps,,", "column decision: " + WRONG.text("decision_unknown", text="perhaps")),
        ("ben,,,", "column decision: " + WRONG.text("decision_missing")),
        (",approve,,", "column worker: "),
        ("eve,approve,,", "column worker: eve took no part"),
        ("ada,reject,OTHER," + REASON, "column worker: ada stands in line 2"),
        ("cy,approve,,", "column worker: " + PAYMENTS.text("withdrawn", worker="cy")),
        ("di,approve,,", "column worker: " + PAYMENTS.text("withdrawn", worker="di")),
        ("ben,approve", "line 3: the row has 2 fields"),
        ("ben,reject,OTHER," + "x" * 1001, too_long(1001)),
        # The panel gets the blanks too.
        ("ben,reject,OTHER," + ("x" + " " * 9) * 100 + "xx", too_long(1002)),
    ],
)
def test_a_bad_row_is_told_with_its_line_and_nothing_of_the_file_is_kept(rivers, file, row, said):
    rivers.submissions.filter(worker__external_id="cy").update(
        state="returned", withdrawn_at=timezone.now()
    )
    Worker.objects.filter(external_id="di").update(erased_at=timezone.now())
    message = refused(file(f"{HEADER}ada,approve,,\n{row}\n"))
    assert "decisions.csv, line 3" in message
    assert said in message


def test_every_bad_row_is_told_at_once(rivers, file):
    message = refused(file(HEADER + "eve,approve,,\nada,approve,,\nzoe,approve,,\n"))
    assert "line 2" in message
    assert "line 4" in message


def test_what_is_wrong_with_a_row_and_with_its_worker_is_told_at_once_in_order_of_lines(
    rivers, file
):
    rivers.submissions.filter(worker__external_id="cy").update(
        state="returned", withdrawn_at=timezone.now()
    )
    rows = (
        *("ada,approve,,", "cy,approve,,", "ben,perhaps,,", "eve,approve,OTHER,"),
        *(",approve,,", "zoe,approve,,", "di,approve"),
    )
    lines = refused(file(HEADER + "\n".join(rows) + "\n")).splitlines()
    assert [line.partition(": ")[0].removeprefix("decisions.csv, ") for line in lines] == [
        "line 3, column worker",
        "line 4, column decision",
        # Both that there is no category of an approval, and that nobody knows Eve.
        "line 5, column category",
        "line 5, column worker",
        "line 6, column worker",
        "line 7, column worker",
        "line 8",
    ]


def test_rows_that_a_spreadsheet_left_empty_are_read_over(rivers, file):
    said = decide(file(HEADER + ",,,\nada,approve,,\n,,,\n,,,,\nben,approve,,\n"))
    assert in_file({"approve": 2}, n_new=2, n_unchanged=0) in said
    assert "decisions.csv, line 4, column worker: eve" in refused(
        file(HEADER + ",,,\nada,approve,,\neve,approve,,\n")
    )


def test_columns_that_are_not_kept_are_told(rivers, file):
    said = decide(file("worker,decision,note,Age\nada,approve,good,33\n"))
    warning = REPORTS.text("columns_left_out", names=["note", "Age"])
    assert REPORTS.text("warning", warning=warning) in said
    assert "Warning" not in decide(file(HEADER + "ben,approve,,\n"))


def problem_of(message):
    """What is said of the whole file, in the first sentence."""
    file, _, said = message.partition(": ")
    assert file.partition(",")[0] == "decisions.csv"
    return said.partition(". ")[0]


def test_odd_files_are_read_or_refused_with_a_reason(rivers, file):
    decide(file(b"\xef\xbb\xbf" + (HEADER + "ada,APPROVE ,,\n").encode()))
    decide(file("Worker;x;DECISION\nben;1;approve\n"))
    assert Decision.objects.filter(kind="approve").count() == 2
    assert "column worker" in problem_of(refused(file("who,decision\nada,approve\n")))
    for again in ("worker", "Worker"):
        text = f"worker,{again},decision\nada,ada,approve\n"
        assert "number 1 and 2" in problem_of(refused(file(text)))
    assert "empty" in problem_of(refused(file("")))
    assert "decision" in problem_of(refused(file(HEADER)))


def test_who_may_not_change_the_set_decides_nothing(rivers, file):
    path = file(HEADER + "ada,approve,,\n")
    assert "'nobody'" in refused(path, by="nobody")
    world.user("otto", is_staff=True)
    assert "otto may not decide" in refused(path, by="otto", owner="rana")
    assert "has no version 7" in refused(path, in_version=7)


def test_one_id_of_two_panels_needs_the_panel(rivers, file):
    world.submission(rivers, "ada", panel="prolific")
    assert "several panels" in refused(file(HEADER + "ada,approve,,\n"))
    decide(file("worker,panel,decision\nada,prolific,approve\n"))
    assert Decision.objects.get().submission.worker.panel == "prolific"
    decide(file("worker,panel,decision\nada,Prolific,open\nada,(none),approve\n"))
    assert [(one.kind, one.submission.worker.panel) for one in Decision.objects.order_by("pk")] == [
        ("approve", "prolific"), ("open", "prolific"), ("approve", ""),
    ]  # fmt: skip


def test_a_bonus_of_who_is_rejected_in_the_same_row_is_told(rivers, file):
    said = decide(
        file(
            f"worker,decision,category,reason,bonus\nada,reject,OTHER,{REASON},2.00\nben,approve,,,1\n"
        )
    )
    assert DECISIONS.text("bonus_of_rejected", n=1) in said
    rows = f"ben,reject,OTHER,{REASON},1\n"
    said = decide(file("worker,decision,category,reason,bonus\n" + rows))
    assert DECISIONS.text("held_bonus_of_rejected", n=1) in said
    assert DECISIONS.text("bonus_of_rejected", n=1) not in said


def test_panels_that_differ_in_case_alone_are_told_apart_by_the_exact_name(rivers, file):
    for panel in ("Prolific", "prolific"):
        world.submission(rivers, "ada", panel=panel)
    decide(file("worker,panel,decision\nada,Prolific,approve\nada,prolific,open\n"))
    assert [(one.kind, one.submission.worker.panel) for one in Decision.objects.order_by("pk")] == [
        ("approve", "Prolific"), ("open", "prolific"),
    ]  # fmt: skip
    assert "several panels" in refused(file("worker,panel,decision\nada,PROLIFIC,approve\n"))


def test_a_bulleted_reason_is_read_as_it_was_written(rivers, file, tmp_path):
    reason = f"Rejected for two reasons:\n- no answer\n- no code\n=1+1 {REASON}"
    decide(file(f'{HEADER}ada,reject,OTHER,"{reason}"\n'))
    ((*_, message),) = list(csv.reader(io.StringIO(exported(tmp_path, "prolific-reject")[0])))[1:]
    # A dash is no formula for any spreadsheet; what could be one is defused as before.
    assert message == f"Rejected for two reasons:\n– no answer\n– no code\n'=1+1 {REASON}"


def test_the_lists_hold_whom_somebody_decided_of_and_run_no_formula(rivers, file, tmp_path):
    world.submission(rivers, "=1+1")
    reason = "=SUM(A1) " + REASON
    decide(file(HEADER + f"ada,approve,,\n=1+1,approve,,\nben,reject,TOO_QUICKLY,{reason}\n"))
    text, said = exported(tmp_path, "prolific-approve")
    assert text == "'=1+1\nada\n"
    assert LISTS.text("to_approve", n=2, ids="participants") in said
    assert LISTS.text("undecided", n=2) in said  # Cy and Di
    text, _ = exported(tmp_path, "prolific-reject")
    assert list(csv.reader(io.StringIO(text))) == [
        ["submission_id", "participant_id", "rejection_category", "message"],
        ["", "ben", "TOO_QUICKLY", "'" + reason],
    ]
    text, _ = exported(tmp_path, "log")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [(row["worker"], row["decision"], row["counts"]) for row in rows] == [
        ("ada", "approve", "true"), ("'=1+1", "approve", "true"), ("ben", "reject", "true"),
    ]  # fmt: skip


def test_who_came_with_a_session_is_named_by_it(rivers, file, tmp_path):
    for one in rivers.submissions.filter(worker__external_id__in=["ada", "ben"]):
        for again in ("first", "last"):
            one.panel_sessions.create(session_id=f"{again} of {one.worker}")
    decide(file(HEADER + f"ada,approve,,\nben,reject,OTHER,{REASON}\n"))
    assert exported(tmp_path, "prolific-approve")[0] == "last of ada\n"
    assert "last of ben,ben,OTHER" in exported(tmp_path, "prolific-reject")[0]


def test_mechanical_turk_gets_its_batch_back(rana, file, tmp_path):
    batch = (
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.one,Approve,Reject\n"
        "H1,A1,W1,Submitted,Gruss,hello,,\n"
        "H1,A2,W2,Approved,Gruss,hallo,,\n"
        "H1,A3,W3,Submitted,Gruss,hi,,\n"
        "H1,A4,W4,Submitted,Gruss,hey,,\n"
    )
    question_set = QuestionSet.objects.create(owner=rana, name="rivers")
    import_mturk(question_set, bytes_source("batch.csv", batch.encode()), answers=["Answer.*"])
    rows = f"W1,approve,,\nW2,approve,,\nW3,reject,OTHER,{REASON}\n"
    decide(file(HEADER + rows))
    text, said = exported(tmp_path, "mturk")
    found = list(csv.reader(io.StringIO(text)))
    assert found[0] == batch.splitlines()[0].split(",")
    assert [(row[2], *row[-2:]) for row in found[1:]] == [
        ("W1", "x", ""),
        ("W2", "", ""),  # approved before the batch was downloaded
        ("W3", "", REASON),
        ("W4", "", ""),
    ]
    assert LISTS.text("rows", n=4, what="the batch batch.csv") in said
    assert LISTS.text("rows_approved", n=1) in said
    assert LISTS.text("rows_rejected", n=1) in said
    assert LISTS.text("rows_settled", n=1) in said
    assert LISTS.text("rows_undecided", n=1) + "\n" in said
    with pytest.raises(CommandError) as caught:
        exported(tmp_path, "mturk", batch="other.csv")
    assert caught.value.__cause__.reason == "no_such_batch"
    assert "'other.csv'" in str(caught.value)
    assert "batch.csv (" in str(caught.value)


@pytest.mark.parametrize("written", [str.lower, str.upper])
def test_mechanical_turk_gets_its_own_headings_back_however_they_came(
    rana, file, tmp_path, written
):
    names = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.one,Approve,Reject"
    rows = "H1,A1,W1,Submitted,Gruss,hello\n,,,,,\nH1,A2,W2,Approved,Gruss,hallo,,\n"
    path, out = file(f"{written(names)}\n{rows}", "batch.csv"), StringIO()
    call_command("import_mturk", "rivers", path, owner="rana", answers=["Answer.*"], stdout=out)
    assert "2 assignments x 1 Answer columns = 2 answers" in out.getvalue()
    assert set(Worker.objects.values_list("panel", flat=True)) == {"MTurk"}
    decide(file(HEADER + "W1,approve,,\nW2,approve,,\n"))
    text, _ = exported(tmp_path, "mturk")
    found = list(csv.DictReader(io.StringIO(text)))
    wanted = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Approve", "Reject")
    assert [tuple(row[name] for name in wanted) for row in found] == [
        ("H1", "A1", "W1", "Submitted", "x", ""),
        ("H1", "A2", "W2", "Approved", "", ""),
    ]


def test_one_who_decides_on_an_old_page_is_told_what_somebody_else_decided(rivers, rana):
    one = rivers.submissions.first()
    first = deciding.decide(one, rana, "approve", seen=None)
    assert deciding.decide(one, rana, "approve", seen=None) == first
    with pytest.raises(deciding.DecidedMeanwhileError) as caught:
        deciding.decide(one, rana, "reject", "OTHER", REASON, seen=None)
    assert caught.value.newest == first
    deciding.decide(one, rana, "reject", "OTHER", REASON, seen=first.public_id)
    with pytest.raises(deciding.DecisionError) as wrong:
        deciding.decide(one, rana, "reject", "", "short")
    assert [(one.field, one.code) for one in wrong.value.wrong] == [
        ("category", "category_missing"), ("reason", "reason_too_short"),
    ]  # fmt: skip
