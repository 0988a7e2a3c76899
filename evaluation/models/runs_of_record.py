"""Official runs: the run of a question set that exports, the API and overviews use."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Case, F, QuerySet, When
from django.utils import timezone

from annotations.models import VIEWERS, Access, QuestionSet, Scoped
from evaluation.models.runs import Run


class RunOfRecord(Scoped):
    """Official run of a question set for a run type; at most one each.

    A table of its own, because a constraint on `Run` cannot reach the set, and because it says who
    chose the run and when. `chosen_by` is None where nobody did: the first run of a kind that was
    done is taken until somebody chooses. The row goes with its run; then the newest run that is
    done counts (`run_that_counts`).
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


def run_of_record(question_set: QuestionSet | int, kind: str) -> RunOfRecord | None:
    """Return the official run of a set, with the run, its version and the user who chose it.

    None while it is archived: then the newest run that is done counts (`run_that_counts`), and it
    counts again once it is restored.
    """
    rows = RunOfRecord.objects.filter(
        question_set=question_set, kind=kind, run__archived_at__isnull=True
    )
    return rows.select_related("run__version", "chosen_by").first()


def run_that_counts(runs: QuerySet[Run]) -> Run | None:
    """Return the official run among finished runs of one set and type, else their newest.

    One that is archived does not count, and a grading of the answers so far only where there is no
    other.
    """
    return (
        runs.filter(archived_at=None)
        .order_by(
            F("of_record").desc(nulls_last=True),
            Case(When(interim__isnull=True, then=0), default=1),
            "-pk",
        )
        .first()
    )


def take_first(run: Run) -> None:
    """Make a finished run the official one if its set has none of this run type.

    Not by itself a grading of the answers so far: people are still answering.
    """
    if Run.objects.filter(pk=run.pk, interim__isnull=False).exists():
        return
    RunOfRecord.objects.get_or_create(
        question_set_id=run.version.question_set_id,
        kind=run.kind,
        defaults={"run": run, "chosen_at": timezone.now()},
    )


def choose(run: Run, user: Any) -> RunOfRecord:
    """Make a run the official one, and store the user and the time.

    ValueError for a run that is not done: it has nothing to show.
    """
    if run.state != Run.State.DONE:
        raise ValueError(f"a run that is {run.state} has no results")
    made, _ = RunOfRecord.objects.update_or_create(
        question_set_id=run.version.question_set_id,
        kind=run.kind,
        defaults={"run": run, "chosen_by": user, "chosen_at": timezone.now()},
    )
    return made
