"""Area under the ROC curve and average precision of a score that separates two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.cells import Floats


def auc(positive: ArrayLike, negative: ArrayLike) -> float | None:
    """Return the area under the ROC curve, 0 to 1; None if one class is missing.

    The probability that a random positive has a greater number than a random negative, ties
    counted half: 1 tells them apart, .5 not at all, 0 takes each for the other.

    Parameters
    ----------
    positive, negative : (P,) and (N,) finite numbers; None if there are none of a kind.

    Raises
    ------
    ValueError : a number is not finite.
    """
    x, y = _check_finite(positive, negative)
    if not len(x) or not len(y):
        return None
    ranks = stats.rankdata(np.concatenate([x, y]))[: len(x)]
    return float((ranks.sum() - len(x) * (len(x) + 1) / 2) / (len(x) * len(y)))


def average_precision(positive: ArrayLike, negative: ArrayLike) -> float | None:
    """Return the step-wise average precision of scores, 0 to 1; None without a positive.

    The area under the precision-recall curve in steps, as scikit-learn computes it: of things with
    the same number all are found at once. 1 where every positive has a greater number than every
    negative; the share of positives where all numbers are the same.

    Parameters
    ----------
    positive, negative : (P,) and (N,) finite numbers; None if there is no positive.

    Raises
    ------
    ValueError : a number is not finite.
    """
    x, y = _check_finite(positive, negative)
    if not len(x):
        return None
    found = len(x) - np.searchsorted(np.sort(x), x)
    false = len(y) - np.searchsorted(np.sort(y), x)
    return float((found / (found + false)).mean())


def _check_finite(*columns: ArrayLike) -> list[Floats]:
    """Return the columns as floats. Raises ValueError for NaN or infinity."""
    found = [np.asarray(column, dtype=np.float64) for column in columns]
    if not all(np.isfinite(column).all() for column in found):
        raise ValueError("the numbers must be finite")
    return found
