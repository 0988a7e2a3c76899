"""Admission rules: minimum scores in an earlier set to take part in a collection."""

from __future__ import annotations

from django.db import models

from annotations.models import Access, Collection, QuestionSet, Scoped
from evaluation.models.runs import Run


class ScoreRule(Scoped):
    """Admission rule: only workers with a minimum score in an earlier set may take part.

    The score is the raw leave-one-out one or the question contrast (`score`) in the grading that
    counts for the earlier set, or an end of its 95% interval. The rule itself admits nobody:
    `evaluation.admission` puts the ids of who keeps it on the collection's list. `run` is the
    grading that was last applied (None where there was none, or it is deleted), `applied_at` when.
    """

    class End(models.TextChoices):
        """Number compared with the minimum: the score or an end of its interval.

        The lower is cautious.
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
