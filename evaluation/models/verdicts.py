"""What people decided of a worker in a run: rows that are added and never changed."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from annotations.models import VIEWERS, Access, QuestionSet, Worker
from annotations.models.base import AppendOnly
from evaluation.models.runs import Run


class WorkerVerdict(AppendOnly):
    """A decision about a worker, as the grades of one run show them; or one taken back.

    The newest row of a worker that is no `undo`, and that none takes back, is what counts. It says
    who votes in later runs of the question set, and what the lists for a panel say; it pays and
    rejects nobody by itself. What a panel was told is a `Decision` about a submission, which
    outlives every run; a verdict hangs on grades, and goes with the run.

    `category` is a code of `evaluation.words.triage`, `reason` somebody's own words. `rejects`
    says that the work is refused on the panel as well. `applied_in` are the runs that were made
    without the worker because of this row. `together` is the same id on all rows that were added
    by one press, and on those that took them back by one; None where a worker was looked at alone.
    """

    class Kind(models.TextChoices):
        """What was decided."""

        ACCEPT = "accept", "Accepted"
        LOOK = "look", "Look again"
        EXCLUDE = "exclude", "Excluded"
        UNDO = "undo", "Taken back"

    access = Access(question_set="run__version__question_set", readers=VIEWERS)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="verdicts", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="verdicts")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    category = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)
    rejects = models.BooleanField(default=False)
    takes_back = models.OneToOneField(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="taken_back"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="worker_verdicts"
    )
    together = models.UUIDField(null=True, blank=True, editable=False)
    applied_in = models.ManyToManyField(Run, related_name="applied_verdicts", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["accept", "look", "exclude", "undo"]),
                name="verdict_kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(kind="undo", takes_back__isnull=False)
                | (~Q(kind="undo") & Q(takes_back__isnull=True)),
                name="verdict_takes_back_or_decides",
            ),
            models.CheckConstraint(
                condition=~Q(kind="exclude") | ~Q(category=""),
                name="verdict_against_a_worker_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(rejects=False) | Q(kind="exclude"),
                name="verdict_rejects_who_is_excluded",
            ),
        ]
        indexes = [models.Index(fields=["run", "worker", "-id"], name="verdict_newest")]

    @classmethod
    def counting(cls, run: Run) -> models.QuerySet[WorkerVerdict]:
        """Return the rows of a run that none takes back; a worker's newest one is what counts."""
        return cls.objects.filter(run=run, takes_back=None, taken_back=None).order_by("pk")

    @classmethod
    def excluding(cls, question_set: QuestionSet) -> list[WorkerVerdict]:
        """Return the rows by which workers are excluded from a set, in the order of the decisions.

        A worker's newest row that none takes back counts, whichever run of the set it was made in.
        """
        rows = cls.objects.filter(
            run__version__question_set=question_set, takes_back=None, taken_back=None
        )
        newest = {
            row.worker_id: row for row in rows.select_related("worker", "decided_by").order_by("pk")
        }
        return [row for row in newest.values() if row.kind == cls.Kind.EXCLUDE]

    @classmethod
    def of_author(cls) -> Coalesce:
        """Return the decision that counts of the author of an answer, "" for none.

        For queries of rows with a `response` of a person or without one.
        """
        counting = cls.objects.filter(
            worker=OuterRef("response__submission__worker"),
            run__version__question_set=OuterRef("response__submission__version__question_set"),
            takes_back=None,
            taken_back=None,
        )
        return Coalesce(Subquery(counting.order_by("-pk").values("kind")[:1]), Value(""))

    def __str__(self) -> str:
        return f"{self.kind}: {self.worker}"
