"""Language models against the people of each wave."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import F

from evaluation.methods.inference.intervals import t_interval
from evaluation.methods.statistics.correlation import spearman
from evaluation.models import LLMAnswerScore, LLMScore, Run, text_hash
from evaluation.reports.values import Estimate


@dataclass(frozen=True)
class ModelOfWaves:
    """A model in the later wave, and in the earlier one where it was scored there.

    Attributes
    ----------
    before, after : scores with their 95% intervals. rank_before, rank_after : in each wave, among
        all of its models; a tie shares a rank.
    n_same, n_answers : of the answers scored in the later wave, how many say word for word what the
        earlier crowd scored, so that a change is one of the crowd.
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
    of_common : whether scores and ranks are those of the common questions alone, as where a wave
        has others, too: of all others they would compare different questions.
    """

    rows: list[ModelOfWaves]
    only_before: list[str]
    n_both: int
    rank_correlation: float | None
    of_common: bool = False


def models(before: Run, after: Run, common: Collection[str], *, whole: bool) -> Models:
    """Return how models stand in each wave; four queries.

    `whole`: both waves have the `common` questions and no others.
    """
    answers = _answers(before, common), _answers(after, common)
    one, other = (
        _scores(run) if whole else _scores_of(_scores(run), found)
        for run, found in zip((before, after), answers, strict=True)
    )
    rows = []
    for key, row in other.items():
        former = one.get(key)
        mine = answers[1].get(key, {})
        rows.append(
            ModelOfWaves(
                model=row["public"],
                name=row["name"],
                before=_number(former) if former else None,
                after=_number(row),
                rank_before=former["rank"] if former else None,
                rank_after=row["rank"],
                n_same=_n_same(answers[0].get(key, {}), mine),
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
        of_common=not whole,
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


@dataclass(frozen=True, slots=True)
class _Answer:
    """A scored answer of a model: what tells its words apart, and its score."""

    words: bytes
    score: float | None


def _answers(run: Run, common: Collection[str]) -> dict[int, dict[str, _Answer]]:
    """Return the scored answers of each model to the common questions, without their texts."""
    rows = LLMAnswerScore.objects.filter(run=run).order_by()
    found: dict[int, dict[str, _Answer]] = {}
    for model, question, status, text, score in rows.values_list(
        *("llm_response__model_id", "llm_response__question__external_id"),
        *("llm_response__status", "llm_response__text", "score"),
    ).iterator():
        if question in common:
            words = text_hash(f"{status} {text}")
            found.setdefault(model, {})[question] = _Answer(words, score)
    return found


def _n_same(before: Mapping[str, _Answer], after: Mapping[str, _Answer]) -> int:
    return sum(
        question in before and before[question].words == one.words
        for question, one in after.items()
    )


def _scores_of(
    rows: dict[int, dict[str, Any]], answers: Mapping[int, Mapping[str, _Answer]]
) -> dict[int, dict[str, Any]]:
    """Return the same rows with scores, intervals and ranks of some answers alone.

    Intervals are Student's t over questions.
    """
    for model, row in rows.items():
        found = [one.score for one in answers.get(model, {}).values() if one.score is not None]
        n = len(found)
        mean = float(np.mean(found)) if n else np.nan
        error = float(np.std(found, ddof=1) / np.sqrt(n)) if n >= 2 else np.nan
        interval = t_interval(mean, error, n)[0]
        row |= {
            "score": mean if n else None,
            "score_low": interval.low,
            "score_high": interval.high,
        }
    known = {model: row["score"] for model, row in rows.items() if row["score"] is not None}
    for model, row in rows.items():
        better = sum(score > row["score"] for score in known.values()) if model in known else 0
        row["rank"] = better + 1 if model in known else None
    best_first = sorted(rows, key=lambda model: (model not in known, -known.get(model, 0.0)))
    return {model: rows[model] for model in best_first}
