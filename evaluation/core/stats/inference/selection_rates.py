"""Selection rates of groups and their ratios to the highest rate (the four-fifths rule).

The four-fifths rule of thumb: a group that is selected less than .8 times as often as the group
that is selected most often is worth a look (Uniform Guidelines on Employee Selection Procedures,
29 CFR 1607.4 D, 1978). It is a rule of thumb and no test: of few people chance alone breaks it, so
the ratio has an interval (Katz et al. 1978, "Obtaining confidence intervals for the risk ratio in
cohort studies", on the logarithmic scale).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.cells import Floats
from evaluation.core.stats.statistics.proportions import wilson_interval

FOUR_FIFTHS = 4, 5
FEWEST = 10
"""People of a group, below which nothing is said of it."""


@dataclass(frozen=True, eq=False)
class SelectionRates:
    """Selection rates of groups and their ratios to the best one, as arrays; NaN if undefined.

    Attributes
    ----------
    share, low, high : selected of all of a group, with Wilson's 95% interval; NaN without people.
    best : the group with the highest share among those that are large enough; -1 below two such.
    ratio, ratio_low, ratio_high : share over that of the best, with Katz's interval, which is NaN
        where nobody of either was selected. NaN for groups that are too small.
    small : whether a group has too few people to say. unfair : whether its ratio is below .8.
    """

    share: Floats
    low: Floats
    high: Floats
    best: int
    ratio: Floats
    ratio_low: Floats
    ratio_high: Floats
    small: np.ndarray
    unfair: np.ndarray


def compare_selection_rates(
    selected: ArrayLike, n: ArrayLike, fewest: int = FEWEST, level: float = 0.95
) -> SelectionRates:
    """Return each group's selection rate and its ratio to the highest, with intervals.

    Parameters
    ----------
    selected, n : shape (k,), whole numbers from 0, selected at most n.
    fewest : people of a group that is compared. level : of the intervals.

    Raises
    ------
    ValueError : negative counts, or more selected than there are.
    """
    hit, count = np.asarray(selected, float), np.asarray(n, float)
    if np.any(hit < 0) or np.any(hit > count):
        raise ValueError("selected must be from 0 to n")
    share = np.divide(hit, count, out=np.full(hit.shape, np.nan), where=count > 0)
    low, high = wilson_interval(np.nan_to_num(share), count, level)
    small = count < fewest
    large = np.flatnonzero(~small)
    none = np.full(hit.shape, np.nan)
    best = int(large[np.argmax(share[large])]) if len(large) >= 2 else -1
    if best < 0 or share[best] == 0:
        nobody = np.zeros(hit.shape, bool)
        return SelectionRates(share, low, high, -1, none, none, none, small, nobody)
    ratio = np.where(small, np.nan, share / share[best])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(1 / hit - 1 / count + 1 / hit[best] - 1 / count[best])
        reach = np.exp(stats.norm.ppf(0.5 + level / 2) * error)
        ends = np.where(small | (hit == 0), np.nan, [ratio / reach, ratio * reach])
    ends[:, best] = np.nan  # beside itself
    # By whole numbers: 12 of 20 beside 15 of 20 is four fifths, and .6 / .75 rounds to less.
    numerator, denominator = FOUR_FIFTHS
    below = denominator * hit * count[best] < numerator * hit[best] * count
    return SelectionRates(
        share,
        low,
        high,
        best,
        ratio,
        ends[0],
        ends[1],
        small,
        below & ~small,
    )
