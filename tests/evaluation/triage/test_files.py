"""Lists for panels: only whom somebody decided of; pay is refused to nobody by the way."""

import csv
import io

import pytest
from django.urls import reverse
from django.utils import timezone

from annotations.exchange.importing import import_mturk
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import AuditEntry, QuestionSet, Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.reasons import CLOSING, REASONS
from evaluation.core.options import SITE
from evaluation.models import WorkerGrade
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.triage.batches import WITHOUT_ANSWER, accept_undecided
from evaluation.triage.messages import build_rejection_message
from evaluation.triage.report.exclusion import RunPanelLists
from evaluation.triage.report.queue import find_undecided_workers
from evaluation.triage.storage import decide_on_worker
from tests.annotations import world as people
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """w001 accepted, w002 excluded and paid, w003 excluded and rejected, w004 again, w005 open."""
    run = world.finished(n_workers=5, n_questions=2)
    decide_on_worker(run, worker("w001"), run.owner, "accept")
    decide_on_worker(run, worker("w002"), run.owner, "exclude", "copied")
    decide_on_worker(
        run, worker("w003"), run.owner, "exclude", "low_effort", "=One word each", rejects=True
    )
    decide_on_worker(run, worker("w004"), run.owner, "look")
    return run


@pytest.fixture
def rana(db):
    return people.user("rana", is_staff=True)


def worker(name):
    return Worker.objects.get(external_id=name)


def told():
    return f"Your answers show clear low effort. =One word each. {CLOSING}"


BATCH = "\n".join(
    [
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.one,Answer.two,Approve,"
        "Reject",
        *(
            f"3HIT{hit},ASG{hit}{who},W{who},{'Approved' if who == 2 else 'Submitted'},"
            f"Gruss {hit},greeting {who},hello {who} {hit}"
            for hit in (1, 2)
            for who in (1, 2, 3, 4)
        ),
    ]
)


def of_mturk(owner):
    """A run over a batch as it is downloaded: two HITs of two Answer columns; W2 is approved."""
    batch = make_bytes_source("batch.csv", BATCH.encode())
    question_set = QuestionSet.objects.create(owner=owner, name="a batch")
    import_mturk(question_set, batch, answers=["Answer.*"])
    options = AqerParameters(embedder="tfidf-word", bootstrap=0)
    run = runs.queue_run(question_set.latest_version(), owner.pk, options)
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    return run


def test_all_are_counted(run):
    files = RunPanelLists(run)
    assert (files.n_approved, files.n_paid_but_left_out, files.n_rejected) == (2, 1, 1)
    assert (files.n_again, files.n_undecided) == (1, 1)
    assert (files.has_mturk_workers, files.may_have_prolific_workers, files.by_submission) == (
        False,
        True,
        False,
    )


def test_mechanical_turk_gets_a_row_for_each_open_assignment(rana, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    run = of_mturk(rana)
    decide_on_worker(run, worker("W1"), rana, "accept")
    decide_on_worker(run, worker("W2"), rana, "accept")
    decide_on_worker(
        run, worker("W3"), rana, "exclude", "low_effort", "=One word each", rejects=True
    )
    files = RunPanelLists(run)
    table = files.build_mturk_table()
    assert table.header == (
        *("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Approve", "Reject"),
    )
    assert list(table.rows) == [
        ("3HIT1", "ASG11", "W1", "Submitted", "x", ""),
        ("3HIT2", "ASG21", "W1", "Submitted", "x", ""),
        ("3HIT1", "ASG13", "W3", "Submitted", "", told()),
        ("3HIT2", "ASG23", "W3", "Submitted", "", told()),
    ]
    assert files.n_closed == 2  # those of W2 were approved before
    assert (files.has_mturk_workers, files.may_have_prolific_workers, files.n_undecided) == (
        True,
        False,
        1,
    )


def test_a_batch_is_given_back_whole_with_two_cells_filled(rana, client, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    run = of_mturk(rana)
    decide_on_worker(run, worker("W1"), rana, "accept")
    decide_on_worker(
        run, worker("W2"), rana, "exclude", "low_effort", "One word each", rejects=True
    )
    decide_on_worker(
        run, worker("W3"), rana, "exclude", "low_effort", "=One word each", rejects=True
    )
    client.force_login(rana)
    (batch,) = RunPanelLists(run).batches
    assert batch.name == "batch.csv"
    address = reverse("admin:results-triage-file", kwargs={"run": run.public_id, "name": "mturk"})
    answer = client.get(address, {"batch": batch.public_id})
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))
    given = [line.split(",") for line in BATCH.splitlines()]
    # Every row and every cell in the order of the file: 1 and 8 rows, 9 cells each.
    assert [row[:7] for row in rows] == [row[:7] for row in given]
    assert {len(row) for row in rows} == {9}
    assert [tuple(row[7:]) for row in rows[:5]] == [
        ("Approve", "Reject"),
        ("x", ""),
        ("", ""),  # W2 was approved before, and a text would not take that back
        ("", told()),
        ("", ""),  # of W4 nobody decided
    ]
    page = client.get(reverse("admin:results-triage", args=[run.public_id])).content.decode()
    assert f"?batch={batch.public_id}" in page
    nobody = client.get(address, {"batch": run.public_id})
    assert nobody.status_code == 404


