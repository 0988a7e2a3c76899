"""How a step is divided into tasks of equal work, and what the speed is taken from."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from evaluation.models import Run, RunTask
from evaluation.runs.steps import run_tasks
from evaluation.runs.steps.run_tasks import (
    MOST_ITEMS,
    TASK_SECONDS,
    count_truncated_texts,
    measure_task_speed,
    split_by_work,
)
from tests.annotations import world


def sizes(slices):
    return [part.stop - part.start for part in slices]


def test_equal_items_are_divided_into_equal_tasks_of_three_seconds():
    assert TASK_SECONDS == 3
    # 300 items at ten a second are 30 seconds.
    assert sizes(split_by_work([1.0] * 300, 10.0)) == [30] * 10
    # 31 seconds are eleven tasks, none much shorter than the others.
    assert set(sizes(split_by_work([1.0] * 310, 10.0))) == {28, 29}


def test_less_than_two_tasks_are_none():
    assert split_by_work([1.0] * 59, 10.0) == []
    assert sizes(split_by_work([1.0] * 60, 10.0)) == [30, 30]
    assert split_by_work([], 10.0) == []


def test_long_items_make_tasks_of_fewer():
    # 180 units in six tasks: each ends with the item that reaches a multiple of 30.
    assert sizes(split_by_work([20.0] * 3 + [10.0] * 3 + [1.0] * 90, 10.0)) == [2, 1, 3, 30, 30, 30]


def test_a_task_holds_a_bounded_number_of_items():
    parts = sizes(split_by_work([1.0] * (3 * MOST_ITEMS), MOST_ITEMS / 2))
    assert max(parts) <= MOST_ITEMS


@pytest.mark.parametrize("seed", range(50))
def test_slices_hold_each_item_once_and_none_much_more_than_its_share(seed):
    random = np.random.default_rng(seed)
    work = random.lognormal(0, 2, size=random.integers(1, 200)).tolist()
    # From a third of a task to many of them.
    speed = sum(work) / TASK_SECONDS / random.uniform(0.3, 40)
    slices = split_by_work(work, speed)
    if not slices:
        assert sum(work) < 2 * TASK_SECONDS * speed
        return
    assert [at for part in slices for at in range(part.start, part.stop)] == list(range(len(work)))
    assert min(sizes(slices)) >= 1
    for part in slices:
        # More than the share only by its last item.
        assert sum(work[part][:-1]) <= TASK_SECONDS * speed * (1 + 1e-6)


@pytest.fixture
def run(db):
    version = world.version(world.user("rana"))
    return Run.objects.create(owner=version.question_set.owner, version=version)


def finished(run, number, work, seconds, **changed):
    return RunTask.objects.create(
        **{
            "run": run,
            "run_attempt": 1,
            "number": number,
            "kind": "embedding",
            "subject": "minilm float32",
            "n_items": 1,
            "state": "done",
            "ended_at": timezone.now() + timedelta(seconds=number),
            "work": work,
            "seconds": seconds,
            **changed,
        }
    )


def test_the_speed_is_the_median_of_the_last_tasks_of_this_embedder(run):
    assert measure_task_speed("minilm float32", 7.0) == 7.0
    finished(run, 0, 1000.0, 1.0)
    assert measure_task_speed("minilm float32", 7.0) == 1000.0
    for number in range(1, 1 + run_tasks.RECENT):
        finished(run, number, 10.0 * number, 1.0)
    # Of 10 to 90; the oldest one is not among the last nine.
    assert measure_task_speed("minilm float32", 7.0) == 50.0
    finished(run, 20, 5000.0, 1.0, subject="other float32")
    finished(run, 21, 0.0, 0.0)  # all its texts were stored
    finished(run, 22, 9.0, 1.0, state="cancelled")
    assert measure_task_speed("minilm float32", 7.0) == 50.0


def test_cut_texts_are_those_of_the_run_and_the_embedder(run):
    finished(run, 0, 1.0, 1.0, n_truncated=3)
    finished(run, 1, 1.0, 1.0, n_truncated=2)
    finished(run, 2, 1.0, 1.0, n_truncated=9, subject="other float32")
    assert count_truncated_texts(run.pk, "minilm float32") == 5
    assert count_truncated_texts(run.pk + 1, "minilm float32") == 0
