"""How well a number tells two kinds of things apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def auc(positive: ArrayLike, negative: ArrayLike) -> float | None:
    """Return the area under the ROC curve, 0 to 1.

    The probability that a random positive has a greater number than a random negative, ties
    counted half: 1 tells them apart, .5 not at all, 0 takes each for the other.

    Parameters
    ----------
    positive, negative : (P,) and (N,) finite numbers; None if there are none of a kind.

    Raises
    ------
    ValueError : a number is not finite.
    """
    x, y = np.asarray(positive, dtype=np.float64), np.asarray(negative, dtype=np.float64)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("the numbers must be finite")
    if not len(x) or not len(y):
        return None
    ranks = stats.rankdata(np.concatenate([x, y]))[: len(x)]
    return float((ranks.sum() - len(x) * (len(x) + 1) / 2) / (len(x) * len(y)))
