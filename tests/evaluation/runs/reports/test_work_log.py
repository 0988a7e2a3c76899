"""The log of a run's tasks: what each process did, and who is shown it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from evaluation.models import Run, RunTask
from evaluation.runs.background.progress import compute_progress
from evaluation.runs.reports.work_log import count_tasks, read_work_log
from evaluation.runs.steps.run_tasks import WAITS_FOR_TASKS
from tests.annotations import world

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


@pytest.fixture
def run():
    version = world.version(world.user("rana", is_staff=True))
    return Run.objects.create(
        owner=version.question_set.owner, version=version, state="running", attempt=2,
        started_at=NOON, lease_until=NOON, lease_owner=WAITS_FOR_TASKS, stage="embedding",
        done=30, total=100,
    )  # fmt: skip


@pytest.fixture
def tasks(run):
    def add(number, state, process="", attempt=2, **changed):
        is_open = state in ("waiting", "running")
        begun = state != "waiting"
        return RunTask.objects.create(
            **{
                "run": run, "run_attempt": attempt, "number": number, "kind": "embedding",
                "subject": "minilm float32", "lane": "computing", "n_items": 10, "state": state,
                "process": process, "attempt": int(begun), "payload": {} if is_open else None,
                "started_at": NOON + timedelta(seconds=number) if begun else None,
                "ended_at": None if is_open else NOON + timedelta(seconds=number + 3),
                "lease_until": NOON if state == "running" else None, "seconds": 2.5, **changed,
            }
        )  # fmt: skip

    return [
        add(0, "cancelled", "host:1", attempt=1),
        add(0, "done", "host:1"),
        add(1, "done", "host:2"),
        add(2, "done", "host:1", crashes=1),
        add(3, "running", "host:2"),
        add(4, "waiting"),
    ]


def test_the_log_sums_up_what_each_process_did(run, tasks):
    log = read_work_log(run)
    assert log.n_tasks == 6
    assert [(row.process, row.n_tasks, row.n_items, row.seconds) for row in log.processes] == [
        ("host:1", 3, 20, 7.5),
        ("host:2", 2, 10, 5.0),
    ]
    assert (log.processes[0].first, log.processes[0].last) == (NOON, NOON + timedelta(seconds=5))
    assert [(row.number, row.state, row.seconds, row.crashes) for row in log.tasks] == [
        (5, "Waiting", None, 0),
        (4, "Running", None, 0),
        (3, "Done", 3.0, 1),
        (2, "Done", 3.0, 0),
        (1, "Done", 3.0, 0),
        (1, "Cancelled", 3.0, 0),
    ]


def test_a_run_without_tasks_has_no_log(run):
    assert read_work_log(run) is None


def test_progress_counts_the_tasks_of_the_present_attempt(run, tasks):
    counts = count_tasks(run)
    assert (counts.total, counts.done, counts.running) == (5, 3, 1)
    assert counts.format_counts() in compute_progress(run).line
    Run.objects.update(lease_owner="host:1")
    run.refresh_from_db()
    assert counts.format_counts() not in compute_progress(run).line


def test_operators_see_the_log_on_the_page_of_the_run_and_requesters_do_not(client, run, tasks):
    address = reverse("admin:run", args=[run.public_id])
    client.force_login(run.owner)
    page = client.get(address)
    assert page.context["work_log"] is None
    assert "host:1" not in page.content.decode()
    client.force_login(world.user("olga", is_superuser=True))
    page = client.get(address).content.decode()
    assert "host:1" in page
    assert "host:2" in page


def test_operators_see_the_tasks_of_all_runs_and_no_texts(client, run, tasks):
    RunTask.objects.filter(pk=tasks[-1].pk).update(payload={"texts": ["secret answer"]})
    address = reverse("admin:evaluation_runtask_changelist")
    client.force_login(run.owner)
    assert client.get(address).status_code == 403
    client.force_login(world.user("olga", is_superuser=True))
    page = client.get(address, {"q": "host:1"})
    shown = page.content.decode()
    assert page.status_code == 200
    assert shown.count("host:1") >= 3
    assert "host:2" not in shown
    assert "secret answer" not in shown
    assert reverse("admin:run", args=[run.public_id]) in shown
