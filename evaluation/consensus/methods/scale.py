"""The scale of scores: electorate, additive effects, ranks, percentiles and human ceiling.

Electorate: which workers vote, the weight cap, and whose scores set the scale of grades. All
workers vote alike in the published method; the remedies against copiers and outliers change this.

Additive effects: s_ij = mu + a_i + b_j by least squares. `mu + a_i` is a worker's mean score
without the question effects b_j, so that hard questions do not lower it. Question effects sum to
zero within each connected component of the worker-question graph; several components have no
common scale.

Workers and models on one scale: all comparisons use leave-one-out worker scores, because a worker
has a share in its own exemplary answers and a model has none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg

from evaluation.consensus.methods.percentiles import TIE
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers, divide_where_positive
from evaluation.core.stats.inference.intervals import compute_t_interval

# A weight above the cap by less than this share of it is at the cap.
ROUNDING = 1e-12


class RemedyError(ValueError):
    """Error for an option against copiers or outliers that cannot be applied to these workers.

    Attributes
    ----------
    code, values : message code and values, see `evaluation.grading.remedies.messages`.
    """

    def __init__(self, code: str, **values: float) -> None:
        self.code, self.values = code, values
        settings = ", ".join(f"{name} {value:g}" for name, value in values.items())
        super().__init__(f"{code}: {settings}" if settings else code)


@dataclass(frozen=True)
class Electorate:
    """Voting rules of the workers: who votes, with which factor, cap and first weight.

    Attributes
    ----------
    factor : (M,) multiplies the grade in the vote; 0 for no vote.
    on_scale : (M,) whether a worker's raw score may set the minimum or maximum of the scale; grades
        of the other workers are clipped to 0..1.
    left_out : (M,) whether a worker is always compared with the exemplary answer of the others.
    start : (M,) first weights; None for those of the initialisation.
    cap : largest voting weight; None for no limit.
    """

    factor: Floats | None = None
    on_scale: Booleans | None = None
    left_out: Booleans | None = None
    start: Floats | None = None
    cap: float | None = None

    def set_weight_cap(self, cap: float, n_workers: int) -> Electorate:
        """Return a copy with a largest voting weight; raise RemedyError if it is below 1/voters."""
        voters = n_workers if self.factor is None else int(np.count_nonzero(self.factor))
        if cap * voters < 1.0 - ROUNDING:
            # Rounded up: a suggestion that was rounded down would be refused again.
            lowest = float(np.ceil(1e4 / voters) / 1e4)
            raise RemedyError("cap_too_low", cap=cap, voters=voters, lowest=lowest)
        return replace(self, cap=cap)

    def find_scale_setting_workers(self, copies: Floats | None) -> Booleans | None:
        """Return flags of workers whose raw scores set the scale of grades; None for all workers.

        Shape: workers x draws.
        """
        present = None if copies is None else copies > 0
        if self.on_scale is None:
            return present
        scale = self.on_scale[:, None]
        return scale if present is None else present & scale

    def compute_weights(self, grades: Floats, copies: Floats | None) -> Floats:
        """Return voting weights (workers x draws) from grades; they sum to 1 over all copies.

        Parameters
        ----------
        grades : (M, D), NaN for no vote. copies : (M, D) how often each worker votes.

        Notes
        -----
        Where no voter has a grade above 0, the voters have weights by their factors.
        """
        known = ~np.isnan(grades)
        share = np.where(known, grades, 0.0)
        times = 1.0 if copies is None else copies
        if self.factor is not None:
            allowed = np.where(known, self.factor[:, None], 0.0)
            share = share * self.factor[:, None]
            share = np.where((share * times).sum(axis=0) > 0, share, allowed)
        total = (share * times).sum(axis=0)
        weights = share / np.where(total > 0, total, 1.0)
        if self.cap is None:
            return weights
        able = known if self.factor is None else known & (self.factor > 0)[:, None]
        return cap_weights(weights, self.cap, able, copies)


EVERYBODY = Electorate()


def cap_weights(
    weights: Floats, cap: float, able: Booleans | None = None, copies: Floats | None = None
) -> Floats:
    """Return voting weights cut at `cap`; other workers share the excess in proportion.

    Repeated until no weight exceeds `cap`: the result is min(cap, c w) with c such that the sum is
    1. If all positive weights are at the cap, workers of weight 0 share the rest equally.

    Parameters
    ----------
    weights : (M, D), not negative, summing to 1 over the copies.
    able : (M, D) whether a worker may get a share of the excess; None for all workers.
    copies : (M, D) how often each worker votes; None for once.

    Notes
    -----
    The sum stays below 1 where the cap times the number of voters is, as in a crowd of which most
    have no raw score.
    """
    times = np.ones_like(weights) if copies is None else copies
    able = np.ones(weights.shape, dtype=bool) if able is None else able
    out, full = weights, np.zeros(weights.shape, dtype=bool)
    # Ends, because each round puts at least one more worker at the cap.
    while (over := out > cap * (1 + ROUNDING)).any():
        full |= over
        rest = np.maximum(1.0 - cap * (times * full).sum(axis=0), 0.0)
        share = np.where(full, 0.0, weights)
        share = np.where((times * share).sum(axis=0) > 0, share, 1.0 * (able & ~full))
        total = (times * share).sum(axis=0)
        out = np.where(full, cap, share * (rest / np.where(total > 0, total, 1.0)))
    return out


# Up to this many unknowns the normal equations are solved by a dense pseudo-inverse, made once.
DENSE = 400


def find_components(cells: Cells, used: NDArray[np.bool_]) -> tuple[int, Integers, Integers]:
    """Return the number of connected components, and the one of each worker and question.

    Workers and questions are connected by the used answers.

    Returns
    -------
    count : components that hold at least one used cell.
    of_worker : (M,) component of each worker, -1 without a used cell.
    of_question : (Q,) component of each question code, -1 without a used cell.
    """
    worker, question = cells.worker[used], cells.question[used]
    n = cells.n_workers + cells.n_questions
    graph = sparse.coo_array(
        (np.ones(len(worker)), (worker, cells.n_workers + question)), shape=(n, n)
    )
    _, labels = connected_components(graph, directed=False)
    # scipy counts every node without a used cell as a component of its own: these are left out.
    seen, label = np.unique(labels[worker], return_inverse=True)
    of_worker = np.full(cells.n_workers, -1, dtype=np.int64)
    of_question = np.full(cells.n_questions, -1, dtype=np.int64)
    of_worker[worker] = label
    of_question[question] = label
    return len(seen), of_worker, of_question


@dataclass
class TwoWayEffects:
    """Least-squares fit of worker and question effects: s = mu + a_worker + b_question.

    Parameters
    ----------
    cells : the answered cells.
    cell_weight : (N,) not negative; 0 leaves a cell out, a bootstrap multiplicity counts it
        repeatedly. It must not differ between the cells of a question, except for zeros.
    """

    cells: Cells
    cell_weight: Floats

    def __post_init__(self) -> None:
        """Prepare the equations: eliminate workers or questions, whichever are more."""
        cells, omega = self.cells, self.cell_weight
        used = omega > 0
        _, _, of_question = find_components(cells, used)
        self._used = used
        self._component = of_question
        # The unknowns are the smaller side; the other side follows from them.
        self._workers_left = cells.n_workers <= cells.n_questions
        left, right = cells.worker[used], cells.question[used]
        if not self._workers_left:
            left, right = right, left
        n_left = min(cells.n_workers, cells.n_questions)
        n_right = max(cells.n_workers, cells.n_questions)
        self._left, self._right = left, right
        self._incidence = sparse.csr_array((omega[used], (left, right)), shape=(n_left, n_right))
        self._left_degree = np.asarray(self._incidence.sum(axis=1))
        right_degree = np.asarray(self._incidence.sum(axis=0))
        self._inverse_right = divide_where_positive(1.0, right_degree, 0.0)
        self._inverse: Floats | None = None
        # The Laplacian is singular by one dimension a component: the pseudo-inverse fixes it.
        if n_left <= DENSE:
            scaled = self._incidence.multiply(self._inverse_right[None, :])
            multiply_laplacian = np.diag(self._left_degree) - (scaled @ self._incidence.T).toarray()
            self._inverse = np.linalg.pinv(multiply_laplacian, hermitian=True)
        self._start = np.zeros(n_left)

    def estimate_question_effects(self, scores: Floats) -> Floats:
        """Return the effect of each question on the answers' scores; 0 for an unused question."""
        s, omega = scores[self._used], self.cell_weight[self._used]
        right_mean = self._inverse_right * np.bincount(
            self._right, weights=omega * s, minlength=len(self._inverse_right)
        )
        residual = omega * (s - right_mean[self._right])
        target = np.bincount(self._left, weights=residual, minlength=len(self._left_degree)).astype(
            np.float64, copy=False
        )
        left = self._solve_effects(target)
        right = right_mean - self._inverse_right * (left @ self._incidence)
        effects = right if self._workers_left else left
        return self._center_by_component(np.asarray(effects))

    def _solve_effects(self, target: Floats) -> Floats:
        """Return the effects of the smaller side (workers or questions), from its score sums."""
        if self._inverse is not None:
            return np.asarray(self._inverse @ target)
        n = len(target)

        def multiply_laplacian(x: Floats) -> Floats:
            """Return the product of the Laplacian of the smaller side with a vector."""
            x = x.ravel()
            return np.asarray(
                self._left_degree * x
                - self._incidence @ (self._inverse_right * (x @ self._incidence))
            )

        degree = np.where(self._left_degree > 0, self._left_degree, 1.0)
        solution, _ = cg(
            LinearOperator((n, n), matvec=multiply_laplacian, dtype=np.float64),
            target,
            x0=self._start,
            rtol=1e-12,
            atol=0.0,
            maxiter=10_000,
            M=LinearOperator((n, n), matvec=lambda x: x.ravel() / degree, dtype=np.float64),
        )
        # Scores change little from one iteration to the next, so the last solution is a good start.
        self._start = solution
        return np.asarray(solution)

    def _center_by_component(self, effects: Floats) -> Floats:
        """Return the effects minus their mean within each connected component."""
        inside = self._component >= 0
        part = self._component[inside]
        # A question drawn c times counts c times in the sum of its component.
        times = np.zeros(self.cells.n_questions)
        times[self.cells.question[self._used]] = self.cell_weight[self._used]
        total = np.bincount(part, weights=(times * effects)[inside])
        weight = np.bincount(part, weights=times[inside])
        out = np.zeros_like(effects)
        out[inside] = effects[inside] - (total / weight)[part]
        return out


