"""Iteration of AQER (Yahav et al. 2025, section 4.2, algorithm 1): start, steps and history.

All steps work on D weight vectors at once: one for the run itself, or one for each bootstrap draw.
The start is in section 4.2 and appendix B.1.

Beyond the paper: question weights by discrimination, q_j = max(0, correlation over the answerers
of their score on question j with their mean score on other questions). Questions with fewer than 5
such answerers get the median of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.consensus.methods.scale import EVERYBODY, Electorate, TwoWayEffects
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers, divide_where_positive
from evaluation.core.stats.grams import Vectors


def compute_first_weights(init: str, cells: Cells, scores: ArrayLike | None, seed: int) -> Floats:
    """Return each worker's first weight by the method "equal", "random" or "entailment".

    Raises ValueError if ``init="entailment"`` lacks a score for each of N answers.
    """
    if init == "random":
        return draw_random_weights(cells.n_workers, seed)
    if init == "equal":
        return build_equal_weights(cells.n_workers)
    if scores is None:
        raise ValueError("the entailment initialisation needs initial_scores")
    of_rows = np.asarray(scores, dtype=float)
    if of_rows.shape != (len(cells),):
        raise ValueError(f"initial_scores must be one for each of {len(cells)} answers")
    return compute_weights_from_scores(of_rows, cells)


def build_equal_weights(n_workers: int) -> Floats:
    """Return the weight 1 / `n_workers` for every worker."""
    return np.full(n_workers, 1.0 / n_workers)


def draw_random_weights(n_workers: int, seed: int) -> Floats:
    """Return uniform random weights of the workers, scaled to sum to 1."""
    weights = np.random.default_rng(seed).random(n_workers)
    return np.asarray(weights / weights.sum())


def compute_weights_from_scores(scores: Floats, cells: Cells) -> Floats:
    """Return worker weights in proportion to the mean score of each worker's answers.

    Parameters
    ----------
    scores : (N,) one score a cell, in input order and not negative; for the entailment
        initialisation the mean probability that the other answers to the question entail this one
        (appendix B.1). NaN where a question has a single answer: left out of the mean.

    Notes
    -----
    Equal weights if no score is positive. A worker without a score gets weight 0.
    """
    in_cells = scores[cells.row]
    known = ~np.isnan(in_cells)
    if np.any(in_cells[known] < 0):
        raise ValueError("initial scores must not be negative")
    total = cells.sum_by_worker(np.where(known, in_cells, 0.0))
    count = cells.sum_by_worker(known.astype(float))
    mean = divide_where_positive(total, count, 0.0)
    if mean.sum() <= 0:
        return build_equal_weights(cells.n_workers)
    return np.asarray(mean / mean.sum())


FEWEST_ANSWERERS = 5


def compute_item_rest_weights(scores: Floats, times: Floats, cells: Cells) -> Floats:
    """Return question weights (questions x draws): item-rest correlations, 0 if negative.

    Parameters
    ----------
    scores : (N, D) cell scores.
    times : (N, D) how often a cell counts (0: not at all); equal within a question except for
        zeros.

    Notes
    -----
    A question on which all answerers score the same, or whose answerers all do equally well
    elsewhere, has weight 0. A worker without another question takes no part. If no question
    has enough answerers, or all q are zero, every question counts equally (1).
    """
    s = np.where(times > 0, scores, 0.0)
    total = cells.sum_by_worker(times * s)[cells.worker]
    count = cells.sum_by_worker(times)[cells.worker]
    # The rest excludes the question itself: any score correlates with a total that contains it.
    others = count - times
    part = (times > 0) & (others > 0)
    rest = np.divide(total - times * s, others, out=np.zeros_like(s), where=part)
    n = cells.sum_by_question(part.astype(float))
    x = _center_by_question(s, part, n, cells)
    y = _center_by_question(rest, part, n, cells)
    xy, xx, yy = (cells.sum_by_question(product) for product in (x * y, x * x, y * y))
    # A spread below rounding of the values themselves is no spread.
    floor_x = 1e-24 * cells.sum_by_question(np.where(part, s, 0.0) ** 2)
    floor_y = 1e-24 * cells.sum_by_question(np.where(part, rest, 0.0) ** 2)
    varied = (xx > floor_x) & (yy > floor_y)
    norm = np.sqrt(xx * yy)
    q = np.maximum(np.divide(xy, norm, out=np.zeros_like(xy), where=varied & (norm > 0)), 0.0)
    return _fill_sparse_questions(q, n >= FEWEST_ANSWERERS, cells.sum_by_question(times) > 0)


def _center_by_question(values: Floats, part: Booleans, n: Floats, cells: Cells) -> Floats:
    """Return answer scores minus their question's mean; 0 for answers that are not in `part`.

    `part` flags the answers over which the mean of each question is taken.
    """
    inside = np.where(part, values, 0.0)
    mean = divide_where_positive(cells.sum_by_question(inside), n, 0.0)
    return np.where(part, values - cells.spread_to_answers(mean), 0.0)


def _fill_sparse_questions(q: Floats, enough: Booleans, present: Booleans) -> Floats:
    """Return question weights, with the median weight for questions with too few answers.

    A column is 1 throughout where no question has enough answers or all weights are 0.
    """
    out = np.ones_like(q)
    for d in range(q.shape[1]):
        known = enough[:, d] & present[:, d]
        if not known.any():
            continue
        column = np.where(known, q[:, d], np.median(q[known, d]))
        if (column[present[:, d]] > 0).any():
            out[:, d] = column
    return out


# Iterations kept; of a longer run the first ones, where nearly all happens, and the last.
MAX_ROWS = 101
Small = NDArray[np.float32]


class IterationHistory:
    """Voting weights and grades of all workers after each recorded iteration, in float32.

    Parameters
    ----------
    start : (M,) the weights before the first iteration.
    """

    def __init__(self, start: Floats) -> None:
        nothing = np.full(len(start), np.nan, dtype=np.float32)
        self._rows: list[tuple[Small, Small]] = [(start.astype(np.float32), nothing)]
        self._last = self._rows[0]
        self._n = 0

    def add_iteration(self, weights: Floats, grades: Floats) -> None:
        """Append the weights and grades after one more iteration (their first columns)."""
        self._n += 1
        self._last = (weights[:, 0].astype(np.float32), grades[:, 0].astype(np.float32))
        # A long run records its first iterations and the last one, which bounds memory and storage.
        if len(self._rows) < MAX_ROWS - 1:
            self._rows.append(self._last)

    def spread_to_members(self, unit: Integers) -> IterationHistory:
        """Return the history of each worker, from this history of voting units.

        A unit is one worker or a group of workers with one vote.

        `unit` (M,) is the code of each worker's unit; -1 for a worker without a vote, who has
        weight 0 and no grade. The members of a unit have equal shares of its weight.
        """
        size = np.bincount(unit[unit >= 0], minlength=len(self._last[0]))

        def spread(row: tuple[Small, Small]) -> tuple[Small, Small]:
            """Return weights and grades per worker; members share their unit's weight equally."""
            weights, grades = row
            share = (weights / np.maximum(size, 1))[unit]
            nothing = unit < 0
            return (
                np.where(nothing, 0, share).astype(np.float32),
                np.where(nothing, np.nan, grades[unit]).astype(np.float32),
            )

        out = copy(self)
        out._rows, out._last = [spread(row) for row in self._rows], spread(self._last)
        return out

    @property
    def iterations(self) -> list[int]:
        """Numbers of the recorded iterations: 0 for the start, 1, 2, ..., and always the last."""
        indices = list(range(len(self._rows)))
        return indices if self._n == indices[-1] else [*indices, self._n]

    @property
    def weights(self) -> Small:
        """Voting weights, one row per recorded iteration and one column per worker."""
        return np.stack([weights for weights, _ in self._list_recorded()])

    @property
    def grades(self) -> Small:
        """Grades from 0 to 1, one row per recorded iteration; NaN at the start and if undefined."""
        return np.stack([grades for _, grades in self._list_recorded()])

    def _list_recorded(self) -> list[tuple[Small, Small]]:
        """Return (weights, grades) of each recorded iteration, the last one included."""
        return self._rows if self._n == len(self._rows) - 1 else [*self._rows, self._last]


