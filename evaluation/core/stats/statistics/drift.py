"""Cosine distance of mean answers between two samples, observed and as expected by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Floats


def compute_cosine_distances(one: ArrayLike, other: ArrayLike) -> Floats:
    """Return 1 - cosine of each row of `one` with the same row of `other`, 0 to 2.

    Parameters
    ----------
    one, other : (Q, D) finite vectors of any length; NaN comes back for a row of zeros.

    Raises
    ------
    ValueError : shapes differ.
    """
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 2:
        raise ValueError(f"vectors of shapes {a.shape} and {b.shape} cannot be compared")
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.einsum("ij,ij->i", a, b) / lengths
    return np.asarray(1.0 - np.clip(cosine, -1.0, 1.0))


def estimate_chance_distances(
    dispersion_one: ArrayLike, n_one: ArrayLike, dispersion_other: ArrayLike, n_other: ArrayLike
) -> Floats:
    """Return the mean cosine distance expected of two samples of the same population.

    The mean of n unit vectors has the squared length R^2 + (1 - R^2) / n, where R is that of the
    population's mean, and two means of independent samples have the inner product R^2. So the
    expected cosine is about R^2 / (R1 R2), with R1 = 1 - dispersion as it was measured, and R^2
    estimated from each sample without bias, (n R1^2 - 1) / (n - 1), and weighted by n - 1: the
    correction for attenuation (Spearman 1904) turned round. It holds for equal weights; where some
    people have more say, chance brings more than this.

    Parameters
    ----------
    dispersion_one, dispersion_other : (Q,) 1 - length of the mean of unit vectors, 0 to 1, NaN for
        null. n_one, n_other : (Q,) how many vectors.

    Returns
    -------
    (Q,) 0 to 1; NaN below 2 vectors in either sample, and where a dispersion is null.

    Raises
    ------
    ValueError : shapes do not fit.
    """
    given = [
        np.asarray(part, dtype=np.float64)
        for part in (dispersion_one, n_one, dispersion_other, n_other)
    ]
    first, n_first, second, n_second = np.broadcast_arrays(*given)
    enough = (n_first >= 2) & (n_second >= 2)
    n_first, n_second = np.where(enough, n_first, np.nan), np.where(enough, n_second, np.nan)
    length_first, length_second = 1.0 - first, 1.0 - second
    # (n - 1) times the unbiased square of each, summed: what n R^2 - 1 is.
    sums = n_first * length_first**2 - 1 + n_second * length_second**2 - 1
    square = np.clip(sums / (n_first + n_second - 2), 0.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = square / (length_first * length_second)
    return np.asarray(1.0 - np.clip(cosine, 0.0, 1.0))
