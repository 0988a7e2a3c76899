"""Judgements of experts, audits, and files of graded answers.

Texts that experts are asked to judge, the requests, and their judgements.

Random samples of a run's answers that experts grade blindly, to validate the scores.

The experts judge answers, not the run: another run over the same version is compared with the same
judgements.

Uploaded files of expert-graded answers, used to compare methods.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotations.models import VIEWERS, Access, QuestionSet, Record, Response, Scoped
from evaluation.models.language_models import LLMResponse
from evaluation.models.runs import Run

LOWEST, HIGHEST = 0.0, 5.0
# Requests get a random place below it.
PLACES = 1_000_000
# A judgement is of a worker's answer, of a model's answer, or of an exhibit of a run.
THINGS = ("response", "llm_response", "exhibit")
SETS = (
    "response__submission__version__question_set",
    "llm_response__question__version__question_set",
    "exhibit__run__version__question_set",
)
OF_ONE_THING = reduce(
    or_,
    (Q(**{f"{thing}__isnull": thing != one for thing in THINGS}) for one in THINGS),
)


class Exhibit(Record):
    """An item of a run that experts judge, with its texts: a model's reply, or several replies.

    `judging` names the run type's declaration of what is judged and on which scale
    (`evaluation.runs.judging`). `key` identifies the item within the run; `shown` is all that an
    expert sees. `place` is the position in a random order of all items of the run, drawn with
    `seed`, so that the first items are a random sample.
    """

    access = Access(question_set="run__version__question_set", readers=VIEWERS)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="exhibits", db_index=False)
    judging = models.CharField(max_length=50)
    place = models.PositiveIntegerField()
    seed = models.PositiveIntegerField()
    key = models.JSONField()
    shown = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "judging", "place"], name="exhibit_once"),
        ]

    def __str__(self) -> str:
        return f"exhibit {self.public_id}"


class HumanJudgement(Record):
    """An expert's judgement of an answer or exhibit: a grade from 0 (worst) to 5, or a label.

    Experts see only their own judgements, so that each judges by the text alone. `created_at` is
    the time of the judgement, `updated_at` that of its last change.
    """

    access = Access(question_set=SETS, owner="expert", readers=VIEWERS)

    response = models.ForeignKey(
        Response, on_delete=models.CASCADE, null=True, related_name="judgements"
    )
    llm_response = models.ForeignKey(
        LLMResponse, on_delete=models.CASCADE, null=True, related_name="judgements"
    )
    exhibit = models.ForeignKey(
        Exhibit, on_delete=models.CASCADE, null=True, related_name="judgements"
    )
    expert = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="judgements",
        db_index=False,
    )
    grade = models.FloatField(null=True, help_text="0 (worst) to 5; null where a label says it.")
    label = models.CharField(max_length=40, blank=True, help_text="Code of a choice without grade.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["expert", "response"], name="human_judgement_once_per_expert"
            ),
            models.UniqueConstraint(
                fields=["expert", "llm_response"],
                name="human_judgement_of_model_once_per_expert",
            ),
            models.UniqueConstraint(
                fields=["expert", "exhibit"], name="human_judgement_of_exhibit_once_per_expert"
            ),
            models.CheckConstraint(
                condition=Q(grade__isnull=True) | Q(grade__gte=LOWEST, grade__lte=HIGHEST),
                name="human_judgement_grade_from_0_to_5",
            ),
            models.CheckConstraint(
                condition=Q(grade__isnull=False, label="") | (Q(grade__isnull=True) & ~Q(label="")),
                name="human_judgement_is_grade_or_label",
            ),
            models.CheckConstraint(condition=OF_ONE_THING, name="human_judgement_of_one_thing"),
        ]

    def __str__(self) -> str:
        return f"judgement {self.public_id}"


class JudgementRequest(Record):
    """Request to an expert to judge one text; done once there is a `HumanJudgement`.

    `place` is the position in the expert's random order, which reveals nothing about camps, scores
    or models. `run` is the run whose results led to the request; None for a simple random sample,
    and once the run is deleted.
    """

    access = Access(question_set=SETS, people="expert", readers=VIEWERS)

    response = models.ForeignKey(
        Response, on_delete=models.CASCADE, null=True, related_name="judgement_requests"
    )
    llm_response = models.ForeignKey(
        LLMResponse, on_delete=models.CASCADE, null=True, related_name="judgement_requests"
    )
    exhibit = models.ForeignKey(
        Exhibit, on_delete=models.CASCADE, null=True, related_name="judgement_requests"
    )
    expert = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="judgement_requests",
        db_index=False,
    )
    run = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, related_name="judgement_requests"
    )
    place = models.PositiveIntegerField(help_text="Random; ties go to the older request.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["expert", "response"], name="judgement_request_once_per_expert"
            ),
            models.UniqueConstraint(
                fields=["expert", "llm_response"],
                name="judgement_request_of_model_once_per_expert",
            ),
            models.UniqueConstraint(
                fields=["expert", "exhibit"], name="judgement_request_of_exhibit_once_per_expert"
            ),
            models.CheckConstraint(condition=OF_ONE_THING, name="judgement_request_of_one_thing"),
        ]

    def __str__(self) -> str:
        return f"request {self.public_id}"


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

    It is deleted with its answer. `adjudicator` is the expert asked to settle a disagreement of
    other experts; the adjudicator's grade then replaces theirs.
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


def select_valid_judgements(judgements: QuerySet[HumanJudgement]) -> QuerySet[HumanJudgement]:
    """Return a queryset of the judgements that count: an adjudicator's replaces all others.

    Without an adjudicator's judgement all count; callers take the mean of several experts.
    """
    settled = Q()
    settles = Q()
    # Exhibits have no adjudicator, so their judgements all count. An adjudicator who was asked and
    # has not judged yet settles nothing.
    for thing in ("response", "llm_response"):
        items = AuditItem.objects.filter(
            **{thing: OuterRef(thing), f"adjudicator__judgements__{thing}": OuterRef(thing)}
        )
        settled |= Q(Exists(items))
        settles |= Q(Exists(items.filter(adjudicator=OuterRef("expert"))))
    return judgements.filter(~settled | settles)


LONGEST_NAME = 300


class GradedAnswers(Record):
    """Current file of graded answers of a question set; a new upload replaces it.

    They need not be answers to questions of the set. `marked` is
    `annotations.exchange.graded.MarkedFile` as JSON, in which workers are numbers: their ids are
    not kept. `created_at` is when the set got its first file.
    """

    access = Access(question_set="question_set", readers=VIEWERS)

    question_set = models.OneToOneField(
        QuestionSet, on_delete=models.CASCADE, related_name="graded_answers"
    )
    name = models.CharField(max_length=LONGEST_NAME)
    sha256 = models.CharField(max_length=64)
    marked = models.JSONField()
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="graded_answers"
    )

    class Meta:
        verbose_name_plural = "graded answers"

    def __str__(self) -> str:
        return f"{self.name} of {self.question_set}"