# Raw scores that differ by less than this, relative to their size, are equal.
NO_SPREAD = 1e-12


class Vote(Protocol):
    """Protocol of a voting rule that computes exemplary answers from weighted answers."""

    @property
    def cells(self) -> Cells:
        """Worker and question codes of the answers, grouped by question."""
        ...

    def compute_similarities(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return each answer's similarity to its exemplary answer; a column per set of weights."""
        ...

    def compute_exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return one exemplary answer vector per question, in the order of question codes."""
        ...

    def compute_dispersions(self, weights: Floats) -> Floats:
        """Return the dispersion of each question's answers; 0 where all answers agree."""
        ...


@dataclass(frozen=True)
class IterationRules:
    """Options of the iteration and its stopping rule, named as in `AQER`."""

    leave_one_out: bool
    difficulty: bool
    discrimination: bool
    stopping: str
    tolerance: float
    max_iterations: int
    electorate: Electorate = EVERYBODY

    def find_usable_cells(self, cells: Cells) -> NDArray[np.bool_]:
        """Return flags of the answers to use; leave-one-out skips the only one to a question."""
        if self.leave_one_out:
            return ~cells.alone
        left_out = self.electorate.left_out
        if left_out is None:
            return np.ones(len(cells), dtype=bool)
        return ~(cells.alone & left_out[cells.worker])


class WorkerMeans:
    """Raw scores of workers from answer scores: plain, difficulty-adjusted or weighted means.

    Parameters
    ----------
    cells : the answered cells.
    rules : selects the two adjustments; under leave-one-out a question's only answer has no score
        and is not used.
    times : (N, D) how often each cell counts; None for once each (D = 1).
    """

    def __init__(self, cells: Cells, rules: IterationRules, times: Floats | None = None) -> None:
        self.cells, self.rules = cells, rules
        usable = rules.find_usable_cells(cells)
        self.times = usable[:, None] * (np.ones((len(cells), 1)) if times is None else times)
        # The plain mean over all cells needs no weights.
        self._once = times is None and bool(usable.all()) and not rules.discrimination
        self._effects = (
            [TwoWayEffects(cells, column) for column in self.times.T] if rules.difficulty else None
        )

    def select_columns(self, columns: NDArray[np.int64]) -> WorkerMeans:
        """Return a copy for only the bootstrap draws (columns) of these indices."""
        # Without `__init__`, which would factorise every `TwoWayEffects` again.
        chosen = object.__new__(WorkerMeans)
        chosen.cells, chosen.rules = self.cells, self.rules
        chosen.times = self.times[:, columns]
        chosen._once = self._once
        chosen._effects = self._effects and [self._effects[d] for d in columns]
        return chosen

    def compute_adjusted_scores(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return answer scores minus question effects, and answer weights; a column per draw."""
        s, _, q = self._compute_terms(scores)
        return s, self.times if q is None else self.times * self.cells.spread_to_answers(q)

    def compute_question_effects(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the effect and the weight of each question, one column per draw.

        Both have shape (Q, D), in code order; without adjustments effects are 0 and weights 1.
        """
        _, effects, q = self._compute_terms(scores)
        shape = (self.cells.n_questions, scores.shape[1])
        return (
            np.zeros(shape) if effects is None else effects,
            np.ones(shape) if q is None else self.cells.to_questions(q),
        )

    def _compute_terms(self, scores: Floats) -> tuple[Floats, Floats | None, Floats | None]:
        """Return adjusted answer scores, question effects and question weights; column per draw.

        Effects or weights are None if their switch is off.
        """
        s = scores.copy() if self._once else np.where(self.times > 0, scores, 0.0)
        effect_table = None
        if self._effects is not None:
            effect_table = np.empty((self.cells.n_questions, s.shape[1]))
            for d, effects in enumerate(self._effects):
                effect_table[:, d] = effects.estimate_question_effects(s[:, d])
                s[:, d] -= effect_table[self.cells.question, d]
        q = (
            compute_item_rest_weights(s, self.times, self.cells)
            if self.rules.discrimination
            else None
        )
        return s, effect_table, q

    def compute_raw(self, scores: Floats) -> Floats:
        """Return raw scores (workers x draws), means of answer scores; NaN without an answer."""
        s, weight = self.compute_adjusted_scores(scores)
        if self._once:
            return self.cells.sum_by_worker(s) / self.cells.answers_of_worker[:, None]
        total, count = self.cells.sum_by_worker(weight * s), self.cells.sum_by_worker(weight)
        return divide_where_positive(total, count)


@dataclass(frozen=True)
class FixedPoint:
    """Result of the AQER iteration, with one column for each starting column of weights.

    Attributes
    ----------
    raw, grades : (M, D) raw scores and grades of the last iteration; NaN where undefined.
    weights : (M, D) voting weights after the last iteration; previous : those that produced `raw`.
    trace : for each column the RMSE between successive weights, one per iteration.
    converged : (D,) whether the stopping rule was met before the iterations ran out.
    """

    raw: Floats
    grades: Floats
    weights: Floats
    previous: Floats
    trace: list[list[float]]
    converged: NDArray[np.bool_]


def scale_to_grades(raw: Floats, present: NDArray[np.bool_] | None = None) -> Floats:
    """Return grades (workers x draws): raw scores scaled to 0..1 by column; 1 if all are equal.

    `present` (M, D) flags the workers who set the minimum and the maximum (default: all with a raw
    score); grades of the others are clipped to 0..1.
    """
    part = raw if present is None else np.where(present, raw, np.nan)
    # NaN without any such worker; `varied` is then false.
    low, high = np.fmin.reduce(part, axis=0), np.fmax.reduce(part, axis=0)
    spread = high - low
    rounding = NO_SPREAD * np.maximum(1.0, np.abs(high))
    varied = spread > rounding
    # All workers tied for the lowest get 0. A weight of rounding would make one of them the only
    # voter where they are by themselves, instead of letting them count equally.
    above = raw - low
    above = np.where(above <= rounding, 0.0, above)
    grades = (above / np.where(varied, spread, 1.0)).clip(0.0, 1.0)
    return np.where(varied, grades, np.where(np.isnan(raw), np.nan, 1.0))


def iterate_to_fixed_point(
    vote: Vote,
    start: Floats,
    means: WorkerMeans,
    copies: Floats | None = None,
    watch: Callable[[Floats, Floats], None] | None = None,
) -> FixedPoint:
    """Return the weights, raw scores and grades after iterating from `start` to convergence.

    Each column of `start` (workers x draws) stops when it converges or the iterations run out.

    Parameters
    ----------
    copies : (M, D) how often each worker votes (bootstrap of workers); None for once each.
    watch : called after every iteration with the weights and grades of unconverged columns.
    """
    rules = means.rules
    electorate = rules.electorate
    m, columns = start.shape
    nothing = np.full((m, columns), np.nan)
    rest = FixedPoint(
        nothing,
        nothing.copy(),
        np.empty((m, columns)),
        np.empty((m, columns)),
        [],
        np.zeros(columns, bool),
    )
    rest.trace.extend([] for _ in range(columns))
    # RMSE of weights shrinks like 1/M: the paper's rule stops a run of many workers after one or
    # two iterations.
    scale = m if rules.stopping == "relative" else 1
    # Columns that have come to rest are written down and worked on no more.
    active = np.arange(columns)
    weights = start.astype(float)
    for rounds_left in reversed(range(rules.max_iterations)):
        votes = weights if copies is None else weights * copies
        raw = means.compute_raw(vote.compute_similarities(votes, leave_one_out=rules.leave_one_out))
        grades = scale_to_grades(raw, electorate.find_scale_setting_workers(copies))
        previous, weights = weights, electorate.compute_weights(grades, copies)
        if watch is not None:
            watch(weights, grades)
        step = weights - previous
        rmse = np.sqrt(np.einsum("md,md->d", step, step) / m)
        for d, value in zip(active.tolist(), rmse.tolist(), strict=True):
            rest.trace[d].append(value)
        rests = scale * rmse < rules.tolerance
        ends = rests if rounds_left else np.ones_like(rests)
        if not ends.any():
            continue
        rest.converged[active[rests]] = True
        for column, values in (
            (rest.raw, raw),
            (rest.grades, grades),
            (rest.weights, weights),
            (rest.previous, previous),
        ):
            column[:, active[ends]] = values[:, ends]
        if ends.all():
            break
        going = np.flatnonzero(~ends)
        means, active, weights = means.select_columns(going), active[going], weights[:, going]
        copies = None if copies is None else copies[:, going]
    return rest
