"""A run divided into tasks: who gets the next one, what its end means, what a lost one writes."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.utils import timezone

from annotations.models import Collection
from evaluation.core.backends import BackendError
from evaluation.core.messages.message import Message
from evaluation.models import BackgroundWorker, Embedding, Interim, Run, RunTask, compute_text_hash
from evaluation.runs.background import leases, run_tasks, work
from evaluation.runs.background.leases import (
    MOST_CRASHES,
    Claim,
    LeaseLostError,
    build_future_time,
    claim_next_run,
)
from evaluation.runs.background.process_guard import ENDED, ReportedWork
from evaluation.runs.background.progress import compute_progress
from evaluation.runs.background.run_tasks import (
    TaskClaim,
    cancel_stale_tasks,
    claim_next_run_or_task,
    claim_task,
    count_helper_processes,
)
from evaluation.runs.background.runs import cancel_run, pause_run, resume_run
from evaluation.runs.background.work import work_on_run, work_on_task, work_one_turn
from evaluation.runs.steps import cache
from evaluation.runs.steps.run_tasks import WAITS_FOR_TASKS
from tests.annotations.world import refused
from tests.evaluation.runs.background.task_world import (
    TEXTS,
    count_states,
    embedder,
    make_version,
    queue,
)
from tests.evaluation.runs.background.test_leases import before_the_claim

pytestmark = pytest.mark.django_db
__all__ = ["embedder"]  # a fixture

FAR = 1e12


@pytest.fixture
def version():
    return make_version(User.objects.create(username="rita"), "colours")


@pytest.fixture
def run(version, embedder):
    """A run whose turn has stored its twelve tasks."""
    made = queue(version)
    work_on_run(claim_next_run("ann"), FAR)
    made.refresh_from_db()
    return made


def let_it_run_out(claim: TaskClaim) -> None:
    RunTask.objects.filter(pk=claim.task_id).update(
        lease_until=build_future_time(timedelta(seconds=-1))
    )


def find_vectors(texts) -> dict[str, list[float]]:
    rows = {bytes(row.text_hash): bytes(row.vector) for row in Embedding.objects.all()}
    return {
        text: np.frombuffer(rows[compute_text_hash(text)], dtype="<f4").tolist()
        for text in texts
        if compute_text_hash(text) in rows
    }


def test_a_turn_with_many_missing_texts_stores_tasks_and_the_run_waits(run, embedder):
    assert embedder.embedded == []
    assert (run.state, run.lease_owner, run.attempt) == ("running", WAITS_FOR_TASKS, 1)
    assert (run.stage, run.done, run.total) == ("embedding", 0, TEXTS)
    tasks = list(RunTask.objects.filter(run=run).order_by("number"))
    assert [task.number for task in tasks] == list(range(12))
    assert {(task.n_items, task.lane, task.run_attempt) for task in tasks} == {(2, "computing", 1)}
    texts = [text for task in tasks for text in task.payload["texts"]]
    assert len(set(texts)) == len(texts) == TEXTS
    # It has no process, and is not to be had either: not even once its lease has run out.
    Run.objects.update(lease_until=build_future_time(timedelta(seconds=-1)))
    assert claim_next_run("bob") is None


def test_runs_over_the_same_texts_begin_with_different_tasks(version, embedder):
    orders = []
    for _ in range(2):
        made = queue(version)
        work_on_run(claim_next_run("ann"), FAR)
        tasks = RunTask.objects.filter(run=made).order_by("number")
        orders.append([task.payload["texts"] for task in tasks])
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_few_missing_texts_are_embedded_in_the_turn(embedder, monkeypatch, version):
    # All 24 texts take a little less than two tasks.
    speed = (TEXTS * (10 + cache.WORK_OF_A_TEXT) + 1) / 6
    monkeypatch.setattr(cache, "GUESSED_SPEED", speed)
    made = queue(version)
    work_on_run(claim_next_run("ann"), FAR)
    made.refresh_from_db()
    assert (made.state, len(embedder.embedded)) == ("done", TEXTS)
    assert not RunTask.objects.exists()


def test_one_process_alone_does_all_tasks_and_then_the_rest_of_the_run(run, embedder, version):
    assert work_one_turn() is True
    run.refresh_from_db()
    assert (run.state, run.error, run.attempt, run.crashes) == ("done", "", 2, 0)
    assert sorted(embedder.embedded) == sorted(set(embedder.embedded))
    assert len(embedder.embedded) == TEXTS
    tasks = list(RunTask.objects.filter(run=run))
    assert {(task.state, task.payload, task.attempt) for task in tasks} == {("done", None, 1)}
    assert {task.process for task in tasks} == {work.get_process_name()}
    assert all(task.started_at <= task.ended_at for task in tasks)
    assert sum(task.work for task in tasks) == TEXTS * (10 + cache.WORK_OF_A_TEXT)
    # The same vectors as those of a turn that embeds its texts itself.
    wanted = dict(zip(embedder.embedded, embedder.embed(embedder.embedded).tolist(), strict=True))
    assert find_vectors(wanted) == wanted


def test_a_task_a_call_where_there_is_time_for_no_more(run):
    assert work_one_turn(seconds=0) is True
    assert count_states(run) == {"done": 1, "waiting": 11}


def test_two_processes_share_the_tasks_and_the_last_end_queues_the_run_once(run, embedder):
    ended = []
    while True:
        claims = [claim_next_run_or_task(name) for name in ("ann", "bob")]
        assert all(isinstance(claim, TaskClaim) for claim in claims)
        for claim in claims:
            work_on_task(claim)
            run.refresh_from_db()
            ended.append(run.state)
        if run.state == "queued":
            break
    assert ended == ["running"] * 11 + ["queued"]
    assert (run.lease_owner, run.lease_until, run.done) == ("", None, TEXTS)
    by_process = RunTask.objects.filter(run=run).values_list("process", flat=True)
    assert sorted(by_process) == ["ann"] * 6 + ["bob"] * 6
    assert claim_next_run_or_task("ann") == Claim(run.pk, attempt=2)


def test_progress_counts_the_texts_of_tasks(run):
    work_on_task(claim_next_run_or_task("ann"))
    run.refresh_from_db()
    progress = compute_progress(run)
    assert (progress.state, progress.stage, progress.done, progress.total) == (
        "running", "embedding", 2, TEXTS,
    )  # fmt: skip


def cancel(run):
    assert cancel_run(run)


def pause(run):
    assert pause_run(run)


def begin_again(run):
    """Pause and resume it, and let another process store new tasks for it."""
    pause_run(run)
    resume_run(run)
    work_on_run(claim_next_run("bob"), FAR)


@pytest.mark.parametrize("change", [cancel, pause, begin_again])
def test_a_task_of_a_run_that_was_ended_or_begun_again_stores_nothing(run, embedder, change):
    claim = claim_next_run_or_task("ann")
    states = []

    def change_meanwhile(texts):
        embedder.before = lambda texts: None
        change(run)
        states.append(Run.objects.values().get(pk=run.pk))

    embedder.before = change_meanwhile
    work_on_task(claim)
    # The vectors were computed, too late.
    assert (len(embedder.embedded), Embedding.objects.count()) == (2, 0)
    assert Run.objects.values().get(pk=run.pk) == states[0]
    task = RunTask.objects.get(pk=claim.task_id)
    assert (task.state, task.payload, task.work) == ("cancelled", None, 0)
    assert not RunTask.objects.filter(run=run, run_attempt=1, payload__isnull=False).exists()


def test_a_paused_run_goes_on_with_what_is_missing_and_its_tasks_are_others(run, embedder):
    work_on_task(claim_next_run_or_task("ann"))
    pause_run(run)
    assert claim_next_run_or_task("ann") is None
    resume_run(run)
    assert work_one_turn()
    assert count_states(run) == {"cancelled": 11, "done": 1, "waiting": 11}
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert (run.state, len(embedder.embedded)) == ("done", TEXTS)


def test_a_killed_process_s_task_is_taken_over_and_its_own_end_changes_nothing(
    run, embedder, monkeypatch
):
    monkeypatch.setattr(cache, "PART", 1)
    killed = claim_next_run_or_task("ann")
    taken = []

    def die(texts):
        # The first of the task's two texts is stored; at the second the lease has run out.
        if len(embedder.embedded) == 1 and not taken:
            let_it_run_out(killed)
            taken.append(claim_task(run.pk, "bob"))

    embedder.before = die
    work_on_task(killed)
    (claim,) = taken
    assert claim == TaskClaim(run.pk, 1, killed.task_id, attempt=2)
    # It has computed the second text, and could not store it.
    assert (len(embedder.embedded), Embedding.objects.count()) == (2, 1)
    task = RunTask.objects.get(pk=killed.task_id)
    assert (task.process, task.crashes, task.state) == ("bob", 1, "running")
    assert not killed.renew()
    assert not killed.release()
    killed.store_failure("too late")
    with pytest.raises(LeaseLostError):
        killed.finish_task()
    work_on_task(claim)
    # Only what was not stored was done again, and counted once.
    assert len(embedder.embedded) == 3
    run.refresh_from_db()
    assert (run.state, run.done, Embedding.objects.count()) == ("running", 2, 2)
    assert RunTask.objects.get(pk=claim.task_id).state == "done"


def test_a_lease_that_was_renewed_is_not_taken_over(run):
    claim = claim_next_run_or_task("ann")
    let_it_run_out(claim)
    assert claim.renew()
    assert claim_next_run_or_task("bob").task_id != claim.task_id


def test_a_lease_renewed_since_the_task_was_found_is_not_broken(run):
    RunTask.objects.exclude(number=0).delete()
    claim = claim_next_run_or_task("ann")
    let_it_run_out(claim)
    with before_the_claim(claim.renew):
        assert claim_next_run_or_task("bob") is None
    task = RunTask.objects.get(run=run)
    assert (task.process, task.attempt, task.crashes) == ("ann", 1, 0)


def test_a_task_that_loses_its_process_again_and_again_fails_its_run(run):
    RunTask.objects.exclude(number=0).delete()
    for _ in range(MOST_CRASHES):
        claim = claim_next_run_or_task("ann")
        let_it_run_out(claim)
    assert claim_next_run_or_task("bob") is None
    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", leases.format_crash_reason())
    task = RunTask.objects.get(run=run)
    assert (task.state, task.error, task.crashes) == ("failed", run.error, MOST_CRASHES)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(BackendError("no server"), "no server"), (ValueError("bad"), "ValueError: bad")],
)
def test_a_task_that_fails_fails_its_run_with_the_first_reason(run, embedder, error, reason):
    first, second = claim_next_run_or_task("ann"), claim_next_run_or_task("bob")

    def fail(texts):
        raise error

    embedder.before = fail
    if isinstance(error, BackendError):
        work_on_task(first)
    else:
        with pytest.raises(ValueError, match="bad"):
            work_on_task(first)
    run.refresh_from_db()
    assert (run.state, run.error, run.lease_until) == ("failed", reason, None)
    assert RunTask.objects.get(pk=first.task_id).error == reason
    assert count_states(run) == {"cancelled": 11, "failed": 1}
    embedder.before = lambda texts: None
    work_on_task(second)
    run.refresh_from_db()
    assert (run.error, Embedding.objects.count()) == (reason, 0)


def test_a_process_with_another_version_of_the_embedder_fails_the_run(run, embedder):
    embedder.info = replace(embedder.info, revision="r2")
    work_on_task(claim_next_run_or_task("ann"))
    run.refresh_from_db()
    assert run.state == "failed"
    values = {"wanted": "small r1 float32", "found": "small r2 float32"}
    assert run.error == Message("run.other_embedder", values).as_text()
    assert not Embedding.objects.exists()


def test_a_process_that_is_stopped_leaves_its_task_to_the_next_without_a_crash(run, embedder):
    claim = claim_next_run_or_task("ann")

    def stop(texts):
        raise KeyboardInterrupt

    embedder.before = stop
    with pytest.raises(KeyboardInterrupt):
        work_on_task(claim)
    task = RunTask.objects.get(pk=claim.task_id)
    assert (task.state, task.crashes, task.lease_until) == ("waiting", 0, None)
    again = claim_next_run_or_task("bob")
    assert again == TaskClaim(run.pk, 1, claim.task_id, attempt=2)
    assert RunTask.objects.get(pk=claim.task_id).crashes == 0


@pytest.mark.medium
def test_texts_that_another_run_stored_meanwhile_are_not_embedded_again(version, embedder):
    for _ in range(2):
        queue(version)
        work_on_run(claim_next_run("ann"), FAR)
    while work_one_turn():
        pass
    assert set(Run.objects.values_list("state", flat=True)) == {"done"}
    assert (len(embedder.embedded), Embedding.objects.count()) == (TEXTS, TEXTS)
    # What was found stored is no work, or the embedder would look faster than it is.
    assert sum(RunTask.objects.values_list("work", flat=True)) == TEXTS * 42


@pytest.mark.medium
def test_a_small_run_waits_for_no_more_than_two_tasks_of_fifty_runs_of_another(embedder):
    rita, otto = (User.objects.create(username=name) for name in ("rita", "otto"))
    large = make_version(rita, "colours")
    many = [queue(large) for _ in range(50)]
    now = timezone.now()
    # All of them have their tasks; their turns were some time ago.
    for place, run in enumerate(many):
        work_on_run(claim_next_run("ann"), FAR)
        Run.objects.filter(pk=run.pk).update(heartbeat_at=now - timedelta(minutes=60 - place))
    small = queue(make_version(otto, "rivers"))
    assert RunTask.objects.filter(state="waiting").count() == 50 * 12
    delays = []
    since = 0
    moments = (now + timedelta(seconds=3 * place) for place in range(1000))
    while True:
        claim = claim_next_run_or_task("ann")
        if claim.run_id == small.pk:
            delays.append(since)
            since = 0
        else:
            since += 1
        work_on_run(claim, FAR) if isinstance(claim, Claim) else work_on_task(claim)
        # In a test all of this takes no time.
        Run.objects.filter(pk=claim.run_id).update(heartbeat_at=next(moments))
        small.refresh_from_db()
        if small.state == "done":
            break
    # It had a turn that stored its tasks, twelve tasks, and a last turn; never two of the others'
    # between them, where one process works.
    assert len(delays) == 14
    assert max(delays) <= 1


def test_of_two_runs_of_one_requester_each_has_every_second_task(version, embedder):
    runs = [queue(version) for _ in range(2)]
    now = timezone.now()
    for run in runs:
        work_on_run(claim_next_run("ann"), FAR)
        Run.objects.filter(pk=run.pk).update(heartbeat_at=now)
    turns = []
    for place in range(6):
        claim = claim_next_run_or_task("ann")
        turns.append(claim.run_id)
        Run.objects.filter(pk=claim.run_id).update(heartbeat_at=now + timedelta(seconds=place + 1))
    assert turns == [runs[0].pk, runs[1].pk] * 3


def test_what_somebody_started_comes_before_automatic_gradings_of_the_same_requester(
    version, embedder
):
    automatic, started = queue(version), queue(version)
    collection = Collection.objects.create(version=version, places=9)
    Interim.objects.create(collection=collection, run=automatic, n_people=5, by_itself=True)
    assert claim_next_run_or_task("ann").run_id == started.pk
    assert claim_next_run_or_task("ann").run_id == automatic.pk


def test_tasks_that_no_run_waits_for_are_cancelled(run):
    assert cancel_stale_tasks() == 0
    # As a process of an older version does, which knows no tasks.
    Run.objects.filter(pk=run.pk).update(
        state="failed", error="x", finished_at=Now(), lease_until=None
    )
    assert claim_next_run_or_task("ann") is None
    assert cancel_stale_tasks() == 12
    assert count_states(run) == {"cancelled": 12}


def test_a_run_without_its_tasks_goes_on_when_its_lease_runs_out(run):
    RunTask.objects.all().delete()
    assert claim_next_run_or_task("ann") is None
    Run.objects.update(lease_until=build_future_time(timedelta(seconds=-1)))
    assert claim_next_run_or_task("ann") == Claim(run.pk, attempt=2)


def test_the_guard_fails_the_run_of_a_task_without_progress(run, settings):
    settings.STALL_SECONDS = 900
    now = [0.0]
    watch = ReportedWork(lambda: now[0])
    stuck, other = claim_next_run_or_task("ann"), claim_next_run_or_task("ann")
    lines = [
        f"{claim.run_id} {claim.run_attempt} {claim.task_id} {claim.attempt}"
        for claim in (stuck, other)
    ]
    for line in lines:
        watch.read_line(line)
    now[0] = 899.0
    watch.read_line(lines[1])
    assert not watch.decide_kill()
    now[0] = 900.0
    assert watch.decide_kill()
    run.refresh_from_db()
    assert run.state == "failed"
    assert RunTask.objects.get(pk=stuck.task_id).state == "failed"
    watch.read_line(f"{ENDED}{lines[0]}")
    watch.read_line(f"{ENDED}{lines[1]}")
    now[0] = 9000.0
    assert not watch.decide_kill()


def test_new_tasks_wake_the_other_processes_that_run(run, monkeypatch):
    assert count_helper_processes(12) == 0  # no process has given a sign of life
    for n in range(3):
        BackgroundWorker.objects.create(name=f"here:{n}", seen_at=timezone.now())
    BackgroundWorker.objects.create(name="gone", seen_at=timezone.now() - timedelta(hours=1))
    assert (count_helper_processes(12), count_helper_processes(2), count_helper_processes(1)) == (
        2,
        1,
        0,
    )
    sent = []
    monkeypatch.setattr(work, "wake_process", lambda: sent.append(1) or True)
    made = queue(run.version)
    work_on_run(claim_next_run("ann"), FAR)
    made.refresh_from_db()
    assert (made.state, len(sent)) == ("running", 3)


def test_open_tasks_are_work_to_wake_processes_for(run, monkeypatch):
    monkeypatch.setattr(leases, "wake_process", lambda: True)
    assert leases.wake_process_if_needed()
    assert not leases.wake_process_if_needed(run_tasks.Lane.ASKING)
    RunTask.objects.update(
        state="running", process="ann", attempt=1, started_at=Now(),
        lease_until=build_future_time(timedelta(minutes=1)),
    )  # fmt: skip
    assert not leases.wake_process_if_needed()


def test_the_database_refuses_tasks_in_an_impossible_state(run):
    with refused("run_task_holds_data_until_it_ends"):
        RunTask.objects.update(state="done", ended_at=Now())
    with refused("run_task_that_runs_has_a_lease"):
        RunTask.objects.update(state="running")
    with refused("run_task_that_failed_says_why"):
        RunTask.objects.update(state="failed", payload=None, ended_at=Now())
    with refused("run_task_holds_data_until_it_ends"):
        RunTask.objects.update(state="lost", payload=None, ended_at=Now())
