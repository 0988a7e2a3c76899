"""Statistics over items with bootstrap intervals; each draw takes whole items with all replies.

`compute_means` is for means of one number per item; `compute_drawn_intervals` is for any other
statistic, which is computed anew from how often each item was drawn.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.cells import find_equal_rows
from evaluation.core.stats.inference.draws import draw_multiplicities
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.inference.intervals import (
    NO_ESTIMATE,
    compute_widened_percentile_interval,
)
from evaluation.core.stats.undefined import divide_where_positive

FloatArray = NDArray[np.float64]

NO_DRAWS = "no_draws"
FEWER_THAN_2_ITEMS = "fewer_than_2_items"
_REASONS = {"fewer_than_2_questions": FEWER_THAN_2_ITEMS}


def compute_means(
    values: ArrayLike, n_draws: int = 400, seed: int = 0, level: float = 0.95
) -> list[SampleEstimate]:
    """Return each row's mean over the items that have a value, with a bootstrap interval.

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
    found = divide_where_positive(filled.sum(axis=1), counts)
    # Items with the same numbers are drawn as one kind.
    first, kinds = find_equal_rows([*filled, *known], rows.shape[1])
    filled, of_kinds = filled[:, first], known[:, first]
    # All-known rows, which most are, share one denominator.
    partly = ~of_kinds.all(axis=1)
    parts = of_kinds[partly].astype(np.float64)

    def statistic(weights: FloatArray) -> FloatArray:
        out = filled @ weights.T
        whole = np.broadcast_to(weights.sum(axis=1), out.shape).copy()
        whole[partly] = parts @ weights.T
        return divide_where_positive(out, whole)

    items = rows.shape[1]
    return compute_drawn_intervals(
        found, counts, statistic, items, n_draws, seed, level, kinds=kinds
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
    """Return each statistic's bootstrap interval; `statistic` recomputes them for the draws.

    Parameters
    ----------
    values : (k,) statistics, NaN where undefined. n : (k,) or a number, items each is of.
    statistic : takes (draws, items), how often each item was drawn, and returns the (k, draws)
        statistics of these draws, NaN where a draw leaves one undefined.
    items : how many there are.
    n_draws, seed, level : as in `compute_means`.
    kinds : see `draws.draw_multiplicities`; then `statistic` takes how often each kind was drawn.
    """
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    counts = np.broadcast_to(np.asarray(n, dtype=np.int64), found.shape)
    low, high = np.full((2, len(found)), np.nan)
    reasons: list[str | None] = [NO_DRAWS] * len(found)
    if n_draws and items:
        # All rows share the draws: a row's interval does not depend on which other rows there are.
        blocks = draw_multiplicities(items, n_draws, seed, kinds)
        drawn = np.hstack([statistic(weights) for weights in blocks])
        interval = compute_widened_percentile_interval(drawn, counts, level)
        low, high, reasons = interval.low, interval.high, list(interval.reasons)
    estimates = []
    for row, value in enumerate(found):
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
