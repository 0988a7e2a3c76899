"""Divide a step of a run into tasks for all background processes.

A turn that finds much work stores it as rows of `RunTask`, in one transaction, and ends by
`WaitsForTasksError`. Any background process computes the next task (`background.run_tasks`) by the
function of its kind in `WORKERS`. The last finished task puts the run back into the queue; its next
turn then finds the whole step done.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from django.db.models import F, PositiveBigIntegerField
from django.db.models.functions import Least

from evaluation.models import Run, RunTask
from evaluation.runs.steps.checkpoints import Lane, Turn

TASK_SECONDS = 3.0
"""Intended length of a task: what a killed process loses at most, and what others wait for."""
RECENT = 9
"""Finished tasks whose median speed sets the size of the next ones."""
MOST_ITEMS = 5000
"""Items in one task, however fast they are: all of them are in one row."""
WAITS_FOR_TASKS = "tasks"
"""`lease_owner` of a run whose tasks background processes compute."""

WORKERS: Mapping[str, str] = {
    RunTask.Kind.EMBEDDING: "evaluation.runs.steps.cache.embed_task_texts",
    RunTask.Kind.DRAWS: "evaluation.grading.storage.draws.compute_task_draws",
}
"""Dotted name of the function that computes a task, by kind: (turn, task) -> None.

It commits parts in fenced transactions by `store_task_progress`, and may be called for the
rest.
"""


class WaitsForTasksError(Exception):
    """Raised when a turn has stored `n_tasks` tasks; the run continues after the last one."""

    def __init__(self, run_id: int, n_tasks: int) -> None:
        super().__init__(run_id, n_tasks)
        self.n_tasks = n_tasks


def measure_task_speed(subject: str, guess: float) -> float:
    """Return the median work per second of a subject's latest tasks; `guess` without any."""
    finished = RunTask.objects.filter(
        subject=subject, state=RunTask.State.DONE, work__gt=0, seconds__gt=0
    )
    rows = finished.order_by("-ended_at").values_list("work", "seconds")[:RECENT]
    return median([work / seconds for work, seconds in rows]) if rows else guess


def split_by_work(work_of_items: Sequence[float], speed: float) -> list[slice]:
    """Return slices of items with equal work, about `TASK_SECONDS` each; [] for little work.

    Work for less than two tasks is little: the turn does it itself. `speed` is work per second.
    """
    total = math.fsum(work_of_items)
    if total < 2 * TASK_SECONDS * speed:
        return []
    # As many tasks as fit, and not slices of `TASK_SECONDS` with a short one at the end.
    each = total / math.ceil(total / (TASK_SECONDS * speed))
    slices, first, done = [], 0, 0.0
    for at, work in enumerate(work_of_items, start=1):
        before, done = done, done + work
        # A slice ends with the item that reaches a multiple of `each`. The sum has rounding
        # errors, which must not add a last slice of one item.
        is_full = math.floor(done / each + 1e-9) > math.floor(before / each + 1e-9)
        if is_full or at - first >= MOST_ITEMS:
            slices.append(slice(first, at))
            first = at
    if first < len(work_of_items):
        slices.append(slice(first, len(work_of_items)))
    return slices


def store_tasks(
    turn: Turn, kind: RunTask.Kind, subject: str, lane: Lane, payloads: Sequence[tuple[int, Any]]
) -> None:
    """Store a run's tasks and end its turn: raises `WaitsForTasksError`.

    `payloads` holds a pair (number of items, data as JSON) for each task.
    """
    # In an order of its own for each run: two runs over the same texts begin with different tasks,
    # and each skips what the other has stored. The speed of the first tasks is then that of all.
    order = np.random.default_rng(turn.run_id).permutation(len(payloads))
    with turn.open_fenced_transaction():
        # `open_fenced_transaction` has locked the row, so this attempt is the one of the turn.
        attempt = Run.objects.values_list("attempt", flat=True).get(pk=turn.run_id)
        before = RunTask.objects.filter(run=turn.run_id, run_attempt=attempt).count()
        RunTask.objects.bulk_create(
            [
                RunTask(
                    run_id=turn.run_id,
                    run_attempt=attempt,
                    number=before + place,
                    kind=kind,
                    subject=subject[:300],
                    lane=lane.value,
                    n_items=payloads[which][0],
                    payload=payloads[which][1],
                )
                for place, which in enumerate(order)
            ],
            batch_size=100,
        )
        Run.objects.filter(pk=turn.run_id).update(lease_owner=WAITS_FOR_TASKS)
    raise WaitsForTasksError(turn.run_id, len(order))


def store_task_progress(
    task: RunTask, n_items: int, payload: Any, work: float, seconds: float, n_truncated: int = 0
) -> None:
    """Store that `n_items` more items of a task are done, and the `payload` that is left."""
    task.work += work
    task.seconds += seconds
    task.n_truncated += n_truncated
    task.payload = payload
    task.save(update_fields=["work", "seconds", "n_truncated", "payload"])
    Run.objects.filter(pk=task.run_id).update(
        done=Least(F("done") + n_items, F("total"), output_field=PositiveBigIntegerField())
    )


def count_truncated_texts(run_id: int, subject: str) -> int:
    """Return how many texts the run's embedding tasks of a subject (embedder) truncated."""
    tasks = RunTask.objects.filter(run=run_id, subject=subject, n_truncated__gt=0)
    return sum(tasks.values_list("n_truncated", flat=True))
