"""Intraclass correlations ICC(2,1) and ICC(2,k): absolute agreement of raters on numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# What rounding leaves of a sum of squares that is zero, as a share of the squares themselves.
ROUNDING = 1e-12


@dataclass(frozen=True)
class IntraclassCorrelation:
    """Absolute agreement of raters on items, for one rater and for the raters' mean.

    Attributes
    ----------
    single : ICC(2,1), of one rater's rating. mean : ICC(2,k), of the mean of the k ratings.
        1 for full agreement, 0 for none, negative below that; None where undefined.
    n : things that all k rated. left_out : things that not all of them rated, which it is not of.
    """

    single: float | None
    mean: float | None
    n: int
    raters: int
    left_out: int = 0


def intraclass_correlation(ratings: ArrayLike) -> IntraclassCorrelation:
    """Return ICC(2,1) and ICC(2,k) of ratings, one row per item, one column per rater.

    ICC(2,1) = (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n) and ICC(2,k) = (MSR - MSE) /
    (MSR + (MSC - MSE) / n), with the mean squares of things (rows), raters (columns) and the rest
    of a two-way analysis of variance (Shrout and Fleiss 1979, "Intraclass correlations: uses in
    assessing rater reliability", Psychological Bulletin 86, cases 2). A rater who is milder than
    another by the same everywhere counts as disagreement.

    Parameters
    ----------
    ratings : (n, k) finite numbers, NaN for a thing that a rater did not rate. The analysis needs
        whole rows: things with a missing rating are left out and counted.

    Returns
    -------
    None for both with fewer than 2 things or raters, or where all ratings are the same.

    Raises
    ------
    ValueError : not two-dimensional, or an infinite rating.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings of shape {table.shape}: things in rows, raters in columns")
    if np.isinf(table).any():
        raise ValueError("ratings must be finite; NaN stands for a missing one")
    x = table[~np.isnan(table).any(axis=1)]
    n, k = x.shape
    left_out = len(table) - n
    if n < 2 or k < 2:
        return IntraclassCorrelation(None, None, n, k, left_out)
    x = x - x.mean()
    total = float((x**2).sum())
    rows, columns = k * float((x.mean(axis=1) ** 2).sum()), n * float((x.mean(axis=0) ** 2).sum())
    of_things, of_raters = rows / (n - 1), columns / (k - 1)
    rest = max(0.0, total - rows - columns) / ((n - 1) * (k - 1))
    beyond, tilt = of_things - rest, (of_raters - rest) / n
    smallest = ROUNDING * float(np.nanmax(np.abs(table)) ** 2)
    single, mean = of_things + (k - 1) * rest + k * tilt, of_things + tilt
    return IntraclassCorrelation(
        beyond / single if single > smallest else None,
        beyond / mean if mean > smallest else None,
        n,
        k,
        left_out,
    )
