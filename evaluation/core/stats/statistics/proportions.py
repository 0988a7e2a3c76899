"""Confidence intervals of proportions (Wilson)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.cells import Floats


def wilson_interval(share: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return both ends of Wilson's score interval of each share (1927); NaN where n is 0.

    Parameters
    ----------
    share : 0 to 1, of any shape; weighted shares need not be whole parts of n.
    n : how many each is a share of.

    Returns
    -------
    low, high : of the shape of both, within 0 to 1.
    """
    p, count = np.broadcast_arrays(np.asarray(share, np.float64), np.asarray(n, np.float64))
    z = stats.norm.ppf(0.5 + level / 2)
    whole = np.where(count > 0, 2 * (count + z**2), np.nan)
    centre = (2 * count * p + z**2) / whole
    reach = z / whole * np.sqrt(4 * count * p * (1 - p) + z**2)
    # Rounding may leave 1e-17 where the ends are 0 and 1.
    low = np.where(p == 0, 0.0 * whole, centre - reach)
    high = np.where(p == 1, 1.0 + 0.0 * whole, centre + reach)
    return low, high
