"""Decisions are a log: from a file whole or not at all, and the last one counts."""

import csv
import io
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotations.exchange.importing import import_mturk
from annotations.exchange.reading.source import make_bytes_source
from annotations.exchange.sentences import DECISIONS as WRONG
from annotations.ledger import decisions as deciding
from annotations.ledger.sentences import DECISIONS, LISTS
from annotations.models import Decision, QuestionSet, Worker
from annotations.panels.people import load_decisions_in_force
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
    """Nothing is kept; return the error, with status 2."""
    before = Decision.objects.count()
    with pytest.raises(CommandError) as caught:
        decide(*arguments, **options)
    assert caught.value.returncode == 2
    assert Decision.objects.count() == before
    return caught.value


def problems(*arguments, **options):
    """The problems of a file that is refused; each is told."""
    error = refused(*arguments, **options)
    found = error.__cause__.problems
    assert all(str(one) in str(error) for one in found)
    return found


def places(*arguments):
    """The line, the column and the code of each problem of a file that is refused."""
    return [(one.line, one.column, one.code) for one in problems(*arguments)]


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
    assert [
        row.submission.worker.external_id for row in load_decisions_in_force(rivers).values()
    ] == ["ben"]


def test_a_dry_run_keeps_nothing(rivers, file):
    said = decide(file(HEADER + "ada,approve,,\n"), dry_run=True)
    assert REPORTS.text("dry_run") in said
    assert not Decision.objects.exists()


def too_short(n):
    return WRONG.text("reason_too_short", least=100, n=n)


def too_long(n):
    return WRONG.text("reason_too_long", most=1000, n=n)


@pytest.mark.parametrize(
    ("row", "column", "wanted"),
    [
        ("ben,reject,OTHER," + REASON[:-1], "reason", too_short(99)),
        # 98 blanks between two letters are 3 characters for who reads it.
        ("ben,reject,OTHER,a" + " " * 98 + "b", "reason", too_short(3)),
        # Nobody sees a character without a width.
        ("ben,reject,OTHER,a" + "\u200b" * 98 + "b", "reason", too_short(2)),
        ("ben,reject,OTHER,a" + " \u200d\x07 \ufeff" * 40 + " b", "reason", too_short(3)),
        (f"ben,reject,,{REASON}", "category", WRONG.text("category_missing")),
        (f"ben,reject,AI,{REASON}", "category", WRONG.text("category_unknown", text="AI")),
        ("ben,approve,OTHER,", "category", WRONG.text("category_not_allowed")),
        ("ben,perhaps,,", "decision", WRONG.text("decision_unknown", text="perhaps")),
        ("ben,,,", "decision", WRONG.text("decision_missing")),
        (",approve,,", "worker", "panel_worker_missing"),
        ("eve,approve,,", "worker", "worker_took_no_part"),
        ("ada,reject,OTHER," + REASON, "worker", "decided_twice"),
        ("cy,approve,,", "worker", "worker_withdrew"),
        ("di,approve,,", "worker", "worker_withdrew"),
        ("ben,approve", None, "row_too_short"),
        ("ben,reject,OTHER," + "x" * 1001, "reason", too_long(1001)),
        # The panel gets the blanks too.
        ("ben,reject,OTHER," + ("x" + " " * 9) * 100 + "xx", "reason", too_long(1002)),
    ],
)
def test_a_bad_row_is_told_with_its_line_and_nothing_of_the_file_is_kept(
    rivers, file, row, column, wanted
):
    """`wanted` is the code of a problem, or the sentence of what is wrong with a decision."""
    rivers.submissions.filter(worker__external_id="cy").update(
        state="returned", withdrawn_at=timezone.now()
    )
    Worker.objects.filter(external_id="di").update(erased_at=timezone.now())
    (found,) = problems(file(f"{HEADER}ada,approve,,\n{row}\n"))
    assert (found.file, found.line, found.column) == ("decisions.csv", 3, column)
    assert wanted == (found.reason if found.code in WRONG else found.code)
    if "worker" in found.values:
        assert found.values["worker"] == row.partition(",")[0]


def test_every_bad_row_is_told_at_once(rivers, file):
    rows = "eve,approve,,\nada,approve,,\nzoe,approve,,\n"
    assert [line for line, *_ in places(file(HEADER + rows))] == [2, 4]


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
    assert [
        (line, column) for line, column, _ in places(file(HEADER + "\n".join(rows) + "\n"))
    ] == [
        (3, "worker"),
        (4, "decision"),
        # Both that there is no category of an approval, and that nobody knows Eve.
        (5, "category"),
        (5, "worker"),
        (6, "worker"),
        (7, "worker"),
        (8, None),
    ]


