"""Which answers to a question mean the same: average linkage, many questions at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.methods.multiqa.panel import Bools, Ints

Floats = NDArray[np.float64]


def cluster(similarity: ArrayLike, present: ArrayLike, threshold: float) -> Ints:
    """Join answers, the most similar clusters first, while their mean similarity is above a bound.

    Parameters
    ----------
    similarity : (n, R, R) of the answers of n questions, symmetric; -inf forbids that two answers
        are in one cluster.
    present : (n, R) whether there is such an answer. threshold : above which two clusters join.

    Returns
    -------
    (n, R) the column of a cluster's first member, -1 where there is no answer. Of equally similar
    pairs the earlier joins first.
    """
    there = np.asarray(present, dtype=np.bool_)
    sums = np.array(similarity, dtype=np.float64)
    n, r = there.shape
    sums[~(there[:, :, None] & there[:, None, :])] = -np.inf
    sums[:, np.arange(r), np.arange(r)] = -np.inf
    sizes = np.ones((n, r))
    labels = np.where(there, np.arange(r), -1)
    active = np.arange(n)
    for _ in range(r - 1):
        if not len(active):
            break
        mean = sums[active] / (sizes[active][:, :, None] * sizes[active][:, None, :])
        flat = mean.reshape(len(active), r * r)
        best = flat.argmax(axis=1)
        joins = flat[np.arange(len(active)), best] > threshold
        active, best = active[joins], best[joins]
        one, other = np.divmod(best, r)
        one, other = np.minimum(one, other), np.maximum(one, other)
        merged = sums[active, one] + sums[active, other]
        sums[active, one] = merged
        sums[active, :, one] = merged
        sums[active, one, one] = -np.inf
        sums[active, other] = -np.inf
        sums[active, :, other] = -np.inf
        sizes[active, one] += sizes[active, other]
        labels[active] = np.where(labels[active] == other[:, None], one[:, None], labels[active])
    return labels


def representatives(similarity: ArrayLike, labels: ArrayLike) -> Ints:
    """Return (n, R) the column of the member that is nearest to the centre of each one's cluster.

    The centre is the mean of the members' unit vectors, so the nearest is the member with the
    greatest sum of similarities to all of them; of equal ones the earliest. -1 where there is no
    answer.

    Parameters
    ----------
    similarity : (n, R, R) cosines. labels : (n, R) as `cluster` gives them.
    """
    cosines = np.asarray(similarity, dtype=np.float64)
    near = np.where(_together(labels), cosines, 0.0).sum(axis=2)
    # Equal texts give equal sums but for rounding, and then the earlier stands for them.
    return best_members(np.round(near, 9), labels)


def best_members(scores: ArrayLike, labels: ArrayLike) -> Ints:
    """Return (n, R) the column of the member of each one's cluster that has the greatest score.

    Of equal scores the earliest; -1 where there is no answer.

    Parameters
    ----------
    scores : (n, R) of the answers. labels : (n, R) as `cluster` gives them.
    """
    of = np.asarray(labels, dtype=np.int64)
    of_each = np.where(_together(of), np.asarray(scores, dtype=np.float64)[:, None, :], -np.inf)
    return np.where(of >= 0, of_each.argmax(axis=2), -1)


def _together(labels: ArrayLike) -> Bools:
    """Return (n, R, R) whether two answers are in one cluster."""
    of = np.asarray(labels, dtype=np.int64)
    same: Bools = (of[:, :, None] == of[:, None, :]) & (of >= 0)[:, :, None]
    return same
