"""The log of a run's tasks: which background process computed which part, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q, Sum
from django.db.models import Max as Latest

from evaluation.models import Run, RunTask

SHOWN = 200
"""Tasks in the table of a page; the newest."""


@dataclass(frozen=True)
class ProcessRow:
    """Tasks, items and seconds that one background process computed for a run."""

    process: str
    n_tasks: int
    n_items: int
    seconds: float
    first: datetime
    last: datetime | None


@dataclass(frozen=True)
class TaskRow:
    """One task: number from 1, state, process, start, duration in seconds, and items."""

    number: int
    kind: str
    state: str
    process: str
    n_items: int
    crashes: int
    started_at: datetime | None
    seconds: float | None
    error: str


@dataclass(frozen=True)
class TaskCounts:
    """Number of tasks of a run's present attempt, in all, done and running."""

    total: int
    done: int
    running: int

    def format_counts(self) -> str:
        """Return the counts for a line on progress, such as "3 of 12 tasks done, 2 running"."""
        return f"{self.done:,} of {self.total:,} tasks done, {self.running:,} running"


@dataclass(frozen=True)
class WorkLog:
    """Log of a run's tasks: totals of each process, and the newest tasks."""

    n_tasks: int
    processes: list[ProcessRow]
    tasks: list[TaskRow]


def count_tasks(run: Run) -> TaskCounts:
    """Return how many tasks the run's present attempt has, in all, done and running."""
    states = RunTask.State
    counts = RunTask.objects.filter(run=run, run_attempt=run.attempt).aggregate(
        total=Count("pk"),
        done=Count("pk", filter=Q(state=states.DONE)),
        running=Count("pk", filter=Q(state=states.RUNNING)),
    )
    return TaskCounts(**counts)


def read_work_log(run: Run) -> WorkLog | None:
    """Return the log of a run's tasks; None for a run that had none."""
    rows = RunTask.objects.filter(run=run)
    n_tasks = rows.count()
    if not n_tasks:
        return None
    processes = (
        rows.exclude(process="")
        .order_by("process")
        .values("process")
        .annotate(
            n_tasks=Count("pk"),
            n_items_done=Sum("n_items", filter=Q(state=RunTask.State.DONE)),
            computing=Sum("seconds"),
            first=Min("started_at"),
            last=Latest("ended_at"),
        )
    )
    newest = rows.defer("payload").order_by("-run_attempt", "-number")[:SHOWN]
    return WorkLog(
        n_tasks,
        [
            ProcessRow(
                row["process"],
                row["n_tasks"],
                row["n_items_done"] or 0,
                row["computing"],
                row["first"],
                row["last"],
            )
            for row in processes
        ],
        [_build_task_row(task) for task in newest],
    )


def _build_task_row(task: RunTask) -> TaskRow:
    """Return a task as a row of the log's table."""
    seconds = None
    if task.started_at and task.ended_at:
        seconds = (task.ended_at - task.started_at).total_seconds()
    return TaskRow(
        task.number + 1,
        task.get_kind_display(),
        task.get_state_display(),
        task.process,
        task.n_items,
        task.crashes,
        task.started_at,
        seconds,
        task.error,
    )
