"""Whether a number of sureness tells right from wrong, with intervals by questions.

Answers (or replies) of one question are no independent cases, so whole questions are drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evaluation.methods.cells import Booleans, Floats
from evaluation.methods.inference.clustered import Estimate, drawn_intervals
from evaluation.methods.statistics.roc import auc, average_precision
from evaluation.methods.undefined import ratio

NO_CASES = "no_cases"
NONE_RIGHT = "none_right"
ALL_RIGHT = "all_right"

# Groups and draws that are counted at once: arrays of a megabyte, which stay in the cache.
_GROUPS, _DRAWS = 2048, 64
# Rows that are summed one after the other, beside those of the other strips.
_STRIP = 32


def telling_apart(
    sureness: ArrayLike,
    right: ArrayLike,
    items: ArrayLike,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[Estimate, Estimate]:
    """Return AUROC and average precision of a number that should be greater for what is right.

    AUROC counts ties half; average precision is the area in steps, what is right being looked for.

    Parameters
    ----------
    sureness : (n,) finite numbers, greater for surer. For entropy, give it with a minus.
    right : (n,) whether each case is right.
    items : (n,) which question each case is of: whole numbers.
    n_draws, seed, level : of the draws of questions; 0 draws for no intervals.

    Returns
    -------
    Both with `n` the number of cases. Undefined, with the reason none_right, all_right or
    no_cases, where one of the two kinds is missing.
    """
    values = np.asarray(sureness, dtype=np.float64)
    good = np.asarray(right, dtype=np.bool_)
    if not len(values) or good.all() or not good.any():
        reason = NO_CASES if not len(values) else ALL_RIGHT if good.all() else NONE_RIGHT
        nothing = Estimate(None, None, None, len(values), reason)
        return nothing, nothing
    found = [auc(values[good], values[~good]), average_precision(values[good], values[~good])]
    known, place = np.unique(np.asarray(items), return_inverse=True)
    draws = _Draws(values, good, place)
    estimates = drawn_intervals(
        [np.nan if value is None else value for value in found],
        len(known),
        draws.statistics,
        len(known),
        n_draws,
        seed,
        level,
    )
    first, second = (replace(one, n=len(values)) for one in estimates)
    return first, second


def area_difference(
    one: tuple[ArrayLike, ArrayLike, ArrayLike],
    other: tuple[ArrayLike, ArrayLike, ArrayLike],
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    """Return the AUROC of one system minus that of another, over the questions of both.

    Parameters
    ----------
    one, other : sureness, right, items as for `telling_apart`; `items` name the same questions.

    Returns
    -------
    With `n` the number of common questions, which are drawn for both at once. Undefined, with the
    reason no_cases, all_right or none_right, where either has no AUROC over them.
    """
    sides = [[np.asarray(column) for column in side] for side in (one, other)]
    common = np.intersect1d(sides[0][2], sides[1][2])
    draws, found = [], []
    for values, right, items in sides:
        here = np.isin(items, common)
        good = right[here].astype(np.bool_)
        if not len(good) or good.all() or not good.any():
            reason = NO_CASES if not len(good) else ALL_RIGHT if good.all() else NONE_RIGHT
            return Estimate(None, None, None, len(common), reason)
        sure = values[here].astype(np.float64)
        found.append(auc(sure[good], sure[~good]))
        draws.append(_Draws(sure, good, np.searchsorted(common, items[here])))

    def difference(weights: Floats) -> Floats:
        first, second = (of.statistics(weights)[:1] for of in draws)
        return first - second

    value = (found[0] or 0.0) - (found[1] or 0.0)
    (estimate,) = drawn_intervals(
        [value], len(common), difference, len(common), n_draws, seed, level
    )
    return estimate


class _Draws:
    """Both statistics of cases that come as often as their question was drawn.

    Cases with equal numbers are taken together. How many of each such group are right in a draw is
    a product of a sparse matrix (groups x questions) and the draws.
    """

    def __init__(self, values: Floats, right: Booleans, place: NDArray[np.int64]) -> None:
        known, group = np.unique(-values, return_inverse=True)  # from the surest on
        shape = (len(known), int(place.max()) + 1)

        def counted(among: Booleans) -> list[Any]:
            ones = np.ones(int(among.sum()))
            table = sparse.csr_matrix((ones, (group[among], place[among])), shape=shape)
            return [table[start : start + _GROUPS] for start in range(0, len(known), _GROUPS)]

        self._parts = list(zip(counted(right), counted(~right), strict=True))
        self._of_item = [np.bincount(place[among], minlength=shape[1]) for among in (right, ~right)]

    def statistics(self, weights: Floats) -> Floats:
        """Return (2, draws), NaN where a draw has only one kind of cases."""
        starts = range(0, len(weights), _DRAWS)
        return np.hstack([self._of_block(weights[start : start + _DRAWS]) for start in starts])

    def _of_block(self, weights: Floats) -> Floats:
        drawn = np.ascontiguousarray(weights.T)
        n_right, n_wrong = (counts @ drawn for counts in self._of_item)
        found, false, above, precise = np.zeros((4, drawn.shape[1]))
        for of_right, of_wrong in self._parts:
            right, wrong = of_right @ drawn, of_wrong @ drawn
            found_here, false_here = _running(right, found), _running(wrong, false)
            found, false = found_here[-1].copy(), false_here[-1].copy()
            # For each right case: the wrong ones above it, and half of those at its number.
            wrong *= -0.5
            wrong += false_here
            above += np.einsum("gd,gd->d", right, wrong)
            false_here += found_here
            found_here /= np.maximum(false_here, 1.0)  # nobody is drawn: nothing is found
            precise += np.einsum("gd,gd->d", right, found_here)
        area = 1 - ratio(above, n_right * n_wrong)
        average = ratio(precise, n_right)
        return np.vstack([area, np.where(n_wrong > 0, average, np.nan)])


def _running(counts: Floats, before: Floats) -> Floats:
    """Return `before` and the sums down to each row: (G, D) and (D,), a cumsum of whole numbers.

    Row by row each sum waits for the last one. Here strips of rows are summed side by side, and
    each strip then gets what is above it; whole numbers add up alike in any order.
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
