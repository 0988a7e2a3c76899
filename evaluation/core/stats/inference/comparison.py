"""Comparisons of several models on the same questions, overall and by group of questions.

Overall: all pairs of models, and ranks by significance. By group: means of one model, and
differences of two models.

A group is a category, a passage or a language; each question has one label. A group of one question
has a mean and no interval. The p-values of differences are corrected for the number of groups:
otherwise the largest of twenty chance differences would pass for a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.core.stats.inference.differences import (
    compute_bootstrap_means,
    compute_clustered_standard_errors,
    compute_sign_flip_p_values,
)
from evaluation.core.stats.inference.intervals import (
    compute_bootstrap_t_interval,
    compute_t_interval,
)
from evaluation.core.stats.inference.paired import (
    check_draws,
    check_right_wrong_marks,
    compute_bootstrap_mean_difference,
    compute_detectable_standard_errors,
    compute_mcnemar_mid_p_values,
    compute_mcnemar_p_values,
    compute_permutation_test,
    compute_smallest_detectable_difference,
)
from evaluation.core.stats.inference.significance import (
    CORRECTIONS,
    Correction,
    compute_corrected_levels,
)

FloatArray = NDArray[np.float64]
Test = Literal["permutation", "mcnemar"]

FEWER_THAN_2_COMMON_QUESTIONS = "fewer_than_2_common_questions"
NO_COMPARISON = "no_comparison"

# With the observed signs 10,000 patterns, so that p is a multiple of .0001.
_FEWEST_PERMUTATIONS = 9_999
_PERMUTATIONS_PER_PAIR = 100
_MOST_PERMUTATIONS = 99_999


@dataclass(frozen=True)
class Comparison:
    """Difference of two models on the n questions for which both have a score, with its test.

    `difference` is the mean of A - B in the units of the scores, None without a common question.
    Interval, p-values and `smallest_detectable` (80% power, at 5% corrected for the comparisons
    left) are None, with `reason` "fewer_than_2_common_questions", where n < 2. `adjusted_p_value`
    is corrected over all pairs that have a p-value. `mid_p_value` is McNemar's mid-p, not adjusted;
    None for scores that are not right or wrong. The interval is for this pair alone, not
    simultaneous over pairs.
    """

    model_a: str
    model_b: str
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    smallest_detectable: float | None
    n: int
    reason: str | None
    interval_method: str
    test: str
    correction: str
    level: float
    n_draws: int
    n_permutations: int
    seed: int
    mid_p_value: float | None = None


@dataclass(frozen=True)
class SignificantRank:
    """A model's rank: 1 + the number of significantly better models; ranks can be shared.

    `n_compared` is the number of other models that could be compared. `rank` is None, with `reason`
    "no_comparison", if none of the other models could.
    """

    model: str
    rank: int | None
    n_better: int
    n_compared: int
    reason: str | None


def compare_models(
    scores: ArrayLike,
    names: Sequence[str],
    correction: Correction = "holm",
    n_draws: int = 400,
    seed: int = 0,
    *,
    test: Test = "permutation",
    n_permutations: int | None = None,
    level: float = 0.95,
) -> list[Comparison]:
    """Return the tested score difference of each pair of models on their common questions.

    Per pair the interval of `compute_bootstrap_mean_difference` (the same numbers: all pairs with
    the same common questions share the draws) and the p of the sign-flip test, exact up to 14
    differing questions, or of the exact McNemar test for right/wrong scores, with its mid-p.

    Parameters
    ----------
    scores : array_like
        shape (models, questions), NaN where a model has no score (left out pair by pair).
    names : sequence of str
        the models' names, all different, in the order of the rows.
    correction : {"holm", "benjamini-hochberg"}
        "holm" (family-wise error) or "benjamini-hochberg" (false discovery rate).
    n_draws : int
        bootstrap draws, at least 2; 0 gives closed-form intervals.
    seed : int
        of draws and sign patterns.
    test : {"permutation", "mcnemar"}
        "permutation" for continuous scores, "mcnemar" for scores of 0 and 1.
    n_permutations : int or None
        random sign patterns; None takes 100 a pair, at least 9,999 and at most
        99,999, so that the correction cannot by itself make significance impossible (the least
        p is 1/(n_permutations + 1), Holm multiplies it by the number of pairs).
    level : float
        coverage of the intervals, strictly between 0 and 1.

    Returns
    -------
    Pairs in the order (0, 1), (0, 2), ..., (1, 2), ...; the empty list for fewer than 2 models.

    Raises
    ------
    ValueError : shapes or names that do not fit, infinite scores, unknown test or correction,
        scores other than 0 and 1 with "mcnemar", n_draws, n_permutations or level out of range.
    """
    values = _check_scores(scores, names, test)
    check_draws(n_draws)
    if correction not in CORRECTIONS:
        raise ValueError(f"correction must be one of: {', '.join(CORRECTIONS)}")
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        return []
    if n_permutations is None:
        # The least p-value is 1/(n + 1), and Holm multiplies it by the number of pairs.
        wanted = _PERMUTATIONS_PER_PAIR * len(pairs)
        n_permutations = min(max(wanted, _FEWEST_PERMUTATIONS), _MOST_PERMUTATIONS)
    if n_permutations < 1:
        raise ValueError("n_permutations must be at least 1")
    first, second = np.array(pairs).T
    differences = values[first] - values[second]
    common = ~np.isnan(differences)
    # Zero adds nothing to a sum with either sign: the sign-flip test ignores missing questions.
    differences[~common] = 0.0
    n = np.count_nonzero(common, axis=1)
    defined = n >= 2

    p_values, mid_p_values, tests = _compute_p_values(
        differences, common, test, n_permutations, seed
    )
    p_values[~defined], mid_p_values[~defined] = np.nan, np.nan
    adjusted = CORRECTIONS[correction](p_values)
    low, high, errors = _compute_intervals(differences, common, n_draws, level, seed)
    levels = compute_corrected_levels(p_values, correction)
    detectable = errors * compute_detectable_standard_errors(n, levels)
    means = differences.sum(axis=1) / np.maximum(n, 1)
    return [
        Comparison(
            model_a=names[a],
            model_b=names[b],
            difference=float(means[row]) if n[row] else None,
            low=convert_nan_to_none(low[row]),
            high=convert_nan_to_none(high[row]),
            p_value=convert_nan_to_none(p_values[row]),
            adjusted_p_value=convert_nan_to_none(adjusted[row]),
            smallest_detectable=convert_nan_to_none(detectable[row]),
            n=int(n[row]),
            reason=None if defined[row] else FEWER_THAN_2_COMMON_QUESTIONS,
            interval_method="bootstrap-t" if n_draws else "closed-form",
            test=tests[row],
            correction=correction,
            level=float(level),
            n_draws=n_draws,
            n_permutations=n_permutations if tests[row].endswith("monte-carlo") else 0,
            seed=seed,
            mid_p_value=convert_nan_to_none(mid_p_values[row]),
        )
        for row, (a, b) in enumerate(pairs)
    ]


def rank_by_significance(
    comparisons: Sequence[Comparison], names: Sequence[str], alpha: float = 0.05
) -> list[SignificantRank]:
    """Return each model's rank: 1 + the number of models significantly better.

    Better means an adjusted p-value below alpha and a higher mean on the common questions. A model
    that must not be ranked yet (a question still in ERROR) is for the caller to leave out, before
    the comparison, so that the correction does not count it either.

    Parameters
    ----------
    comparisons : sequence of Comparison
        of `compare_models`, for all pairs of the names.
    names : sequence of str
        the models, in the order wanted.
    alpha : float
        significance level, strictly between 0 and 1.

    Raises
    ------
    ValueError : a name occurs twice, a comparison names an unknown model, a pair is missing or
        there twice, alpha is out of range.
    """
    if not 0 < alpha < 1:
        raise ValueError("alpha must lie strictly between 0 and 1")
    if len(set(names)) != len(names):
        raise ValueError("names must all be different")
    pairs = [frozenset((pair.model_a, pair.model_b)) for pair in comparisons]
    wanted = {frozenset(pair) for pair in combinations(names, 2)}
    if len(pairs) != len(wanted) or set(pairs) != wanted:
        raise ValueError("comparisons must hold every pair of the names exactly once")
    better, compared = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for pair in comparisons:
        if pair.adjusted_p_value is None or pair.difference is None:
            continue
        compared[pair.model_a] += 1
        compared[pair.model_b] += 1
        if pair.adjusted_p_value < alpha and pair.difference != 0:
            better[pair.model_b if pair.difference > 0 else pair.model_a] += 1
    ranks = []
    for name in names:
        known = compared[name] > 0 or len(names) == 1
        rank, reason = (1 + better[name], None) if known else (None, NO_COMPARISON)
        ranks.append(SignificantRank(name, rank, better[name], compared[name], reason))
    return ranks


def _compute_p_values(
    differences: FloatArray,
    common: NDArray[np.bool_],
    test: Test,
    n_permutations: int,
    seed: int,
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return each row's p-value, mid-p-value and name of the test; a missing question counts 0.

    The mid-p-value is NaN for a sign-flip test.
    """
    if test == "mcnemar":
        only_a = np.count_nonzero(differences > 0, axis=1)
        only_b = np.count_nonzero(differences < 0, axis=1)
        exact = compute_mcnemar_p_values(only_a, only_b)
        mid = compute_mcnemar_mid_p_values(only_a, only_b)
        return exact, mid, ["mcnemar-exact"] * len(differences)
    p_values = compute_sign_flip_p_values(
        differences, n_permutations, seed, common.astype(np.float64)
    )
    return p_values.p_values, np.full(len(differences), np.nan), p_values.methods


