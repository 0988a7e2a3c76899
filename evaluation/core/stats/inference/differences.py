"""Paired differences by cluster: means, standard errors, bootstrap draws and sign flips.

The engine below `paired` (one pair of score vectors) and `comparison` (every pair of models).
A row is one comparison; its columns are clusters, each with the total of its differences and, for
all rows alike, its size. One matrix of draws or signs serves all rows: a matrix product instead
of a loop over scipy.stats.bootstrap and permutation_test, with which the tests compare it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.inference.intervals import draw_multiplicities

FloatArray = NDArray[np.float64]

# Up to this many clusters that differ, all 2^14 sign patterns are cheaper than drawing some.
EXACT_CLUSTERS = 14
# Below this many clusters the statistic of the sign-flip test is corrected for skewness.
STUDENTISED_BELOW = 30
_BLOCK = 1024


def compute_paired_differences(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the differences a - b of the pairs without NaN, and flags of these pairs.

    Raises
    ------
    ValueError : not two vectors of one length, or an infinite value.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError("a and b must be vectors of the same length: row i of both is one pair")
    if np.isinf(first).any() or np.isinf(second).any():
        raise ValueError("scores must be finite; NaN means a missing one")
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
    """Return bootstrap draws of mean differences: a row per comparison, a column per draw.

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


@dataclass(frozen=True)
class SignFlips:
    """Two-sided sign-flip p-values of rows of differences, and how they were computed.

    `exact` states whether all sign patterns were counted, `studentised` whether the statistic is
    the skewness-corrected t instead of the sum.
    """

    p_values: FloatArray
    exact: NDArray[np.bool_]
    studentised: NDArray[np.bool_]

    @property
    def methods(self) -> list[str]:
        """Name of each row's test, such as "studentised-sign-flip-exact"."""
        kinds = zip(self.studentised, self.exact, strict=True)
        return [
            ("studentised-" if studentised else "")
            + ("sign-flip-exact" if exact else "sign-flip-monte-carlo")
            for studentised, exact in kinds
        ]


def compute_sign_flip_p_values(
    totals: FloatArray, n_permutations: int, seed: int, sizes: FloatArray | None = None
) -> SignFlips:
    """Return each row's two-sided sign-flip p-value, and how it was computed.

    Under the null hypothesis a cluster's total could as well have the other sign. p is the share
    of sign patterns whose statistic is at least as far from 0 as the observed one. Clusters with
    total 0 change nothing; if at most 14 others remain, all patterns are counted, otherwise p is
    (k + 1)/(n_permutations + 1) with k random patterns at least as far (Phipson and Smyth 2010).
    All rows share the patterns. A row of zeros has p = 1.

    The statistic is the sum, and below 30 clusters Student's t with Hall's correction for skewness
    (Hall 1992, "On the removal of skewness by transformation"):

        t + G t^2 / (3 sqrt(n)) + G^2 t^3 / (27 n) + G / (6 sqrt(n)),   G the sample's skewness

    Student's t alone would be the same test as the sum: signs do not change the sum of squares, so
    the one rises with the other. The sum's size is .08 to .10 at 5% for exponential differences.
    Both are exact for symmetric ones.

    Parameters
    ----------
    totals : array
        shape (rows, clusters), finite; 0 where a row has nothing in a cluster.
    n_permutations, seed : int
        how many random patterns, and from which seed.
    sizes : array or None
        pairs of each cluster, shape (clusters,) or that of totals; 0 where a row has nothing;
        None for a pair in each.
    """
    pairs = np.broadcast_to(np.float64(1) if sizes is None else sizes, totals.shape)
    moving = totals != 0
    exact = np.count_nonzero(moving, axis=1) <= EXACT_CLUSTERS
    studentised = np.count_nonzero(pairs, axis=1) < STUDENTISED_BELOW
    p_values = np.empty(len(totals))
    for row in np.flatnonzero(exact):
        moments = _Moments(totals[[row]], pairs[[row]], studentised[[row]], moving[row])
        signs = _list_sign_patterns(int(moving[row].sum()))
        p_values[row] = np.mean(moments.is_extreme(partial(_sum_with_signs, signs)))
    drawn = np.flatnonzero(~exact)
    if len(drawn):
        moments = _Moments(totals[drawn], pairs[drawn], studentised[drawn])
        extreme = _count_extreme(moments, n_permutations, seed)
        p_values[drawn] = (extreme + 1) / (n_permutations + 1)
    return SignFlips(p_values, exact, studentised)


