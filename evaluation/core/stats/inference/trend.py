"""Trend of a few numbers in time order: Kendall's tau and Theil-Sen slope.

The order alone is tested (Mann 1945, "Nonparametric tests against trend"; Kendall's tau between
number and place), exactly where no two numbers are equal: nothing is assumed of how far apart the
occasions are, of their noise or of its shape. The noise within an occasion only weakens the test.
The steepness is the median of the slopes between every two occasions (Theil 1950, Sen 1968).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

Direction = Literal["rises", "falls", "unclear", "too_few", "all_equal"]

FEWEST = 5
"""Below it the order cannot tell: even four rising numbers have p = 2/4! = .083."""


@dataclass(frozen=True)
class Trend:
    """Direction of numbers over time, with the test for a trend and the slope.

    Attributes
    ----------
    direction : "rises" or "falls" where the order would be as clear by chance in less than a part
        `1 - level` of all orders; else "unclear", "too_few" (below 5 numbers) or "all_equal".
    n : how many numbers there are.
    tau : Kendall's tau-b, -1 (every later one is smaller) to 1; None where it is undefined.
    p_value : two-sided; None where nothing was tested.
    slope, low, high : median change from one number to the next, and its interval at `level`; None
        where nothing was tested.
    """

    direction: Direction
    n: int
    tau: float | None = None
    p_value: float | None = None
    slope: float | None = None
    low: float | None = None
    high: float | None = None


def estimate_trend(values: ArrayLike, level: float = 0.95) -> Trend:
    """Return the trend of numbers in time order: rises, falls or unclear, with test and slope.

    Parameters
    ----------
    values : array_like
        shape (n,), finite.
    level : float
        strictly between 0 and 1.

    Raises
    ------
    ValueError : values that are not finite or of another shape, a level out of range.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError("values must be finite numbers in one row")
    if not 0 < level < 1:
        raise ValueError("level must be between 0 and 1")
    n = len(numbers)
    if n < FEWEST:
        return Trend("too_few", n)
    if np.ptp(numbers) == 0:
        return Trend("all_equal", n)
    places = np.arange(n)
    tested = stats.kendalltau(places, numbers)  # exact without ties
    # Which of two equal slopes comes first is nobody's: "separate" pairs all occasions.
    steep = stats.theilslopes(numbers, places, alpha=level, method="separate")
    tau, p_value = float(tested.statistic), float(tested.pvalue)
    direction: Direction = "unclear"
    if p_value < 1 - level:
        direction = "rises" if tau > 0 else "falls"
    slope, low, high = (float(end) for end in (steep.slope, steep.low_slope, steep.high_slope))
    return Trend(direction, n, tau, p_value, slope, low, high)


def compute_least_p_value(n: int) -> float:
    """Return the smallest p-value that a trend of `n` numbers can reach, min(1, 2 / n!)."""
    return min(1.0, 2 / factorial(n))
