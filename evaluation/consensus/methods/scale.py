"""Workers and models on one scale: support, ranks, percentile, human ceiling.

All comparisons use leave-one-out worker scores, because a worker has a share in its own exemplary
answers and a model has none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.consensus.methods.effects import find_components
from evaluation.core.stats.cells import Cells, Floats, Integers
from evaluation.core.stats.inference.intervals import compute_t_interval
from evaluation.core.stats.undefined import divide_where_positive

# A worker is supported by answers to at least this many questions ...
FEWEST_QUESTIONS = 5
# ... that at least this many workers answered.
FEWEST_ANSWERERS = 3
# Scores closer than this are tied: they differ by rounding only.
TIE = 1e-12
# The human ceiling is the mean of the best workers, this share of the supported ones ...
TOP = 0.25
# ... chosen and measured on random halves of the questions, so many times.
SPLITS = 20
# A percentile is among at least so many supported workers: a model like them lands at 62 on average
# with 5, because it meets exemplary answers of one worker more than each of them does.
FEWEST_FOR_PERCENTILE = 10
TOO_FEW_FOR_PERCENTILE = "fewer_than_10_supported_workers"


@dataclass(frozen=True)
class Ceiling:
    """Human ceiling: mean leave-one-out score of the best quarter of the supported workers.

    Attributes
    ----------
    score : the mean; None with `reason` where there is no supported worker.
    low, high : 95% interval over questions; None where it is undefined.
    n_workers, n_questions : how many workers a quarter is, and questions it was measured on.
    n_splits, seed : random halves of the questions, and their seed; None without a score, and in a
        run from before the best were chosen on other questions.
    """

    score: float | None
    low: float | None
    high: float | None
    n_workers: int
    n_questions: int
    reason: str | None = None
    n_splits: int | None = None
    seed: int | None = None


def find_supported_workers(cells: Cells) -> NDArray[np.bool_]:
    """Return flags of the workers with 5 or more answers to questions that 3 workers answered."""
    shared = np.repeat(cells.sizes >= FEWEST_ANSWERERS, cells.sizes)
    return np.asarray(cells.sum_by_worker(shared.astype(float)) >= FEWEST_QUESTIONS)


def number_groups(cells: Cells, among: NDArray[np.bool_] | None = None) -> Integers:
    """Return the number of each worker's connected group, 1 for the largest; 0 with one group.

    Workers of different groups share no question, not even by way of others, so that their scores
    have no common scale. A worker who shares no question is in no group (0).

    Parameters
    ----------
    among : (M,) whose answers link questions; by default all.
    """
    used = np.ones(len(cells.worker), dtype=bool) if among is None else among[cells.worker]
    _, part, _ = find_components(cells, used)
    labels, sizes = np.unique(part[part >= 0], return_counts=True)
    shared = labels[sizes > 1]
    groups = np.zeros(cells.n_workers, dtype=np.int64)
    if len(shared) > 1:
        first = {label: int(np.flatnonzero(part == label)[0]) for label in shared.tolist()}
        size = dict(zip(labels.tolist(), sizes.tolist(), strict=True))
        in_order = sorted(shared.tolist(), key=lambda label: (-size[label], first[label]))
        for number, label in enumerate(in_order, 1):
            groups[part == label] = number
    return groups


def rank_within_groups(grades: Floats, among: NDArray[np.bool_], groups: Integers) -> Integers:
    """Return each worker's competition rank within the connected group; 0 for no rank."""
    ranks = np.zeros(len(grades), dtype=np.int64)
    for group in np.unique(groups):
        ranks += compute_competition_ranks(grades, among & (groups == group))
    return ranks


def compute_competition_ranks(grades: Floats, among: NDArray[np.bool_]) -> Integers:
    """Return each worker's rank, 1 for the highest grade, tied as (1, 1, 3); 0 outside `among`.

    Only workers in `among` with a grade are ranked, and only against each other.
    """
    ranks = np.zeros(len(grades), dtype=np.int64)
    part = np.flatnonzero(among & ~np.isnan(grades))
    order = part[np.argsort(-grades[part], kind="stable")]
    # Grades that differ by the last bits are tied.
    new = np.diff(grades[order], prepend=np.inf) < -TIE
    ranks[order] = np.maximum.accumulate(np.where(new, np.arange(1, len(order) + 1), 0))
    return ranks