class _Moments:
    """Sums over clusters from which the test statistic of any sign pattern is computed.

    `columns` are the clusters whose sign matters; the others count in the size only.
    """

    def __init__(
        self,
        totals: FloatArray,
        sizes: FloatArray,
        studentised: NDArray[np.bool_],
        columns: NDArray[np.bool_] | slice = slice(None),
    ) -> None:
        self.totals = totals[:, columns]
        self.n_clusters = self.totals.shape[1]
        self.rows = np.flatnonzero(studentised)
        some, pairs = totals[self.rows], sizes[self.rows]
        # Terms of the sums that change sign with a cluster: of T, T^3, and T z and T z^2, which are
        # T where sizes z are 1 (and T is 0 where z is 0).
        signed = [some, some**3]
        if not np.isin(pairs, (0, 1)).all():
            signed += [some * pairs, some * pairs**2]
        self.signed = [part[:, columns] for part in signed]
        self.count = np.maximum(np.count_nonzero(pairs, axis=1), 1)
        self.size = np.maximum(pairs.sum(axis=1), 1)
        self.size_2, self.size_3 = (pairs**2).sum(axis=1), (pairs**3).sum(axis=1)
        self.squares, self.squares_by_size = (some**2).sum(axis=1), (some**2 * pairs).sum(axis=1)
        # Sums equal but for rounding count as equal.
        self.slack = 1e-12 * np.abs(self.totals).sum(axis=1)
        observed = self._compute_statistics(lambda part: part.sum(axis=1)[None, :])
        self.observed = np.where(studentised, observed * (1 - 1e-9), observed - self.slack)

    def is_extreme(self, flip: Callable[[FloatArray], FloatArray]) -> NDArray[np.bool_]:
        """Return whether each sign pattern's statistic is at least as far from 0 as observed.

        The result has shape (patterns, rows).

        `flip` returns the sums, patterns x rows, of its argument (rows x clusters) with signs.
        """
        return np.asarray(self._compute_statistics(flip) >= self.observed)

    def _compute_statistics(self, flip: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the absolute test statistic of each sign pattern (row) and comparison (column)."""
        result = np.abs(flip(self.totals))
        if len(self.rows):
            result[:, self.rows] = np.abs(self._compute_skewed_t(*map(flip, self.signed)))
        return result

    def _compute_skewed_t(
        self,
        total: FloatArray,
        cubes: FloatArray,
        by_size: FloatArray | None = None,
        by_square: FloatArray | None = None,
    ) -> FloatArray:
        """Return Student's t corrected for skewness, from signed sums (patterns, rows).

        Residuals are e = T - mean z for totals T and sizes z. Without spread: infinite, or 0 where
        the total is 0.
        """
        by_size = total if by_size is None else by_size
        by_square = total if by_square is None else by_square
        n, mean = self.count, total / self.size
        variance = (self.squares - 2 * mean * by_size + mean**2 * self.size_2) / n
        third = cubes - 3 * mean * self.squares_by_size + 3 * mean**2 * by_square
        third = (third - mean**3 * self.size_3) / n
        # Rows without spread divide by 0 here; `flat` replaces them below.
        with np.errstate(divide="ignore", invalid="ignore"):
            t = total / np.sqrt(variance / (n - 1)) / n
            skewness = np.sqrt(n * (n - 1)) / (n - 2) * third / variance**1.5
            skewness = np.where(n > 2, skewness, 0.0)
            bend = skewness * t / (3 * np.sqrt(n))
            skewed = t * (1 + bend + bend**2 / 3) + skewness / (6 * np.sqrt(n))
        flat = variance <= 1e-12 * self.squares / n
        return np.where(flat, np.where(np.abs(total) > self.slack[self.rows], np.inf, 0.0), skewed)


def _count_extreme(moments: _Moments, n_permutations: int, seed: int) -> NDArray[np.int64]:
    """Return for each row how many random sign patterns are as far from 0 as observed."""
    rng = np.random.default_rng(seed)
    clusters = moments.n_clusters
    width = -(-clusters // 8)
    extreme = np.zeros(len(moments.totals), dtype=np.int64)
    for start in range(0, n_permutations, _BLOCK):
        rows = min(_BLOCK, n_permutations - start)
        # A random byte gives eight signs.
        random_bytes = np.frombuffer(rng.bytes(rows * width), dtype=np.uint8)
        bits = np.unpackbits(random_bytes.reshape(rows, width), axis=1, count=clusters)
        flip = partial(_sum_with_bits, bits.astype(np.float64))
        extreme += np.count_nonzero(moments.is_extreme(flip), axis=0)
    return extreme


def _sum_with_signs(signs: FloatArray, part: FloatArray) -> FloatArray:
    """Return the sums (patterns, rows) of `part` (rows, clusters) with the given signs."""
    return np.asarray(signs @ part.T)


def _sum_with_bits(bits: FloatArray, part: FloatArray) -> FloatArray:
    """Return the sums (patterns, rows) of `part` with signs from bits: 1 for plus, 0 for minus.

    Signs are 2 x bit - 1, so a signed sum is twice the sum of the chosen minus the whole.
    """
    return np.asarray(2 * (bits @ part.T) - part.sum(axis=1))


@lru_cache(maxsize=EXACT_CLUSTERS + 1)
def _list_sign_patterns(clusters: int) -> FloatArray:
    """Return half of all sign patterns, one per row; the other half are their negatives."""
    # The first sign is fixed: a pattern and its negative have the same absolute statistic.
    free = max(clusters - 1, 0)
    codes = np.arange(2**free)[:, None] >> np.arange(free)
    signs = np.ones((2**free, clusters))
    signs[:, 1:] = 2.0 * (codes & 1) - 1
    # The cache returns one array to all callers.
    signs.setflags(write=False)
    return signs
