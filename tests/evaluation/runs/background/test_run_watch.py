"""Following a run from outside: what is shown, how often it is looked at, and when it ends."""

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.models import Run
from evaluation.runs.background import runs
from evaluation.runs.background.run_watch import SECONDS_BETWEEN_LOOKS, follow_run, show_progress
from tests.annotations import world

pytestmark = pytest.mark.django_db

RUNNING = {
    "state": "running",
    "started_at": timezone.now(),
    "lease_until": timezone.now() + timedelta(hours=1),
    "lease_owner": "host:1",
    "attempt": 1,
}


@pytest.fixture
def run():
    version = world.version(world.user("rana"))
    return Run.objects.create(owner=version.question_set.owner, version=version)


def watched(run, *changes):
    """Watch a run that changes in this way between two looks; what was shown, and each wait."""
    shown, waits, left = [], [], list(changes)

    def pause(seconds):
        waits.append(seconds)
        assert left, "it is looked at again after it has ended"
        Run.objects.filter(pk=run.pk).update(**left.pop(0))

    follow_run(run, lambda *of: shown.append(of), pause)
    assert not left
    return shown, waits


@pytest.mark.parametrize("state", ["done", "failed", "cancelled", "paused"])
def test_a_run_is_followed_twice_a_second_until_it_ends_or_is_paused(run, state):
    ended = {"state": state, "lease_until": None, "lease_owner": "", "error": "why"}
    ended["finished_at"] = None if state == "paused" else timezone.now()
    shown, waits = watched(
        run,
        RUNNING,
        {"stage": "embedding", "done": 3, "total": 9},
        {"stage": "grading", "done": 0, "total": 1},
        ended,
    )
    # Nothing while it waits, nor before its first report.
    assert shown == [("embedding", 3, 9), ("grading", 0, 1)]
    assert waits == [SECONDS_BETWEEN_LOOKS] * 4 == [0.5] * 4
    assert run.state == state


def test_a_run_that_has_ended_is_not_waited_for(run):
    Run.objects.update(state="cancelled", finished_at=timezone.now())
    assert watched(run) == ([], [])


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"state": "running", "stage": "map", "done": 1, "total": 2}, [("map", 1, 2)]),
        ({"state": "queued", "stage": "map", "done": 1, "total": 2}, []),
        ({"state": "running", "stage": "", "done": 0, "total": None}, []),
        ({"state": "running", "stage": "map", "done": 0, "total": 0}, []),
    ],
)
def test_only_a_run_under_way_that_knows_its_steps_is_shown(fields, shown):
    found = []
    show_progress(Run(**fields), lambda *of: found.append(of))
    assert found == shown


def test_a_run_is_found_by_whom_it_may_see_only(run):
    owner, stranger = run.owner, world.user("otto")
    other = Run.objects.create(owner=owner, version=run.version)
    assert runs.get_visible_run(owner, run.public_id) == run
    assert runs.get_visible_run(owner, other.public_id) == other
    assert set(runs.select_visible_runs(owner)) == {run, other}
    with pytest.raises(Run.DoesNotExist):
        runs.get_visible_run(stranger, run.public_id)
    assert not runs.select_visible_runs(stranger).exists()


def test_a_run_comes_with_its_version_and_its_set(run, django_assert_num_queries):
    with django_assert_num_queries(1):
        found = runs.get_visible_run(run.owner, run.public_id)
        assert found.version.question_set.name == "rivers"
