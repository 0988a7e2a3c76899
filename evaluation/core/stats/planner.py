"""Plan how many workers a question needs, by PAC bounds on the exemplary answer's error.

The similarities of M workers' answers to the unknown true answer have mean S. If the workers err
independently, two of them are similar by S squared, so the length of the sum of M unit vectors is
sqrt(M + M (M - 1) S^2), and the similarity of their mean to the truth is
M S / sqrt(M + M (M - 1) S^2) = S sqrt(M) / sqrt((M - 1) S^2 + 1). The error is 1 minus that.

Source: Yahav et al. 2025, section 4.1. The formulas there are garbled in print; these are the
repaired ones. They assume that errors are independent (workers who copy or collude make both
bounds meaningless) and that similarities lie in 0..1 (Hoeffding's bound on a wider range would be
wider in proportion).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

MEAN_WITHIN_DEVIATION = "mean_within_deviation"
MEAN_NOT_POSITIVE = "mean_not_positive"
TARGET_OUT_OF_REACH = "target_out_of_reach"


@dataclass(frozen=True)
class ErrorBounds:
    """Average and worst error of the exemplary answer of `workers` answers.

    `average_error` and `worst_error` are 1 - cosine, in 0..2 (0..1 for mu >= 0). `worst_error`
    holds with probability 1 - delta; it is None, with `reason` "mean_within_deviation", where
    mu <= t: so few workers could all be off the mark. `deviation` is t, in units of similarity.
    """

    mu: float
    workers: int
    delta: float
    deviation: float
    average_error: float
    worst_error: float | None
    reason: str | None


@dataclass(frozen=True)
class WorkerRequirement:
    """Fewest workers whose exemplary answer has at most `target_error`, on average and at worst.

    None where no number of workers is enough: `average_reason` and `worst_reason` then state why
    ("mean_not_positive": more workers do not help where mu <= 0; "target_out_of_reach": only more
    than 10^15 would do).
    """

    mu: float
    target_error: float
    delta: float
    average: int | None
    worst: int | None
    average_reason: str | None
    worst_reason: str | None


# Beyond this a double cannot tell M from M + 1, and no crowd is that large.
MOST_WORKERS = 10**15


def compute_exemplar_error(similarity: ArrayLike, workers: ArrayLike) -> NDArray[np.float64]:
    """Return the expected error of the exemplary answer of M workers with similarity S.

    The error is 1 - S sqrt(M) / sqrt((M - 1) S^2 + 1), elementwise.

    Parameters
    ----------
    similarity : array_like
        S, the mean similarity of a worker's answer to the truth, in -1..1.
    workers : array_like
        M, whole numbers, at least 1.

    Returns
    -------
    Array of the broadcast shape, in 0..2: 1 - S for one worker; towards 0 as M grows if
    S > 0, always 1 if S = 0, towards 2 if S < 0.

    Raises
    ------
    ValueError : a value is out of range or not finite, or the shapes do not fit.
    """
    S = np.asarray(similarity, dtype=np.float64)
    M = np.asarray(workers, dtype=np.float64)
    if not np.all((S >= -1) & (S <= 1)):
        raise ValueError("similarity must lie in -1..1")
    _check_workers(M)
    length = (M - 1) * S**2 + 1
    reached = np.minimum(np.abs(S) * np.sqrt(M / length), 1.0)
    # 1 - r cancels where r is close to 1. The same number is (1 - r^2) / (1 + r) with
    # 1 - r^2 = (1 - S^2) / ((M - 1) S^2 + 1), which keeps all digits and stays monotone in M.
    gap = (1 - S) * (1 + S) / length / (1 + reached)
    return np.asarray(np.where(S >= 0, gap, 2 - gap), dtype=np.float64)


def estimate_similarity_to_truth(left_out: float, others: float) -> float:
    """Return the answers' similarity to the truth, estimated from their leave-one-out mean.

    If workers err independently, an answer is S times as like the mean of K others as that mean is
    like the truth, so L = S (1 - error(S, K)) = S^2 sqrt(K) / sqrt((K - 1) S^2 + 1). With u = S^2
    that is K u^2 - L^2 (K - 1) u - L^2 = 0, of which this is the root that is not negative.

    Parameters
    ----------
    left_out : float
        L, mean similarity of an answer to the mean of the others to its question, 0..1.
    others : float
        K, how many others there are on average, at least 1.

    Returns
    -------
    S in 0..1: the square root of L for one other, towards L for many.

    Raises
    ------
    ValueError : an argument is out of range.
    """
    L, K = float(left_out), float(others)
    if not 0 <= L <= 1:
        raise ValueError("left_out must lie in 0..1")
    if not (K >= 1 and math.isfinite(K)):
        raise ValueError("others must be at least 1")
    half = L**2 * (K - 1)
    return min(1.0, math.sqrt((half + math.sqrt(half**2 + 4 * K * L**2)) / (2 * K)))


def compute_deviation_bound(workers: ArrayLike, delta: float = 0.05) -> NDArray[np.float64]:
    """Return Hoeffding's bound on the deviation of a mean over `workers` workers.

    It is t = sqrt(ln(2/delta) / (2M)) for M = `workers`.

    Two-sided, for similarities in 0..1, exceeded with probability delta at most.
    Same shape as `workers`, in units of similarity.

    Raises
    ------
    ValueError : workers below 1 or not whole, delta outside the open interval 0..1.
    """
    M = np.asarray(workers, dtype=np.float64)
    _check_workers(M)
    _check_delta(delta)
    return np.asarray(np.sqrt(math.log(2 / delta) / (2 * M)), dtype=np.float64)


def compute_error_bounds(mu: float, workers: SupportsIndex, delta: float = 0.05) -> ErrorBounds:
    """Return the error of the exemplary answer of `workers` workers, on average and at worst.

    The average error is that for similarity S = mu, the worst one that for S = mu - t, with t of
    `compute_deviation_bound`.

    Parameters
    ----------
    mu : float
        expected similarity of a worker's answer to the truth, in -1..1.
    workers : int
        M, at least 1.
    delta : float
        probability with which the worst error may be exceeded, strictly between 0 and 1.

    Raises
    ------
    ValueError : an argument is out of range.
    TypeError : workers is not an integer.
    """
    M, mu = index(workers), float(mu)
    average = float(compute_exemplar_error(mu, M))
    t = float(compute_deviation_bound(M, delta))
    worst = float(compute_exemplar_error(mu - t, M)) if mu > t else None
    reason = None if worst is not None else MEAN_WITHIN_DEVIATION
    return ErrorBounds(mu, M, float(delta), t, average, worst, reason)


def find_workers_needed(mu: float, target_error: float, delta: float = 0.05) -> WorkerRequirement:
    """Return the fewest workers for an error of at most `target_error`, on average and at worst.

    Parameters
    ----------
    mu : float
        expected similarity of a worker's answer to the truth, in -1..1.
    target_error : float
        1 - cosine, strictly between 0 and 1.
    delta : float
        as in `compute_error_bounds`.

    Raises
    ------
    ValueError : an argument is out of range.
    """
    mu, target = float(mu), float(target_error)
    if not -1 <= mu <= 1:
        raise ValueError("mu must lie in -1..1")
    if not 0 < target < 1:
        raise ValueError("target_error must lie strictly between 0 and 1")
    _check_delta(delta)

    def average_reached(M: int) -> bool:
        """Return whether the average error of M workers is small enough."""
        return bool(compute_exemplar_error(mu, M) <= target)

    def worst_reached(M: int) -> bool:
        """Return whether the worst error of M workers is small enough."""
        S = mu - float(compute_deviation_bound(M, delta))
        # Where mu <= t there is no worst error, as in `compute_error_bounds`.
        return S > 0 and bool(compute_exemplar_error(S, M) <= target)

    average = worst = None
    reason = MEAN_NOT_POSITIVE
    if mu > 0:
        average, worst = (
            _find_smallest_number(average_reached),
            _find_smallest_number(worst_reached),
        )
        reason = TARGET_OUT_OF_REACH
    return WorkerRequirement(
        mu,
        target,
        float(delta),
        average,
        worst,
        None if average is not None else reason,
        None if worst is not None else reason,
    )


def find_answers_for_error(similarity: ArrayLike, target_error: float) -> NDArray[np.float64]:
    """Return the fewest answers for an average error of at most the target, elementwise.

    From error(S, M) <= t follows M >= r^2 (1 - S^2) / (S^2 (1 - r^2)) with r = 1 - t, so this is
    what `find_workers_needed` finds on average, without a search.

    Parameters
    ----------
    similarity : array_like
        S, in -1..1.
    target_error : float
        1 - cosine, strictly between 0 and 1.

    Returns
    -------
    Array of the same shape of whole numbers from 1; inf where S <= 0.

    Raises
    ------
    ValueError : a value is out of range.
    """
    S = np.asarray(similarity, dtype=np.float64)
    if not np.all((S >= -1) & (S <= 1)):
        raise ValueError("similarity must lie in -1..1")
    if not 0 < target_error < 1:
        raise ValueError("target_error must lie strictly between 0 and 1")
    reached = (1 - target_error) ** 2
    # Without similarity no number of workers is enough: the division by 0 gives infinity.
    with np.errstate(divide="ignore", over="ignore"):
        needed = reached * (1 - S**2) / (S**2 * (1 - reached))
    # A whole number that rounding lifted is still that number.
    whole = np.maximum(1.0, np.ceil(needed * (1 - 1e-9)))
    return np.asarray(np.where(S > 0, whole, np.inf), dtype=np.float64)


def predict_width(width: ArrayLike, answers: ArrayLike, after: ArrayLike) -> NDArray[np.float64]:
    """Return the interval width to expect with `after` answers, from that with `answers`.

    width sqrt(answers / after): the standard error of a mean falls with the root of its size.
    Elementwise with broadcasting; the new scores are taken to scatter as the old ones do.

    Raises
    ------
    ValueError : a width is negative, or a number of answers below 1 or not whole.
    """
    w = np.asarray(width, dtype=np.float64)
    before, then = np.asarray(answers, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if not np.all(w >= 0):
        raise ValueError("width must not be negative")
    _check_workers(before)
    _check_workers(then)
    return np.asarray(w * np.sqrt(before / then), dtype=np.float64)


def find_answers_for_width(
    width: ArrayLike, answers: ArrayLike, target: float
) -> NDArray[np.float64]:
    """Return the fewest answers for an expected interval width of at most `target`.

    Never fewer than there are. Array of the broadcast shape, whole numbers.

    Raises
    ------
    ValueError : as `predict_width`, or target not above 0.
    """
    if not (target > 0 and math.isfinite(target)):
        raise ValueError("target must be above 0")
    before = np.asarray(answers, dtype=np.float64)
    needed = predict_width(width, answers, 1) ** 2 / target**2
    return np.asarray(np.maximum(before, np.ceil(needed * (1 - 1e-9))))


def _find_smallest_number(reached: Callable[[int], bool]) -> int | None:
    """Return the smallest number from which `reached` holds, by bisection; None beyond 10^15."""
    # Bisection is valid because both errors fall as workers are added.
    high = 1
    while not reached(high):
        high *= 2
        if high > MOST_WORKERS:
            return None
    low = high // 2  # not reached, or 0
    while high - low > 1:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return high


def _check_workers(workers: NDArray[np.float64]) -> None:
    """Raise ValueError unless all numbers of workers are whole and at least 1."""
    if not np.all((workers >= 1) & np.isfinite(workers) & (np.floor(workers) == workers)):
        raise ValueError("workers must be whole numbers of at least 1")


def _check_delta(delta: float) -> None:
    """Raise ValueError unless 0 < delta < 1."""
    if not 0 < delta < 1:
        raise ValueError("delta must lie strictly between 0 and 1")
