"""Mean score over several question sets, each with equal weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.inference.estimate import SampleEstimate


def compute_strata_mean(
    means: ArrayLike, errors: ArrayLike, sizes: ArrayLike, level: float = 0.95
) -> SampleEstimate:
    """Return the mean of independent means with its Welch-Satterthwaite interval.

    The sets are taken as given, and only the questions within them as drawn: the interval is for
    these sets, not for others. Student's t with the degrees of freedom of Welch and Satterthwaite
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
    if not variances.any():
        return SampleEstimate(mean, mean, mean, k)
    # Degrees of freedom of a sum of variances with different sizes (Satterthwaite).
    freedom = variances.sum() ** 2 / (variances**2 / (counts - 1)).sum()
    half = float(stats.t.ppf((1 + level) / 2, freedom) * np.sqrt(variances.sum()) / k)
    return SampleEstimate(mean, mean - half, mean + half, k)