# A worker is supported by answers to at least this many questions ...
FEWEST_QUESTIONS = 5
# ... that at least this many workers answered.
FEWEST_ANSWERERS = 3
# The human ceiling is the mean of the best workers, this share of the supported ones ...
TOP = 0.25
# ... chosen and measured on random halves of the questions, so many times.
SPLITS = 20
TOO_FEW_FOR_PERCENTILE = "fewer_than_10_supported_workers"


@dataclass(frozen=True)
class Ceiling:
    """Human ceiling: mean leave-one-out score of the best quarter of the supported workers.

    Attributes
    ----------
    score : the mean; None with `reason` where there is no supported worker.
    low, high : 95% interval over questions; None where it is undefined.
    n_workers, n_questions : number of workers in the best quarter, and of questions on which they
        were measured.
    n_splits, seed : number of random halves of the questions, and their seed; None without a score,
        and in older runs, which chose the best workers on the same questions.
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
    """Return flags of workers with 5 or more answers to questions that 3 or more answered."""
    shared = np.repeat(cells.sizes >= FEWEST_ANSWERERS, cells.sizes)
    return np.asarray(cells.sum_by_worker(shared.astype(float)) >= FEWEST_QUESTIONS)


def number_connected_groups(cells: Cells, among: NDArray[np.bool_] | None = None) -> Integers:
    """Return each worker's group of connected workers, 1 for the largest; 0 with one group.

    Workers of different groups share no question, not even through other workers: their scores
    have no common scale. A worker who shares no question is in no group (0).

    Parameters
    ----------
    among : (M,) whether a worker's answers link questions; by default all.
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
    """Return each worker's rank within its group of connected workers; 0 for an unranked one."""
    ranks = np.zeros(len(grades), dtype=np.int64)
    for group in np.unique(groups):
        ranks += compute_competition_ranks(grades, among & (groups == group))
    return ranks


