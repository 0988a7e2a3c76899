"""What experts are asked to judge, and what they think of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models import VIEWERS, Access, Record, Response
from evaluation.models.runs import Run

LOWEST, HIGHEST = 0.0, 5.0


class HumanJudgement(Record):
    """An expert's grade of an answer, on a scale of 0 (worst) to 5.

    Experts see their own judgements only: each is to judge by the text alone. `created_at` is when
    it was given, `updated_at` when it was last changed.
    """

    access = Access(
        question_set="response__submission__version__question_set", owner="expert", readers=VIEWERS
    )

    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="judgements")
    expert = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="judgements",
        db_index=False,
    )
    grade = models.FloatField(help_text="0 (worst) to 5.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["expert", "response"], name="human_judgement_once_per_expert"
            ),
            models.CheckConstraint(
                condition=Q(grade__gte=LOWEST, grade__lte=HIGHEST),
                name="human_judgement_grade_from_0_to_5",
            ),
        ]

    def __str__(self) -> str:
        return f"judgement {self.public_id}"


class JudgementRequest(Record):
    """An answer that an expert is asked to judge; it is done once there is a `HumanJudgement`.

    `place` orders an expert's answers at random, so that the order tells nothing about camps or
    scores. `run` is the one that suggested the answer, None once that is gone.
    """

    access = Access(
        question_set="response__submission__version__question_set",
        people="expert",
        readers=VIEWERS,
    )

    response = models.ForeignKey(
        Response, on_delete=models.CASCADE, related_name="judgement_requests"
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
            )
        ]

    def __str__(self) -> str:
        return f"request {self.public_id}"
