"""Checks of a ranking's stability: without a worker, other starts, bootstrap, other grader."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.consensus.methods.estimator import AQER
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.statistics.correlation import spearman

# Spearman correlations below these ring. Honest crowds went down to .82 for leverage and to .15
# for two graders (development seeds, platform/docs/alarms.md).
LEVERAGE = 0.75
STABLE = 0.8
DISAGREEMENT = 0.1
# Two starts that agree less than this leave the ranking open.
OPEN = 0.5
# The effective number of voters below this share of the workers is told.
CONCENTRATION = 1 / 3
# Of more workers than this, those are tried who have so many times the mean voting weight: the
# ranking cannot hang on any other.
ALL_TRIED = 60
OUTWEIGHS = 3.0
MOST_TRIED = 20
# A single exchange of places means much among fewer.
FEWEST_RANKED = 8
# Correlation of raw scores with length above which a ranking is mostly one by length: r of .71 is
# half the variance.
BY_LENGTH = 0.7
TOO_FEW_RANKED = "too_few_ranked_workers"
# Raw scores that are the same to so many digits are tied: they have no order to lose.
DIGITS = 9
# Numbers in a working array.
AT_ONCE = 4_000_000


@dataclass(frozen=True)
class RankingStatistic:
    """Statistic of a ranking's stability; its alarm is raised below the threshold.

    Attributes
    ----------
    statistic : None with `reason` where it is undefined.
    worker : code of the worker it is about, if it is about one.
    """

    statistic: float | None
    threshold: float
    reason: str | None = None
    worker: int | None = None

    @property
    def rings(self) -> bool:
        """Whether the alarm is raised: the statistic is below the threshold."""
        return self.statistic is not None and self.statistic < self.threshold


def compute_leverage(aqer: AQER) -> RankingStatistic:
    """Return the lowest rank correlation of raw scores when one worker is left out.

    Over supported workers, with the run's own rules from equal weights, or from those that an
    electorate starts with. In a crowd of more than 60 workers those are tried who have three times
    the mean voting weight, the heaviest 20 of them.
    """
    ranked = aqer.supported_ & ~np.isnan(aqer.raw_)
    m = len(aqer.workers_)
    if aqer.converged_ is None or np.count_nonzero(ranked) <= FEWEST_RANKED:
        return RankingStatistic(None, LEVERAGE, TOO_FEW_RANKED)
    if len(np.unique(aqer.raw_[ranked].round(DIGITS))) < FEWEST_RANKED:
        return RankingStatistic(None, LEVERAGE, "no_spread")
    tried = np.arange(m)
    if m > ALL_TRIED:
        weights = np.nan_to_num(aqer.weights_)
        heaviest = np.argsort(-weights, kind="stable")[:MOST_TRIED]
        tried = heaviest[weights[heaviest] >= OUTWEIGHS / m]
        if not len(tried):
            return RankingStatistic(None, LEVERAGE, "nobody_outweighs_others")
    least, worker = np.inf, None
    electorate_start = aqer.fitted_.crowd.rules.electorate.start
    step = max(1, AT_ONCE // len(aqer.mean_vote_.cells))
    for begin in range(0, len(tried), step):
        left_out = tried[begin : begin + step]
        # One column for each worker left out: multiplicity 0 for that worker, 1 for the others.
        copies = np.ones((m, len(left_out)))
        copies[left_out, np.arange(len(left_out))] = 0.0
        start = copies if electorate_start is None else copies * electorate_start[:, None]
        raw = aqer.restarted(start / start.sum(axis=0), copies)
        for code, column in zip(left_out.tolist(), raw.T, strict=True):
            others = ranked.copy()
            others[code] = False
            correlation = spearman(aqer.raw_, column, others)
            if correlation is not None and correlation < least:
                least, worker = correlation, code
    if worker is None:
        return RankingStatistic(None, LEVERAGE, "no_spread")
    return RankingStatistic(float(least), LEVERAGE, worker=worker)


def compute_start_agreement(aqer: AQER, camps: tuple[Integers, ...]) -> RankingStatistic:
    """Return the rank correlation of gradings started from each of the crowd's two camps.

    Below .5 the answers alone cannot say who is right.
    """
    start = np.zeros((len(aqer.workers_), len(camps)))
    for index, camp in enumerate(camps):
        start[camp, index] = 1.0 / len(camp)
    raw = aqer.restarted(start)
    correlation = spearman(raw[:, 0], raw[:, 1])
    return RankingStatistic(correlation, OPEN, None if correlation is not None else "no_spread")


def compute_stability(agreement: ArrayLike) -> RankingStatistic:
    """Return the median rank correlation of the bootstrap draws with the run.

    `agreement` is `AQER.draw_agreement_`, (n_draws,), NaN where a draw has none.
    """
    known = np.asarray(agreement, dtype=float)
    known = known[~np.isnan(known)]
    if not len(known):
        return RankingStatistic(None, STABLE, "no_draws")
    return RankingStatistic(float(np.median(known)), STABLE)


def compute_disagreement(raw: Floats, other: Floats, among: Booleans) -> RankingStatistic:
    """Return the rank correlation of two graders' raw scores over the workers in `among`.

    All three are (M,).
    """
    is_compared = among & ~np.isnan(raw) & ~np.isnan(other)
    if np.count_nonzero(is_compared) < FEWEST_RANKED:
        return RankingStatistic(None, DISAGREEMENT, TOO_FEW_RANKED)
    correlation = spearman(raw, other, is_compared)
    return RankingStatistic(
        correlation, DISAGREEMENT, None if correlation is not None else "no_spread"
    )


def compute_concentration(weights: Floats) -> RankingStatistic:
    """Return the effective share of voters (above 0, at most 1); low if few workers dominate.

    It is 1 / (M sum of squared weights) for M workers.

    `weights` is (M,), NaN where no worker is graded.
    """
    if not len(weights) or np.isnan(weights).all():
        return RankingStatistic(None, CONCENTRATION, "no_weights")
    squares = float(np.nansum(weights**2))
    return RankingStatistic(1.0 / squares / len(weights), CONCENTRATION)
