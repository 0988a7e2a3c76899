"""Language models against the people of each wave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import F

from evaluation.methods.statistics.correlation import spearman
from evaluation.models import LLMAnswerScore, LLMScore, Run
from evaluation.reports.values import Estimate


@dataclass(frozen=True)
class ModelOfWaves:
    """A model in the later wave, and in the earlier one where it was scored there.

    Attributes
    ----------
    before, after : scores with their 95% intervals. rank_before, rank_after : in each wave, among
        all of its models; a tie shares a rank.
    n_same, n_answers : of the answers scored in the later wave, how many are the very answers that
        the earlier crowd scored, so that a change is one of the crowd.
    """

    model: UUID
    name: str
    before: Estimate | None
    after: Estimate
    rank_before: int | None
    rank_after: int | None
    n_same: int
    n_answers: int

    @property
    def change(self) -> float | None:
        """Later less earlier score; None where one is missing."""
        if self.before is None or self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value


@dataclass(frozen=True)
class Models:
    """The models of two waves: those of the later one, best first.

    Attributes
    ----------
    only_before : names of those that only the earlier wave scored. n_both : models with a score in
        both. rank_correlation : Spearman's of these; None below 3 of them.
    """

    rows: list[ModelOfWaves]
    only_before: list[str]
    n_both: int
    rank_correlation: float | None


def models(before: Run, after: Run) -> Models:
    """Return how models stand in each wave; four queries."""
    one, other = _scores(before), _scores(after)
    answers = _answers(before), _answers(after)
    rows = []
    for key, row in other.items():
        former = one.get(key)
        mine = answers[1].get(key, set())
        rows.append(
            ModelOfWaves(
                model=row["public"],
                name=row["name"],
                before=_number(former) if former else None,
                after=_number(row),
                rank_before=former["rank"] if former else None,
                rank_after=row["rank"],
                n_same=len(mine & answers[0].get(key, set())),
                n_answers=len(mine),
            )
        )
    both = [row for row in rows if row.change is not None]
    earlier = np.array([row.before.value for row in both if row.before], dtype=np.float64)
    later = np.array([row.after.value for row in both], dtype=np.float64)
    return Models(
        rows=rows,
        only_before=[row["name"] for key, row in one.items() if key not in other],
        n_both=len(both),
        rank_correlation=spearman(earlier, later) if len(both) >= 3 else None,
    )


def _scores(run: Run) -> dict[int, dict[str, Any]]:
    rows = (
        LLMScore.objects.filter(run=run)
        .order_by(F("score").desc(nulls_last=True), "model__name")
        .values(
            *("model_id", "score", "score_low", "score_high", "rank"),
            name=F("model__name"),
            public=F("model__public_id"),
        )
    )
    return {row["model_id"]: dict(row) for row in rows}


def _number(row: dict[str, Any]) -> Estimate:
    return Estimate(row["score"], row["score_low"], row["score_high"])


def _answers(run: Run) -> dict[int, set[tuple[Any, ...]]]:
    """Return what tells the scored answers of each model apart, without their texts."""
    rows = LLMAnswerScore.objects.filter(run=run).order_by()
    found: dict[int, set[tuple[Any, ...]]] = {}
    for model, *mark in rows.values_list(
        *("llm_response__model_id", "llm_response__question__external_id"),
        *("llm_response__request", "llm_response__sample", "llm_response__asked_at"),
    ).iterator():
        found.setdefault(model, set()).add(tuple(mark))
    return found
