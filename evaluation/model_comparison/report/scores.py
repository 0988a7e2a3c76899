"""Table of a run's model scores, by model and question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self
from uuid import UUID

import numpy as np
from django.db.models import F
from django.db.models.fields.json import KeyTextTransform

from annotations.models import Question
from evaluation.core.stats.cells import Floats
from evaluation.model_comparison.report.costs import Costs, by_model, told_in
from evaluation.models import LanguageModel, LLMAnswerScore, LLMScore, Run

AT_ONCE = 5000


@dataclass(frozen=True)
class Asked:
    """A question of a version, with its group properties; "" for an unknown one."""

    key: int
    question: UUID
    name: str
    category: str
    passage: str
    language: str


@dataclass(frozen=True)
class ScoreTable:
    """Scores with one row per model, by mean score, and one column per question.

    Attributes
    ----------
    scores : (K, Q), NaN where a model has none.
    """

    models: list[LanguageModel]
    questions: list[Asked]
    scores: Floats
    standings: list[LLMScore]
    """How the models stand in the run, in the order of the rows."""

    @classmethod
    def of(cls, run: Run, models: list[UUID] | None = None) -> Self:
        """Load the scores of some models of a run (default: all); three queries."""
        return cls._read(run, models, ())[0]

    @classmethod
    def with_costs(cls, run: Run) -> tuple[Self, Mapping[int, Costs]]:
        """Load the scores of all models of a run, and the costs of answers; three queries."""
        return cls._read(run, None, told_in("llm_response__extra"))

    @classmethod
    def _read(
        cls, run: Run, models: list[UUID] | None, told: Sequence[KeyTextTransform]
    ) -> tuple[Self, Mapping[int, Costs]]:
        listed = LLMScore.objects.filter(run=run).order_by(
            F("score").desc(nulls_last=True), "model__name"
        )
        if models is not None:
            listed = listed.filter(model__public_id__in=models)
        standings = list(listed.select_related("model"))
        found = [row.model for row in standings]
        questions = [
            Asked(*row)
            for row in Question.objects.filter(version=run.version_id)
            .order_by("position", "pk")
            .values_list(
                *("pk", "public_id", "external_id", "category"),
                *("passage__external_id", "language"),
            )
        ]
        place = {question.key: at for at, question in enumerate(questions)}
        row_of = {model.pk: at for at, model in enumerate(found)}
        scores = np.full((len(found), len(questions)), np.nan)
        rows = LLMAnswerScore.objects.filter(run=run, llm_response__model__in=list(row_of))
        if not told:
            rows = rows.filter(score__isnull=False)
        columns = ("llm_response__model_id", "llm_response__question_id", "score")
        costs = []
        for model, question, score, *cost in rows.values_list(*columns, *told).iterator(AT_ONCE):
            if score is not None:
                scores[row_of[model], place[question]] = score
            if told:
                costs.append((model, *cost))
        return cls(found, questions, scores, standings), by_model(costs)

    @cached_property
    def _row_of(self) -> dict[UUID, int]:
        return {model.public_id: at for at, model in enumerate(self.models)}

    def of_model(self, model: UUID) -> Floats:
        """Return a model's score on each question; KeyError for a model not in the table."""
        return np.asarray(self.scores[self._row_of[model]], dtype=np.float64)
