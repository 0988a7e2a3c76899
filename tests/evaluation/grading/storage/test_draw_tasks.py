"""Bootstrap draws computed by tasks of all processes have the numbers of a single turn."""

import itertools
from datetime import timedelta

import numpy as np
import pytest
from django.contrib.auth.models import User

from annotations.models import Response
from evaluation.consensus.methods import resampling
from evaluation.consensus.methods.resampling import Bootstrap
from evaluation.grading.storage import draws
from evaluation.models import DrawPart, Embedding, Run, RunTask, WorkerGrade
from evaluation.runs.background.leases import LeaseLostError, build_future_time, claim_next_run
from evaluation.runs.background.run_tasks import claim_next_run_or_task, claim_task
from evaluation.runs.background.runs import cancel_run, pause_run, resume_run
from evaluation.runs.background.work import work_on_run, work_on_task, work_one_turn
from evaluation.runs.steps import cache, run_tasks
from evaluation.runs.steps.run_tasks import WAITS_FOR_TASKS
from tests.evaluation.runs.background.task_world import (
    FakeEmbedder,
    count_states,
    make_version,
    queue,
)

pytestmark = pytest.mark.django_db

FAR = 1e12
N_DRAWS, N_CHUNKS = 20, 5
COLUMNS = (
    *("worker_id", "raw", "grade", "rank", "raw_low", "raw_high", "grade_low", "grade_high"),
    *("rank_low", "rank_high"),
)
OPTIONS = {"embedder": "minilm", "bootstrap": N_DRAWS, "leave_one_out": True, "seed": 3}


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    """An embedder without a model; 24 answers in chunks of four draws."""
    made = FakeEmbedder()
    monkeypatch.setattr(cache, "load_embedder", lambda spec, precision: made)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr(resampling, "AT_ONCE", 24 * N_DRAWS // N_CHUNKS)
    draws._prepared.clear()
    return made


@pytest.fixture
def divided(monkeypatch):
    """Make a task of each chunk, as if it took three seconds, of the draws only."""
    monkeypatch.setattr(
        draws, "split_by_work", lambda sizes, speed: [slice(at, at + 1) for at in range(len(sizes))]
    )


@pytest.fixture
def version():
    return make_version(User.objects.create(username="rita"), "colours")


@pytest.fixture
def run(version, divided):
    """A run whose turn has computed the first chunk, and has stored a task of each other one."""
    made = queue(version, **OPTIONS)
    work_on_run(claim_next_run("ann"), FAR)
    made.refresh_from_db()
    return made


def finish(run: Run) -> Run:
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert (run.state, run.error) == ("done", "")
    return run


def read_grades(run: Run) -> list[tuple]:
    return list(WorkerGrade.objects.filter(run=run).order_by("worker").values_list(*COLUMNS))


def grade_in_one_turn(version, **options) -> list[tuple]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws, "split_by_work", lambda sizes, speed: [])
        made = queue(version, **options)
        assert work_one_turn()
    assert not RunTask.objects.filter(run=made).exists()
    made.refresh_from_db()
    assert made.state == "done"
    return read_grades(made)


def test_a_turn_stores_its_draws_and_a_task_of_each_other_chunk(run, version):
    assert (run.state, run.lease_owner, run.attempt) == ("running", WAITS_FOR_TASKS, 1)
    assert (run.stage, run.done, run.total) == ("intervals", 4, N_DRAWS)
    tasks = list(RunTask.objects.filter(run=run))
    assert {(task.kind, task.lane, task.n_items) for task in tasks} == {("draws", "computing", 4)}
    assert sorted(task.payload["chunks"] for task in tasks) == [[1], [2], [3], [4]]
    parts = DrawPart.objects.filter(run=run).values_list("first", "n_draws", "n_workers")
    assert list(parts) == [(0, 4, 4)]
    # Keys only: no answer is in a task.
    assert {type(value) for task in tasks for value in task.payload.values()} == {str, int, list}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"leave_one_out": False, "bootstrap_workers": True},
        {"difficulty": True, "discrimination": True},
        {"weight_cap": 0.4},
        {"exclude_workers": ("colours 0",)},
        {"init": "random", "similarity": "euclidean"},
        {"embedder": "tfidf-word"},
        {"embedder": "bow", "aggregation": "majority", "leave_one_out": False},
    ],
)
def test_tasks_of_two_processes_give_the_numbers_of_one_turn(version, divided, options):
    options = {**OPTIONS, **options}
    whole = grade_in_one_turn(version, **options)
    made = queue(version, **options)
    work_on_run(claim_next_run("ann"), FAR)
    made.refresh_from_db()
    names = itertools.cycle(("ann", "bob"))
    while made.state != "queued":
        # A process that has prepared nothing yet computes every task.
        draws._prepared.clear()
        work_on_task(claim_next_run_or_task(next(names)))
        made.refresh_from_db()
    assert made.done == N_DRAWS
    by_process = RunTask.objects.filter(run=made).values_list("process", flat=True)
    assert set(by_process) == {"ann", "bob"}
    finish(made)
    # To the last bit, and something to compare.
    assert read_grades(made) == whole
    assert any(low is not None for *_, low, _ in whole)
    assert not DrawPart.objects.filter(run=made).exists()


