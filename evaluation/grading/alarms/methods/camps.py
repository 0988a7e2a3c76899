"""Test whether a crowd has two camps (groups of workers with one opinion each).

A crowd of good and bad workers has no second camp, because bad ones agree more with the good ones
than with each other. Halves are found on a part of the questions and tested on the others, so that
a split of pure noise does not pass. The test shows that there are two camps, not which is right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluation.core.stats.cells import Booleans, Floats, Integers, divide_where_positive
from evaluation.grading.alarms.methods.pairs import DENSE, Pairs, fit_worker_effects

# The alarm is raised for a z above this: in 1 of 848 honest crowds that were tried, and in 360 of
# 360 with two camps.
THRESHOLD = 3.0
SMALLEST = 3
FEWEST_QUESTIONS = 5
SPLITS = 10
# Of a crowd with more pairs of answers than this: one split of a million answers takes 2.5 seconds.
SPLITS_OF_LARGE = 3
LARGE = 1_000_000
# A z beyond this is written as this: no table of a normal distribution goes further.
LARGEST = 37.0
# Only signs are used, so that a few steps are enough.
LANCZOS_STEPS = 24
MOST_MOVES = 30

NO_CAMP, CAMP_A, CAMP_B = -1, 0, 1


@dataclass(frozen=True)
class Camps:
    """Result of the test whether a crowd has two camps, whose members agree with each other.

    The statistic is a z value; the members and each camp's agreement surplus are stored.

    Attributes
    ----------
    statistic : z of the smaller of the two camps' agreement surplus, the median over the splits, at
        most 37; 0 without a second camp. None, with a `reason`, if undefined.
    members : codes of each camp's workers, found on all questions, the larger camp first; ()
        without a second camp.
    surplus : mean cosine within each camp minus mean cosine across camps, on all questions.
    n_questions, n_splits : questions with two answers or more; how often they were split.
    """

    statistic: float | None
    members: tuple[Integers, ...]
    surplus: tuple[float, ...]
    n_questions: int
    n_splits: int
    reason: str | None = None
    threshold: float = THRESHOLD

    @property
    def is_raised(self) -> bool:
        """Whether the alarm is raised: z exceeds the threshold, and two camps were found."""
        return (
            self.statistic is not None
            and self.statistic > self.threshold
            and len(self.members) == 2
        )


def find_camps(pairs: Pairs, seed: int = 0, n_splits: int | None = None) -> Camps:
    """Return the result of testing whether the workers form two camps of 3 or more each.

    A camp is a group of workers with one opinion.

    Parameters
    ----------
    seed : of the random halves of the questions.
    n_splits : number of random splits; by default 10, or 3 above a million pairs of answers.
    """
    question_codes = np.flatnonzero(pairs.pairs_of_question)
    n = len(question_codes)
    if n_splits is None:
        n_splits = SPLITS if len(pairs.pair) <= LARGE else SPLITS_OF_LARGE
    present = np.zeros(pairs.n_workers, dtype=bool)
    present[pairs.left] = present[pairs.right] = True
    reason = None
    if np.count_nonzero(present) < 2 * SMALLEST:
        reason = "fewer_than_6_workers"
    elif n < FEWEST_QUESTIONS:
        reason = "fewer_than_5_questions"
    if reason:
        return Camps(None, (), (), n, 0, reason)
    rng = np.random.default_rng(seed)
    t_values = [
        _compute_cross_fitted_t(pairs, rng.permutation(question_codes)) for _ in range(n_splits)
    ]
    # The median, because a single random split of the questions may be lucky or not.
    z = _convert_t_to_z(float(np.median(t_values)), n - 1)
    labels = split_crowd(pairs, pairs.total, pairs.shared)
    if labels is None:
        # Cross-fitted halves may differ where the whole crowd has one camp only: no alarm then.
        return Camps(min(z, 0.0), (), (), n, n_splits)
    members = [np.flatnonzero(labels == camp) for camp in (CAMP_A, CAMP_B)]
    kinds = _PairSums.sum_questions(pairs, labels, np.ones(pairs.n_questions, dtype=bool))
    surplus = [kinds.compute_surplus(camp) for camp in (CAMP_A, CAMP_B)]
    order = [0, 1] if len(members[0]) >= len(members[1]) else [1, 0]
    return Camps(
        z,
        tuple(members[index] for index in order),
        tuple(surplus[index] for index in order),
        n,
        n_splits,
    )


def split_crowd(pairs: Pairs, total: Floats, times: Floats) -> Integers | None:
    """Return the camp (0 or 1) of each worker, -1 without data; None if there is only one camp.

    Workers in one camp agree with each other more than with the other camp.

    The signs of the leading eigenvector of the mean cosines' residuals, after additive worker
    effects, give two halves. Then every worker moves to the half whose answers have the higher mean
    cosine to the worker's, until no worker moves.

    Parameters
    ----------
    total, times : (P,) sum and number of the cosines of each pair of workers.
    """
    if not (met := times > 0).all():
        pairs, total, times = pairs.select_pairs(met), total[met], times[met]
    mean = divide_where_positive(total, times, 0.0)
    effects = fit_worker_effects(pairs, mean, times)
    # A mean of n cosines has noise that falls with sqrt(n): weighted so, all residuals have the
    # same, and pairs that share one question do not lead the split.
    rest = (mean - effects[pairs.left] - effects[pairs.right]) * np.sqrt(times)
    degree = np.bincount(pairs.left, times, pairs.n_workers)
    degree += np.bincount(pairs.right, times, pairs.n_workers)
    present = degree > 0
    labels = np.where(_compute_leading_vector(pairs, rest) >= 0, CAMP_A, CAMP_B)
    labels = _reassign_workers(pairs, total, times, np.where(present, labels, NO_CAMP))
    if min(np.count_nonzero(labels == camp) for camp in (CAMP_A, CAMP_B)) < SMALLEST:
        return None
    return labels


def _reassign_workers(pairs: Pairs, total: Floats, times: Floats, labels: Integers) -> Integers:
    """Return the camps after each worker has moved to the camp it agrees with more.

    The result is (M,). Moving all at once may repeat an earlier split, which ends the moves; so
    does a camp that is too small.
    """
    sums, counts = pairs.build_symmetric_matrix(total), pairs.build_symmetric_matrix(times)
    ones = np.ones(pairs.n_workers)
    all_sums, all_counts = sums @ ones, counts @ ones
    before = labels
    for _ in range(MOST_MOVES):
        camp_a = (labels == CAMP_A).astype(np.float64)
        to_a, count_a = sums @ camp_a, counts @ camp_a
        to_b, count_b = all_sums - to_a, all_counts - count_a
        # Counts are whole numbers, so that a half without a common question is told exactly.
        a = divide_where_positive(to_a, count_a, -np.inf)
        b = divide_where_positive(to_b, count_b, -np.inf)
        new = np.where(a > b, CAMP_A, np.where(a < b, CAMP_B, labels))
        new = np.where(labels == NO_CAMP, NO_CAMP, new)
        if np.array_equal(new, labels) or np.array_equal(new, before):
            break
        before, labels = labels, new
        if min(np.count_nonzero(labels == camp) for camp in (CAMP_A, CAMP_B)) < SMALLEST:
            break
    return labels


def _compute_leading_vector(pairs: Pairs, values: Floats) -> Floats:
    """Return the leading eigenvector of the symmetric matrix with one value per worker pair.

    Shape (M,). By Lanczos steps with full orthogonalisation, from a fixed start; only the signs
    are used.
    """
    matrix = pairs.build_symmetric_matrix(values)
    if pairs.n_workers <= DENSE:
        return np.linalg.eigh(matrix.toarray())[1][:, -1]
    basis = [np.random.default_rng(0).standard_normal(pairs.n_workers)]
    basis[0] /= np.linalg.norm(basis[0])
    images: list[Floats] = []
    for _ in range(LANCZOS_STEPS - 1):
        known = np.array(basis)
        images.append(matrix @ basis[-1])
        step = images[-1].copy()
        for _ in range(2):  # once more, against rounding
            step -= known.T @ (known @ step)
        norm = np.linalg.norm(step)
        if norm < 1e-12:
            break
        basis.append(step / norm)
    if len(images) < len(basis):
        images.append(matrix @ basis[-1])
    known = np.array(basis)
    small = known @ np.array(images).T
    return np.asarray(known.T @ np.linalg.eigh((small + small.T) / 2)[1][:, -1])


def _compute_cross_fitted_t(pairs: Pairs, order: Integers) -> float:
    """Return the smaller t statistic of two camps, tested on questions that did not find them.

    The camps are found on one half of the questions and tested on the other half, both ways.

    Return the lesser t of both camps; each random half is tested with the camps of the other half.
    """
    first = np.zeros(pairs.n_questions, dtype=bool)
    first[order[: len(order) // 2]] = True
    second = np.zeros(pairs.n_questions, dtype=bool)
    second[order[len(order) // 2 :]] = True
    camps_of_first, camps_of_second = (
        _split_crowd_by_questions(pairs, first),
        _split_crowd_by_questions(pairs, second),
    )
    if camps_of_first is None or camps_of_second is None:
        return 0.0
    both = (camps_of_first != NO_CAMP) & (camps_of_second != NO_CAMP)
    if np.count_nonzero((camps_of_first == camps_of_second) & both) * 2 < np.count_nonzero(both):
        # Camp labels are arbitrary in each half: swap those that overlap less than half.
        camps_of_second = np.where(camps_of_second == NO_CAMP, NO_CAMP, 1 - camps_of_second)
    kinds = _PairSums.sum_questions(pairs, camps_of_first, second) + _PairSums.sum_questions(
        pairs, camps_of_second, first
    )
    # Both must agree with themselves more than with the other: of good and bad workers only the
    # good do.
    return min(
        kinds.compute_t_statistic(CAMP_A, len(order)), kinds.compute_t_statistic(CAMP_B, len(order))
    )


def _split_crowd_by_questions(pairs: Pairs, chosen: Booleans) -> Integers | None:
    """Return the camp of each worker, found from the chosen questions only; None for one camp."""
    here = chosen[pairs.question].astype(np.float64)
    return split_crowd(pairs, pairs.sum_by_pair(here * pairs.cosine), pairs.sum_by_pair(here))


@dataclass(frozen=True)
class _PairSums:
    """Cosine sums and numbers of answer pairs per question: in camp A, in camp B, across both.

    Both are (Q, 3).
    """

    total: Floats
    count: Floats

    @classmethod
    def sum_questions(cls, pairs: Pairs, labels: Integers, chosen: Booleans) -> _PairSums:
        """Return the cosine sums and pair counts of the chosen questions, by camp and across.

        `labels` (M,) is each worker's camp; `chosen` (Q,) marks the questions, and the rows of the
        others stay zero.
        """
        a, b = labels[pairs.left], labels[pairs.right]
        kind = np.where((a == NO_CAMP) | (b == NO_CAMP), 3, np.where(a == b, a, 2))
        place = pairs.question * 4 + kind[pairs.pair]
        q = pairs.n_questions
        count = np.bincount(place, minlength=4 * q).reshape(q, 4)[:, :3]
        total = np.bincount(place, pairs.cosine, 4 * q).reshape(q, 4)[:, :3]
        used = chosen[:, None].astype(np.float64)
        return cls(total * used, count * used)

    def __add__(self, other: _PairSums) -> _PairSums:
        """Return the cosine sums and pair counts of both objects added by question."""
        return _PairSums(self.total + other.total, self.count + other.count)

    def compute_surplus(self, camp: int) -> float:
        """Return a camp's agreement surplus: mean cosine within it minus mean cosine across camps.

        0 if undefined.
        """
        total, count = self.total.sum(axis=0), self.count.sum(axis=0)
        if not count[camp] or not count[2]:
            return 0.0
        return float(total[camp] / count[camp] - total[2] / count[2])

    def compute_t_statistic(self, camp: int, n: int) -> float:
        """Return the t statistic of a camp's agreement surplus over n questions; 0 if undefined."""
        surplus = self.compute_surplus(camp)
        if not surplus:
            return 0.0
        mean = self.total.sum(axis=0) / np.maximum(self.count.sum(axis=0), 1.0)
        # Linearised ratio of sums: the influence of each question on both means.
        influence = (self.total - mean * self.count) / (self.count.sum(axis=0) / n + 1e-300)
        difference = influence[:, camp] - influence[:, 2]
        error = np.sqrt((difference**2).sum() / (n - 1) / n)
        # Differences that do not vary at all leave nothing but rounding to divide by.
        return surplus / max(error, 1e-9)


def _convert_t_to_z(t: float, degrees: int) -> float:
    """Return the standard normal value with the same upper tail as a t value, at most 37."""
    # The upper tail of a negative t is near 1, where its digits are lost.
    if t < 0:
        return -_convert_t_to_z(-t, degrees)
    # A tail that underflows to 0 would give an infinite z.
    z = stats.norm.isf(max(stats.t.sf(t, degrees), 1e-300))
    return float(min(z, LARGEST))
