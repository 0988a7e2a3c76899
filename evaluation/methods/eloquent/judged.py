"""Judges' scores of sets of replies: one score a set, and sums over sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evaluation.methods.cells import Floats, Integers
from evaluation.methods.undefined import ratio

DIFFERENT_COUNTS = "different_counts"
DIFFERENT_SETS = "different_sets"
NO_SCORE = "no_score"
ONE_SYSTEM = "one_system"


@dataclass(frozen=True)
class SetScores:
    """What judges say of each of S sets.

    Attributes
    ----------
    score : (S,) mean over judges of each one's mean over repeats, 0 to 5; NaN without a score.
    spread : (S,) mean over judges of the standard deviation (n - 1) of each one's repeats; NaN
        where nobody judged twice.
    n_judges, n_scores : (S,) how many judges, and scores in all, it is of.
    """

    score: Floats
    spread: Floats
    n_judges: Integers
    n_scores: Integers


def set_scores(sets: ArrayLike, judges: ArrayLike, scores: ArrayLike, n_sets: int) -> SetScores:
    """Put the scores of each set together (ELOQUENT; repeats and several judges are beyond it).

    Every judge counts the same, however often it judged.

    Parameters
    ----------
    sets, judges : (J,) numbers from 0 of the set that was judged and of who judged it.
    scores : (J,) 0 to 5, NaN for a judgement without a score.
    n_sets : how many sets there are, judged or not.
    """
    values = np.asarray(scores, dtype=np.float64)
    known = ~np.isnan(values)
    values = values[known]
    of_set = np.asarray(sets, dtype=np.int64)[known]
    of_judge = np.asarray(judges, dtype=np.int64)[known]
    pairs, pair = np.unique(np.stack([of_set, of_judge], axis=1), axis=0, return_inverse=True)
    pair = pair.reshape(-1)
    count = np.bincount(pair, minlength=len(pairs))
    mean = ratio(np.bincount(pair, weights=values, minlength=len(pairs)), count)
    squares = np.bincount(pair, weights=(values - mean[pair]) ** 2, minlength=len(pairs))
    deviation = np.sqrt(ratio(squares, count - 1))
    place = pairs[:, 0].astype(np.int64)
    n_judges = np.bincount(place, minlength=n_sets)
    twice = ~np.isnan(deviation)
    return SetScores(
        ratio(np.bincount(place, weights=mean, minlength=n_sets), n_judges),
        ratio(
            np.bincount(place[twice], weights=deviation[twice], minlength=n_sets),
            np.bincount(place[twice], minlength=n_sets),
        ),
        n_judges,
        np.bincount(of_set, minlength=n_sets),
    )


@dataclass(frozen=True)
class SumRank:
    """Rank of a system by its sum, 1 for the highest, ties alike; None with the reason."""

    rank: int | None
    reason: str | None


def ranks_by_sum(scored: Sequence[Mapping[Any, float]]) -> list[SumRank]:
    """Rank systems by the sum of their scores, which only means something over the same sets.

    Parameters
    ----------
    scored : of each system its scores by set.

    Returns
    -------
    Ranks, or for all of them the reason why not: one_system; no_score (somebody has none);
    different_counts (a sum over more sets is higher by that alone), different_sets.
    """
    reason = None
    if len(scored) < 2:
        reason = ONE_SYSTEM
    elif not all(scored):
        reason = NO_SCORE
    elif len({len(one) for one in scored}) > 1:
        reason = DIFFERENT_COUNTS
    elif any(one.keys() != scored[0].keys() for one in scored):
        reason = DIFFERENT_SETS
    if reason:
        return [SumRank(None, reason)] * len(scored)
    # Rounded: sums equal but for the order of adding are ties.
    sums = np.round([sum(one.values()) for one in scored], 9)
    return [SumRank(1 + int((sums > own).sum()), None) for own in sums]
