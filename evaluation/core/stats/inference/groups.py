"""Scores by group of questions: means of one model, and differences of two models.

A group is a category, a passage, a language: a label a question. A group of one question has a mean
and no interval; whether a difference in a group is more than chance is corrected for the number of
groups, or the best of twenty groups would be told as a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.inference.corrections import (
    CORRECTIONS,
    Correction,
    compute_levels_left,
)
from evaluation.core.stats.inference.intervals import compute_t_interval
from evaluation.core.stats.inference.paired import (
    compute_bootstrap_mean_difference,
    compute_permutation_p_value,
    compute_smallest_detectable_difference,
)
from evaluation.core.stats.undefined import convert_nan_to_none

FloatArray = NDArray[np.float64]
# Below so many questions a group is called small: its interval is wide, and rests on few texts.
SMALL = 10
NO_SCORES = "no_scores"


@dataclass(frozen=True)
class GroupMean:
    """A model's mean score over the n scored questions of a group, with a closed-form 95% interval.

    `mean` is None without a score, `low` and `high` also below 2; `reason` then says which.
    """

    group: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None

    @property
    def is_small(self) -> bool:
        """Whether fewer than 10 questions of the group have a score."""
        return self.n < SMALL


@dataclass(frozen=True)
class GroupDifference:
    """Mean difference of two models in a group of questions; p-values corrected over groups."""

    group: str
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    smallest_detectable: float | None
    n: int
    reason: str | None

    @property
    def is_small(self) -> bool:
        """Whether fewer than 10 questions of the group have a score."""
        return self.n < SMALL


def compute_group_means(
    scores: ArrayLike, groups: Sequence[str], level: float = 0.95
) -> list[GroupMean]:
    """Return a model's mean score in each group of questions, in order of first appearance.

    Parameters
    ----------
    scores : (n,) of one model, NaN for a missing one.
    groups : (n,) label of each question.
    level : coverage, strictly between 0 and 1.

    Raises
    ------
    ValueError : lengths differ, or a score is infinite.
    """
    values = _check_scores(scores, groups)
    rows_of = _find_rows_of_groups(groups)
    known = [values[rows][~np.isnan(values[rows])] for rows in rows_of.values()]
    n = np.array([len(part) for part in known], dtype=np.int64)
    means = np.array([part.mean() if len(part) else np.nan for part in known])
    errors = np.array([_compute_standard_error(part) for part in known])
    intervals = compute_t_interval(means, errors, n, level)
    return [
        GroupMean(
            group=group,
            mean=convert_nan_to_none(means[at]),
            low=intervals[at].low,
            high=intervals[at].high,
            n=int(n[at]),
            reason=NO_SCORES if not n[at] else intervals[at].reason or None,
        )
        for at, group in enumerate(rows_of)
    ]


def compare_by_group(
    a: ArrayLike,
    b: ArrayLike,
    groups: Sequence[str],
    correction: Correction = "holm",
    n_draws: int = 400,
    seed: int = 0,
) -> list[GroupDifference]:
    """Return the difference of two models in each group of questions, in order of appearance.

    Every question is a cluster of its own: the interval of `compute_bootstrap_mean_difference`, the
    p of `compute_permutation_p_value`, and the smallest detectable difference at the level that the
    correction leaves.

    Parameters
    ----------
    a, b : (n,) scores of two models on the same questions, NaN for a missing one.
    groups : (n,) label of each question.
    correction : over the groups that have a p-value.

    Raises
    ------
    ValueError : lengths differ, a score is infinite, or the correction is unknown.
    """
    first, second = _check_scores(a, groups), _check_scores(b, groups)
    rows_of = _find_rows_of_groups(groups)
    means = [
        compute_bootstrap_mean_difference(first[r], second[r], None, n_draws, 0.95, seed)
        for r in rows_of.values()
    ]
    tests = [compute_permutation_p_value(first[r], second[r], seed=seed) for r in rows_of.values()]
    if correction not in CORRECTIONS:
        raise ValueError(f"correction must be one of: {', '.join(CORRECTIONS)}")
    raw = np.array([np.nan if t.p_value is None else t.p_value for t in tests], dtype=np.float64)
    # Without the correction the largest of twenty differences would pass for a finding.
    adjusted = CORRECTIONS[correction](raw)
    levels = compute_levels_left(raw, correction)
    detectable = [
        compute_smallest_detectable_difference(first[r], second[r], alpha=float(levels[at]))
        for at, r in enumerate(rows_of.values())
    ]
    return [
        GroupDifference(
            group=group,
            difference=mean.difference,
            low=mean.low,
            high=mean.high,
            p_value=test.p_value,
            adjusted_p_value=convert_nan_to_none(adjusted[at]),
            smallest_detectable=least.difference,
            n=mean.n,
            reason=mean.reason,
        )
        for at, (group, mean, test, least) in enumerate(
            zip(rows_of, means, tests, detectable, strict=True)
        )
    ]


def _compute_standard_error(scores: FloatArray) -> float:
    """Return the standard error of the mean, sd / sqrt(n); NaN below 2 scores."""
    return float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else np.nan


def _find_rows_of_groups(groups: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Return the row numbers of each group label, in order of first appearance."""
    found: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        found.setdefault(group, []).append(row)
    return {group: np.array(rows, dtype=np.int64) for group, rows in found.items()}


def _check_scores(scores: ArrayLike, groups: Sequence[str]) -> FloatArray:
    """Return the scores as floats. Raises ValueError for a wrong length or infinity."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or len(values) != len(groups):
        raise ValueError("scores and groups must be as many: a label for every question")
    if np.isinf(values).any():
        raise ValueError("scores must be finite; NaN stands for a missing one")
    return values