def test_one_press_fills_approve_of_all_others_in_the_whole_batch(rana, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    run = of_mturk(rana)
    decide_on_worker(
        run, worker("W3"), rana, "exclude", "low_effort", "=One word each", rejects=True
    )
    seen = find_undecided_workers(run, with_alarms=True).seen
    accept_undecided(run, rana, seen, with_alarms=True)
    (batch,) = RunPanelLists(run).batches
    rows = list(RunPanelLists(run).build_batch_table(batch.public_id).rows)
    assert [row[-2:] for row in rows[:4]] == [
        ("x", ""),
        ("", ""),  # W2 was approved before
        ("", told()),
        ("x", ""),  # and not one cell too few: nobody had decided of W4
    ]
    assert RunPanelLists(run).n_undecided == 0


def with_silent(monkeypatch):
    """Let a fifth worker send both assignments of the batch without an answer."""
    rows = [f"3HIT{hit},ASG{hit}5,W5,Submitted,Gruss {hit},,,," for hit in (1, 2)]
    monkeypatch.setattr(f"{__name__}.BATCH", "\n".join([BATCH, *rows]))


def test_who_gave_no_answer_is_named_before_one_press_fills_their_cells_too(
    rana, client, monkeypatch
):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    with_silent(monkeypatch)
    run = of_mturk(rana)
    rest = find_undecided_workers(run, with_alarms=True)
    assert rest.silent == (worker("W5").public_id,)
    assert [rest.said.values[name] for name in ("silent", "named", "again")] == [1, 0, 0]
    client.force_login(rana)
    address = reverse("admin:results-triage-accept", args=[run.public_id])
    page = client.get(address, {"alarms": "true"}).content.decode()
    warning = page[page.index("1 of them gave no answer, but would") : page.index("one by one")]
    assert "<bdi>W5</bdi>" in warning
    assert "<bdi>W1</bdi>" not in warning
    accept_undecided(run, rana, rest.seen, with_alarms=True)
    (batch,) = RunPanelLists(run).batches
    rows = list(RunPanelLists(run).build_batch_table(batch.public_id).rows)
    assert [(row[2], *row[-2:]) for row in rows[-2:]] == [("W5", "x", "")] * 2
    assert AuditEntry.objects.get(action="accept").counts[WITHOUT_ANSWER] == 1


def test_who_is_to_be_rejected_for_no_answer_is_not_accepted_with_the_others(rana, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    with_silent(monkeypatch)
    run = of_mturk(rana)
    decide_on_worker(run, worker("W5"), rana, "exclude", "skipped", rejects=True)
    rest = find_undecided_workers(run, with_alarms=True)
    assert rest.silent == ()
    assert "no answer" not in SITE.format_message(rest.said)
    accept_undecided(run, rana, rest.seen, with_alarms=True)
    (batch,) = RunPanelLists(run).batches
    *_, last = RunPanelLists(run).build_batch_table(batch.public_id).rows
    assert last[-2:] == ("", build_rejection_message("skipped", ""))


def test_the_page_counts_who_is_in_the_batch_and_not_in_the_run(rana, client, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    run = of_mturk(rana)
    decide_on_worker(run, worker("W1"), rana, "accept")
    assert RunPanelLists(run).n_outside == 0
    # The run left out W4, whose work waits, and W2, whose work was approved before.
    WorkerGrade.objects.filter(run=run, worker__external_id__in=["W2", "W4"]).update(
        weight=0, grade=None
    )
    assert RunPanelLists(run).n_outside == 1
    client.force_login(rana)
    page = client.get(reverse("admin:results-triage", args=[run.public_id])).content.decode()
    assert 'data-outside="1"' in page
    run.version.submissions.filter(worker__external_id="W4").update(
        state="returned", withdrawn_at=timezone.now()
    )
    assert RunPanelLists(run).n_outside == 0


def test_one_press_brings_all_others_into_prolific_s_list(run):
    accept_undecided(run, run.owner, find_undecided_workers(run).seen)
    # w003 is rejected, w004 is to review again.
    assert list(RunPanelLists(run).list_prolific_approvals()) == ["w001", "w002", "w005"]
    rows = RunPanelLists(run).build_decision_table()
    told_of = {row[0]: row[-1] for row in rows.rows}
    assert rows.header[-1] == "with_others"
    assert told_of == {
        **dict.fromkeys(("w001", "w002", "w003", "w004"), "false"),
        "w005": "true",
    }


def test_a_batch_that_was_downloaded_again_takes_the_place_of_the_first(rana, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    run = of_mturk(rana)
    later = BATCH.replace("Submitted", "Approved")
    question_set = run.version.question_set
    import_mturk(question_set, make_bytes_source("later.csv", later.encode()), answers=["Answer.*"])
    (batch,) = RunPanelLists(run).batches
    table = RunPanelLists(run).build_batch_table(batch.public_id)
    assert (batch.name, len(list(table.rows))) == ("later.csv", 8)
    # Who withdrew everything is in no file of ours any more.
    run.version.submissions.filter(worker__external_id="W4").delete()
    assert len(list(RunPanelLists(run).build_batch_table(batch.public_id).rows)) == 6


def test_without_ids_of_assignments_workers_are_named(run):
    Worker.objects.update(panel="MTurk")
    table = RunPanelLists(run).build_mturk_table()
    assert table.header == ("WorkerId", "Approve", "Reject")
    assert list(table.rows) == [("w001", "x", ""), ("w002", "x", ""), ("w003", "", told())]


def test_prolific_gets_ids_of_participants_or_of_submissions_never_both(run):
    assert list(RunPanelLists(run).list_prolific_approvals()) == ["w001", "w002"]
    for name in ("w001", "w002"):
        Response.objects.filter(submission__worker__external_id=name).update(
            extra={"SESSION_ID": f"session of {name}"}
        )
    assert list(RunPanelLists(run).list_prolific_approvals()) == ["w001", "w002"]
    Response.objects.filter(submission__worker__external_id="w003").update(
        extra={"Submission id": "s3"}
    )
    files = RunPanelLists(run)
    assert list(files.list_prolific_approvals()) == ["session of w001", "session of w002"]
    assert list(files.build_prolific_rejections().rows) == [("s3", "w003", "LOW_EFFORT", told())]


def test_every_reason_makes_a_message_that_prolific_takes():
    categories = {"LOW_EFFORT", "FAILED_INSTRUCTIONS", "FAILED_CHECK", "TOO_QUICKLY", "OTHER"}
    for code, reason in REASONS.items():
        for own in ("", "short"):
            assert 100 <= len(build_rejection_message(code, own)) <= 1024
        assert len(build_rejection_message(code, "x" * 600)) <= 1024
        assert reason.prolific in categories


@pytest.fixture
def site(client, run):
    run.owner.is_staff = True
    run.owner.save()
    client.force_login(run.owner)
    return client


def sent(site, run, name):
    answer = site.get(
        reverse("admin:results-triage-file", kwargs={"run": run.public_id, "name": name})
    )
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode(), answer.headers


def test_files_are_sent_safe_from_formulas_and_as_panels_take_them(site, run):
    Worker.objects.filter(external_id="w001").update(external_id="=1+1")
    text, headers = sent(site, run, "prolific-approve")
    assert text == "'=1+1\nw002\n"
    assert headers["Content-Disposition"].endswith('.txt"')
    Worker.objects.update(panel="MTurk")
    text, _ = sent(site, run, "mturk")
    rows = list(csv.reader(io.StringIO(text)))
    # No column of ours and no byte order mark: it goes back to the panel.
    assert rows[0] == ["WorkerId", "Approve", "Reject"]
    assert rows[1] == ["'=1+1", "x", ""]
    text, _ = sent(site, run, "decisions")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [row["decision"] for row in rows] == ["accept", "exclude", "exclude", "look"]
    assert rows[2]["reason"] == "'=One word each"
    assert (rows[2]["rejected"], rows[2]["by"]) == ("true", "rana")


def test_the_page_says_who_is_in_no_list(site, run):
    page = site.get(reverse("admin:results-triage", kwargs={"run": run.public_id}))
    text = page.content.decode()
    assert 'data-approved="2" data-paid="1" data-rejected="1"' in text
    assert 'data-again="1" data-undecided="1"' in text
