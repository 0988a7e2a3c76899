"""Tests: corrections for many tests, trends, and permutation tests of mean shifts.

Corrections of p-values for multiple tests: Holm and Benjamini-Hochberg.

Trend of a few numbers in time order: Kendall's tau and Theil-Sen slope. Only the order is tested
(Mann 1945, "Nonparametric tests against trend"; Kendall's tau between number and place), exactly if
no two numbers are equal. The test assumes nothing about the time between occasions or the
distribution of the noise; noise within an occasion only lowers the power. The slope is the median
of the slopes between every two occasions (Theil 1950, Sen 1968).

Permutation tests of whether the mean answer to a question moved between two waves. If nothing
changed, the wave of an answer is an exchangeable label. The labels are permuted many times, and p
is the share of permutations in which the two means are at least as far apart as observed,
(k + 1) / (n + 1), never 0 (Phipson and Smyth 2010, "Permutation p-values should never be zero"). A
person who answered in both waves keeps one answer in each: the two labels are swapped or not, so
that a person's own style is no change of the crowd. All other labels are shuffled (as
`scipy.stats.permutation_test` does with "samples" and "independent").

All answers have equal weights. Weights learned from the same answers (AQER's) pull each answer to
the mean of its own wave, so that labels are not exchangeable: without a change, a test of the
weighted means rejects at 5% in 23 of 100 cases with one question, in 9 with three, in 5 from ten
on; this test in 4 to 6 (15 answers a wave, a fifth of them noise). The cost is power, since noise
has full weight: it detects 16 to 20 of 100 small shifts, the weighted test 23 to 34.

The p-values of all questions are adjusted by Benjamini and Hochberg (1995): among the questions
reported as moved, the expected share of false ones is at most alpha. This holds for independent
p-values and for positively dependent ones, as with the same people in all questions (Benjamini and
Yekutieli 2001).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, factorial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats

from evaluation.core.stats.cells import Booleans, Floats, Integers

FloatArray = NDArray[np.float64]
Correction = Literal["holm", "benjamini-hochberg"]


def holm(p_values: ArrayLike) -> FloatArray:
    """Return Holm's step-down adjusted p-values, which control the family-wise error rate.

    The i-th smallest of m (i from 0) becomes the largest of (m - i') p over the ranks i' <= i,
    at most 1. Source: Holm 1979.

    Parameters
    ----------
    p_values : array_like
        shape (k,), in 0..1; NaN or None for a test that has none.

    Returns
    -------
    Shape (k,), in the given order; NaN stays NaN and is not counted in m. Never below the raw
    value.

    Raises
    ------
    ValueError : not a vector, or a value outside 0..1.
    """
    p, known = _select_known_p_values(p_values)
    adjusted = np.full(len(p), np.nan)
    values = p[known]
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate((len(values) - np.arange(len(values))) * values[order])
    ranked = np.empty(len(values))
    ranked[order] = np.minimum(steps, 1.0)
    adjusted[known] = ranked
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Return Benjamini-Hochberg adjusted p-values, which control the false discovery rate.

    Arguments, nulls, order and errors as in `holm`; never above Holm's. Source: Benjamini and
    Hochberg 1995.
    """
    p, known = _select_known_p_values(p_values)
    adjusted = np.full(len(p), np.nan)
    if known.any():
        adjusted[known] = stats.false_discovery_control(p[known], method="bh")
    return adjusted


def compute_corrected_levels(
    p_values: ArrayLike, correction: Correction = "holm", alpha: float = 0.05
) -> FloatArray:
    """Return each test's significance level, corrected for the tests that are left.

    Holm: alpha divided by the number of tests left when the test's turn comes. The turn does not
    come once a test fails: then as many are left as were not rejected. Benjamini-Hochberg: alpha
    (k + 1)/m with k of the m tests rejected, what one more discovery needs (alpha if all are).

    Parameters
    ----------
    p_values : as in `holm`, not adjusted.
    alpha : level of all tests together, strictly between 0 and 1.

    Returns
    -------
    Shape (k,), in the given order; NaN for a test without a p-value.
    """
    p, known = _select_known_p_values(p_values)
    values = p[known]
    n_rejected = int(np.count_nonzero(CORRECTIONS[correction](values) < alpha))
    levels = np.full(len(p), np.nan)
    if correction == "holm":
        n_smaller = np.searchsorted(np.sort(values), values, side="left")
        levels[known] = alpha / (len(values) - np.minimum(n_smaller, n_rejected))
    elif len(values):
        levels[known] = alpha * min(n_rejected + 1, len(values)) / len(values)
    return levels


def _select_known_p_values(p_values: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the p-values as floats, and flags of those that are not NaN.

    Raises ValueError for values outside 0..1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    if p.ndim != 1 or not np.all((p[known] >= 0) & (p[known] <= 1)):
        raise ValueError("p_values must be a vector of values in 0..1")
    return p, known


CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}


Direction = Literal["rises", "falls", "unclear", "too_few", "all_equal"]

FEWEST = 5
"""Below it the order cannot tell: even four rising numbers have p = 2/4! = .083."""


@dataclass(frozen=True)
class Trend:
    """Direction of numbers over time, with the test for a trend and the slope.

    Attributes
    ----------
    direction : "rises" or "falls" where the order would be as clear by chance in less than a part
        `1 - level` of all orders; else "unclear", "too_few" (below 5 numbers) or "all_equal".
    n : how many numbers there are.
    tau : Kendall's tau-b, -1 (every later one is smaller) to 1; None where it is undefined.
    p_value : two-sided; None where nothing was tested.
    slope, low, high : median change from one number to the next, and its interval at `level`; None
        where nothing was tested.
    """

    direction: Direction
    n: int
    tau: float | None = None
    p_value: float | None = None
    slope: float | None = None
    low: float | None = None
    high: float | None = None


def estimate_trend(values: ArrayLike, level: float = 0.95) -> Trend:
    """Return the trend of numbers in time order: rises, falls or unclear, with test and slope.

    Parameters
    ----------
    values : array_like
        shape (n,), finite.
    level : float
        strictly between 0 and 1.

    Raises
    ------
    ValueError : values that are not finite or of another shape, a level out of range.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError("values must be finite numbers in one row")
    if not 0 < level < 1:
        raise ValueError("level must be between 0 and 1")
    n = len(numbers)
    if n < FEWEST:
        return Trend("too_few", n)
    if np.ptp(numbers) == 0:
        return Trend("all_equal", n)
    places = np.arange(n)
    tested = stats.kendalltau(places, numbers)  # exact without ties
    # Which of two equal slopes comes first is nobody's: "separate" pairs all occasions.
    steep = stats.theilslopes(numbers, places, alpha=level, method="separate")
    tau, p_value = float(tested.statistic), float(tested.pvalue)
    direction: Direction = "unclear"
    if p_value < 1 - level:
        direction = "rises" if tau > 0 else "falls"
    slope, low, high = (float(end) for end in (steep.slope, steep.low_slope, steep.high_slope))
    return Trend(direction, n, tau, p_value, slope, low, high)


def compute_least_p_value(n: int) -> float:
    """Return the smallest p-value that a trend of `n` numbers can reach, min(1, 2 / n!)."""
    return min(1.0, 2 / factorial(n))


Vectors: TypeAlias = NDArray[np.floating] | sparse.csr_array

FIRST_DRAWS = 199
FEW = 10
"""Deals as far apart as the real means, of the first ones, below which more are dealt."""
MORE_DRAWS = 999
"""How often labels are dealt then at least, the first ones among them."""
FINER = 4
"""How much smaller the least p-value gets than what Benjamini and Hochberg ask of it."""
DRAWN_AT_ONCE = 2_000_000
"""Labels, of all draws together, that are held in memory at a time."""
SAME = 1e-9
"""Distances that differ by less are the same, but for rounding."""


@dataclass(frozen=True)
class MeanShifts:
    """Distances of each question's mean answer between two waves, with p-values.

    Attributes
    ----------
    distance : (Q,) 1 - cosine of the two means, 0 to 2; 1 where one is zero.
    p_values : (Q,) of no change. adjusted : (Q,) by Benjamini and Hochberg over all questions.
        NaN in all three where a wave has no answer.
    n_both : (Q,) people with an answer in both waves. n_draws : (Q,) number of permutations.
    """

    distance: Floats
    p_values: Floats
    adjusted: Floats
    n_both: Integers
    n_draws: Integers


def compute_mean_shifts(
    vectors: Vectors,
    questions: ArrayLike,
    later: ArrayLike,
    people: ArrayLike,
    n_questions: int | None = None,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> MeanShifts:
    """Return the distance of each question's mean answers in two waves, with p-values.

    Each question gets 199 permutations. Where fewer than 10 of them reach the observed distance, it
    gets 999, or as many as a p-value needs to be below alpha after Benjamini and Hochberg with that
    many questions, and so on while fewer than 10 do. P(p <= a) stays at most a: a question that
    ends after n permutations with 10 or more has p > 10 / (n + 1), so p <= a requires that the p of
    the first stage with n >= 10 / a - 1 permutations is at most a, and that p is valid.

    Parameters
    ----------
    vectors : (N, D) of answers, dense or sparse, in one space for both waves.
    questions : (N,) codes 0..Q-1. n_questions : Q; None for one more than the greatest code.
    later : (N,) whether an answer is from the later wave. people : (N,) code of the person, the
        same in both waves.
    alpha : share of false alarms among the questions that moved, strictly between 0 and 1; it
        decides how many permutations are enough. seed : of the permutations.
    progress : called with the number of finished questions and their total.

    Raises
    ------
    ValueError : lengths differ, alpha out of range, or a person has two answers to a question in
        one wave.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha}")
    question, label, person = _check_columns(questions, later, people, vectors.shape[0])
    count = int(question.max(initial=-1)) + 1 if n_questions is None else n_questions
    tests: list[_PermutationTest | None] = [
        _PermutationTest.from_vectors(vectors, rows, label[rows], person[rows], [seed, index])
        for index, rows in enumerate(_find_rows_of_codes(question, count))
    ]
    known = [test for test in tests if test is not None]
    for done, test in enumerate(known):
        test.run_permutations(FIRST_DRAWS)
        if progress is not None:
            progress(done + 1, len(known))
    # Only questions with few extreme permutations need more of them: the others are far from
    # significant.
    rare = [test for test in known if test.reached < FEW]
    while rare:
        wanted = max(MORE_DRAWS, ceil(FINER * len(known) / (alpha * len(rare))))
        for test in rare:
            test.run_permutations(wanted - test.drawn)
        rare = [test for test in rare if test.drawn == wanted and test.reached < FEW]
        if wanted >= FINER * len(known) / (alpha * max(1, len(rare))):
            break
    p_values = np.array([np.nan if test is None else test.p_value for test in tests])
    return MeanShifts(
        distance=np.array([np.nan if test is None else test.distance for test in tests]),
        p_values=p_values,
        adjusted=benjamini_hochberg(p_values),
        n_both=np.array([0 if test is None else len(test.pairs) for test in tests], dtype=np.int64),
        n_draws=np.array([0 if test is None else test.drawn for test in tests], dtype=np.int64),
    )


