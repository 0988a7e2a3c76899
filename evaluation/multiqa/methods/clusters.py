"""Clusters of answers with the same meaning: average linkage over many questions at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.multiqa.methods.panel import Bools, Ints

Floats = NDArray[np.float64]


def cluster(similarity: ArrayLike, present: ArrayLike, threshold: float) -> Ints:
    """Return the cluster of each answer to each question, by average linkage.

    The two clusters with the greatest mean similarity join first. Of equally similar pairs the
    earlier joins first. Joining stops when no mean similarity is above the threshold.

    Parameters
    ----------
    similarity : (n, R, R) similarities of the R answers to each of n questions, symmetric. -inf
        keeps two answers out of one cluster.
    present : (n, R) whether the answer exists.
    threshold : a pair joins only if its mean similarity is greater.

    Returns
    -------
    (n, R) column of the first member of each answer's cluster; -1 where there is no answer.
    """
    exists = np.asarray(present, dtype=np.bool_)
    # Sums of similarities between clusters: a join adds two rows, and a mean needs one division.
    sums = np.array(similarity, dtype=np.float64)
    n, r = exists.shape
    sums[~(exists[:, :, None] & exists[:, None, :])] = -np.inf
    sums[:, np.arange(r), np.arange(r)] = -np.inf
    sizes = np.ones((n, r))
    labels = np.where(exists, np.arange(r), -1)
    active = np.arange(n)
    # All questions take one join per round; questions without a further join leave `active`.
    for _ in range(r - 1):
        if not len(active):
            break
        mean = sums[active] / (sizes[active][:, :, None] * sizes[active][:, None, :])
        flat = mean.reshape(len(active), r * r)
        best = flat.argmax(axis=1)
        joins = flat[np.arange(len(active)), best] > threshold
        active, best = active[joins], best[joins]
        first, second = np.divmod(best, r)
        first, second = np.minimum(first, second), np.maximum(first, second)
        merged = sums[active, first] + sums[active, second]
        sums[active, first] = merged
        sums[active, :, first] = merged
        sums[active, first, first] = -np.inf
        sums[active, second] = -np.inf
        sums[active, :, second] = -np.inf
        sizes[active, first] += sizes[active, second]
        labels[active] = np.where(labels[active] == second[:, None], first[:, None], labels[active])
    return labels


def find_representatives(similarity: ArrayLike, labels: ArrayLike) -> Ints:
    """Return, for each answer, the column of the most central answer of its cluster.

    The centre is the mean of the members' unit vectors. The nearest member therefore has the
    greatest sum of cosines to all members. Of equal sums the earliest counts. -1 where there is no
    answer.

    Parameters
    ----------
    similarity : (n, R, R) cosines.
    labels : (n, R) clusters as `cluster` returns them.
    """
    cosines = np.asarray(similarity, dtype=np.float64)
    sums = np.where(_is_same_cluster(labels), cosines, 0.0).sum(axis=2)
    # Sums of equal texts differ by rounding errors only; rounding makes the earliest one win.
    return find_best_members(np.round(sums, 9), labels)


def find_best_members(scores: ArrayLike, labels: ArrayLike) -> Ints:
    """Return, for each answer, the column of its cluster's member with the greatest score.

    Of equal scores the earliest counts. -1 where there is no answer.

    Parameters
    ----------
    scores : (n, R) scores of the answers.
    labels : (n, R) clusters as `cluster` returns them.
    """
    clusters = np.asarray(labels, dtype=np.int64)
    members = _is_same_cluster(clusters)
    in_cluster = np.where(members, np.asarray(scores, dtype=np.float64)[:, None, :], -np.inf)
    return np.where(clusters >= 0, in_cluster.argmax(axis=2), -1)


def _is_same_cluster(labels: ArrayLike) -> Bools:
    """Return whether each two answers to a question are in one cluster."""
    clusters = np.asarray(labels, dtype=np.int64)
    same: Bools = (clusters[:, :, None] == clusters[:, None, :]) & (clusters >= 0)[:, :, None]
    return same
