"""How well confidence separates right from wrong: AUROC, ROC curve, calibration error.

Answers (or replies) to one question are not independent, so the bootstrap resamples whole
questions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evaluation.core.stats.cells import Booleans, Floats, divide_where_positive
from evaluation.core.stats.inference.clustered import compute_drawn_intervals
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.statistics.descriptive import auc, average_precision

NO_CASES = "no_cases"
NONE_RIGHT = "none_right"
ALL_RIGHT = "all_right"

# Groups and draws of one block: its arrays have about a megabyte and fit into the cache.
_GROUPS, _DRAWS = 2048, 64
# Rows of a strip in `_compute_running_sums`.
_STRIP = 32


def compute_discrimination(
    sureness: ArrayLike,
    right: ArrayLike,
    items: ArrayLike,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[SampleEstimate, SampleEstimate]:
    """Return AUROC and average precision of a confidence measure, with intervals.

    AUROC counts ties half. Average precision is the area under the step-wise precision-recall
    curve, with right cases as positives.

    Parameters
    ----------
    sureness : (n,) finite numbers, greater for more confident cases; entropy needs a minus sign.
    right : (n,) whether each case is right.
    items : (n,) integer id of each case's question.
    n_draws, seed, level : of the bootstrap over questions; 0 draws give no intervals.

    Returns
    -------
    Both estimates; their `n` is the number of cases. They are undefined without right or without
    wrong cases, with the reason none_right, all_right or no_cases.
    """
    values = np.asarray(sureness, dtype=np.float64)
    good = np.asarray(right, dtype=np.bool_)
    if not len(values) or good.all() or not good.any():
        reason = NO_CASES if not len(values) else ALL_RIGHT if good.all() else NONE_RIGHT
        nothing = SampleEstimate(None, None, None, len(values), reason)
        return nothing, nothing
    statistics = [auc(values[good], values[~good]), average_precision(values[good], values[~good])]
    questions, index = np.unique(np.asarray(items), return_inverse=True)
    draws = _BootstrapAreas(values, good, index)
    estimates = compute_drawn_intervals(
        [np.nan if value is None else value for value in statistics],
        len(questions),
        draws.compute_for_draws,
        len(questions),
        n_draws,
        seed,
        level,
    )
    # Questions are the units of the bootstrap and widen the intervals; cases are reported.
    area, average = (replace(estimate, n=len(values)) for estimate in estimates)
    return area, average


def compare_aurocs(
    first: tuple[ArrayLike, ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike, ArrayLike],
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
) -> SampleEstimate:
    """Return one system's AUROC minus another's, over the questions both answered.

    Parameters
    ----------
    first, second : confidence, correctness and question id of each case: (sureness, right, items).

    Returns
    -------
    The difference; its `n` is the number of common questions. Each draw of questions is used for
    both systems. The difference is undefined where either AUROC is, with the reason no_cases,
    all_right or none_right.
    """
    sides = [[np.asarray(column) for column in side] for side in (first, second)]
    common = np.intersect1d(sides[0][2], sides[1][2])
    draws, areas = [], []
    for values, right, items in sides:
        is_common = np.isin(items, common)
        good = right[is_common].astype(np.bool_)
        if not len(good) or good.all() or not good.any():
            reason = NO_CASES if not len(good) else ALL_RIGHT if good.all() else NONE_RIGHT
            return SampleEstimate(None, None, None, len(common), reason)
        sure = values[is_common].astype(np.float64)
        areas.append(auc(sure[good], sure[~good]))
        # Both systems number the common questions alike, so a draw has the same questions in both.
        draws.append(_BootstrapAreas(sure, good, np.searchsorted(common, items[is_common])))

    def compute_difference(weights: Floats) -> Floats:
        """Return one AUROC difference per bootstrap draw, as an array of one row."""
        minuend, subtrahend = (draw.compute_for_draws(weights)[:1] for draw in draws)
        return minuend - subtrahend

    value = (areas[0] or 0.0) - (areas[1] or 0.0)
    (estimate,) = compute_drawn_intervals(
        [value], len(common), compute_difference, len(common), n_draws, seed, level
    )
    return estimate


class _BootstrapAreas:
    """AUROC and average precision of a confidence measure in bootstrap draws of questions.

    Cases with equal confidence form a group. A sparse matrix (groups x questions) has the numbers
    of right cases, another one those of wrong cases. Multiplied by the weights of the questions,
    they give the numbers in each draw.
    """

    def __init__(self, values: Floats, right: Booleans, index: NDArray[np.int64]) -> None:
        # The minus sign puts the most confident group first.
        distinct, group = np.unique(-values, return_inverse=True)
        shape = (len(distinct), int(index.max()) + 1)

        def count_cases(mask: Booleans) -> list[Any]:
            """Return counts of masked cases by confidence value and question, in row blocks."""
            ones = np.ones(int(mask.sum()))
            table = sparse.csr_matrix((ones, (group[mask], index[mask])), shape=shape)
            return [table[start : start + _GROUPS] for start in range(0, len(distinct), _GROUPS)]

        self._blocks = list(zip(count_cases(right), count_cases(~right), strict=True))
        self._item_counts = [
            np.bincount(index[mask], minlength=shape[1]) for mask in (right, ~right)
        ]

    def compute_for_draws(self, weights: Floats) -> Floats:
        """Return AUROC (row 0) and average precision (row 1), one column per bootstrap draw.

        A draw without right or without wrong cases gives NaN.
        """
        starts = range(0, len(weights), _DRAWS)
        return np.hstack([self._compute_block(weights[start : start + _DRAWS]) for start in starts])

    def _compute_block(self, weights: Floats) -> Floats:
        """Return AUROC and average precision of a few draws, small enough for memory."""
        drawn = np.ascontiguousarray(weights.T)
        n_right, n_wrong = (counts @ drawn for counts in self._item_counts)
        total_right, total_wrong, above, precise = np.zeros((4, drawn.shape[1]))
        for right_counts, wrong_counts in self._blocks:
            right, wrong = right_counts @ drawn, wrong_counts @ drawn
            right_so_far = _compute_running_sums(right, total_right)
            wrong_so_far = _compute_running_sums(wrong, total_wrong)
            total_right, total_wrong = right_so_far[-1].copy(), wrong_so_far[-1].copy()
            # For each right case: the wrong ones above it, and half of those in its group.
            # The running sum includes the whole group; half of it is taken off again for ties.
            wrong *= -0.5
            wrong += wrong_so_far
            above += np.einsum("gd,gd->d", right, wrong)
            # From here on all cases down to this group: the denominators of the precision.
            wrong_so_far += right_so_far
            # At least 1, because a draw may contain no case down to here.
            right_so_far /= np.maximum(wrong_so_far, 1.0)
            precise += np.einsum("gd,gd->d", right, right_so_far)
        area = 1 - divide_where_positive(above, n_right * n_wrong)
        average = divide_where_positive(precise, n_right)
        return np.vstack([area, np.where(n_wrong > 0, average, np.nan)])


def _compute_running_sums(counts: Floats, before: Floats) -> Floats:
    """Return the running sums of counts down each column, added to a start value per column.

    It equals `before + np.cumsum(counts, axis=0)` for integers, but is faster. Strips of rows are
    summed in parallel; then each gets the total of the strips above it. Integer sums are exact in
    any order.
    """
    rows, draws = counts.shape
    strips = -(-rows // _STRIP)
    out = np.zeros((strips, _STRIP, draws))
    out.reshape(-1, draws)[:rows] = counts
    for row in range(1, _STRIP):
        out[:, row] += out[:, row - 1]
    above = np.cumsum(out[:, -1], axis=0)
    out[0] += before
    out[1:] += (above[:-1] + before)[:, None, :]
    return out.reshape(-1, draws)[:rows]


# Most steps of a curve; more than a screen has pixels.
MOST_STEPS = 2000


@dataclass(frozen=True)
class RocPoint:
    """A point of a ROC curve: false and true positive rate, and the interval of the latter.

    Attributes
    ----------
    false_alarms : false positive rate, 0 to 1.
    found : true positive rate, 0 to 1.
    low, high : interval of `found` at this false positive rate; None without draws.
    """

    false_alarms: float
    found: float
    low: float | None = None
    high: float | None = None


def compute_roc_curve(
    sureness: ArrayLike,
    right: ArrayLike,
    items: ArrayLike,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
    n_points: int = 21,
) -> list[RocPoint]:
    """Return the ROC curve at evenly spaced false positive rates, linear between thresholds.

    The area under the curve through all thresholds is AUROC with ties counted half.

    Parameters
    ----------
    sureness, right, items : (n,) confidence, correctness and question id of each case.
    n_draws, seed, level : of the bootstrap over questions; 0 draws give no intervals.
    n_points : points of the curve, 2 or more.

    Returns
    -------
    (n_points,) from false positive rate 0 to 1; empty without right or without wrong cases. The
    interval leaves out draws without right or without wrong cases.
    """
    values, good = np.asarray(sureness, dtype=np.float64), np.asarray(right, dtype=np.bool_)
    if not len(values) or good.all() or not good.any():
        return []
    rates = np.linspace(0.0, 1.0, n_points)
    distinct, group = np.unique(-values, return_inverse=True)
    if len(distinct) > MOST_STEPS:
        # Merge thresholds into steps with about equally many cases.
        cumulative = np.cumsum(np.bincount(group))
        group = ((cumulative - 1) * MOST_STEPS // len(values))[group]
    questions, index = np.unique(np.asarray(items), return_inverse=True)
    shape = (int(group.max()) + 1, len(questions))
    steps = [
        sparse.csr_matrix((np.ones(int(mask.sum())), (group[mask], index[mask])), shape=shape)
        for mask in (good, ~good)
    ]

    def compute_curves(weights: Floats) -> Floats:
        """Return true positive rates, one column per draw; NaN without right or wrong cases."""
        n_right, n_wrong = (np.cumsum(counts @ weights.T, axis=0) for counts in steps)
        out = np.full((n_points, len(weights)), np.nan)
        for draw in np.flatnonzero((n_right[-1] > 0) & (n_wrong[-1] > 0)):
            # The curve begins at (0, 0), where no case is above the threshold.
            x = np.append(0.0, n_wrong[:, draw] / n_wrong[-1, draw])
            y = np.append(0.0, n_right[:, draw] / n_right[-1, draw])
            # np.interp needs increasing x: of a vertical piece only the upper end stays.
            last = np.append(np.flatnonzero(np.diff(x) > 0), len(x) - 1)
            out[:, draw] = np.interp(rates, x[last], y[last])
        return out

    estimates = compute_drawn_intervals(
        compute_curves(np.ones((1, len(questions))))[:, 0],
        len(questions),
        compute_curves,
        len(questions),
        n_draws,
        seed,
        level,
    )
    return [
        RocPoint(float(rate), estimate.value or 0.0, estimate.low, estimate.high)
        for rate, estimate in zip(rates, estimates, strict=True)
    ]


@dataclass(frozen=True)
class CalibrationBin:
    """Mean confidence and accuracy of the cases whose confidence lies in one interval.

    Attributes
    ----------
    confidence : mean confidence.
    accuracy : share of right cases.
    low, high : interval of `accuracy`; None where undefined.
    n : number of cases.
    items : number of their questions.
    """

    start: float
    end: float
    confidence: float
    accuracy: float
    low: float | None
    high: float | None
    n: int
    items: int


@dataclass(frozen=True)
class Calibration:
    """Expected calibration error of a confidence measure, and the bins used to compute it.

    Attributes
    ----------
    error : expected calibration error (Naeini et al. 2015), 0 to 1: the mean over the bins of the
        distance between confidence and accuracy, weighted by cases. Undefined without a case.
    bins : the bins with at least one case.
    """

    error: SampleEstimate
    bins: tuple[CalibrationBin, ...]


def measure_calibration(
    confidence: ArrayLike,
    right: ArrayLike,
    items: ArrayLike,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
    n_bins: int = 10,
) -> Calibration:
    """Return the expected calibration error and the bins of equal width that it is computed from.

    Parameters
    ----------
    confidence : (n,) 0 to 1; 1 is in the last bin.
    right, items : (n,) correctness and question id of each case.
    n_draws, seed, level : of the bootstrap over questions; 0 draws give no intervals.
    """
    values, good = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    # Without a case the sums below would divide by zero.
    if not len(values):
        return Calibration(SampleEstimate(None, None, None, 0, "no_cases"), ())
    bins = np.minimum((values * n_bins).astype(np.int64), n_bins - 1)
    questions, index = np.unique(np.asarray(items), return_inverse=True)
    # Sums by question and bin; the sums of a draw are then a matrix product.
    cells = index * n_bins + bins
    sums = [
        np.bincount(cells, addends, len(questions) * n_bins).reshape(len(questions), n_bins)
        for addends in (np.ones(len(values)), values, good)
    ]

    def compute_statistics(weights: Floats) -> Floats:
        """Return the error, mean confidences, then accuracies of bins, one column per draw."""
        n_cases, confidences, n_right = (weights @ table for table in sums)
        accuracy, mean = (
            divide_where_positive(n_right, n_cases),
            divide_where_positive(confidences, n_cases),
        )
        # n |accuracy - confidence| of a bin: weighted by its cases already, and 0 for an empty bin.
        distances = np.where(n_cases > 0, np.abs(n_right - confidences), 0.0)
        error = distances.sum(axis=1) / n_cases.sum(axis=1)
        return np.vstack([error, mean.T, accuracy.T])

    statistics = compute_statistics(np.ones((1, len(questions))))[:, 0]
    # The interval of each statistic is widened by the number of questions that it is based on.
    n_items = (sums[0] > 0).sum(axis=0)
    counts = np.concatenate([[len(questions)], n_items, n_items])
    estimates = compute_drawn_intervals(
        statistics, counts, compute_statistics, len(questions), n_draws, seed, level
    )
    rows = []
    for number in range(n_bins):
        mean, share = estimates[1 + number], estimates[1 + n_bins + number]
        if mean.value is None or share.value is None:
            continue
        ends = (number / n_bins, (number + 1) / n_bins)
        sizes = (int(sums[0][:, number].sum()), int(n_items[number]))
        rows.append(CalibrationBin(*ends, mean.value, share.value, share.low, share.high, *sizes))
    return Calibration(estimates[0], tuple(rows))
