"""What AQER says about language models; the columns are those of the files."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from .grades import Result, undefined_or
from .language_models import LanguageModel, LLMResponse
from .runs import Run


class LLMScore(Result):
    """A language model in a run: models.csv. `reason` says why something is None."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="llm_scores")
    model = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="scores")
    score = models.FloatField(null=True)
    score_answered = models.FloatField(null=True)
    score_low = models.FloatField(null=True)
    score_high = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    n_answered = models.PositiveIntegerField()
    percentile = models.FloatField(null=True)
    rank = models.PositiveIntegerField(null=True)
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = "model score"
        constraints = [
            models.UniqueConstraint(fields=["run", "model"], name="llm_score_once"),
            models.CheckConstraint(
                condition=Q(n_answered__lte=F("n")), name="llm_score_answered_of_all"
            ),
            models.CheckConstraint(
                condition=undefined_or(Q(percentile__gte=0, percentile__lte=100), "percentile"),
                name="llm_score_percentile",
            ),
            models.CheckConstraint(
                condition=undefined_or(Q(rank__gte=1), "rank"), name="llm_score_rank_from_1"
            ),
            models.CheckConstraint(
                condition=undefined_or(
                    Q(score_low__lte=F("score_high")), "score_low", "score_high"
                ),
                name="llm_score_interval",
            ),
        ]
        indexes = [models.Index(fields=["run", "rank", "id"], name="llm_score_list")]

    def __str__(self) -> str:
        return f"{self.model} in {self.run}"


class LLMAnswerScore(Result):
    """A model's answer in a run: model_answers.csv. `reason` is given where `score` is None."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="llm_answer_scores")
    llm_response = models.ForeignKey(LLMResponse, on_delete=models.CASCADE, related_name="scores")
    score = models.FloatField(null=True)
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = "score of a model's answer"
        constraints = [
            models.UniqueConstraint(fields=["run", "llm_response"], name="llm_answer_score_once"),
            models.CheckConstraint(
                condition=Q(score__isnull=False) | ~Q(reason=""),
                name="llm_answer_score_or_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"score of {self.llm_response_id} in {self.run_id}"
