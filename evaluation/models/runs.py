"""Runs, background processes, and the official run of a question set.

Runs: inputs, parameters, state and progress of computations. Official runs: the run of a question
set that exports, the API and overviews use. Background processes and their last sign of life.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.module_loading import import_string

from annotations.models import (
    UNLISTED,
    VIEWERS,
    Access,
    QuestionSet,
    QuestionSetVersion,
    Record,
    Scoped,
)

# A background process works on it, or will.
ACTIVE = ["queued", "running"]
UNFINISHED = [*ACTIVE, "paused"]
FINISHED = ["done", "failed", "cancelled"]
# The default run type.
GRADING = "aqer"
LONGEST_NAME = 120
SILENCE = timedelta(seconds=20)
"""A background process that gave no sign of life for so long is taken for dead."""
LONGEST_NOTES = 10_000


def known_kinds() -> list[tuple[str, str]]:
    """Return (name, title) of each run type in the settings that can have runs."""
    kinds = map(import_string, settings.RUN_KINDS)
    return [(kind.name, kind.title) for kind in kinds if kind.has_runs]


class Run(Record):
    """One computation over a version of a question set; never overwritten.

    A background process claims a run by a conditional update that sets `lease_owner`, `lease_until`
    and `attempt`. It writes results only in transactions that begin by updating the row of its own
    attempt. `input_hash` is that of all texts that went in. `done` of `total` counts the steps of
    `stage`; `total` is None until it is known. `reasons` has the reasons of null results;
    `warnings` are codes with values (`Message`), in older runs sentences; `error` is a sentence or
    such a code as text. `kind` names one of `evaluation.runs.run_types`, which defines `parameters`
    and `summary`. The database accepts any name; a run of an unknown type fails with the reason.
    `name` and `notes` are texts of users; the title of a run without a name states what differs
    from the defaults.
    """

    class State(models.TextChoices):
        """State of a run; done, failed and cancelled are final, a paused run can be resumed."""

        QUEUED = "queued"
        RUNNING = "running"
        PAUSED = "paused"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    access = Access(question_set="version__question_set", readers=VIEWERS)

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="runs",
        help_text="Who started it; who sees it is decided by the question set.",
    )
    version = models.ForeignKey(QuestionSetVersion, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=20, choices=known_kinds, default=GRADING)
    name = models.CharField(
        max_length=LONGEST_NAME,
        blank=True,
        help_text="What you call it. If empty, the options that differ from the defaults name it.",
    )
    notes = models.TextField(
        blank=True, max_length=LONGEST_NOTES, help_text="Why it was made, or what it showed."
    )
    parameters = models.JSONField(default=dict, blank=True)
    made_from = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="made_into",
        help_text="The run whose settings this one began with, until that is deleted.",
    )
    signature = models.TextField(blank=True)
    input_hash = models.CharField(max_length=64, blank=True)

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    stage = models.CharField(max_length=50, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    stage_started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Hidden from lists since then."
    )

    n_withdrawn = models.PositiveIntegerField(
        default=0, help_text="Answers it was made of that were taken away since."
    )

    attempt = models.PositiveIntegerField(default=0, help_text="Grows with every claim.")
    crashes = models.PositiveIntegerField(
        default=0, help_text="How often its worker ended in the middle; capped."
    )
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)

    error = models.TextField(blank=True, help_text="Why it failed, for people.")
    warnings = models.JSONField(default=list, blank=True)
    reasons = models.JSONField(default=list, blank=True)
    summary = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=UNFINISHED + FINISHED), name="run_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(total__isnull=True) | Q(done__lte=F("total")),
                name="run_does_no_more_than_all",
            ),
            models.CheckConstraint(
                condition=Q(crashes__lte=F("attempt")), name="run_crashes_once_an_attempt"
            ),
            models.CheckConstraint(
                condition=~Q(state="running")
                | (
                    Q(started_at__isnull=False)
                    & Q(lease_until__isnull=False)
                    & ~Q(lease_owner="")
                    & Q(attempt__gte=1)
                ),
                name="run_that_runs_has_a_lease",
            ),
            models.CheckConstraint(
                condition=~Q(state="paused") | Q(lease_until__isnull=True, lease_owner=""),
                name="run_that_is_paused_is_nobodys",
            ),
            models.CheckConstraint(
                condition=(Q(state__in=FINISHED) & Q(finished_at__isnull=False))
                | (Q(state__in=UNFINISHED) & Q(finished_at__isnull=True)),
                name="run_that_ended_has_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="run_that_failed_says_why"
            ),
        ]
        # `run_claimable` holds active runs only: background processes poll it, and most runs have
        # ended.
        indexes = [
            models.Index(fields=["version", "-id"], name="run_list"),
            models.Index(
                fields=["state", "lease_until", "id"],
                condition=Q(state__in=ACTIVE),
                name="run_claimable",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} run {self.public_id}"

    @property
    def is_finished(self) -> bool:
        """Whether the run is done, failed or cancelled."""
        return self.state in FINISHED


class RunOfRecord(Scoped):
    """Official run of a question set for a run type; at most one each.

    A table of its own, because a constraint on `Run` cannot refer to the set, and to store who
    chose the run and when. `chosen_by` is None for an automatic choice: the first finished run of a
    type is official until a user chooses another. The row is deleted with its run; then the newest
    finished run counts (`choose_official_or_newest`).
    """

    access = Access(question_set="question_set", readers=VIEWERS)

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="runs_of_record", db_index=False
    )
    kind = models.CharField(max_length=20)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="of_record")
    chosen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="runs_of_record",
    )
    chosen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question_set", "kind"], name="run_of_record_once")
        ]
        verbose_name_plural = "runs of record"

    def __str__(self) -> str:
        return f"{self.run} for {self.question_set}"


def find_official_run(question_set: QuestionSet | int, kind: str) -> RunOfRecord | None:
    """Return the official run of a set and run type, with version and user; None without one.

    Also None while that run is archived: then the newest finished run takes its place
    (`choose_official_or_newest`), until it is restored.
    """
    rows = RunOfRecord.objects.filter(
        question_set=question_set, kind=kind, run__archived_at__isnull=True
    )
    return rows.select_related("run__version", "chosen_by").first()


def choose_official_or_newest(runs: QuerySet[Run]) -> Run | None:
    """Return the official run among finished runs of one set and type, else the newest; or None.

    Archived runs are left out. An interim grading counts only if there is no other run.
    """
    return (
        runs.filter(archived_at=None)
        .order_by(
            # At most one of the runs has an official row; without `nulls_last` PostgreSQL would put
            # all others before it.
            F("of_record").desc(nulls_last=True),
            Case(When(interim__isnull=True, then=0), default=1),
            "-pk",
        )
        .first()
    )


def make_first_official(run: Run) -> None:
    """Make a finished run official if its set has no official run of this type yet.

    Interim gradings never become official automatically, because workers are still answering.
    """
    if Run.objects.filter(pk=run.pk, interim__isnull=False).exists():
        return
    # If two runs end at once, the unique constraint lets only one become official.
    RunOfRecord.objects.get_or_create(
        question_set_id=run.version.question_set_id,
        kind=run.kind,
        defaults={"run": run, "chosen_at": timezone.now()},
    )


def make_official(run: Run, user: Any) -> RunOfRecord:
    """Make a finished run the official one of its set, and record the user and the time.

    Raises ValueError for a run that is not done.
    """
    if run.state != Run.State.DONE:
        raise ValueError(f"a run that is {run.state} has no results")
    made, _ = RunOfRecord.objects.update_or_create(
        question_set_id=run.version.question_set_id,
        kind=run.kind,
        defaults={"run": run, "chosen_by": user, "chosen_at": timezone.now()},
    )
    return made


class BackgroundWorker(models.Model):
    """A background process and its last sign of life, by the database's clock.

    Rows have no owner: they show whether a process runs, not what it does.
    """

    access = UNLISTED

    name = models.CharField(max_length=200, unique=True, help_text="Host and process id.")
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name

    @classmethod
    def select_running(cls) -> QuerySet[BackgroundWorker]:
        """Return the processes that gave a sign of life in the last 20 seconds."""
        return cls._default_manager.filter(seen_at__gt=Now() - SILENCE)
