"""Random samples of a run's answers that experts grade blindly, to validate the scores.

The experts' judgements are of the answers, not of the run: another run over the same version is
held against the same ones.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotations.models import VIEWERS, Access, Record, Response, Scoped
from evaluation.models.judgements import HumanJudgement
from evaluation.models.language_models import LLMResponse
from evaluation.models.runs import Run


class Audit(Record):
    """Sampling design of a run's expert check; at most one per run, and it can be enlarged.

    `strata` counts the answers that could be drawn, by stratum, as they were at the latest draw.
    Experts whose grades of an answer are more than `step` apart disagree on it.
    """

    class Design(models.TextChoices):
        """Sampling design for workers' answers; `evaluation.runs.judging.audit` explains each."""

        RANDOM = "random", "at random"
        QUESTION = "question", "at random, spread evenly over the questions"
        GRADE = "grade", "as many of workers with low, middle and high grades"

    access = Access(question_set="run__version__question_set", readers=VIEWERS)

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="audit")
    design = models.CharField(max_length=10, choices=Design.choices)
    with_models = models.BooleanField(default=False)
    seed = models.PositiveIntegerField()
    strata = models.JSONField(default=dict)
    step = models.FloatField(default=1.0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(step__gte=0, step__lte=5), name="audit_step_from_0_to_5"
            ),
            models.CheckConstraint(
                condition=Q(design__in=["random", "question", "grade"]),
                name="audit_design_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"audit of {self.run_id}"


class AuditItem(Scoped):
    """A sampled answer of a worker or a model; `place` is its position in the sampling order.

    It goes with its answer, where that is withdrawn. `adjudicator` is who was asked to settle what
    two experts disagree on; the grade of this one counts in place of theirs.
    """

    access = Access(question_set="audit__run__version__question_set", readers=VIEWERS)

    audit = models.ForeignKey(Audit, on_delete=models.CASCADE, related_name="items", db_index=False)
    place = models.PositiveIntegerField()
    stratum = models.CharField(max_length=10)
    response = models.ForeignKey(
        Response, on_delete=models.CASCADE, null=True, related_name="audit_items"
    )
    llm_response = models.ForeignKey(
        LLMResponse, on_delete=models.CASCADE, null=True, related_name="audit_items"
    )

    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="adjudicated_items",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["audit", "place"], name="audit_item_once"),
            models.CheckConstraint(
                condition=Q(response__isnull=False, llm_response__isnull=True)
                | Q(response__isnull=True, llm_response__isnull=False),
                name="audit_item_of_one_answer",
            ),
        ]

    def __str__(self) -> str:
        return f"answer {self.place} of {self.audit}"


def counting(judgements: QuerySet[HumanJudgement]) -> QuerySet[HumanJudgement]:
    """Select the judgements that count: for each answer only the adjudicator's if there is one.

    Where nobody has settled an answer, all of them count (their mean does, where there are several
    experts).
    """
    settled = Q()
    settles = Q()
    for thing in ("response", "llm_response"):
        items = AuditItem.objects.filter(
            **{thing: OuterRef(thing), f"adjudicator__judgements__{thing}": OuterRef(thing)}
        )
        settled |= Q(Exists(items))
        settles |= Q(Exists(items.filter(adjudicator=OuterRef("expert"))))
    return judgements.filter(~settled | settles)
