"""Statistics over clusters of items with bootstrap intervals, and over strata.

Answers to one question are not independent: a draw takes whole questions (clusters, items) with all
their rows. `compute_clustered_interval` is for any statistic of rows; `compute_means` for means of
one number per item; `compute_drawn_intervals` for statistics that can be computed from how often
each item was drawn. `compute_strata_mean` is the mean over several question sets, each with equal
weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from evaluation.core.stats.cells import (
    Floats,
    Integers,
    divide_where_positive,
    encode_labels,
    find_equal_rows,
)
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.inference.intervals import (
    NO_ESTIMATE,
    compute_widened_percentile_interval,
    draw_multiplicities,
)

NO_ROWS = "nothing_to_compare"
UNDEFINED = "no_correlation"

# From the numbers of some rows, with repetition, to a number; None where it is undefined.
Statistic = Callable[[Integers], float | None]


@dataclass(frozen=True)
class ClusteredEstimate(SampleEstimate):
    """Statistic of rows in clusters (such as answers to questions), with its 95% interval.

    Attributes
    ----------
    n, n_clusters : numbers of rows and of clusters that were used.
    """

    n_clusters: int = 0


def compute_clustered_interval(
    statistic: Statistic,
    clusters: ArrayLike,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
) -> ClusteredEstimate:
    """Return a statistic of rows with its bootstrap interval over clusters of rows.

    Parameters
    ----------
    statistic : function of row numbers 0..n-1, called with all rows and with the rows of each draw.
    clusters : (n,) label of each row's cluster.
    n_draws : bootstrap draws, at least 2; draws in which the statistic is undefined are left out.
    seed : of the draws. level : coverage, strictly between 0 and 1.

    Returns
    -------
    No interval with fewer than 2 clusters ("fewer_than_2_questions"), or where fewer than 2 draws
    are defined ("fewer_than_2_draws"). See `intervals.compute_widened_percentile_interval`.

    Raises
    ------
    ValueError : n_draws below 2, or level out of range.
    """
    if n_draws < 2:
        raise ValueError(f"n_draws must be at least 2, got {n_draws}")
    code, labels = encode_labels(clusters)
    n = len(code)
    if not n:
        return ClusteredEstimate(reason=NO_ROWS)
    value = statistic(np.arange(n))
    if value is None:
        return ClusteredEstimate(n=n, reason=UNDEFINED, n_clusters=len(labels))
    draws = compute_clustered_draws(statistic, code, n_draws, seed)
    interval = compute_widened_percentile_interval(draws, len(labels), level)[0]
    return ClusteredEstimate(value, interval.low, interval.high, n, interval.reason, len(labels))


def compute_clustered_draws(
    statistic: Statistic, clusters: Integers, n_draws: int, seed: int
) -> Floats:
    """Return the statistic of each bootstrap draw of whole clusters; NaN where undefined.

    A draw takes as many clusters as there are, with replacement, each with all its rows.
    `clusters` (n,) are codes 0..C-1, each with a row at least.
    """
    rows, count = np.arange(len(clusters)), int(clusters.max()) + 1
    draws = []
    for block in draw_multiplicities(count, n_draws, seed):
        for times in block.astype(np.int64):
            value = statistic(np.repeat(rows, times[clusters]))
            draws.append(np.nan if value is None else value)
    return np.array(draws, dtype=np.float64)


FloatArray = NDArray[np.float64]

NO_DRAWS = "no_draws"
FEWER_THAN_2_ITEMS = "fewer_than_2_items"
_REASONS = {"fewer_than_2_questions": FEWER_THAN_2_ITEMS}


def compute_means(
    values: ArrayLike, n_draws: int = 400, seed: int = 0, level: float = 0.95
) -> list[SampleEstimate]:
    """Return each row's mean over its known values, with a bootstrap interval over the items.

    Every row is drawn alike; a draw's mean is over the drawn items that the row has a number for.

    Parameters
    ----------
    values : (k, items) or (items,) finite numbers, NaN for an item that has none.
    n_draws : bootstrap draws; 0 for no intervals.
    seed : of the draws.
    level : coverage of the widened percentile interval, see `intervals`.

    Returns
    -------
    One for each row. Reasons: no_estimate (no item has a number), fewer_than_2_items, no_draws.
    """
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    known = ~np.isnan(rows)
    filled = np.where(known, rows, 0.0)
    counts = known.sum(axis=1)
    means = divide_where_positive(filled.sum(axis=1), counts)
    # Items with the same numbers are drawn as one kind.
    first, kinds = find_equal_rows([*filled, *known], rows.shape[1])
    filled, of_kinds = filled[:, first], known[:, first]
    # All-known rows, which most are, share one denominator.
    partly = ~of_kinds.all(axis=1)
    parts = of_kinds[partly].astype(np.float64)

    def statistic(weights: FloatArray) -> FloatArray:
        """Return the means (rows, draws) of draws with these weights of the items."""
        out = filled @ weights.T
        whole = np.broadcast_to(weights.sum(axis=1), out.shape).copy()
        whole[partly] = parts @ weights.T
        return divide_where_positive(out, whole)

    items = rows.shape[1]
    return compute_drawn_intervals(
        means, counts, statistic, items, n_draws, seed, level, kinds=kinds
    )


def compute_drawn_intervals(
    values: ArrayLike,
    n: ArrayLike,
    statistic: Callable[[FloatArray], FloatArray],
    items: int,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
    kinds: NDArray[np.int64] | None = None,
) -> list[SampleEstimate]:
    """Return each value with its bootstrap interval; `statistic` recomputes the values of draws.

    Parameters
    ----------
    values : (k,) statistics, NaN where undefined. n : (k,) or a number, items each is of.
    statistic : takes (draws, items), how often each item was drawn, and returns the (k, draws)
        statistics of these draws, NaN where a draw leaves one undefined.
    items : how many there are.
    n_draws, seed, level : as in `compute_means`.
    kinds : see `intervals.draw_multiplicities`; then `statistic` takes how often each kind was
        drawn.
    """
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    counts = np.broadcast_to(np.asarray(n, dtype=np.int64), numbers.shape)
    low, high = np.full((2, len(numbers)), np.nan)
    reasons: list[str | None] = [NO_DRAWS] * len(numbers)
    if n_draws and items:
        # All rows share the draws: a row's interval does not depend on which other rows there are.
        blocks = draw_multiplicities(items, n_draws, seed, kinds)
        drawn = np.hstack([statistic(weights) for weights in blocks])
        interval = compute_widened_percentile_interval(drawn, counts, level)
        low, high, reasons = interval.low, interval.high, list(interval.reasons)
    estimates = []
    for row, value in enumerate(numbers):
        if np.isnan(value):
            estimates.append(SampleEstimate(None, None, None, int(counts[row]), NO_ESTIMATE))
            continue
        reason = reasons[row]
        ends = None if reason else (float(low[row]), float(high[row]))
        estimates.append(
            SampleEstimate(
                float(value),
                ends and ends[0],
                ends and ends[1],
                int(counts[row]),
                None if reason is None else _REASONS.get(reason, reason),
            )
        )
    return estimates


def compute_strata_mean(
    means: ArrayLike, errors: ArrayLike, sizes: ArrayLike, level: float = 0.95
) -> SampleEstimate:
    """Return the equally weighted mean of the means of k strata, with its interval.

    The sets are fixed and only the questions within them are random: the interval is for these
    sets, not for others. Student's t with the degrees of freedom of Welch and Satterthwaite
    (Satterthwaite 1946, "An approximate distribution of estimates of variance components").

    Parameters
    ----------
    means : array_like
        shape (k,), finite.
    errors : array_like
        shape (k,), their standard errors, at least 0; NaN where there is none.
    sizes : array_like
        shape (k,), how many numbers each is the mean of.

    Returns
    -------
    The mean, None without any; no interval where an error is NaN or a size is below 2. Where all
    errors are 0 the interval is the mean itself.
    """
    values = np.asarray(means, dtype=np.float64)
    deviations = np.asarray(errors, dtype=np.float64)
    counts = np.asarray(sizes, dtype=np.float64)
    k = len(values)
    if not (values.shape == deviations.shape == counts.shape == (k,)):
        raise ValueError("means, errors and sizes must be of one length")
    if k == 0:
        return SampleEstimate()
    mean = float(values.mean())
    if np.isnan(deviations).any() or (counts < 2).any():
        return SampleEstimate(mean, n=k)
    variances = deviations**2
    # The degrees of freedom would be 0 / 0.
    if not variances.any():
        return SampleEstimate(mean, mean, mean, k)
    # Degrees of freedom of a sum of variances with different sizes (Satterthwaite).
    freedom = variances.sum() ** 2 / (variances**2 / (counts - 1)).sum()
    half = float(stats.t.ppf((1 + level) / 2, freedom) * np.sqrt(variances.sum()) / k)
    return SampleEstimate(mean, mean - half, mean + half, k)
