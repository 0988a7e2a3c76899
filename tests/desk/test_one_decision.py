"""A worker has one decision: triage and “Pay people” show, download and take back the same one."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.exchange.reading.source import make_bytes_source
from annotations.ledger import decisions as ledger
from annotations.ledger.files import import_decisions
from annotations.models import Decision, Share, Submission, Worker
from evaluation.models import Run, WorkerVerdict
from evaluation.payments.report import PaymentRecords
from evaluation.runs.background.exclusions import list_excluded_ids
from evaluation.runs.reports.verdicts import load_current_verdicts
from evaluation.triage import batches, storage
from evaluation.triage.report.queue import find_undecided_workers
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db
REASON = (
    "You left most of the questions without an answer, although the task asks for one each. " * 2
)
REJECTION = {"category": "LOW_EFFORT", "reason": REASON.strip()}


@pytest.fixture
def run(rana, client):
    client.force_login(rana)
    return world.finished(n_workers=6, n_questions=2, owner=rana)


def worker(name):
    return Worker.objects.get(external_id=name)


def submission(name):
    return Submission.objects.get(worker__external_id=name)


def triage(run, name=None, end=""):
    ids = {"run": run.public_id}
    if name is None:
        return reverse("admin:results-triage", kwargs=ids)
    return reverse("admin:results-triage-worker", kwargs=ids | {"worker": worker(name).public_id})


def paying(run, name=None):
    question_set = run.version.question_set.public_id
    if name is None:
        return reverse("admin:paying", args=[question_set])
    return reverse("admin:paying-person", args=[question_set, submission(name).public_id])


def shown(run, name):
    """The decision in triage and on “Pay people”, each as read from the database."""
    verdict = load_current_verdicts(run).get(worker(name).public_id)
    row = PaymentRecords(run.version).load_row(submission(name).public_id)
    in_triage = "" if verdict is None else verdict.kind + ("+reject" if verdict.rejects else "")
    if not row.is_decided:
        return in_triage, "open"
    return in_triage, "exclude" if row.is_excluded else row.decision.kind


def downloads(client, run, name):
    """The headers and the content of a list, from triage and from “Pay people”."""
    addresses = (
        reverse("admin:results-triage-file", kwargs={"run": run.public_id, "name": name}),
        reverse("admin:paying-list", args=[run.version.question_set.public_id, name]),
    )
    answers = [client.get(address) for address in addresses]
    return [
        (answer.headers["Content-Disposition"], b"".join(answer.streaming_content))
        for answer in answers
    ]


@pytest.mark.medium
def test_28_accepted_and_3_excluded_in_triage_are_so_on_pay_people_and_in_one_list(rana, client):
    client.force_login(rana)
    run = world.finished(n_workers=31, n_questions=2, owner=rana)
    for name in ("w029", "w030", "w031"):
        posted = {"do": "exclude", "category": "low_effort", "seen": ""}
        assert client.post(triage(run, name), posted).status_code == 302
    seen = find_undecided_workers(run).seen
    accept = reverse("admin:results-triage-accept", kwargs={"run": run.public_id})
    assert client.post(accept, {"seen": seen}).status_code == 302
    counts = client.get(paying(run)).context["counts"]
    assert (counts["open"], counts["accept"], counts["exclude"], counts["reject"]) == (0, 28, 3, 0)
    assert len(client.get(paying(run) + "?decided=exclude").context["rows"]) == 3
    assert client.get(paying(run) + "?decided=accept").context["page"].count == 28
    assert client.get(triage(run)).context["files"].n_paid_but_left_out == 3
    for name in ("prolific-approve", "prolific-reject"):
        of_triage, of_pay = downloads(client, run, name)
        assert of_triage == of_pay
    (_, content), _ = downloads(client, run, "prolific-approve")
    assert len(content.split()) == 31


@pytest.mark.medium
def test_a_rejection_on_pay_people_excludes_and_rejects_in_triage(run, client):
    posted = {"do": "reject", "seen": "", **REJECTION}
    assert client.post(paying(run, "w001"), posted).status_code == 302
    assert shown(run, "w001") == ("exclude+reject", "reject")
    verdict = load_current_verdicts(run)[worker("w001").public_id]
    assert (verdict.category, verdict.reason) == ("low_effort", REASON.strip())
    assert list_excluded_ids(run.version) == ("w001",)
    assert client.get(triage(run, "w001")).context["verdict"].rejects
    of_triage, of_pay = downloads(client, run, "prolific-reject")
    assert of_triage == of_pay
    assert REASON.strip().encode() in of_pay[1]


@pytest.mark.parametrize(
    ("kind", "values", "wanted"),
    [
        ("accept", (), ("accept", "approve")),
        ("look", (), ("look", "open")),
        ("exclude", ("copied",), ("exclude", "exclude")),
        ("exclude", ("low_effort", "", True), ("exclude+reject", "reject")),
    ],
)
def test_each_decision_of_triage_is_in_the_log_and_taken_back_there(run, kind, values, wanted):
    storage.decide_on_worker(run, worker("w001"), run.owner, kind, *values)
    assert shown(run, "w001") == wanted
    storage.take_back_verdict(run, worker("w001"), run.owner)
    assert shown(run, "w001") == ("", "open")


def test_what_is_taken_back_in_triage_brings_back_the_message_of_pay_people(run):
    ledger.decide_on_submission(submission("w001"), run.owner, "reject", "NO_DATA", REASON)
    storage.decide_on_worker(run, worker("w001"), run.owner, "accept")
    assert shown(run, "w001") == ("accept", "approve")
    storage.take_back_verdict(run, worker("w001"), run.owner)
    assert shown(run, "w001") == ("exclude+reject", "reject")
    newest = Decision.objects.order_by("pk").last()
    assert (newest.category, newest.reason) == ("NO_DATA", REASON.strip())


def test_open_again_on_pay_people_takes_back_what_triage_decided(run, client):
    storage.decide_on_worker(run, worker("w001"), run.owner, "look")
    storage.decide_on_worker(run, worker("w001"), run.owner, "accept")
    storage.decide_on_worker(run, worker("w001"), run.owner, "exclude", "copied")
    seen = Decision.objects.order_by("pk").last().public_id
    assert client.post(paying(run, "w001"), {"do": "open", "seen": seen}).status_code == 302
    assert shown(run, "w001") == ("look", "open")
    assert list_excluded_ids(run.version) == ()


def test_an_approval_leaves_an_exclusion_that_is_paid_and_lifts_a_rejection(run):
    for name, rejects in (("w001", False), ("w002", True)):
        storage.decide_on_worker(
            run, worker(name), run.owner, "exclude", "low_effort", rejects=rejects
        )
        ledger.decide_on_submission(submission(name), run.owner, "approve")
    assert shown(run, "w001") == ("exclude", "exclude")
    assert shown(run, "w002") == ("accept", "approve")


def test_neither_side_repeats_the_other(run):
    storage.decide_on_worker(
        run, worker("w001"), run.owner, "exclude", "low_effort", "=a.", rejects=True
    )
    ledger.decide_on_submission(submission("w002"), run.owner, "reject", **REJECTION)
    ledger.decide_on_submission(submission("w003"), run.owner, "approve")
    assert WorkerVerdict.objects.count() == Decision.objects.count() == 3


@pytest.mark.medium
def test_a_batch_is_in_the_log_and_taken_back_as_one(run):
    batch = batches.accept_undecided(run, run.owner, find_undecided_workers(run).seen)
    assert {shown(run, f"w00{n}") for n in range(1, 7)} == {("accept", "approve")}
    storage.decide_on_worker(run, worker("w002"), run.owner, "exclude", "copied")
    batches.take_back_accepted_batch(run, run.owner, batch.id)
    assert shown(run, "w001") == ("", "open")
    assert shown(run, "w002") == ("exclude", "exclude")


def test_decisions_of_a_file_show_in_triage_and_a_dry_run_shows_nothing(run):
    text = f'worker,decision,category,reason\nw001,approve,,\nw002,reject,OTHER,"{REASON}"\n'
    for dry_run, wanted in ((True, ("", "open")), (False, ("exclude+reject", "reject"))):
        source = make_bytes_source("decisions.csv", text.encode())
        import_decisions(run.version, source, run.owner, dry_run=dry_run)
        assert shown(run, "w002") == wanted
    assert shown(run, "w001") == ("accept", "approve")


def test_a_decision_over_rest_is_the_same_one_on_either_side(run, rana):
    api = APIClient()
    api.force_authenticate(rana)
    question_set = run.version.question_set.public_id
    pay = f"{reverse('api:paying', args=[question_set])}people/{submission('w001').public_id}/"
    assert api.post(pay, {"decision": "approve", "seen": None}, format="json").status_code == 200
    link = f"/api/v1/runs/{run.public_id}/results/triage/{worker('w001').public_id}/"
    (entry,) = api.get(link).json()["history"]
    assert (entry["kind"], entry["by"]) == ("accept", "rana")
    body = {"verdict": "exclude", "category": "copied", "rejects": True, "seen": entry["id"]}
    assert api.post(link, body, format="json").status_code == 200
    assert api.get(pay).json()["decision"]["decision"] == "reject"


def test_another_run_of_the_version_shows_the_same_decision(run):
    later = world.another(run)
    storage.decide_on_worker(run, worker("w001"), run.owner, "accept")
    assert shown(later, "w001") == ("accept", "approve")
    storage.take_back_verdict(later, worker("w001"), run.owner)
    assert shown(run, "w001") == ("", "open")


def test_nothing_is_logged_of_who_withdrew(run):
    Submission.objects.filter(worker__external_id="w001").update(
        state="returned", withdrawn_at=run.created_at
    )
    storage.decide_on_worker(run, worker("w001"), run.owner, "exclude", "copied")
    assert not Decision.objects.exists()


def test_a_viewer_sees_the_decision_of_pay_people_and_decides_on_neither_page(run, client):
    ledger.decide_on_submission(submission("w001"), run.owner, "reject", **REJECTION)
    vera = User.objects.create(username="vera", is_staff=True)
    Share.objects.create(question_set=run.version.question_set, user=vera, role="viewer")
    client.force_login(vera)
    assert client.get(triage(run, "w001")).context["verdict"].rejects
    for address, action in ((triage(run, "w001"), "accept"), (paying(run, "w001"), "approve")):
        assert client.post(address, {"do": action}).status_code == 403
    assert shown(run, "w001") == ("exclude+reject", "reject")


@pytest.mark.medium
def test_who_opened_one_page_is_told_what_was_decided_on_the_other(run, client):
    ledger.decide_on_submission(submission("w001"), run.owner, "reject", **REJECTION)
    assert client.post(triage(run, "w001"), {"do": "accept", "seen": ""}).status_code == 409
    storage.decide_on_worker(run, worker("w002"), run.owner, "accept")
    posted = {"do": "reject", "seen": "", **REJECTION}
    assert client.post(paying(run, "w002"), posted).status_code == 409
    assert shown(run, "w001") == ("exclude+reject", "reject")
    assert shown(run, "w002") == ("accept", "approve")


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_on_both_pages_one_is_kept():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer, and in memory one connection")
    run = world.finished()
    start, told = threading.Barrier(6), []

    def once(at):
        try:
            start.wait(30)
            if at % 2:
                graded = Run.objects.get(pk=run.pk)
                storage.decide_on_worker(
                    graded, worker("w001"), run.owner, "exclude", "copied", seen=None
                )
            else:
                ledger.decide_on_submission(
                    submission("w001"), run.owner, "reject", seen=None, **REJECTION
                )
            told.append("kept")
        except (storage.DecidedMeanwhileError, ledger.DecidedMeanwhileError):
            told.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=once, args=(at,)) for at in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    # The same decision once more changes nothing and is no conflict.
    assert sorted(told) == [*["kept"] * 3, *["refused"] * 3]
    assert Decision.objects.count() == WorkerVerdict.objects.count() == 1


def test_pay_people_begins_with_what_needs_a_look(run, client):
    Submission.objects.filter(worker__external_id="w004").update(failed_checks=True)
    storage.decide_on_worker(run, worker("w001"), run.owner, "accept")
    names = [row.name for row in client.get(paying(run)).context["rows"]]
    assert (names[0], names[-1]) == ("w004", "w001")