def test_chunks_in_any_order_have_the_same_draws(run):
    """The streams are those of one pass: multinomial counts by a generator of the seed."""
    claim = claim_next_run_or_task("ann")
    bootstrap = draws._get_bootstrap(
        type("Turn", (), {"run_id": run.pk, "check": lambda self: None})(),
        RunTask.objects.get(pk=claim.task_id).payload["input_hash"],
        RunTask.objects.get(pk=claim.task_id).payload["embedder_version"],
    )
    ahead = [bootstrap.compute(number) for number in range(N_CHUNKS)]
    stream, _ = np.random.default_rng(OPTIONS["seed"]).spawn(2)
    wanted = stream.multinomial(6, np.full(6, 1 / 6), size=N_DRAWS).T
    np.testing.assert_array_equal(np.hstack([times for _, times, _ in bootstrap.draws]), wanted)
    back = Bootstrap(bootstrap.vote, bootstrap.start, bootstrap.rules, bootstrap.draws)
    for number in (3, 0, 4, 2, 1, 3):
        for one, other in zip(back.compute(number), ahead[number], strict=True):
            np.testing.assert_array_equal(one, other)


def test_few_draws_are_computed_in_the_turn(version, monkeypatch):
    seen = []

    def look(sizes, speed):
        seen.append((len(sizes), speed > 0))
        return run_tasks.split_by_work(sizes, speed)

    monkeypatch.setattr(draws, "split_by_work", look)
    made = queue(version, **OPTIONS)
    assert work_one_turn()
    made.refresh_from_db()
    # After each chunk the rest is measured anew, and is never worth two tasks of three seconds.
    assert seen == [(4, True), (3, True), (2, True), (1, True)]
    assert made.state == "done"
    assert not RunTask.objects.exists()


def test_the_measured_speed_decides_how_many_tasks_there_are(version, monkeypatch):
    tasks = []

    def look(sizes, speed):
        # As if four draws had taken 1.5 s: 16 more are six seconds, two tasks.
        tasks.append(run_tasks.split_by_work(sizes, 4 / 1.5))
        return tasks[-1]

    monkeypatch.setattr(draws, "split_by_work", look)
    queue(version, **OPTIONS)
    work_on_run(claim_next_run("ann"), FAR)
    assert tasks == [[slice(0, 2), slice(2, 4)]]
    assert sorted(RunTask.objects.values_list("n_items", flat=True)) == [8, 8]


def cancel(run):
    assert cancel_run(run)


def pause(run):
    assert pause_run(run)


def begin_again(run):
    pause_run(run)
    resume_run(run)
    work_on_run(claim_next_run("bob"), FAR)


def act_while_computing(monkeypatch, act) -> None:
    """Call `act` once, in the middle of the next chunk."""
    compute = Bootstrap.compute

    def act_and_compute(self, number):
        monkeypatch.setattr(Bootstrap, "compute", compute)
        act()
        return compute(self, number)

    monkeypatch.setattr(Bootstrap, "compute", act_and_compute)


