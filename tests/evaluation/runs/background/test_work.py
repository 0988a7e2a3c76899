"""A worker's turn: what it is given, and what becomes of a run whatever happens in it."""

from types import SimpleNamespace

import pytest
from django.db import IntegrityError

from annotations.models.base import new_public_id
from evaluation.core.backends import BackendError
from evaluation.deletion.storage import removals
from evaluation.models import Removal, Run
from evaluation.runs.background import work
from evaluation.runs.background.leases import Heartbeat, LeaseLostError, claim_next_run
from evaluation.runs.background.work import TURN_SECONDS, get_process_name, work_one_turn
from evaluation.runs.steps.checkpoints import OutOfTimeError, RunInputError
from tests.annotations import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    version = world.version(world.user("rana"))
    return Run.objects.create(owner=version.question_set.owner, version=version)


@pytest.fixture
def rung(monkeypatch):
    found = []
    monkeypatch.setattr(work, "wake_process", lambda: found.append(True))
    return found


def doing(monkeypatch, what):
    """Let runs of every kind do this; the turns they were given."""
    turns = []
    monkeypatch.setattr(
        work,
        "get_run_kind",
        lambda run: SimpleNamespace(run=lambda turn: turns.append(turn) or what()),
    )
    return turns


def raising(error):
    def do():
        raise error

    return do


def test_a_removal_that_fails_is_logged_and_lets_others_and_runs_go_on(
    run, rung, monkeypatch, caplog
):
    asked = {"owner": run.owner, "total": 1, "kind": "run"}
    first, second = (
        Removal.objects.create(target=n, target_id=new_public_id(), **asked) for n in (1, 2)
    )
    gone = []

    def step(removal):
        if removal.pk == first.pk:
            raise IntegrityError("for good")
        gone.append(removal.pk)
        return removals.StepResult.ALL

    monkeypatch.setattr(removals, "_delete_batch", step)
    turns = doing(monkeypatch, lambda: None)
    assert work_one_turn() is True
    assert (gone, [turn.run_id for turn in turns]) == ([second.pk], [run.pk])
    assert [(one.levelname, one.args) for one in caplog.records] == [("ERROR", (first.pk, "run"))]


def test_a_turn_has_its_run_its_clock_and_its_end(run, rung, monkeypatch):
    turns = doing(monkeypatch, lambda: None)
    now = [1000.0]
    assert work_one_turn(30, lambda: now[0]) is True
    (turn,) = turns
    assert (turn.run_id, turn.deadline, turn.clock()) == (run.pk, 1030.0, 1000.0)
    assert not turn.is_over()
    now[0] = 1030.0
    assert turn.is_over()
    turn.check()
    with turn.open_fenced_transaction():
        pass
    run.refresh_from_db()
    assert (run.lease_owner, run.attempt) == (get_process_name(), 1)
    assert rung == [True]
    assert TURN_SECONDS == 240.0


def test_without_a_run_nothing_is_done_and_nobody_is_rung_for(rung, monkeypatch):
    turns = doing(monkeypatch, lambda: None)
    assert work_one_turn() is False
    assert (turns, rung) == ([], [])


def test_a_run_out_of_time_goes_back_into_the_queue(run, rung, monkeypatch):
    doing(monkeypatch, raising(OutOfTimeError(run.pk)))
    assert work_one_turn() is True
    run.refresh_from_db()
    assert (run.state, run.lease_until, run.lease_owner, run.error) == ("queued", None, "", "")
    assert rung == [True]


def test_a_claim_that_is_lost_is_told_in_the_log_and_changes_nothing(
    run, rung, monkeypatch, caplog
):
    doing(monkeypatch, raising(LeaseLostError(run.pk)))
    with caplog.at_level("INFO", logger=work.logger.name):
        assert work_one_turn() is True
    assert [(one.levelname, one.args) for one in caplog.records] == [("INFO", (run.pk,))]
    run.refresh_from_db()
    assert (run.state, run.error) == ("running", "")
    assert rung == [True]


@pytest.mark.parametrize("error", [RunInputError("no answers"), BackendError("no model")])
def test_what_the_requester_can_mend_fails_the_run_with_its_words_and_no_worker(
    run, rung, monkeypatch, error
):
    doing(monkeypatch, raising(error))
    assert work_one_turn() is True
    run.refresh_from_db()
    assert (run.state, run.error, run.lease_until) == ("failed", str(error), None)
    assert run.finished_at is not None
    assert rung == [True]


def test_another_error_fails_the_run_with_its_kind_and_is_raised(run, rung, monkeypatch):
    doing(monkeypatch, raising(ZeroDivisionError("by nought")))
    with pytest.raises(ZeroDivisionError):
        work_one_turn()
    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", "ZeroDivisionError: by nought")
    assert rung == [True]


def test_a_worker_that_is_stopped_leaves_the_run_to_the_next(run, rung, monkeypatch):
    doing(monkeypatch, raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        work_one_turn()
    run.refresh_from_db()
    assert (run.state, run.lease_until, run.error) == ("queued", None, "")
    assert rung == [True]


def test_a_run_that_was_cancelled_meanwhile_is_not_failed(run, rung, monkeypatch):
    def cancelled():
        Run.objects.update(attempt=9)  # another worker has it
        raise RunInputError("no answers")

    doing(monkeypatch, cancelled)
    assert work_one_turn() is True
    run.refresh_from_db()
    assert (run.state, run.error) == ("running", "")


def test_a_run_of_an_unknown_kind_fails_and_says_so(run, rung):
    Run.objects.update(kind="of tomorrow")
    assert work_one_turn() is True
    run.refresh_from_db()
    assert run.state == "failed"
    assert "of tomorrow" in run.error


def test_a_heartbeat_that_lost_its_claim_says_of_which_run(run):
    claim = claim_next_run("ann")
    heartbeat = Heartbeat(claim)
    heartbeat.check_claim()
    heartbeat.lost.set()
    with pytest.raises(LeaseLostError) as caught:
        heartbeat.check_claim()
    assert caught.value.args == (run.pk,)
