"""Selection rates of groups and their ratios to the highest rate (the four-fifths rule).

The four-fifths rule of thumb: a group that is selected less than .8 times as often as the group
that is selected most often is worth a look (Uniform Guidelines on Employee Selection Procedures,
29 CFR 1607.4 D, 1978). It is a rule of thumb and no test: of two groups of 20 that are selected
equally often, chance alone breaks it in 46%. So a group is unfairly treated only if the interval of
its ratio (Katz et al. 1978, "Obtaining confidence intervals for the risk ratio in cohort studies",
on the logarithmic scale) also lies below 1; otherwise there are too few people to tell. The best of
several groups is best by chance, too: the interval of k groups uses the quantile of the range of k
normal values (Tukey 1953, "The problem of multiple comparisons"), which for two is the usual one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

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
    ratio, ratio_low, ratio_high : share over that of the best, with Katz's interval, adjusted for
        choosing the best. NaN for groups that are too small.
    small : whether a group has too few people to say. unfair : whether its ratio is below .8 and
        the interval below 1. unclear : whether its ratio is below .8 and the interval is not.
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
    unclear: np.ndarray


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
        return SelectionRates(share, low, high, -1, none, none, none, small, nobody, nobody)
    ratio = np.where(small, np.nan, share / share[best])
    # Half a person more where nobody was selected, or there were no interval (Walter 1975, "The
    # distribution of Levin's measure of attributable risk").
    more = np.where(hit == 0, 0.5, 0.0)
    own, best_own = (hit + more) / (count + more), (hit[best] + more) / (count[best] + more)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(
            1 / (hit + more)
            - 1 / (count + more)
            + 1 / (hit[best] + more)
            - 1 / (count[best] + more)
        )
        reach = np.exp(_compute_quantile(len(large), level) * error)
        ends = np.where(small, np.nan, [own / best_own / reach, own / best_own * reach])
    ends[0, (hit == 0) & ~small] = 0.0
    ends[:, best] = np.nan  # beside itself
    # By whole numbers: 12 of 20 beside 15 of 20 is four fifths, and .6 / .75 rounds to less.
    numerator, denominator = FOUR_FIFTHS
    below = (denominator * hit * count[best] < numerator * hit[best] * count) & ~small
    sure = ends[1] < 1
    return SelectionRates(
        *(share, low, high, best, ratio, ends[0], ends[1], small, below & sure, below & ~sure)
    )


@lru_cache
def _compute_quantile(n_groups: int, level: float) -> float:
    """Return the quantile of the largest difference of any two of several normal values.

    In standard errors of one difference: 1.96 for two groups, 2.34 for three.
    """
    if n_groups == 2:
        return float(stats.norm.ppf(0.5 + level / 2))
    return float(stats.studentized_range.ppf(level, n_groups, np.inf) / np.sqrt(2))