def compute_percentile(score: float, worker_scores: Floats) -> float | None:
    """Return the percentage of worker scores below `score`, ties counted half; None below 10.

    `worker_scores` are the leave-one-out means of supported workers on the questions of the scored
    model; NaN is left out.
    """
    known = worker_scores[~np.isnan(worker_scores)]
    if len(known) < FEWEST_FOR_PERCENTILE:
        return None
    margin = TIE * max(1.0, abs(score))
    below = np.count_nonzero(known < score - margin)
    equal = np.count_nonzero(np.abs(known - score) <= margin)
    return float(100.0 * (below + 0.5 * equal) / len(known))


def compute_worker_means(
    leave_one_out: Floats, cells: Cells, questions: NDArray[np.bool_] | None = None
) -> Floats:
    """Return each worker's mean leave-one-out score over the answers; NaN without one.

    `questions` (Q,) restricts them to some question codes.
    """
    known = ~np.isnan(leave_one_out)
    if questions is not None:
        known &= questions[cells.question]
    total = cells.sum_by_worker(np.where(known, leave_one_out, 0.0))
    count = cells.sum_by_worker(known.astype(float))
    return divide_where_positive(total, count)


def compute_human_ceiling(leave_one_out: Floats, cells: Cells, seed: int = 0) -> Ceiling:
    """Return the mean score of the best quarter of supported workers, with a 95% interval.

    The best are chosen on a random half of the questions and measured on the other half, averaged
    over 20 splits. Chosen and measured on the same answers, the luckiest of equal workers would be
    the ceiling: .065 too high for 20 of them with 10 questions. A quarter is rounded up to a whole
    worker. Only workers with a score in both halves take part in a split.

    The standard error holds the choices fixed and is that of a mean of ratios, linearised by
    question: a question's influence is the mean, over splits in which it is measured, of the best
    workers' scores on it less their means, divided by their numbers of measured questions.

    Parameters
    ----------
    leave_one_out : (answers,) NaN where undefined. seed : of the splits.
    """
    means = compute_worker_means(leave_one_out, cells)
    able = find_supported_workers(cells) & ~np.isnan(means)
    if not able.any():
        return Ceiling(None, None, None, 0, 0, "no_supported_worker")
    known = able[cells.worker] & ~np.isnan(leave_one_out)
    shape = cells.n_workers, cells.n_questions
    place = cells.worker[known], cells.question[known]
    scores = sparse.csr_array((leave_one_out[known], place), shape)
    answered = sparse.csr_array((np.ones(int(known.sum())), place), shape)
    questions = np.unique(place[1])
    rng = np.random.default_rng(seed)
    splits = []
    # A mean of NaN times no weight would be NaN.
    full_means = np.nan_to_num(means)
    weights, measured = np.zeros(cells.n_workers), np.zeros(cells.n_questions)
    influence = np.zeros(cells.n_questions)
    for _ in range(SPLITS):
        choosing = np.zeros(cells.n_questions)
        choosing[rng.permutation(questions)[: len(questions) // 2]] = 1.0
        measuring = np.zeros(cells.n_questions)
        measuring[questions] = 1.0 - choosing[questions]
        n_chosen, n_measured = answered @ choosing, answered @ measuring
        both = np.flatnonzero(able & (n_chosen > 0) & (n_measured > 0))
        if not len(both):
            continue
        first = (scores @ choosing)[both] / n_chosen[both]
        best = both[np.argsort(-first, kind="stable")[: int(np.ceil(TOP * len(both)))]]
        weights[:] = 0.0
        weights[best] = 1.0 / (n_measured[best] * len(best))
        splits.append(float(weights @ (scores @ measuring)))
        influence += measuring * (weights @ scores - (weights * full_means) @ answered)
        measured += measuring * (weights @ answered)
    if not splits:
        return Ceiling(None, None, None, 0, 0, "no_supported_worker")
    score, n = float(np.mean(splits)), int(np.count_nonzero(measured))
    influence /= len(splits)
    error = np.sqrt((influence**2).sum() * n / (n - 1)) if n > 1 else np.nan
    interval = compute_t_interval([score], [error], [n])[0]
    count = int(np.ceil(TOP * able.sum()))
    return Ceiling(score, interval.low, interval.high, count, n, interval.reason, len(splits), seed)
