"""Facts on which workers agree, and the facts that each answer states.

Evidence beside the grades, never part of one. Runs from before there were facts, and runs that did
not look for them, have no rows.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotations.models import Question, Response
from evaluation.models.grades import Result
from evaluation.models.language_models import LLMResponse
from evaluation.models.runs import Run


class CrowdFact(Result):
    """A value that workers state for a slot of a question; one row of facts.csv.

    `mentions` of the `of` workers who state the slot say it; `place` is its row, from 0.
    """

    class State(models.TextChoices):
        """Agreement of the workers on a value."""

        AGREED = "agreed"
        CONTESTED = "contested"
        OPEN = "open"
        TOO_FEW = "too_few", "too few"

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="crowd_facts", db_index=False
    )
    place = models.PositiveIntegerField()
    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="crowd_facts", db_index=False
    )
    slot = models.TextField()
    value = models.TextField()
    mentions = models.PositiveIntegerField()
    of = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices)

    class Meta:
        verbose_name = "fact of a crowd"
        constraints = [
            models.UniqueConstraint(fields=["run", "place"], name="crowd_fact_once"),
            models.CheckConstraint(
                condition=Q(mentions__lte=F("of")), name="crowd_fact_mentions_of_all"
            ),
        ]
        indexes = [models.Index(fields=["question", "run"], name="crowd_fact_of_question")]

    def __str__(self) -> str:
        return f"{self.value} in {self.run_id}"


class AnswerFact(Result):
    """A fact that an answer states for a slot; one row of answer_facts.csv.

    `of` others state the slot, `mentions` of them the same value. `crowd` is the agreed value that
    the answer agrees with, contradicts or lacks, and `n_crowd` others say it; "" and 0 without.
    `spans` are the (start, end) of the characters of the answer that say it; none where the answer
    does not (a fact that is missing: `value` is the crowd's). `place` is its row, from 0.
    """

    class Verdict(models.TextChoices):
        """Comparison of an answer's value with those of the other workers."""

        AGREES = "agrees"
        CONTRADICTS = "contradicts", "contradicts the crowd"
        CONTESTED = "contested"
        MISSING = "missing", "not said"
        EXTRA = "extra", "said besides"
        OPEN = "open"
        TOO_FEW = "too_few", "too few say so"

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="answer_facts", db_index=False
    )
    place = models.PositiveIntegerField()
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="answer_facts")
    response = models.ForeignKey(
        Response, on_delete=models.CASCADE, null=True, related_name="facts", db_index=False
    )
    llm_response = models.ForeignKey(
        LLMResponse, on_delete=models.CASCADE, null=True, related_name="facts", db_index=False
    )
    slot = models.TextField()
    value = models.TextField()
    verdict = models.CharField(max_length=11, choices=Verdict.choices)
    mentions = models.PositiveIntegerField()
    of = models.PositiveIntegerField()
    crowd = models.TextField(blank=True)
    n_crowd = models.PositiveIntegerField(default=0)
    spans = models.JSONField(default=list)

    class Meta:
        verbose_name = "fact of an answer"
        constraints = [
            models.UniqueConstraint(fields=["run", "place"], name="answer_fact_once"),
            models.CheckConstraint(
                condition=Q(response__isnull=True) ^ Q(llm_response__isnull=True),
                name="answer_fact_of_one_answer",
            ),
        ]
        indexes = [
            models.Index(fields=["response", "run"], name="answer_fact_of_response"),
            models.Index(fields=["llm_response", "run"], name="answer_fact_of_reply"),
        ]

    def __str__(self) -> str:
        return f"{self.value} in {self.run_id}: {self.verdict}"