def compute_competition_ranks(grades: Floats, among: NDArray[np.bool_]) -> Integers:
    """Return each worker's rank, 1 for the highest grade, ties as (1, 1, 3); 0 if unranked.

    Only workers in `among` with a grade are ranked, and only against each other.
    """
    ranks = np.zeros(len(grades), dtype=np.int64)
    part = np.flatnonzero(among & ~np.isnan(grades))
    order = part[np.argsort(-grades[part], kind="stable")]
    # Grades that differ by the last bits are tied.
    # prepend=inf makes the best grade a new rank.
    new = np.diff(grades[order], prepend=np.inf) < -TIE
    ranks[order] = np.maximum.accumulate(np.where(new, np.arange(1, len(order) + 1), 0))
    return ranks


def compute_worker_means(
    leave_one_out: Floats, cells: Cells, questions: NDArray[np.bool_] | None = None
) -> Floats:
    """Return each worker's mean leave-one-out score over its answers; NaN without one.

    `questions` (Q,) restricts them to some question codes.
    """
    known = ~np.isnan(leave_one_out)
    if questions is not None:
        known &= questions[cells.question]
    total = cells.sum_by_worker(np.where(known, leave_one_out, 0.0))
    count = cells.sum_by_worker(known.astype(float))
    return divide_where_positive(total, count)


def compute_human_ceiling(leave_one_out: Floats, cells: Cells, seed: int = 0) -> Ceiling:
    """Return the human ceiling: the best supported workers' mean score, with a 95% interval.

    The best are a quarter of the workers.

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
    # n / (n - 1), because squared deviations from estimated means are too small by that share.
    error = np.sqrt((influence**2).sum() * n / (n - 1)) if n > 1 else np.nan
    interval = compute_t_interval([score], [error], [n])[0]
    count = int(np.ceil(TOP * able.sum()))
    return Ceiling(score, interval.low, interval.high, count, n, interval.reason, len(splits), seed)
