"""What guessing gives: R answers, each one of k choices at random, one of which is right."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, log

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Chance:
    """Expected numbers of an item whose answers are guessed, by the names of `robustness.NAMES`.

    The paper's worst case has a binomial coefficient that does not belong there: all R guesses are
    right with probability k^-R. certainty and tie_rate are exact, over the multinomial
    distribution of the votes. kappa and alpha of guesses are 0.
    """

    accuracy: float
    worst_case: float
    best_case: float
    plurality: float
    plurality_fractional: float
    tie_rate: float
    item_difficulty: float
    certainty: float
    m2_certainty: float
    fleiss_kappa: float = 0.0
    free_marginal_kappa: float = 0.0
    alpha: float = 0.0
    alpha_paper: float = 0.0


@lru_cache(maxsize=4096)
def chance_of(choices: int, answers: int) -> Chance:
    """Return what guessing gives for k `choices` (2 or more) and R `answers` (1 or more).

    With k = 4 and R = 6: best_case .822, m2_certainty 1/6, certainty .2204.

    Raises
    ------
    ValueError : fewer choices or answers.
    """
    k, r = choices, answers
    if k < 2 or r < 1:
        raise ValueError("guessing needs 2 choices and 1 answer")
    return Chance(
        accuracy=1 / k,
        worst_case=float(k) ** -r,
        best_case=1 - (1 - 1 / k) ** r,
        plurality=1 / k,
        plurality_fractional=1 / k,
        tie_rate=1.0 - _single_mode(k, r),
        item_difficulty=1 / k,
        certainty=_certainty(k, r),
        m2_certainty=1 / r,
    )


def _certainty(k: int, r: int) -> float:
    """E[1 + sum p log p / log k]: each of the k shares is binomial, so k times one of them."""
    votes = np.arange(1, r + 1)
    share = votes / r
    probability = stats.binom.pmf(votes, r, 1 / k)
    return float(1 + k * (probability * share * np.log(share)).sum() / log(k))


def _single_mode(k: int, r: int) -> float:
    """Return the probability that one answer alone was given most often.

    k times that of the first answer, given m times, while the r - m others fall on k - 1 answers
    with fewer than m each. The ways of that are counted by adding one answer after the other.
    """
    ways = 0
    for m in range(1, r + 1):
        others = [1] + [0] * (r - m)
        for _ in range(k - 1):
            others = [
                sum(comb(left, f) * others[left - f] for f in range(min(m, left + 1)))
                for left in range(r - m + 1)
            ]
        ways += comb(r, m) * others[r - m]
    return k * ways / k**r
