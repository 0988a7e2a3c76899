"""A turn at a run: how long it goes on, what it tells, and what it puts aside."""

from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.grading.summary import AqerSummary
from evaluation.models import Run, RunData
from evaluation.runs.steps.checkpoints import SECONDS_BETWEEN_REPORTS, OutOfTimeError, RunEnd, Turn
from tests.annotations import world

pytestmark = pytest.mark.django_db


class LostError(Exception):
    """The claim went to another worker."""


class Clock:
    """Tells the time it is set to."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def run():
    return running(world.version(world.user("rana")))


def running(version):
    return Run.objects.create(
        owner=version.question_set.owner,
        version=version,
        parameters={},
        state="running",
        started_at=timezone.now(),
        attempt=1,
        lease_until=timezone.now() + timedelta(minutes=5),
        lease_owner="host:1",
    )


def turn_of(run, deadline=float("inf"), check=lambda: None):
    return Turn(run.pk, nullcontext, check, deadline, clock=Clock())


def told(run):
    run.refresh_from_db()
    return run.stage, run.done, run.total


def test_the_time_is_up_at_the_deadline_and_not_before(run):
    turn = turn_of(run, deadline=100.5)
    assert not turn.is_over()
    turn.check_interruption()
    turn.clock.now = 100.5
    assert turn.is_over()
    with pytest.raises(OutOfTimeError) as caught:
        turn.check_interruption()
    assert caught.value.args == (run.pk,)


def test_a_lost_claim_stops_a_turn_between_parts_and_at_a_report(run):
    def lost():
        raise LostError

    turn = turn_of(run, check=lost)
    with pytest.raises(LostError):
        turn.check_interruption()
    with pytest.raises(LostError):
        turn.report_progress("embedding", 1, 2)
    assert told(run) == ("", 0, None)


def test_a_report_is_written_at_once_for_a_new_stage_and_for_its_end_else_once_a_second(run):
    turn = turn_of(run)
    turn.report_progress("embedding", 0, 10)
    assert told(run) == ("embedding", 0, 10)
    turn.clock.now += SECONDS_BETWEEN_REPORTS / 2
    turn.report_progress("embedding", 4, 10)
    assert told(run) == ("embedding", 0, 10)
    turn.clock.now += SECONDS_BETWEEN_REPORTS / 2
    turn.report_progress("embedding", 5, 10)  # a second after the one that was written
    assert told(run) == ("embedding", 5, 10)
    turn.report_progress("embedding", 10, 10)
    assert told(run) == ("embedding", 10, 10)
    turn.report_progress("grading", 0, 1)
    assert told(run) == ("grading", 0, 1)
    turn.report_progress("grading", 7, 3)  # more than all cannot be done
    assert told(run) == ("grading", 3, 3)


def test_a_stage_keeps_its_start_also_in_the_next_turn_and_a_new_one_begins_anew(run):
    began = timezone.now() - timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(stage="embedding", stage_started_at=began)
    turn_of(run).report_progress("embedding", 3, 10)
    run.refresh_from_db()
    assert run.stage_started_at == began
    turn_of(run).report_progress("grading", 0, 1)
    run.refresh_from_db()
    assert timezone.now() - run.stage_started_at < timedelta(minutes=1)


@pytest.mark.parametrize("state", ["queued", "cancelled", "done"])
def test_a_run_that_is_no_longer_under_way_tells_nothing(run, state):
    finished = None if state == "queued" else timezone.now()
    Run.objects.filter(pk=run.pk).update(state=state, finished_at=finished, lease_until=None)
    turn_of(run).report_progress("embedding", 3, 10)
    assert told(run) == ("", 0, None)


def test_the_report_of_a_run_changes_no_other(run):
    other = running(run.version)
    turn_of(run).report_progress("embedding", 3, 10)
    assert told(other) == ("", 0, None)


def test_what_is_put_aside_by_a_name_is_there_for_the_next_turn_of_this_run(run):
    other = running(run.version)
    turn_of(other).store_json("words", {"of": "another"})
    turn_of(run).store_json("words", {"done": [1, 2]})
    turn_of(run).store_json("rest", 3)
    assert turn_of(run).read_stored("words") == {"done": [1, 2]}
    turn_of(run).store_json("words", {"done": [1, 2, 3]})
    assert turn_of(run).read_stored("words") == {"done": [1, 2, 3]}
    assert turn_of(run).read_stored("rest") == 3
    assert turn_of(run).read_stored("nothing") is None
    assert turn_of(other).read_stored("words") == {"of": "another"}
    assert RunData.objects.count() == 3


def test_a_run_that_ends_holds_no_lease_and_says_how_it_was_made(run):
    other = running(run.version)
    Run.objects.update(error="a worker died", crashes=1)
    turn_of(run).finish_run(
        RunEnd(
            signature="aqer|x:1",
            input_hash="ab" * 32,
            summary=AqerSummary(version=1, iterations=4),
            warnings=[{"code": "disconnected", "values": {}}],
            reasons=[{"file": "workers.csv", "column": "rank", "reason": "x", "count": 1}],
        )
    )
    run.refresh_from_db()
    assert (run.state, run.lease_until, run.lease_owner, run.error) == ("done", None, "", "")
    assert timezone.now() - run.finished_at < timedelta(minutes=1)
    assert (run.signature, run.input_hash) == ("aqer|x:1", "ab" * 32)
    assert (run.summary["version"], run.summary["iterations"]) == (1, 4)
    assert run.warnings == [{"code": "disconnected", "values": {}}]
    assert run.reasons[0]["count"] == 1
    other.refresh_from_db()
    assert (other.state, other.lease_owner) == ("running", "host:1")


def test_a_run_without_warnings_and_reasons_has_none(run):
    turn_of(run).finish_run(RunEnd("aqer", "ab" * 32, AqerSummary(version=1)))
    run.refresh_from_db()
    assert (run.warnings, run.reasons) == ([], [])