def test_rows_that_a_spreadsheet_left_empty_are_read_over(rivers, file):
    said = decide(file(HEADER + ",,,\nada,approve,,\n,,,\n,,,,\nben,approve,,\n"))
    assert in_file({"approve": 2}, n_new=2, n_unchanged=0) in said
    left = file(HEADER + ",,,\nada,approve,,\neve,approve,,\n")
    assert places(left) == [(4, "worker", "worker_took_no_part")]


def test_columns_that_are_not_kept_are_told(rivers, file):
    said = decide(file("worker,decision,note,Age\nada,approve,good,33\n"))
    warning = REPORTS.text("columns_left_out", names=["note", "Age"])
    assert REPORTS.text("warning", warning=warning) in said
    assert "Warning" not in decide(file(HEADER + "ben,approve,,\n"))


def test_odd_files_are_read_or_refused_with_a_reason(rivers, file):
    decide(file(b"\xef\xbb\xbf" + (HEADER + "ada,APPROVE ,,\n").encode()))
    decide(file("Worker;x;DECISION\nben;1;approve\n"))
    assert Decision.objects.filter(kind="approve").count() == 2
    (found,) = problems(file("who,decision\nada,approve\n"))
    assert (found.line, found.code, found.values["name"]) == (1, "column_missing", "worker")
    for again in ("worker", "Worker"):
        text = f"worker,{again},decision\nada,ada,approve\n"
        assert places(file(text)) == [(1, "worker", "column_twice")]
    assert places(file("")) == [(None, None, "file_empty")]
    assert places(file(HEADER)) == [(None, None, "no_decision")]


def test_who_may_not_change_the_set_decides_nothing(rivers, file):
    path = file(HEADER + "ada,approve,,\n")
    assert "'nobody'" in str(refused(path, by="nobody"))
    world.user("otto", is_staff=True)
    assert "otto may not decide" in str(refused(path, by="otto", owner="rana"))
    assert "has no version 7" in str(refused(path, in_version=7))


def test_one_id_of_two_panels_needs_the_panel(rivers, file):
    world.submission(rivers, "ada", panel="prolific")
    several = [(2, "worker", "worker_of_several_panels")]
    assert places(file(HEADER + "ada,approve,,\n")) == several
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
    (found,) = problems(file("worker,panel,decision\nada,PROLIFIC,approve\n"))
    assert (found.code, found.values["panels"]) == (
        "worker_of_several_panels", "Prolific, prolific",
    )  # fmt: skip


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


def test_mechanical_turk_gets_who_is_decided_of_where_no_assignment_is_known(
    rivers, file, tmp_path
):
    decide(file(HEADER + f"ada,approve,,\nben,reject,OTHER,{REASON}\n"))
    text, _ = exported(tmp_path, "mturk")
    assert list(csv.reader(io.StringIO(text))) == [
        ["WorkerId", "Approve", "Reject"],
        ["ada", "x", ""],
        ["ben", "", REASON],
    ]


def test_mechanical_turk_gets_its_batch_back(rana, file, tmp_path):
    batch = (
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.one,Approve,Reject\n"
        "H1,A1,W1,Submitted,Gruss,hello,,\n"
        "H1,A2,W2,Approved,Gruss,hallo,,\n"
        "H1,A3,W3,Submitted,Gruss,hi,,\n"
        "H1,A4,W4,Submitted,Gruss,hey,,\n"
        "H1,A5,W5,Rejected,Gruss,hm,,\n"
    )
    question_set = QuestionSet.objects.create(owner=rana, name="rivers")
    import_mturk(question_set, make_bytes_source("batch.csv", batch.encode()), answers=["Answer.*"])
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
        ("W5", "", ""),
    ]
    assert LISTS.text("rows", n=5, what="the batch batch.csv") in said
    assert LISTS.text("rows_approved", n=1) in said
    assert LISTS.text("rows_rejected", n=1) in said
    assert LISTS.text("rows_settled", n=2) in said
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
    first = deciding.decide_on_submission(one, rana, "approve", seen=None)
    assert deciding.decide_on_submission(one, rana, "approve", seen=None) == first
    with pytest.raises(deciding.DecidedMeanwhileError) as caught:
        deciding.decide_on_submission(one, rana, "reject", "OTHER", REASON, seen=None)
    assert caught.value.newest == first
    deciding.decide_on_submission(one, rana, "reject", "OTHER", REASON, seen=first.public_id)
    with pytest.raises(deciding.DecisionError) as wrong:
        deciding.decide_on_submission(one, rana, "reject", "", "short")
    assert [(one.field, one.code) for one in wrong.value.wrong] == [
        ("category", "category_missing"), ("reason", "reason_too_short"),
    ]  # fmt: skip