@pytest.mark.parametrize(("change", "parts"), [(cancel, 0), (pause, 1), (begin_again, 2)])
def test_a_task_of_a_run_that_was_ended_or_begun_again_stores_nothing(
    run, monkeypatch, change, parts
):
    claim = claim_next_run_or_task("ann")
    act_while_computing(monkeypatch, lambda: change(run))
    work_on_task(claim)
    task = RunTask.objects.get(pk=claim.task_id)
    assert (task.state, task.payload, task.work) == ("cancelled", None, 0)
    # The run that began again has computed one more chunk itself before it stored new tasks.
    assert DrawPart.objects.filter(run=run).count() == parts
    assert not RunTask.objects.filter(run=run, run_attempt=1, payload__isnull=False).exists()


def test_a_killed_process_s_task_is_taken_over_and_its_own_end_changes_nothing(
    run, version, monkeypatch
):
    killed = claim_next_run_or_task("ann")
    taken = []

    def die():
        RunTask.objects.filter(pk=killed.task_id).update(
            lease_until=build_future_time(timedelta(seconds=-1))
        )
        taken.append(claim_task(run.pk, "bob"))

    act_while_computing(monkeypatch, die)
    work_on_task(killed)
    assert DrawPart.objects.filter(run=run).count() == 1
    (claim,) = taken
    task = RunTask.objects.get(pk=killed.task_id)
    assert (task.process, task.crashes, task.state) == ("bob", 1, "running")
    with pytest.raises(LeaseLostError):
        killed.finish_task()
    work_on_task(claim)
    assert DrawPart.objects.filter(run=run).count() == 2
    finish(run)
    assert read_grades(run) == grade_in_one_turn(version, **OPTIONS)


def test_a_paused_run_goes_on_with_the_chunks_that_are_missing(run, version):
    # Tasks are in an order of their own: the stored chunks are not the first ones.
    for _ in range(2):
        work_on_task(claim_next_run_or_task("ann"))
    done = set(RunTask.objects.filter(state="done").values_list("number", flat=True))
    assert done == {0, 1}
    stored = set(DrawPart.objects.filter(run=run).values_list("first", flat=True))
    pause_run(run)
    resume_run(run)
    work_on_run(claim_next_run("ann"), FAR)
    # The turn computes the first missing chunk; the other one is a task.
    assert count_states(run) == {"cancelled": 2, "done": 2, "waiting": 1}
    (task,) = RunTask.objects.filter(run=run, state="waiting")
    (chunk,) = task.payload["chunks"]
    assert chunk * 4 not in stored
    finish(run)
    assert read_grades(run) == grade_in_one_turn(version, **OPTIONS)


@pytest.mark.parametrize("change", ["answers", "vectors", "version"])
def test_tasks_of_other_answers_compute_nothing_and_the_turn_draws_itself(
    run, version, monkeypatch, change
):
    if change == "answers":
        Response.objects.filter(pk=Response.objects.first().pk).update(text="something else")
    elif change == "vectors":
        Embedding.objects.all().delete()
    else:
        monkeypatch.setattr(draws, "collect_versions", lambda: {"crowdgrade": "0.0"})
    for _ in range(4):
        work_on_task(claim_next_run_or_task("ann"))
    assert set(RunTask.objects.values_list("state", "work")) == {("done", 0.0)}
    assert DrawPart.objects.filter(run=run).count() == 1
    run.refresh_from_db()
    assert run.state == "queued"
    work_on_run(claim_next_run("ann"), FAR)
    run.refresh_from_db()
    assert (run.state, RunTask.objects.filter(state="waiting").count()) == ("done", 0)
    assert read_grades(run) == grade_in_one_turn(version, **OPTIONS)


def test_stored_draws_are_deleted_with_the_end_of_a_run(run, version):
    other = queue(version, **OPTIONS)
    work_on_run(claim_next_run("ann"), FAR)
    assert DrawPart.objects.filter(run=other).count() == 1
    claim_next_run_or_task("ann").fail("no memory")
    failed = Run.objects.get(state="failed")
    assert not DrawPart.objects.filter(run=failed).exists()
    assert DrawPart.objects.count() == 1


def test_a_process_keeps_no_crowd_once_no_task_of_the_run_waits(run):
    for left in (3, 2, 1, 0):
        work_on_task(claim_next_run_or_task("ann"))
        assert len(draws._prepared) == (left > 0)
