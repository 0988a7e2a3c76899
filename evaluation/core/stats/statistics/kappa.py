"""Chance-corrected agreement of raters: Cohen's and Fleiss' kappa."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.undefined import divide_where_positive

# How much worse a larger disagreement is: None for not at all.
Weights = Literal["linear", "quadratic"]

# What rounding leaves of a difference that is zero.
ROUNDING = 1e-12


def cohen_kappa(
    one: ArrayLike, other: ArrayLike, *, weights: Weights | None = None
) -> float | None:
    """Return Cohen's kappa of two columns of ratings: 1 full agreement, 0 as by chance.

    1 - observed / expected disagreement, the latter over all pairs of a rating of the one and a
    rating of the other.

    Parameters
    ----------
    one, other : (n,) ratings of the same things, none missing: any labels, or numbers if
        there are weights.
    weights : disagreement is the difference ("linear") or its square ("quadratic"; Cohen 1968);
        without them any two different ratings disagree alike (Cohen 1960).

    Returns
    -------
    None where no disagreement is expected, because all ratings are the same, or without ratings.

    Raises
    ------
    ValueError : lengths differ.
    """
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"ratings of shapes {a.shape} and {b.shape} cannot be paired")
    if not len(a):
        return None
    (of_one, times_one), (of_other, times_other) = (
        np.unique(ratings, return_counts=True) for ratings in (a, b)
    )
    apart = _compute_disagreement(of_one[:, None], of_other[None, :], weights)
    expected = float(times_one @ apart @ times_other) / len(a)
    if expected == 0:
        return None
    return 1.0 - float(_compute_disagreement(a, b, weights).sum()) / expected


def compute_kappa_of_tables(tables: ArrayLike) -> NDArray[np.float64]:
    """Return Cohen's kappa of each square table that counts two raters' labels.

    (po - pe) / (1 - pe), po the share on the diagonal, pe the sum of the products of the margins'
    shares (Cohen 1960).

    Parameters
    ----------
    tables : (..., k, k) how often, or with what weight, the first rater gave label i and the second
        label j; not negative.

    Returns
    -------
    (...,) from -1 to 1; NaN where both always gave the same one label, or without ratings.
    """
    found = np.asarray(tables, dtype=np.float64)
    n = found.sum(axis=(-2, -1))
    same = divide_where_positive(np.trace(found, axis1=-2, axis2=-1), n)
    by_chance = divide_where_positive((found.sum(axis=-1) * found.sum(axis=-2)).sum(axis=-1), n**2)
    return _correct_for_chance(same, by_chance)


def compute_fleiss_parts(counts: ArrayLike) -> NDArray[np.float64]:
    """Return each item's summands of Fleiss' kappa, to be summed over any selection of items.

    Parameters
    ----------
    counts : (n, k) how many raters gave each thing each of k labels; a thing may have fewer raters
        than another.

    Returns
    -------
    (n, 2 + k): 1, the share of pairs of its raters that agree, and the counts of the labels. A
    thing with fewer than 2 raters has a row of zeros.
    """
    found = np.asarray(counts, dtype=np.float64)
    raters = found.sum(axis=1, keepdims=True)
    pairs = divide_where_positive(
        (found * (found - 1)).sum(axis=1, keepdims=True), raters * (raters - 1)
    )
    rows = np.hstack([np.ones_like(raters), pairs, found])
    return np.where(raters >= 2, rows, 0.0)


def fleiss_kappa(parts: ArrayLike) -> NDArray[np.float64]:
    """Return Fleiss' kappa (1971) from sums of the rows of `compute_fleiss_parts`.

    It is (Pbar - Pe) / (1 - Pe), with the observed agreement Pbar and that by chance Pe.

    Pbar is the mean over things, however many raters each has. Pe pools the labels of all things:
    each rating counts alike, as in MultiQ&A's Fleiss' kappa. With as many raters for each thing
    this is the kappa of Fleiss.

    Parameters
    ----------
    parts : (..., 2 + k) sums over things.

    Returns
    -------
    (...,) to 1; NaN where all ratings are the same, and where no thing has 2 raters.
    """
    found = np.asarray(parts, dtype=np.float64)
    pooled = found[..., 2:]
    shares = divide_where_positive(pooled, pooled.sum(axis=-1, keepdims=True))
    same = divide_where_positive(found[..., 1], found[..., 0])
    return _correct_for_chance(same, (shares**2).sum(axis=-1))


def _correct_for_chance(
    same: NDArray[np.float64], by_chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the agreement `same` corrected for that by chance; NaN where chance gives 1."""
    room = 1.0 - by_chance
    return divide_where_positive(same - by_chance, np.where(np.abs(room) < ROUNDING, 0.0, room))


def _compute_disagreement(
    one: NDArray[np.generic], other: NDArray[np.generic], weights: Weights | None
) -> NDArray[np.float64]:
    """Return the disagreement of each two ratings: 0 or 1, the difference, or its square."""
    if weights is not None:
        apart = np.abs(one.astype(np.float64) - other.astype(np.float64))
        return apart**2 if weights == "quadratic" else apart
    return (one != other).astype(np.float64)
