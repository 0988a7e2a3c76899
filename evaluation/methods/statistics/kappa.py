"""How far two raters agree beyond chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def cohen_kappa(one: ArrayLike, other: ArrayLike, *, quadratic: bool = False) -> float | None:
    """Return Cohen's kappa: 1 for full agreement, 0 for that of chance, negative below it.

    1 - observed / expected disagreement, the latter over all pairs of a rating of the one and a
    rating of the other.

    Parameters
    ----------
    one, other : (n,) ratings of the same things, none missing: any labels, or numbers if
        `quadratic`.
    quadratic : disagreement is the squared difference (Cohen 1968); otherwise any two different
        ratings disagree alike (Cohen 1960).

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
    apart = _apart(of_one[:, None], of_other[None, :], quadratic=quadratic)
    expected = float(times_one @ apart @ times_other) / len(a)
    if expected == 0:
        return None
    return 1.0 - float(_apart(a, b, quadratic=quadratic).sum()) / expected


def _apart(
    one: NDArray[np.generic], other: NDArray[np.generic], *, quadratic: bool
) -> NDArray[np.float64]:
    if quadratic:
        return (one.astype(np.float64) - other.astype(np.float64)) ** 2
    return (one != other).astype(np.float64)
