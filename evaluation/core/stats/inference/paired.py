"""Compare two columns of scores of the same items: difference, interval, p-value.

Every function pairs row i of one vector with row i of the other; a pair in which either value is
NaN (missing) is dropped, and n states how many are left. `clusters` names the question each pair
belongs to, where a question has several: pairs of one question are not independent, so questions
are resampled, flipped and counted whole.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from evaluation.core.stats.inference.differences import (
    compute_bootstrap_means,
    compute_clustered_standard_errors,
    compute_paired_differences,
    compute_sign_flip_p_values,
    sum_by_cluster,
)
from evaluation.core.stats.inference.intervals import (
    compute_bootstrap_t_interval,
    compute_t_interval,
)

FloatArray = NDArray[np.float64]

NO_PAIRS = "no_pairs"
FEWER_THAN_2_CLUSTERS = "fewer_than_2_clusters"

POWER = 0.8


@dataclass(frozen=True)
class MeanDifference:
    """Mean of a - b over n pairs of scores, with its interval in the units of the scores.

    `difference` is None without a pair, `low` and `high` also with fewer than 2 clusters; `reason`
    then states which. `method` is "bootstrap-t" or "closed-form"; `seed` is None for the latter.
    """

    difference: float | None
    low: float | None
    high: float | None
    n: int
    n_clusters: int
    level: float
    method: str
    n_draws: int
    seed: int | None
    reason: str | None


@dataclass(frozen=True)
class PermutationTest:
    """Two-sided p-value of the sign-flip test; None with a reason below 2 clusters.

    `method` is "sign-flip-exact" (no seed, no permutations drawn) or "sign-flip-monte-carlo",
    with "studentised-" before it below 30 clusters.
    """

    p_value: float | None
    n: int
    n_clusters: int
    method: str
    n_permutations: int
    seed: int | None
    reason: str | None


@dataclass(frozen=True)
class McNemarTest:
    """McNemar test: p-values, and how many pairs only system a or only b got right.

    `p_value` is that of the exact test, `mid_p_value` its mid-p.
    """

    p_value: float | None
    only_a: int
    only_b: int
    n: int
    reason: str | None
    mid_p_value: float | None = None


@dataclass(frozen=True)
class DetectableDifference:
    """Smallest true difference that a test of the data detects; None below 2 clusters."""

    difference: float | None
    n: int
    n_clusters: int
    reason: str | None


def compute_bootstrap_mean_difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    n_draws: int = 400,
    level: float = 0.95,
    seed: int = 0,
) -> MeanDifference:
    """Return the mean paired difference a - b with its bootstrap-t interval.

    Clusters are resampled whole, the mean is over pairs; the interval is
    `compute_bootstrap_t_interval` with n the number of clusters. With 0 draws: the closed form, the
    linearised clustered standard error and the same t quantile.

    Parameters
    ----------
    a, b : array_like
        scores, shape (n,), NaN for missing.
    clusters : array_like or None
        question of each pair, shape (n,); None: every pair is a question of its own.
    n_draws : int
        bootstrap draws, 0 or at least 2.
    level : float
        coverage, strictly between 0 and 1.
    seed : int
        of the draws; the same seed gives the same interval.

    Raises
    ------
    ValueError : lengths differ, an infinite score, a missing label, n_draws or level out of
        range.
    """
    check_draws(n_draws)
    differences, known = compute_paired_differences(a, b)
    totals, sizes = sum_by_cluster(differences, known, clusters)
    n, n_clusters = len(differences), len(sizes)
    mean = float(totals.sum() / n) if n else np.nan
    if n_draws and n_clusters:
        draws = compute_bootstrap_means(totals[None, :], sizes, n_draws, seed)
        interval = compute_bootstrap_t_interval(mean, draws, n_clusters, level)[0]
    else:
        error = compute_clustered_standard_errors(totals[None, :], sizes)
        interval = compute_t_interval(mean, error, n_clusters, level)[0]
    return MeanDifference(
        difference=mean if n else None,
        low=interval.low,
        high=interval.high,
        n=n,
        n_clusters=n_clusters,
        level=float(level),
        method="bootstrap-t" if n_draws else "closed-form",
        n_draws=n_draws,
        seed=seed if n_draws else None,
        reason=_find_too_few_reason(n_clusters),
    )


def compute_permutation_test(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    n_permutations: int = 9_999,
    seed: int = 0,
) -> PermutationTest:
    """Return the two-sided sign-flip test of whether the mean paired difference is 0.

    The differences of a cluster change sign together. Exact where at most 14 clusters have a total
    other than 0, else Monte Carlo with (k + 1)/(n_permutations + 1), never 0 (Phipson and Smyth
    2010, "Permutation p-values should never be zero"). No difference at all gives p = 1. For
    right/wrong scores without clusters the exact test is McNemar's. Below 30 clusters the statistic
    is Student's t corrected for skewness (`compute_sign_flip_p_values` explains why), else the sum.

    Parameters
    ----------
    a, b : array_like
        scores, shape (n,), NaN for missing.
    clusters : array_like or None
        question of each pair, shape (n,); None: every pair is a question of its own.
    n_permutations : int
        random sign patterns, at least 1.
    seed : int
        of the patterns.

    Raises
    ------
    ValueError : lengths differ, an infinite score, a missing label, n_permutations below 1.
    """
    if n_permutations < 1:
        raise ValueError("n_permutations must be at least 1")
    differences, known = compute_paired_differences(a, b)
    totals, sizes = sum_by_cluster(differences, known, clusters)
    p_values = compute_sign_flip_p_values(totals[None, :], n_permutations, seed, sizes)
    exact = bool(p_values.exact[0])
    reason = _find_too_few_reason(len(sizes))
    return PermutationTest(
        p_value=float(p_values.p_values[0]) if reason is None else None,
        n=len(differences),
        n_clusters=len(sizes),
        method=p_values.methods[0],
        n_permutations=0 if exact else n_permutations,
        seed=None if exact else seed,
        reason=reason,
    )


def compute_mcnemar_test(right_a: ArrayLike, right_b: ArrayLike) -> McNemarTest:
    """Return the exact McNemar test of two systems' right (1) and wrong (0) answers.

    Given the number of discordant pairs, the pairs only A got right are binomial with p = 1/2
    under the null hypothesis. Source: McNemar 1947 (the exact form of the test). The exact test
    rejects too rarely; the mid-p does not (Fagerland, Lydersen and Laake 2013, "The
    McNemar test for binary matched-pairs data").

    No discordant pair gives p = 1: the one possible outcome of 0 trials has probability 1, so the
    statistic is defined, and equal answers are no evidence of a difference (`only_a` and `only_b`
    are 0). Without any pair p is None.

    Parameters
    ----------
    right_a, right_b : array_like
        booleans or 0 and 1, shape (n,), NaN for missing.

    Raises
    ------
    ValueError : lengths differ, or a value other than 0, 1 and NaN.
    """
    differences, _ = compute_paired_differences(
        check_right_wrong_marks(right_a), check_right_wrong_marks(right_b)
    )
    only_a = int(np.count_nonzero(differences > 0))
    only_b = int(np.count_nonzero(differences < 0))
    if len(differences) == 0:
        return McNemarTest(None, 0, 0, 0, NO_PAIRS)
    p_value = float(compute_mcnemar_p_values(only_a, only_b))
    mid_p_value = float(compute_mcnemar_mid_p_values(only_a, only_b))
    return McNemarTest(p_value, only_a, only_b, len(differences), None, mid_p_value)


def compute_mcnemar_p_values(only_a: ArrayLike, only_b: ArrayLike) -> FloatArray:
    """Return exact two-sided p-values of pairs of discordant counts; 1 where both are 0.

    Twice the smaller binomial tail, at most 1: binomtest's value, for arrays.
    """
    fewer = np.minimum(only_a, only_b)
    total = np.add(only_a, only_b)
    # With equal counts both tails contain the observed outcome, and their sum is above 1.
    return np.asarray(np.minimum(1.0, 2 * stats.binom.cdf(fewer, total, 0.5)), dtype=np.float64)


def compute_mcnemar_mid_p_values(only_a: ArrayLike, only_b: ArrayLike) -> FloatArray:
    """Return two-sided mid-p-values of pairs of discordant counts; 1 where both are equal.

    Twice the smaller binomial tail less the probability of the observed counts, so that these
    count half in each of the two tails.
    """
    fewer = np.minimum(only_a, only_b)
    total = np.add(only_a, only_b)
    observed = stats.binom.pmf(fewer, total, 0.5)
    p_values = 2 * stats.binom.cdf(fewer, total, 0.5) - observed
    # With equal counts the formula gives 1 except for rounding.
    return np.asarray(np.where(np.equal(only_a, only_b), 1.0, p_values), dtype=np.float64)


def compute_detectable_standard_errors(n: ArrayLike, alpha: ArrayLike = 0.05) -> FloatArray:
    """Return the difference, in standard errors, that a test detects with 80% power.

    It is t(1 - alpha/2) + t(.8).

    The degrees of freedom are n - 1. The normal quantiles (2.8 at 5%) promise too much of few
    questions: with 10 a difference of 2.8 standard errors shows in 70%, not in 80%.

    Parameters
    ----------
    n : numbers of clusters, such as questions; NaN is returned below 2.
    alpha : two-sided level of each test, corrected for the comparisons where there are several.
    """
    counts = np.asarray(n, dtype=np.float64)
    freedom = np.where(counts >= 2, counts - 1, np.nan)
    quantile = stats.t.ppf(1 - np.asarray(alpha, dtype=np.float64) / 2, freedom)
    return np.asarray(quantile + stats.t.ppf(POWER, freedom), dtype=np.float64)


def compute_smallest_detectable_difference(
    a: ArrayLike, b: ArrayLike, clusters: ArrayLike | None = None, alpha: float = 0.05
) -> DetectableDifference:
    """Return the smallest difference that a test at level `alpha` detects with 80% power.

    It is `compute_detectable_standard_errors` times the paired standard error, in the units of the
    scores, at least 0 (0 where all pairs differ by the same amount). The error is the clustered one
    of `compute_bootstrap_mean_difference`'s closed form, sd / sqrt(n) without clusters.

    Raises
    ------
    ValueError : lengths differ, an infinite score, a missing label.
    """
    differences, known = compute_paired_differences(a, b)
    totals, sizes = sum_by_cluster(differences, known, clusters)
    reason = _find_too_few_reason(len(sizes))
    value = None
    if reason is None:
        error = compute_clustered_standard_errors(totals[None, :], sizes)[0]
        value = float(compute_detectable_standard_errors(len(sizes), alpha) * error)
    return DetectableDifference(value, len(differences), len(sizes), reason)


def check_draws(n_draws: int) -> None:
    """Raise ValueError unless `n_draws` is 0 (closed form) or enough for a standard deviation."""
    if n_draws < 0 or n_draws == 1:
        raise ValueError("n_draws must be 0 (closed form) or at least 2")


def check_right_wrong_marks(right: ArrayLike) -> FloatArray:
    """Return right/wrong marks as floats. Raises ValueError unless all are 0, 1 or NaN."""
    values = np.asarray(right, dtype=np.float64)
    if not np.all((values == 0) | (values == 1) | np.isnan(values)):
        raise ValueError("right and wrong must be True and False or 1 and 0, NaN for missing")
    return values


def _find_too_few_reason(n_clusters: int) -> str | None:
    """Return the reason code if there are too few clusters for a test; None from 2 clusters on."""
    if n_clusters == 0:
        return NO_PAIRS
    return FEWER_THAN_2_CLUSTERS if n_clusters < 2 else None
