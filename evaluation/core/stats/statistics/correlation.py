"""Pearson's and Spearman's correlation of two columns of numbers.

One rule for every correlation of the project: pairs in which a number is missing (NaN) are left
out; with fewer than 2 pairs left, or where a side has no spread, there is no correlation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.cells import Booleans, Floats

DIGITS = 12
# What rounding leaves of a column's variance that the third one explains in full.
ROUNDING = 1e-12


def pearson(one: ArrayLike, other: ArrayLike, among: Booleans | None = None) -> float | None:
    """Return Pearson's correlation of two columns, -1 to 1; None where undefined.

    Parameters
    ----------
    one, other : (n,) finite numbers, NaN or None for a missing one.
    among : (n,) which pairs count; None for all.

    Raises
    ------
    ValueError : lengths differ.
    """
    return _compute_correlation(*_select_known_pairs(one, other, among))


def spearman(one: ArrayLike, other: ArrayLike, among: Booleans | None = None) -> float | None:
    """Return Spearman's rank correlation (mean ranks for ties), -1 to 1; None where undefined.

    Parameters and errors as `pearson`. Ranks are those among the pairs that count.
    """
    return _compute_correlation(
        *(stats.rankdata(part) for part in _select_known_pairs(one, other, among))
    )


def compute_partial_correlation(
    both: float | None, one: float | None, other: float | None
) -> float | None:
    """Return the partial correlation of two columns given a third, -1 to 1; None if undefined.

    Parameters
    ----------
    both : correlation of the two. one, other : of each of them with the third.
    """
    if both is None or one is None or other is None:
        return None
    rest = (1 - one**2) * (1 - other**2)
    if rest <= ROUNDING:
        return None
    return float(np.clip((both - one * other) / np.sqrt(rest), -1.0, 1.0))


def round_for_ties(scores: ArrayLike) -> Floats:
    """Return scores rounded to 12 digits, so that scores equal but for rounding share a rank.

    Which of two equal scores is larger by the last bits, the processor decides.
    """
    return np.asarray(np.round(np.asarray(scores, dtype=np.float64), DIGITS), dtype=np.float64)


def _select_known_pairs(
    one: ArrayLike, other: ArrayLike, among: Booleans | None
) -> tuple[Floats, Floats]:
    """Return two columns without the rows that have NaN or are not in `among`."""
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"columns of shapes {a.shape} and {b.shape} cannot be paired")
    known = ~(np.isnan(a) | np.isnan(b))
    if among is not None:
        known &= among
    return a[known], b[known]


def _compute_correlation(a: Floats, b: Floats) -> float | None:
    # Not stats.pearsonr and spearmanr: they warn of what has no spread, and a p-value that nobody
    # asked for takes most of their time, hundreds of times in a run.
    if len(a) < 2 or not (np.ptp(a) and np.ptp(b)):
        return None
    return float(np.corrcoef(a, b)[0, 1])
