"""Tasks of runs: parts of one run that any background process computes, and their log."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from annotations.models import VIEWERS, Access, Scoped
from evaluation.models.runs import Run

OPEN = ["waiting", "running"]
ENDED = ["done", "failed", "cancelled"]


class RunTask(Scoped):
    """A part of a run that any background process computes, such as texts to embed.

    A run's turn stores its tasks and ends; the last finished task puts the run back into the queue.
    A task counts only while its run is running with the attempt `run_attempt`; `attempt` grows with
    every claim of the task itself. Each commit checks both. `payload` holds what is left to do, and
    is None once the task has ended: it may hold copies of answers. The row stays, as the log of
    which process did which part of a run and when.
    """

    class Kind(models.TextChoices):
        """Kind of work of a task, such as embedding texts."""

        EMBEDDING = "embedding"
        DRAWS = "draws", "Bootstrap draws"

    class State(models.TextChoices):
        """State of a task; done, failed and cancelled are final."""

        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    access = Access(question_set="run__version__question_set", readers=VIEWERS)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tasks", db_index=False)
    run_attempt = models.PositiveIntegerField(help_text="Attempt of the run that stored the task.")
    number = models.PositiveIntegerField(help_text="Place in the order of the run's tasks.")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    subject = models.CharField(max_length=300, help_text="What computes it, such as an embedder.")
    lane = models.CharField(max_length=10, help_text="Lane of background processes (computing...).")
    n_items = models.PositiveIntegerField("items", help_text="Items, such as texts.")
    payload = models.JSONField(null=True, blank=True)

    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt = models.PositiveIntegerField(default=0, help_text="Grows with every claim.")
    crashes = models.PositiveIntegerField(
        "lost processes", default=0, help_text="How often its process ended in the middle; capped."
    )
    process = models.CharField(
        max_length=200, blank=True, help_text="Background process that claimed it last."
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField("start (UTC)", null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    work = models.FloatField(default=0, help_text="Work done, in the units of the kind.")
    seconds = models.FloatField(default=0, help_text="Seconds of computing that the work took.")
    n_truncated = models.PositiveIntegerField(default=0, help_text="Texts that were cut.")
    error = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "run_attempt", "number"], name="run_task_once"),
            models.CheckConstraint(
                condition=(Q(state__in=OPEN) & Q(payload__isnull=False, ended_at__isnull=True))
                | (Q(state__in=ENDED) & Q(payload__isnull=True, ended_at__isnull=False)),
                name="run_task_holds_data_until_it_ends",
            ),
            models.CheckConstraint(
                condition=~Q(state="running")
                | (
                    Q(lease_until__isnull=False, started_at__isnull=False, attempt__gte=1)
                    & ~Q(process="")
                ),
                name="run_task_that_runs_has_a_lease",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="run_task_that_failed_says_why"
            ),
        ]
        verbose_name = "task of a run"
        verbose_name_plural = "tasks of runs"
        # Processes poll for open tasks, which are few; finished ones show an embedder's speed.
        indexes = [
            models.Index(
                fields=["run", "run_attempt", "number"],
                condition=Q(state__in=OPEN),
                name="run_task_open",
            ),
            models.Index(
                fields=["subject", "-ended_at"],
                condition=Q(state="done"),
                name="run_task_speed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.number + 1} of run {self.run_id}"

    @classmethod
    def select_open(cls) -> QuerySet[RunTask]:
        """Return a queryset of the open tasks whose run is running and waits for them."""
        return cls._default_manager.filter(
            state__in=OPEN, run__state=Run.State.RUNNING, run_attempt=F("run__attempt")
        )

    @classmethod
    def cancel_open_tasks(cls, **of: Any) -> int:
        """Cancel the open tasks that the filter `of` selects, and return their number.

        `of` is for example `run=run`.
        """
        return cls._default_manager.filter(state__in=OPEN, **of).update(
            state=cls.State.CANCELLED, payload=None, lease_until=None, ended_at=Now()
        )
