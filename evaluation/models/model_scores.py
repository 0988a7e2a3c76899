"""Results of AQER on language models; columns as in the result files."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from evaluation.models.embeddings import has_length
from evaluation.models.grades import CONTRAST, PLACE_BYTES, FactCounts, Result, undefined_or
from evaluation.models.language_models import LanguageModel, LLMResponse
from evaluation.models.runs import Run


class LLMScore(FactCounts, Result):
    """Result for a language model in a run; `reason` explains missing numbers."""

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
    contrast = models.FloatField(null=True, help_text=CONTRAST)
    contrast_low = models.FloatField(null=True)
    contrast_high = models.FloatField(null=True)
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
            models.CheckConstraint(
                condition=undefined_or(
                    Q(contrast_low__lte=F("contrast_high")), "contrast_low", "contrast_high"
                ),
                name="llm_score_contrast_interval",
            ),
        ]
        indexes = [models.Index(fields=["run", "rank", "id"], name="llm_score_list")]

    def __str__(self) -> str:
        return f"{self.model} in {self.run}"


class LLMAnswerScore(Result):
    """Score of a model's answer in a run; `reason` explains a missing score.

    `place` is that of `AnswerScore`.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="llm_answer_scores")
    llm_response = models.ForeignKey(LLMResponse, on_delete=models.CASCADE, related_name="scores")
    score = models.FloatField(null=True)
    reason = models.CharField(max_length=200, blank=True)
    place = models.BinaryField(null=True)

    class Meta:
        verbose_name = "score of a model's answer"
        constraints = [
            models.UniqueConstraint(fields=["run", "llm_response"], name="llm_answer_score_once"),
            models.CheckConstraint(
                condition=Q(score__isnull=False) | ~Q(reason=""),
                name="llm_answer_score_or_a_reason",
            ),
            models.CheckConstraint(
                condition=undefined_or(has_length("place", PLACE_BYTES), "place"),
                name="llm_answer_score_place",
            ),
        ]

    def __str__(self) -> str:
        return f"score of {self.llm_response_id} in {self.run_id}"


class LLMComparison(Result):
    """Comparison of two language models in a run, on the questions both were scored on.

    `difference` is the mean of model A less model B, its interval that of this pair alone,
    `adjusted_p_value` Holm's over all pairs of the run; `reason` says why something is None.
    `smallest_detectable` is the difference that these questions show in 4 of 5 cases.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="llm_comparisons", db_index=False
    )
    model_a = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="+")
    model_b = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="+")
    difference = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    p_value = models.FloatField(null=True)
    adjusted_p_value = models.FloatField(null=True)
    smallest_detectable = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    test = models.CharField(max_length=50)
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = "comparison of two models"
        constraints = [
            models.UniqueConstraint(fields=["run", "model_a", "model_b"], name="llm_pair_once"),
            models.CheckConstraint(condition=~Q(model_a=F("model_b")), name="llm_pair_of_two"),
            models.CheckConstraint(
                condition=undefined_or(Q(low__lte=F("high")), "low", "high"),
                name="llm_pair_interval",
            ),
            models.CheckConstraint(
                condition=undefined_or(
                    Q(adjusted_p_value__gte=0, adjusted_p_value__lte=1), "adjusted_p_value"
                ),
                name="llm_pair_p_value",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model_a} against {self.model_b} in {self.run_id}"
