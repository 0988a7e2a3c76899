"""How far a ranking of workers would change if other questions had been asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.methods.aqer.scale import competition_ranks
from evaluation.methods.cells import Floats, Integers
from evaluation.methods.inference.intervals import percentile_tail
from evaluation.methods.statistics.correlation import spearman, tied


def rank_intervals(
    drawn: Floats, ranked: NDArray[np.bool_], n: Integers, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return intervals of ranks, low (M,) and high (M,), as whole numbers from 1.

    In every draw the ranked workers with a raw score are ranked anew, ties the better rank; the
    interval lies between order statistics of a worker's ranks, low rounded down and high rounded
    up, at the tails of the widened percentile interval of scores (`widened_percentile_interval`).

    Parameters
    ----------
    drawn : (M, n_draws) raw scores in the draws; NaN where a draw holds no question of the worker.
    ranked : (M,) who has a rank; the others have NaN.
    n : (M,) how many questions each worker answered; below 2 the interval is NaN.
    level : coverage, strictly between 0 and 1.
    """
    low, high = np.full((2, len(drawn)), np.nan)
    members = np.flatnonzero(ranked)
    ranks = np.empty((len(members), drawn.shape[1]), dtype=np.int32)
    everybody = np.ones(len(members), dtype=bool)
    for draw in range(drawn.shape[1]):
        ranks[:, draw] = competition_ranks(drawn[members, draw], everybody)
    kept = np.count_nonzero(ranks, axis=1)
    defined = (kept >= 2) & (n[members] >= 2)
    ranks = np.sort(ranks[defined], axis=1)  # zeros, of draws without the worker, come first
    tail = percentile_tail(n[members][defined], level)
    last = kept[defined] - 1
    first = ranks.shape[1] - kept[defined]
    at = np.arange(len(ranks))
    low[members[defined]] = ranks[at, first + np.floor(tail * last).astype(np.int64)]
    high[members[defined]] = ranks[at, first + np.ceil((1 - tail) * last).astype(np.int64)]
    return low, high


def draw_agreement(raw: Floats, drawn: Floats, ranked: NDArray[np.bool_]) -> Floats:
    """Return (n_draws,) Spearman correlations of a run's raw scores with those of its draws.

    Over the ranked workers that have a score in both; NaN in a draw where fewer than 2 have, or
    where one side has no spread. Scores that differ by the last bits are tied, as in ranks: which
    of them is the larger, the processor decides.

    Parameters
    ----------
    raw : (M,) of the run. drawn : (M, n_draws) in the draws. ranked : (M,) who has a rank.
    """
    raw, drawn = tied(raw), tied(drawn)
    found = [spearman(raw, column, ranked) for column in drawn.T]
    return np.array(found, dtype=np.float64)  # None becomes NaN
