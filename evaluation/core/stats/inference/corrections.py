"""Corrections of p-values for multiple tests: Holm and Benjamini-Hochberg."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

FloatArray = NDArray[np.float64]
Correction = Literal["holm", "benjamini-hochberg"]


def holm(p_values: ArrayLike) -> FloatArray:
    """Return Holm's step-down adjusted p-values, which control the family-wise error rate.

    The i-th smallest of m (i from 0) becomes the largest of (m - i') p over the ranks i' <= i,
    at most 1. Source: Holm 1979.

    Parameters
    ----------
    p_values : array_like
        shape (k,), in 0..1; NaN or None for a test that has none.

    Returns
    -------
    Shape (k,), in the given order; NaN stays NaN and is not counted in m. Never below the raw
    value.

    Raises
    ------
    ValueError : not a vector, or a value outside 0..1.
    """
    p, known = _select_known_p_values(p_values)
    adjusted = np.full(len(p), np.nan)
    values = p[known]
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate((len(values) - np.arange(len(values))) * values[order])
    ranked = np.empty(len(values))
    ranked[order] = np.minimum(steps, 1.0)
    adjusted[known] = ranked
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Return Benjamini-Hochberg adjusted p-values, which control the false discovery rate.

    Arguments, nulls, order and errors as in `holm`; never above Holm's. Source: Benjamini and
    Hochberg 1995.
    """
    p, known = _select_known_p_values(p_values)
    adjusted = np.full(len(p), np.nan)
    if known.any():
        adjusted[known] = stats.false_discovery_control(p[known], method="bh")
    return adjusted


def compute_levels_left(
    p_values: ArrayLike, correction: Correction = "holm", alpha: float = 0.05
) -> FloatArray:
    """Return the level that each test has to pass, corrected for the comparisons left.

    Holm: alpha divided by the number of tests left when the test's turn comes. The turn does not
    come once a test fails: then as many are left as were not rejected. Benjamini-Hochberg: alpha
    (k + 1)/m with k of the m tests rejected, what one more discovery needs (alpha if all are).

    Parameters
    ----------
    p_values : as in `holm`, not adjusted.
    alpha : level of all tests together, strictly between 0 and 1.

    Returns
    -------
    Shape (k,), in the given order; NaN for a test without a p-value.
    """
    p, known = _select_known_p_values(p_values)
    values = p[known]
    n_rejected = int(np.count_nonzero(CORRECTIONS[correction](values) < alpha))
    levels = np.full(len(p), np.nan)
    if correction == "holm":
        n_smaller = np.searchsorted(np.sort(values), values, side="left")
        levels[known] = alpha / (len(values) - np.minimum(n_smaller, n_rejected))
    elif len(values):
        levels[known] = alpha * min(n_rejected + 1, len(values)) / len(values)
    return levels


def _select_known_p_values(p_values: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the p-values as floats, and which are not NaN; ValueError outside 0..1."""
    p = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    if p.ndim != 1 or not np.all((p[known] >= 0) & (p[known] <= 1)):
        raise ValueError("p_values must be a vector of values in 0..1")
    return p, known


CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}