def _compute_intervals(
    differences: FloatArray, common: NDArray[np.bool_], n_draws: int, level: float, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each row's lower end, upper end and standard error of the mean; NaN where n < 2.

    Rows with the same common questions go together: complete data is one matrix product.
    """
    low, high, errors = (np.full(len(differences), np.nan) for _ in range(3))
    groups: dict[bytes, list[int]] = {}
    for row, mask in enumerate(np.packbits(common, axis=1)):
        groups.setdefault(mask.tobytes(), []).append(row)
    for rows in groups.values():
        totals = differences[rows][:, common[rows[0]]]
        n = totals.shape[1]
        if n < 2:
            continue
        sizes = np.ones(n)
        means = totals.mean(axis=1)
        errors[rows] = compute_clustered_standard_errors(totals, sizes)
        if n_draws:
            draws = compute_bootstrap_means(totals, sizes, n_draws, seed)
            intervals = compute_bootstrap_t_interval(means, draws, n, level)
        else:
            intervals = compute_t_interval(means, errors[rows], n, level)
        low[rows], high[rows] = intervals.low, intervals.high
    return low, high, errors


def _check_scores(scores: ArrayLike, names: Sequence[str], test: str) -> FloatArray:
    """Return the scores as floats (models, questions); ValueError for unusable scores or names."""
    if test not in ("permutation", "mcnemar"):
        raise ValueError('test must be "permutation" or "mcnemar"')
    values = (
        check_right_wrong_marks(scores)
        if test == "mcnemar"
        else np.asarray(scores, dtype=np.float64)
    )
    if values.ndim != 2 or len(values) != len(names):
        raise ValueError("scores must have shape (models, questions), one row for every name")
    if np.isinf(values).any():
        raise ValueError("scores must be finite; NaN means a missing one")
    if len(set(names)) != len(names):
        raise ValueError("names must all be different")
    return values


# Below so many questions a group is called small: its interval is wide, and rests on few texts.
SMALL = 10
NO_SCORES = "no_scores"


@dataclass(frozen=True)
class GroupMean:
    """A model's mean score over the n scored questions of a group, with a closed-form 95% interval.

    `mean` is None without a score, `low` and `high` also below 2; `reason` then states which.
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
    values = _check_group_scores(scores, groups)
    rows_of = _find_rows_of_groups(groups)
    known = [values[rows][~np.isnan(values[rows])] for rows in rows_of.values()]
    n = np.array([len(part) for part in known], dtype=np.int64)
    means = np.array([part.mean() if len(part) else np.nan for part in known])
    errors = np.array([_compute_standard_error(part) for part in known])
    intervals = compute_t_interval(means, errors, n, level)
    return [
        GroupMean(
            group=group,
            mean=convert_nan_to_none(means[index]),
            low=intervals[index].low,
            high=intervals[index].high,
            n=int(n[index]),
            reason=NO_SCORES if not n[index] else intervals[index].reason or None,
        )
        for index, group in enumerate(rows_of)
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
    p of `compute_permutation_test`, and the smallest detectable difference at the level that the
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
    first, second = _check_group_scores(a, groups), _check_group_scores(b, groups)
    rows_of = _find_rows_of_groups(groups)
    means = [
        compute_bootstrap_mean_difference(first[r], second[r], None, n_draws, 0.95, seed)
        for r in rows_of.values()
    ]
    tests = [compute_permutation_test(first[r], second[r], seed=seed) for r in rows_of.values()]
    if correction not in CORRECTIONS:
        raise ValueError(f"correction must be one of: {', '.join(CORRECTIONS)}")
    raw = np.array([np.nan if t.p_value is None else t.p_value for t in tests], dtype=np.float64)
    # Without the correction the largest of twenty differences would pass for a finding.
    adjusted = CORRECTIONS[correction](raw)
    levels = compute_corrected_levels(raw, correction)
    detectable = [
        compute_smallest_detectable_difference(first[r], second[r], alpha=float(levels[index]))
        for index, r in enumerate(rows_of.values())
    ]
    return [
        GroupDifference(
            group=group,
            difference=mean.difference,
            low=mean.low,
            high=mean.high,
            p_value=test.p_value,
            adjusted_p_value=convert_nan_to_none(adjusted[index]),
            smallest_detectable=least.difference,
            n=mean.n,
            reason=mean.reason,
        )
        for index, (group, mean, test, least) in enumerate(
            zip(rows_of, means, tests, detectable, strict=True)
        )
    ]


def _compute_standard_error(scores: FloatArray) -> float:
    """Return the standard error of the mean, sd / sqrt(n); NaN below 2 scores."""
    return float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else np.nan


def _find_rows_of_groups(groups: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Return the row numbers of each group, by label in order of first appearance."""
    found: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        found.setdefault(group, []).append(row)
    return {group: np.array(rows, dtype=np.int64) for group, rows in found.items()}


def _check_group_scores(scores: ArrayLike, groups: Sequence[str]) -> FloatArray:
    """Return the scores as floats. Raises ValueError for a wrong length or infinity."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or len(values) != len(groups):
        raise ValueError("scores and groups must be as many: a label for every question")
    if np.isinf(values).any():
        raise ValueError("scores must be finite; NaN means a missing one")
    return values
