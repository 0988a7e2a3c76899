"""Interim gradings and admission rules of collections, and deletions.

Interim gradings of the answers so far, while a collection is open. Admission rules: minimum scores
in an earlier set to take part in a collection. Deletions that background processes carry out in
batches of rows.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.models import (
    VIEWERS,
    Access,
    Collection,
    Import,
    QuestionSet,
    Record,
    Scoped,
    Submission,
)
from evaluation.models.runs import FINISHED, Run

FEWEST = 3
"""Least number of submissions; fewer cannot be graded."""


class Interim(Scoped):
    """Grading of the answers that `n_people` workers had submitted when it was requested.

    `found` has the results that the collection's page shows; None until a background process has
    computed it after the run. It names no worker, so that a withdrawal leaves no trace in it.
    """

    access = Access(question_set="collection__version__question_set", readers=VIEWERS)

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="interims")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="interim")
    n_people = models.PositiveIntegerField()
    by_itself = models.BooleanField(default=False)
    found = models.JSONField(null=True, blank=True)

    def __str__(self) -> str:
        return f"interim of {self.n_people} people"


def select_completed_submissions() -> QuerySet[Submission]:
    """Return a queryset of the submissions that workers completed here, not imported ones."""
    return Submission.objects.filter(
        state=Submission.State.SUBMITTED, source=Submission.Source.COLLECTED
    )


def select_unreported_interims() -> QuerySet[Interim]:
    """Return a queryset of finished interim gradings whose page results are not computed yet."""
    # "found=None" would compare with the null of JSON, which no row here has.
    return Interim.objects.filter(run__state=Run.State.DONE, found__isnull=True)


def select_due_collections() -> QuerySet[Collection]:
    """Return a queryset of collections with enough submissions for another interim grading."""
    done = (
        select_completed_submissions()
        .filter(version=OuterRef("version"))
        .order_by()
        .values("version")
    )
    latest = Interim.objects.filter(collection=OuterRef("pk")).order_by("-pk")
    busy = latest.exclude(run__state__in=FINISHED)
    return (
        Collection.objects.filter(
            grade_every__isnull=False, version__question_set__archived_at__isnull=True
        )
        .annotate(
            n_done=Coalesce(
                Subquery(done.annotate(n=Count("pk")).values("n"), output_field=IntegerField()),
                0,
            ),
            n_before=Coalesce(
                Subquery(latest.values("n_people")[:1], output_field=IntegerField()), 0
            ),
        )
        .filter(~Exists(busy), n_done__gte=F("n_before") + F("grade_every"))
        .filter(n_done__gte=FEWEST)
    )


def has_interim_work() -> bool:
    """Return whether an interim grading has to be started or its page results computed."""
    return select_unreported_interims().exists() or select_due_collections().exists()


class ScoreRule(Scoped):
    """Admission rule: only workers with a minimum score in an earlier set may take part.

    The score is the raw leave-one-out score or the question contrast (`score`) in the grading run
    that represents the earlier set, or an end of its 95% interval. `evaluation.admission` adds the
    ids of the workers who meet the rule to the collection's list. `run` is the grading run applied
    last (None without one, or after its deletion), `applied_at` the time.
    """

    class End(models.TextChoices):
        """Number that the rule compares with the minimum: the score, or an end of its interval.

        The lower end is the more cautious choice.
        """

        SCORE = "score", "their score"
        LOW = "low", "the lower end of its interval"
        HIGH = "high", "the upper end of its interval"

    class Score(models.TextChoices):
        """Score by which workers are compared."""

        RAW = "raw", "raw score"
        CONTRAST = "contrast", "question contrast"

    access = Access(question_set="collection__version__question_set")

    collection = models.OneToOneField(
        Collection, on_delete=models.CASCADE, related_name="score_rule"
    )
    earlier = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="score_rules", db_index=True
    )
    at_least = models.FloatField()
    score = models.CharField(max_length=8, choices=Score.choices, default=Score.RAW)
    end = models.CharField(max_length=5, choices=End.choices, default=End.LOW)
    run = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="score_rules"
    )
    n_admitted = models.PositiveIntegerField(default=0)
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(end__in=["score", "low", "high"]), name="score_rule_end_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(score__in=["raw", "contrast"]), name="score_rule_score_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_end_display()} at least {self.at_least:g} in {self.earlier}"


IMPORT = "import"


class Removal(Record):
    """A deletion, undoing of an import, or erasure in progress; `target` is the row's primary key.

    `done` of `total` rows are deleted. Every batch is a transaction of its own and may run twice
    without harm, so there is no lease: any background process continues, also after a crash.
    `pending` has the data needed to find the remaining rows, and is empty in the end. `asked_by` is
    None if a worker withdrew their own answers.
    """

    access = Access(owner="owner", people="asked_by")

    kind = models.CharField(max_length=20)
    target = models.PositiveBigIntegerField()
    target_id = models.UUIDField()
    name = models.CharField(max_length=300)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="removals_of_own"
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="removals"
    )
    counts = models.JSONField(default=dict, blank=True)
    inputs = models.JSONField(default=list, blank=True)
    pending = models.JSONField(default=dict, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "target_id"], name="removal_once"),
            models.CheckConstraint(
                condition=Q(done__lte=F("total")), name="removal_of_no_more_than_all"
            ),
        ]
        # Without the finished removals, which are kept as a record.
        indexes = [
            models.Index(
                fields=["id"], condition=Q(finished_at__isnull=True), name="removal_unfinished"
            ),
        ]

    def __str__(self) -> str:
        return f"removal of {self.name}"

    @property
    def words(self) -> str:
        """Description of the deletion's state, such as "is being deleted", for a page."""
        undone, erased = "is being undone", "is being erased"
        return {"import": undone, "worker": erased, "submission": erased}.get(
            self.kind, "is being deleted"
        )

    @property
    def percent(self) -> int:
        """Progress of the deletion in percent, 0 to 100."""
        if self.finished_at is not None:
            return 100
        # 100 is for a recorded end: after the last batch a final step remains.
        return min(99, int(100 * self.done / max(1, self.total)))


def is_import_being_undone(question_set: int) -> bool:
    """Return whether an import of a question set (primary key) is being undone now."""
    imports = Import.objects.filter(question_set=question_set, undone_at=None).values("public_id")
    return Removal.objects.filter(kind=IMPORT, finished_at=None, target_id__in=imports).exists()