class _PermutationTest:
    """Permutation test for a shift of one question's mean answer between two waves."""

    def __init__(
        self,
        inner: _PartitionDistances,
        label: Booleans,
        pairs: Integers,
        single: Integers,
        seed: list[int],
    ) -> None:
        self.inner, self.label, self.pairs, self.single = inner, label, pairs, single
        self.distance = float(inner.compute_distances(label[None, :])[0])
        # Each question has its own stream: how many permutations one needs does not affect another.
        self.generator = np.random.default_rng(seed)
        self.drawn = self.reached = 0

    @classmethod
    def from_vectors(
        cls, vectors: Vectors, rows: Integers, label: Booleans, person: Integers, seed: list[int]
    ) -> _PermutationTest | None:
        """Return the test of one question's answers; None if a wave has no answer to it."""
        if not label.any() or label.all():
            return None
        _, place, counts = np.unique(person, return_inverse=True, return_counts=True)
        single = np.flatnonzero(counts[place] == 1)
        double = np.flatnonzero(counts[place] == 2)
        # People in both waves have a pair of answers, whose labels are exchanged within the person.
        by_person = double[np.argsort(place[double], kind="stable")]
        pairs = by_person.reshape(-1, 2)
        if counts.max() > 2 or (label[pairs[:, 0]] == label[pairs[:, 1]]).any():
            raise ValueError("a worker has two answers to a question in one wave")
        return cls(_PartitionDistances.from_vectors(vectors[rows]), label, pairs, single, seed)

    @property
    def p_value(self) -> float:
        """P-value from the permutations drawn so far, (reached + 1) / (drawn + 1)."""
        return (self.reached + 1) / (self.drawn + 1)

    def run_permutations(self, count: int) -> None:
        """Count how many of `count` more permutations of the wave labels reach the distance.

        A negative `count` draws none.
        """
        at_once = max(1, DRAWN_AT_ONCE // len(self.label))
        while count > 0:
            part = min(count, at_once)
            distances = self.inner.compute_distances(self._draw_permutations(part))
            self.reached += int((distances >= self.distance - SAME).sum())
            self.drawn += part
            count -= part

    def _draw_permutations(self, count: int) -> Booleans:
        """Return random permutations of the wave labels by person, one row each."""
        labels = np.tile(self.label, (count, 1))
        n_later = int(self.label[self.single].sum())
        if 0 < n_later < len(self.single):
            # Those with the smallest random numbers; much faster than a permutation of each row.
            order = self.generator.random((count, len(self.single)))
            bound = np.partition(order, n_later - 1, axis=1)[:, n_later - 1, None]
            labels[:, self.single] = order <= bound
        changed = self.generator.random((count, len(self.pairs))) < 0.5
        for side in (0, 1):
            # XOR swaps the two labels of a pair, which always differ.
            labels[:, self.pairs[:, side]] ^= changed
        return labels


class _PartitionDistances:
    """Computes distances between the means of two groups of answers, for many splits into groups.

    The cosine of two means is that of the sums: with z of zeros and ones and G of inner products,
    (1 - z)'G z / sqrt((1 - z)'G (1 - z) z'G z). Where there are more answers than dimensions, out
    of the vectors themselves.
    """

    def __init__(self, rows: Floats, *, direct: bool) -> None:
        self.rows, self.direct = rows, direct
        self.total = rows.sum(axis=0)

    @classmethod
    def from_vectors(cls, vectors: Vectors) -> _PartitionDistances:
        """Create the object from the answers' vectors, one per row."""
        if not isinstance(vectors, np.ndarray):
            inner = vectors.astype(np.float64)
            return cls((inner @ inner.T).toarray(), direct=False)
        x = vectors.astype(np.float64)
        direct = x.shape[0] > x.shape[1]
        return cls(x if direct else x @ x.T, direct=direct)

    def compute_distances(self, z: Booleans) -> Floats:
        """Return for each row of z the cosine distance of the group means; true: second group."""
        labels = z.astype(np.float64)
        sums = labels @ self.rows
        if self.direct:
            rest = self.total - sums
            inner_products, other, both = (
                _compute_inner_products(sums, sums),
                _compute_inner_products(rest, rest),
                _compute_inner_products(sums, rest),
            )
        else:
            inner_products = _compute_inner_products(sums, labels)
            across = labels @ self.total
            both = across - inner_products
            other = self.total.sum() - 2 * across + inner_products
        # Squared norms, which rounding may bring below 0.
        lengths = np.sqrt(np.clip(inner_products, 0.0, None) * np.clip(other, 0.0, None))
        cosine = np.divide(both, lengths, out=np.zeros_like(both), where=lengths > 0)
        return np.asarray(1.0 - np.clip(cosine, -1.0, 1.0))


def _compute_inner_products(a: Floats, b: Floats) -> Floats:
    """Return the inner product of each row of a with the same row of b."""
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _check_columns(
    questions: ArrayLike, later: ArrayLike, people: ArrayLike, count: int
) -> tuple[Integers, Booleans, Integers]:
    """Return the columns as arrays. Raises ValueError for wrong lengths or codes."""
    question = np.asarray(questions, dtype=np.int64)
    label = np.asarray(later, dtype=bool)
    person = np.asarray(people, dtype=np.int64)
    if not question.shape == label.shape == person.shape == (count,):
        raise ValueError(
            f"{count} vectors for {question.shape} questions, {label.shape} waves and "
            f"{person.shape} people"
        )
    return question, label, person


def _find_rows_of_codes(codes: Integers, count: int) -> list[Integers]:
    """Return the rows of each code from 0 to count - 1, in order."""
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=count))
    return list(np.split(order, ends[:-1])) if count else []
