"""Paired differences by cluster: means, standard errors, bootstrap draws and sign flips.

The engine below `paired` (one pair of score vectors) and `comparison` (every pair of models).
A row is one comparison; its columns are clusters, each with the total of its differences and, for
all rows alike, its size. One matrix of draws or signs serves all rows: a matrix product instead
of a loop over scipy.stats.bootstrap and permutation_test, with which the tests compare it.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.inference.draws import draw_multiplicities

FloatArray = NDArray[np.float64]

# Up to this many clusters that differ, all 2^14 sign patterns are cheaper than drawing some.
EXACT_CLUSTERS = 14
_BLOCK = 1024


def compute_paired_differences(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return differences a - b of the pairs without NaN, and which pairs these are.

    Raises
    ------
    ValueError : not two vectors of one length, or an infinite value.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError("a and b must be vectors of the same length: row i of both is one pair")
    if np.isinf(first).any() or np.isinf(second).any():
        raise ValueError("scores must be finite; NaN stands for a missing one")
    known = ~(np.isnan(first) | np.isnan(second))
    return first[known] - second[known], known


def sum_by_cluster(
    differences: FloatArray, known: NDArray[np.bool_], clusters: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Return each cluster's sum of differences, and its number of pairs.

    `clusters` holds a label for each of the n pairs, shape (n,); None makes every pair its own
    cluster. Clusters without a known pair do not appear. Order: that of the sorted labels.

    Raises
    ------
    ValueError : wrong number of labels, or a label that is NaN or None.
    """
    if clusters is None:
        return differences, np.ones(len(differences))
    labels = np.asarray(clusters)
    if labels.shape != known.shape:
        raise ValueError("clusters must hold one label for every pair")
    if labels.dtype == object:
        if any(label is None or label != label for label in labels):
            raise ValueError("every pair needs a cluster label")
    elif labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("every pair needs a cluster label")
    _, position = np.unique(labels[known], return_inverse=True)
    totals = np.asarray(np.bincount(position, weights=differences), dtype=np.float64)
    return totals, np.bincount(position).astype(np.float64)


def compute_clustered_standard_errors(totals: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return each row's standard error of the mean difference; NaN below 2 clusters.

    With residuals e_c = total_c - mean x size_c of G clusters and N pairs in all:
    sqrt(G/(G-1) sum e_c^2) / N, the linearised error of a ratio of sums. Clusters of one pair
    each give the usual sd / sqrt(N).

    Parameters
    ----------
    totals : array
        shape (rows, clusters), sums of differences.
    sizes : array
        shape (clusters,), numbers of pairs.
    """
    count, pairs = len(sizes), sizes.sum()
    if count < 2:
        return np.full(len(totals), np.nan)
    mean = totals.sum(axis=1) / pairs
    residuals = totals - mean[:, None] * sizes
    variance = (residuals**2).sum(axis=1) * count / (count - 1)
    return np.asarray(np.sqrt(variance) / pairs, dtype=np.float64)


def compute_bootstrap_means(
    totals: FloatArray, sizes: FloatArray, n_draws: int, seed: int
) -> FloatArray:
    """Return mean differences, one row per comparison, one column per draw of clusters.

    A draw takes as many clusters as there are, with replacement, whole. All rows share the draws,
    so a row comes out the same alone or among others.

    Parameters
    ----------
    totals : array
        shape (rows, clusters), sums of differences.
    sizes : array
        shape (clusters,), numbers of pairs, at least one cluster.
    n_draws, seed : int
        how many draws, and from which seed.
    """
    means = np.empty((len(totals), n_draws))
    start = 0
    for weights in draw_multiplicities(len(sizes), n_draws, seed):
        means[:, start : start + len(weights)] = (weights @ totals.T).T / (weights @ sizes)
        start += len(weights)
    return means


def compute_sign_flip_p_values(
    totals: FloatArray, n_permutations: int, seed: int
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return each row's two-sided sign-flip p-value, and whether it is exact.

    Under the null hypothesis a cluster's total could as well have the other sign. p is the share
    of sign patterns whose sum is at least as far from 0 as the observed one. Clusters with total 0
    change nothing; if at most 14 others remain, all patterns are counted, otherwise p is
    (k + 1)/(n_permutations + 1) with k random patterns at least as far (Phipson and Smyth 2010).
    All rows share the patterns. A row of zeros has p = 1.

    Parameters
    ----------
    totals : array
        shape (rows, clusters), finite; 0 where a row has nothing in a cluster.
    n_permutations, seed : int
        how many random patterns, and from which seed.
    """
    # Sums equal but for rounding count as equal.
    slack = 1e-12 * np.abs(totals).sum(axis=1)
    observed = np.abs(totals.sum(axis=1)) - slack
    moving = totals != 0
    exact = np.count_nonzero(moving, axis=1) <= EXACT_CLUSTERS
    p_values = np.empty(len(totals))
    for row in np.flatnonzero(exact):
        values = totals[row, moving[row]]
        sums = np.abs(_list_sign_patterns(len(values)) @ values)
        p_values[row] = np.mean(sums >= observed[row])
    drawn = np.flatnonzero(~exact)
    if len(drawn):
        extreme = _count_extreme(totals[drawn], observed[drawn], n_permutations, seed)
        p_values[drawn] = (extreme + 1) / (n_permutations + 1)
    return p_values, exact


def _count_extreme(
    totals: FloatArray, observed: FloatArray, n_permutations: int, seed: int
) -> NDArray[np.int64]:
    """Return, per row, how many random sign patterns have a sum as far from 0 as observed."""
    rng = np.random.default_rng(seed)
    clusters = totals.shape[1]
    width = -(-clusters // 8)
    whole = totals.sum(axis=1)
    extreme = np.zeros(len(totals), dtype=np.int64)
    for start in range(0, n_permutations, _BLOCK):
        rows = min(_BLOCK, n_permutations - start)
        random_bytes = np.frombuffer(rng.bytes(rows * width), dtype=np.uint8)
        bits = np.unpackbits(random_bytes.reshape(rows, width), axis=1, count=clusters)
        # Signs are 2 x bit - 1, so the signed sum is twice the sum of the chosen minus the whole.
        sums = np.abs(2 * (bits.astype(np.float64) @ totals.T) - whole)
        extreme += np.count_nonzero(sums >= observed, axis=0)
    return extreme


@lru_cache(maxsize=EXACT_CLUSTERS + 1)
def _list_sign_patterns(clusters: int) -> FloatArray:
    """Return half of all sign patterns, one a row; the other half are their negatives."""
    free = max(clusters - 1, 0)
    codes = np.arange(2**free)[:, None] >> np.arange(free)
    signs = np.ones((2**free, clusters))
    signs[:, 1:] = 2.0 * (codes & 1) - 1
    signs.setflags(write=False)
    return signs
