"""A worker that is stuck is ended from outside, whatever it is stuck in."""

import pytest

from evaluation.models import Run
from evaluation.runs.background import process_guard
from evaluation.runs.background.leases import claim_next_run
from evaluation.runs.background.process_guard import ENDED, GRACE_SECONDS, ReportedWork
from tests.annotations import world
from tests.evaluation.runs.background.scratch import Scratch, wait_until
from tests.numbers import numbers_in

CHANGE = """
from evaluation.runs.background import runs
from evaluation.models import Run
Run.objects.filter(pk=RUN).update(kind="stuck", parameters={})
result = runs.cancel_run(Run.objects.get(pk=RUN)) if CANCEL else None
"""


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def run(db, settings):
    settings.STALL_SECONDS = 900
    version = world.version(world.user("rana"))
    return Run.objects.create(owner=version.question_set.owner, version=version)


@pytest.fixture
def clock():
    return Clock()


def line_of(claim):
    return f"{claim.run_id} {claim.attempt}"


@pytest.fixture
def watch(run, clock):
    """A watch over a worker that has just begun with the run."""
    watch = ReportedWork(clock)
    watch.read_line(line_of(claim_next_run("ann")))
    return watch


def test_signs_of_progress_keep_a_worker_and_their_end_fails_the_run_with_what_to_do(
    run, watch, clock
):
    for _ in range(5):
        clock.now += 899
        assert not watch.decide_kill()
        watch.read_line(f"{run.pk} 1")
    Run.objects.update(stage="embedding", done=1200, total=5000)
    clock.now += 900
    assert watch.decide_kill()
    run.refresh_from_db()
    assert (run.state, run.lease_until) == ("failed", None)
    # 900 s are 15 minutes.
    assert numbers_in(run.error) == ["15", "1,200", "5,000"]
    assert "embedding" in run.error


@pytest.mark.parametrize("change", [{"state": "paused", "lease_until": None, "lease_owner": ""}])
def test_a_worker_that_lost_its_run_has_some_seconds_to_notice(run, watch, clock, change):
    Run.objects.update(**change)
    assert not watch.decide_kill()
    clock.now += GRACE_SECONDS - 1
    assert not watch.decide_kill()
    clock.now += 1
    assert watch.decide_kill()
    run.refresh_from_db()
    assert run.state == "paused"  # nothing is said of a run that is not the worker's any more


def test_a_worker_that_lost_its_run_and_let_it_go_is_not_ended(run, watch, clock):
    Run.objects.update(attempt=2)
    assert not watch.decide_kill()
    watch.read_line(f"{ENDED}{run.pk} 1")
    clock.now += 10_000
    assert not watch.decide_kill()


def test_other_runs_of_a_stuck_process_go_back_to_the_queue_and_count_no_crash(run, watch, clock):
    other = Run.objects.create(owner=run.owner, version=run.version)
    clock.now += 899
    watch.read_line(line_of(claim_next_run("ann")))
    clock.now += 1
    assert watch.decide_kill()
    run.refresh_from_db()
    other.refresh_from_db()
    assert (run.state, other.state, other.lease_owner) == ("failed", "queued", "")
    assert claim_next_run("ben").run_id == other.pk
    other.refresh_from_db()
    assert other.crashes == 0


def test_a_worker_between_runs_is_never_ended(db, clock):
    watch = ReportedWork(clock)
    clock.now += 10_000
    assert not watch.decide_kill()


def test_a_worker_without_a_guard_works_all_the_same(run):
    claim = claim_next_run("ann")
    with process_guard.report_work_to_guard(claim) as sign:
        sign()


def stuck_site(home, database):
    site = Scratch(home, database, None)
    site.environment |= {
        "DJANGO_SETTINGS_MODULE": "tests.evaluation.runs.background.stuck",
        "STALL_SECONDS": "600",
        # So long that no lease and no other worker has to do with it.
        "LEASE_SECONDS": "600",
    }
    return site


def ended_within(worker, seconds, site):
    """The signal by which a worker was ended."""
    wait_until(lambda: worker.poll() is not None, seconds, "the worker was ended", site.log)
    return -worker.returncode


def begun(site, run):
    state = site.state(run)
    return state["state"] == "running" and state["stage"] == "waiting"


def ends_a_stuck_worker(home, database):
    site = stuck_site(home, database)
    try:
        run = site.seed("tfidf-word", 3, 2)
        site.python(CHANGE, RUN=run, CANCEL=False)
        worker = site.start_worker()
        wait_until(lambda: begun(site, run), 60, "the run began", site.log)
        site.python(CHANGE, RUN=run, CANCEL=True)
        assert site.state(run)["state"] == "cancelled"
        assert ended_within(worker, 60, site) == 9

        site.environment["STALL_SECONDS"] = "3"
        again = site.seed_again(run)
        worker = site.start_worker()
        assert ended_within(worker, 90, site) == 9
        end = site.state(again)
        assert end["state"] == "failed"
        assert end["error"].startswith("It made no progress for 3 seconds (waiting: 1 of 3), so")
    finally:
        site.close()


@pytest.mark.long
def test_a_cancel_and_a_stall_end_a_worker_that_sits_in_a_library_on_sqlite(sqlite_home):
    ends_a_stuck_worker(sqlite_home, None)


@pytest.mark.long
def test_a_cancel_and_a_stall_end_a_worker_that_sits_in_a_library_on_postgresql(tmp_path, request):
    database = request.getfixturevalue("postgres_database")
    ends_a_stuck_worker(tmp_path / "home", database)
