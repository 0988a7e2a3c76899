"""How many meanings a model's replies to one question have (Farquhar et al. 2024, Nature 630).

Samples that say the same are one cluster, however they word it; the entropy over the clusters is
0 where all say the same, and ln m where each of m samples says something else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evaluation.methods.cells import Integers


def clusters_of(same: ArrayLike) -> Integers:
    """Put samples that say the same together, each with the first cluster that it fits.

    A sample is compared with the first member of each cluster only, in order, as the paper does:
    entailment is not transitive, and whole clusters would depend on chains of near meanings.

    Parameters
    ----------
    same : (m, m) whether two samples say the same, both ways; the upper triangle is read.

    Returns
    -------
    (m,) the number of each sample's cluster, from 0 in the order of their first members.
    """
    matrix = np.asarray(same, dtype=np.bool_)
    first: list[int] = []
    labels = np.zeros(len(matrix), dtype=np.int64)
    for sample in range(len(matrix)):
        for number, member in enumerate(first):
            if matrix[member, sample]:
                labels[sample] = number
                break
        else:
            labels[sample] = len(first)
            first.append(sample)
    return labels


def discrete_entropy(clusters: Sequence[int] | Integers) -> float | None:
    """Return -sum p ln p in nats, p the share of the samples in each cluster, 0 to ln m.

    The paper's discrete semantic entropy, which needs no probabilities. None for fewer than two
    samples.
    """
    m = len(clusters)
    if m < 2:
        return None
    counts = np.unique(np.asarray(clusters), return_counts=True)[1]
    return _entropy(counts / m)


def weighted_entropy(
    clusters: Sequence[int] | Integers,
    mean_logprobs: ArrayLike,
    texts: Sequence[object] | None = None,
) -> float | None:
    """Return the same with p in proportion to the probabilities of the sequences in a cluster.

    p(c) = sum of exp(mean log-probability) over its different sequences, divided by that of all:
    the paper's estimate by Rao and Blackwell, with probabilities normalised by length.

    Parameters
    ----------
    clusters : (m,) labels. mean_logprobs : (m,) finite, a sequence's natural log-probability
        divided by its number of tokens.
    texts : (m,) the sequences; one that was drawn several times is in the sum once, by its first
        number. None for m different ones.

    Returns
    -------
    0 to ln m; None for fewer than two samples.
    """
    m = len(clusters)
    if m < 2:
        return None
    logs = np.asarray(mean_logprobs, dtype=np.float64)
    labels = np.asarray(clusters)
    if texts is not None:
        # A sequence's cluster goes with it: of equal ones the first stands for all.
        kept = list({text: place for place, text in reversed(list(enumerate(texts)))}.values())
        logs, labels = logs[kept], labels[kept]
    # Only ratios matter: the greatest is 1, so that none of the others vanishes needlessly.
    weights = np.exp(logs - logs.max())
    place = np.unique(labels, return_inverse=True)[1]
    sums = np.bincount(place, weights)
    return _entropy(sums / sums.sum())


def _entropy(p: np.ndarray) -> float:
    some = p[p > 0]
    return max(0.0, -float((some * np.log(some)).sum()))
