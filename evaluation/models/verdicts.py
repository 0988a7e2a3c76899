"""Decisions about workers of a run; rows are added and never changed."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from annotations.exchange.ids import clean_id
from annotations.models import VIEWERS, Access, QuestionSet, QuestionSetVersion, Worker
from annotations.models.base import AppendOnly
from evaluation.models.grades import WorkerGrade
from evaluation.models.runs import Run


class WorkerVerdict(AppendOnly):
    """A decision about a worker, or the withdrawal of one.

    The newest row of a worker that is no `undo`, and that none takes back, is what counts. It says
    who votes in later runs of the question set. What a panel learns is a `Decision` about the
    worker's submission: `evaluation.triage.storage` writes both in one transaction, wherever the
    decision is made, so that a worker has one decision. Both outlive every run: `run` is None once
    the run is deleted, or where no run had graded the worker, and the verdict then belongs to every
    run of the question set that graded the worker.

    `category` is a code of `evaluation.triage.messages`, `reason` somebody's own words. `rejects`
    says that the work is refused on the panel as well. `applied_in` are the runs that were made
    without the worker because of this row. `together` is the same id on all rows that were added
    by one press, and on those that took them back by one; None where a worker was looked at alone.
    """

    class Kind(models.TextChoices):
        """Kind of decision about a worker."""

        ACCEPT = "accept", "Accepted"
        LOOK = "look", "Look again"
        EXCLUDE = "exclude", "Excluded"
        UNDO = "undo", "Taken back"

    access = Access(question_set="question_set", readers=VIEWERS)

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="verdicts", editable=False
    )
    run = models.ForeignKey(
        Run,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="verdicts",
        db_index=False,
    )
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
    def of_version(cls, version: QuestionSetVersion | int) -> models.QuerySet[WorkerVerdict]:
        """Return the rows of all runs of a version, and those of its set without a run."""
        key = version if isinstance(version, int) else version.pk
        of_set = QuestionSetVersion.objects.filter(pk=key).values("question_set")
        rows = cls.objects.filter(Q(run__version=key) | Q(run=None), question_set__in=of_set)
        return rows.order_by("pk")

    @classmethod
    def of_submitter(cls, version: QuestionSetVersion) -> Coalesce:
        """Return the database expression of a submission's current verdict kind, "" for none.

        For queries of submissions of a version.
        """
        rows = cls.of_version(version).filter(
            worker=OuterRef("worker"), takes_back=None, taken_back=None
        )
        return Coalesce(Subquery(rows.order_by("-pk").values("kind")[:1]), Value(""))

    @classmethod
    def of_run(cls, run: Run) -> models.QuerySet[WorkerVerdict]:
        """Select the `of_version` rows about the workers of a run.

        A worker has one decision, whichever run of the version showed the grades.
        """
        graded = WorkerGrade.objects.filter(run=run).values("worker")
        return cls.of_version(run.version_id).filter(worker__in=graded)

    @classmethod
    def counting(cls, run: Run) -> models.QuerySet[WorkerVerdict]:
        """Select the `of_run` rows not taken back; a worker's newest one is current."""
        return cls.of_run(run).filter(takes_back=None, taken_back=None)

    @classmethod
    def excluding(cls, question_set: QuestionSet) -> list[WorkerVerdict]:
        """Return the decisions that exclude workers from a set, oldest first.

        A worker's newest row that none takes back counts, whichever run of the set it was made in.
        """
        rows = cls.objects.filter(question_set=question_set, takes_back=None, taken_back=None)
        newest = {
            row.worker_id: row for row in rows.select_related("worker", "decided_by").order_by("pk")
        }
        return [row for row in newest.values() if row.kind == cls.Kind.EXCLUDE]

    @classmethod
    def record_exclusions(cls, run: Run) -> None:
        """Record with a run the decisions that exclude workers from it.

        Its pages then show them with reason, author and time. Ids without a decision have none.
        """
        named = run.parameters.get("exclude_workers") or ()
        if not named:
            return
        ids = {clean_id(one) for one in named}
        of_set = cls.excluding(run.version.question_set)
        cls.apply_to(
            run,
            [one for one in of_set if {one.worker.external_id, str(one.worker.public_id)} & ids],
        )

    @classmethod
    def apply_to(cls, run: Run, verdicts: Sequence[WorkerVerdict]) -> None:
        """Record that a run was made with these decisions; repeating has no effect."""
        through = cls.applied_in.through
        through.objects.bulk_create(
            [through(workerverdict_id=verdict.pk, run_id=run.pk) for verdict in verdicts],
            ignore_conflicts=True,
        )

    @classmethod
    def of_author(cls) -> Coalesce:
        """Return the database expression of the current verdict on an answer's author.

        For queries of rows with a `response` of a person or without one.
        """
        counting = cls.objects.filter(
            worker=OuterRef("response__submission__worker"),
            question_set=OuterRef("response__submission__version__question_set"),
            takes_back=None,
            taken_back=None,
        )
        return Coalesce(Subquery(counting.order_by("-pk").values("kind")[:1]), Value(""))

    def __str__(self) -> str:
        return f"{self.kind}: {self.worker}"
