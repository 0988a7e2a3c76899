"""Claims on runs: who gets one, who loses one, who may write."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.models import QuestionSet
from evaluation.core.messages.message import Message
from evaluation.models import Run
from evaluation.runs.background.leases import (
    BEATS,
    MOST_CRASHES,
    Claim,
    Heartbeat,
    LeaseLostError,
    build_future_time,
    claim_next_run,
    get_lease_duration,
)
from evaluation.runs.background.runs import cancel_run, pause_run, resume_run
from evaluation.runs.background.work import TURN_SECONDS, work_one_turn
from evaluation.runs.run_types import get_kind
from tests.annotations.world import refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def version():
    owner = User.objects.create(username="rita")
    return QuestionSet.objects.create(owner=owner, name="capitals").draft()


@pytest.fixture
def queue(version):
    """Return a function that queues a run."""
    return lambda: Run.objects.create(owner=version.question_set.owner, version=version)


def let_it_run_out(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=build_future_time(timedelta(seconds=-1)))


def waits_since(run: Run, hours: float) -> None:
    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - timedelta(hours=hours))


def before_the_claim(do):
    """Return a context in which `do` happens once, after a run was found and before it is taken."""
    waiting = [do]

    def wrapper(execute, sql, parameters, many, context):
        if waiting and sql.startswith("UPDATE"):
            waiting.pop()()
        return execute(sql, parameters, many, context)

    return connection.execute_wrapper(wrapper)


def test_the_oldest_waiting_run_is_claimed_first(queue):
    first, second = queue(), queue()
    assert claim_next_run("ann") == Claim(first.pk, attempt=1)
    assert claim_next_run("bob") == Claim(second.pk, attempt=1)
    assert claim_next_run("cy") is None


def test_a_claimed_run_says_who_works_on_it_and_since_when(queue):
    run = queue()
    claim_next_run("ann")
    run.refresh_from_db()
    assert (run.state, run.lease_owner, run.crashes) == (Run.State.RUNNING, "ann", 0)
    assert run.started_at is not None


def test_a_run_whose_lease_ran_out_is_taken_over_and_its_start_is_kept(queue):
    run = queue()
    claim_next_run("ann")
    run.refresh_from_db()
    started = run.started_at
    let_it_run_out(run)
    assert claim_next_run("bob") == Claim(run.pk, attempt=2)
    run.refresh_from_db()
    assert (run.crashes, run.started_at, run.lease_owner) == (1, started, "bob")


def test_a_claim_and_a_renewal_are_signs_of_life_and_the_lease_counts_from_them(queue):
    run = queue()
    for sign in (lambda: claim_next_run("ann"), lambda: Claim(run.pk, attempt=1).renew()):
        waits_since(run, hours=24)
        let_it_run_out(run)
        assert sign()
        run.refresh_from_db()
        assert timezone.now() - run.heartbeat_at < timedelta(hours=1)
        # Both by the clock of the same statement.
        assert run.lease_until == run.heartbeat_at + get_lease_duration()


def test_of_two_that_waited_equally_long_the_one_started_first_is_claimed(queue):
    since = timezone.now() - timedelta(hours=1)
    first, second = queue(), queue()
    Run.objects.update(heartbeat_at=since)
    with CaptureQueriesContext(connection) as asked:
        assert claim_next_run("ann") == Claim(first.pk, attempt=1)
    assert claim_next_run("bob") == Claim(second.pk, attempt=1)
    # SQLite would find them in this order by itself; others need a second key to go by.
    assert asked[0]["sql"].rpartition("ORDER BY")[2].count(" ASC") == 4


def test_whose_runs_had_no_turn_for_the_longest_time_comes_first(queue):
    many = [queue() for _ in range(3)]
    other = QuestionSet.objects.create(owner=User.objects.create(username="otto"), name="rivers")
    late = Run.objects.create(owner=other.owner, version=other.draft())

    def turn():
        claim = claim_next_run("ann")
        claim.release()
        # A turn lasts; in a test two may have the same time.
        Run.objects.filter(pk=claim.run_id).update(heartbeat_at=next(times))
        return claim.run_id

    now = timezone.now()
    times = (now + timedelta(minutes=minute) for minute in range(1, 9))
    # Rita began three before Otto his one: hers have every second turn, one after the other.
    assert [turn() for _ in range(8)] == [
        *(many[0].pk, late.pk, many[1].pk, late.pk),
        *(many[2].pk, late.pk, many[0].pk, late.pk),
    ]


def test_a_run_that_ended_was_a_turn_too(queue):
    first, _second = queue(), queue()
    other = QuestionSet.objects.create(owner=User.objects.create(username="otto"), name="rivers")
    late = Run.objects.create(owner=other.owner, version=other.draft())
    assert claim_next_run("ann").run_id == first.pk
    Run.objects.filter(pk=first.pk).update(
        state="done", lease_until=None, finished_at=timezone.now()
    )
    assert claim_next_run("ann").run_id == late.pk


def test_a_run_that_changed_hands_since_it_was_found_is_looked_at_again(queue):
    run = queue()
    # Found at attempt 0; bob takes it as 1 and gives it back: it is free again, but not as seen.
    with before_the_claim(lambda: claim_next_run("bob").release()):
        claim = claim_next_run("ann")
    assert claim == Claim(run.pk, attempt=2)
    assert claim.renew()


def test_a_lease_renewed_since_the_run_was_found_is_not_broken(queue):
    run = queue()
    held = claim_next_run("ann")
    for crashes in (0, MOST_CRASHES - 1):  # neither taken over, nor failed for its last crash
        Run.objects.update(crashes=crashes, attempt=MOST_CRASHES)
        held = Claim(run.pk, attempt=MOST_CRASHES)
        let_it_run_out(run)
        with before_the_claim(held.renew):
            assert claim_next_run("bob") is None
        run.refresh_from_db()
        assert (run.state, run.lease_owner, run.crashes) == (Run.State.RUNNING, "ann", crashes)


def test_who_lost_a_run_can_neither_renew_nor_write_nor_release_nor_fail_it(queue):
    run = queue()
    lost = claim_next_run("ann")
    let_it_run_out(run)
    claim_next_run("bob")
    assert not lost.renew()
    assert not lost.release()
    lost.store_failure("too late")
    with pytest.raises(LeaseLostError), lost.open_fenced_transaction():
        pytest.fail("the block must not run")
    run.refresh_from_db()
    assert (run.state, run.lease_owner, run.error) == (Run.State.RUNNING, "bob", "")


def test_a_lease_that_ran_out_still_writes_while_nobody_took_it_over(queue):
    run = queue()
    claim = claim_next_run("ann")
    let_it_run_out(run)
    with claim.open_fenced_transaction():
        pass
    assert claim_next_run("bob") is None  # the fence renewed it


def test_what_is_written_in_a_fence_is_dropped_if_the_block_fails(queue):
    run = queue()
    claim = claim_next_run("ann")

    def write_and_fail() -> None:
        with claim.open_fenced_transaction():
            Run.objects.filter(pk=run.pk).update(stage="half done")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    run.refresh_from_db()
    assert run.stage == ""


def test_a_cancelled_run_is_lost_to_its_worker(queue):
    run = queue()
    claim = claim_next_run("ann")
    Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED, finished_at=Now())
    with pytest.raises(LeaseLostError), claim.open_fenced_transaction():
        pytest.fail("the block must not run")
    assert claim_next_run("bob") is None


def test_a_released_run_goes_back_to_the_queue_without_counting_as_a_crash(queue):
    run = queue()
    assert claim_next_run("ann").release()
    assert claim_next_run("bob") == Claim(run.pk, attempt=2)
    run.refresh_from_db()
    assert run.crashes == 0


def test_a_released_run_is_nobodys_and_waits_from_then_on(queue):
    long, short = queue(), queue()
    waits_since(long, hours=2)
    waits_since(short, hours=1)
    claim = claim_next_run("ann")
    waits_since(long, hours=2)
    assert claim.release()
    long.refresh_from_db()
    assert (long.state, long.lease_owner, long.lease_until) == (Run.State.QUEUED, "", None)
    # It waited for two hours before, and waits for none now.
    assert claim_next_run("bob") == Claim(short.pk, attempt=1)


def test_a_run_that_loses_its_worker_again_and_again_is_failed_with_the_reason(queue):
    run = queue()
    for _ in range(MOST_CRASHES):
        assert claim_next_run("ann") is not None
        let_it_run_out(run)
    assert claim_next_run("bob") is None
    run.refresh_from_db()
    assert (run.state, run.crashes) == (Run.State.FAILED, MOST_CRASHES)
    assert f"ended {MOST_CRASHES} times" in run.error
    assert run.finished_at is not None
    assert run.lease_until is None


def test_a_failed_run_has_its_reason_its_end_and_no_lease(queue):
    run = queue()
    claim_next_run("ann").store_failure("no more disk")
    run.refresh_from_db()
    assert (run.state, run.error, run.lease_until) == (Run.State.FAILED, "no more disk", None)
    assert timezone.now() - run.finished_at < timedelta(hours=1)


def test_a_run_without_answers_fails_with_a_reason_for_the_requester(queue, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    run = queue()
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert Message.from_stored(run.error).code == "run.no_answer_to_grade"


def test_a_failure_nobody_foresaw_is_stored_and_let_out(queue, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)

    def broken(turn):
        raise ZeroDivisionError("a bug")

    kind = replace(get_kind("aqer"), run=broken)
    monkeypatch.setattr("evaluation.runs.background.work.get_run_kind", lambda run: kind)
    run = queue()
    with pytest.raises(ZeroDivisionError):
        work_one_turn()
    run.refresh_from_db()
    assert (run.state, run.error) == (Run.State.FAILED, "ZeroDivisionError: a bug")


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_notices_that_a_run_was_cancelled(version, queue, settings):
    settings.LEASE_SECONDS = 1
    run = queue()
    with Heartbeat(claim_next_run("ann")) as heartbeat:
        Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED, finished_at=Now())
        assert heartbeat.lost.wait(5)
        with pytest.raises(LeaseLostError):
            heartbeat.check_claim()


def test_no_heartbeat_comes_within_a_turn_in_the_transaction_of_a_test(settings):
    # Another connection does not see the run before it is committed, and takes it for lost.
    assert settings.LEASE_SECONDS / BEATS > TURN_SECONDS


def test_six_beats_fit_in_a_lease_and_one_that_fails_is_tried_again(settings):
    settings.LEASE_SECONDS = 0.06
    answers = [True, DatabaseError("busy"), True, False]

    class Renewing(Claim):
        def renew(self):
            answer = answers.pop(0)
            if isinstance(answer, DatabaseError):
                raise answer
            return answer

    beating = Heartbeat(Renewing(1, attempt=1))
    assert beating._every == pytest.approx(0.06 / 6)
    beating.check_claim()
    with beating:
        assert beating.lost.wait(5)
    assert answers == []


def test_a_paused_run_is_nobodys_and_is_not_claimed_until_it_is_resumed(queue):
    run = queue()
    assert pause_run(run)
    assert (run.state, run.lease_owner, run.lease_until) == (Run.State.PAUSED, "", None)
    assert claim_next_run("ann") is None
    assert resume_run(run)
    assert run.state == Run.State.QUEUED
    assert claim_next_run("ann") == Claim(run.pk, attempt=1)


def test_a_run_that_is_paused_under_a_worker_is_lost_to_it_at_its_next_fence(queue):
    run = queue()
    claim = claim_next_run("ann")
    with claim.open_fenced_transaction():
        Run.objects.filter(pk=run.pk).update(done=0, total=7)
    assert pause_run(run)
    with pytest.raises(LeaseLostError), claim.open_fenced_transaction():
        pytest.fail("the block must not run")
    assert not claim.renew()
    assert not claim.release()
    claim.store_failure("too late")
    run.refresh_from_db()
    # What was committed before stays.
    assert (run.state, run.error, run.total, run.crashes) == (Run.State.PAUSED, "", 7, 0)


def test_the_worker_that_had_a_run_before_its_pause_stays_out_after_it_was_resumed(queue):
    run = queue()
    before = claim_next_run("ann")
    pause_run(run)
    resume_run(run)
    # Queued again, and nobody has it yet: neither has who had it.
    assert not before.renew()
    after = claim_next_run("bob")
    assert after == Claim(run.pk, attempt=2)
    with pytest.raises(LeaseLostError), before.open_fenced_transaction():
        pytest.fail("the block must not run")
    assert after.renew()
    run.refresh_from_db()
    assert run.crashes == 0  # a pause is no crash


def test_a_run_that_is_paused_between_being_found_and_being_taken_is_not_taken(queue):
    run = queue()
    with before_the_claim(lambda: pause_run(run)):
        assert claim_next_run("ann") is None
    run.refresh_from_db()
    assert (run.state, run.attempt) == (Run.State.PAUSED, 0)


def test_a_paused_run_is_cancelled_and_then_neither_paused_nor_resumed(queue):
    run = queue()
    pause_run(run)
    assert cancel_run(run)
    assert (run.state, run.finished_at is None) == (Run.State.CANCELLED, False)
    assert not resume_run(run)
    assert not pause_run(run)
    assert claim_next_run("ann") is None


def test_what_is_not_under_way_is_not_paused_and_what_is_not_paused_not_resumed(queue):
    run = queue()
    assert not resume_run(run)
    assert pause_run(run)
    assert not pause_run(run)
    assert resume_run(run)
    claim_next_run("ann")
    assert not resume_run(run)
    assert run.state == Run.State.RUNNING


def test_a_resumed_run_waits_from_then_on_and_the_pause_is_no_time_of_its_stage(queue):
    run, other = queue(), queue()
    claim_next_run("ann")
    hour = timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(stage="asking", stage_started_at=timezone.now() - 3 * hour)
    pause_run(run)
    # It worked for an hour and was paused for two.
    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - 2 * hour)
    resume_run(run)
    worked = timezone.now() - run.stage_started_at
    assert abs(worked - hour) < timedelta(minutes=1)
    assert claim_next_run("bob").run_id == other.pk


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_notices_that_a_run_was_paused(version, queue, settings):
    settings.LEASE_SECONDS = 1
    run = queue()
    with Heartbeat(claim_next_run("ann")) as heartbeat:
        pause_run(run)
        assert heartbeat.lost.wait(5)


def test_the_database_refuses_a_paused_run_with_a_lease(queue):
    run = queue()
    with refused("run_that_is_paused_is_nobodys"):
        Run.objects.filter(pk=run.pk).update(state=Run.State.PAUSED, lease_owner="ann")
    with refused("run_that_ended_has_a_time"):
        Run.objects.filter(pk=run.pk).update(state=Run.State.PAUSED, finished_at=Now())
