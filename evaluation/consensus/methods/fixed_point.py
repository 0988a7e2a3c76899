"""Iteration of AQER: exemplary answers -> scores -> grades -> voting weights, to convergence.

Written for D weight vectors at once, one for the run itself or one for each bootstrap draw.
(Yahav et al. 2025, section 4.2, algorithm 1.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.methods.discrimination import compute_item_rest_weights
from evaluation.consensus.methods.effects import TwoWayEffects
from evaluation.consensus.methods.electorate import EVERYBODY, Electorate
from evaluation.core.stats.cells import Cells, Floats
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.undefined import divide_where_positive

# Raw scores that differ by less than this, relative to their size, are equal.
NO_SPREAD = 1e-12


class Vote(Protocol):
    """Rule that turns weighted answers into exemplary answers: `MeanVote` or `MajorityVote`."""

    @property
    def cells(self) -> Cells:
        """Worker and question codes of the answers."""
        ...

    def similarity(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return each answer's similarity to its exemplary answer, one column per weighting."""
        ...

    def exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return one exemplary answer per question, as rows in code order."""
        ...

    def dispersion(self, weights: Floats) -> Floats:
        """Return one dispersion per question, in code order; 0 where all answers agree."""
        ...


@dataclass(frozen=True)
class Rules:
    """Switches of one iteration and the stopping rule; names as in `AQER`."""

    leave_one_out: bool
    difficulty: bool
    discrimination: bool
    stopping: str
    tolerance: float
    max_iterations: int
    electorate: Electorate = EVERYBODY

    def find_usable_cells(self, cells: Cells) -> NDArray[np.bool_]:
        """Return a flag per answer: false for a question's only answer if left out of the vote."""
        if self.leave_one_out:
            return ~cells.alone
        left_out = self.electorate.left_out
        if left_out is None:
            return np.ones(len(cells), dtype=bool)
        return ~(cells.alone & left_out[cells.worker])


class WorkerMeans:
    """Workers' raw scores from cell scores: plain, difficulty-adjusted or question-weighted means.

    Parameters
    ----------
    cells : the answered cells.
    rules : which of the two adjustments are on; under leave-one-out a question's only answer
        has no score and takes no part.
    times : (N, D) how often each cell counts; None for once each (D = 1).
    """

    def __init__(self, cells: Cells, rules: Rules, times: Floats | None = None) -> None:
        self.cells, self.rules = cells, rules
        usable = rules.find_usable_cells(cells)
        self.times = usable[:, None] * (np.ones((len(cells), 1)) if times is None else times)
        # The plain mean over all cells needs no weights.
        self._once = times is None and bool(usable.all()) and not rules.discrimination
        self._effects = (
            [TwoWayEffects(cells, column) for column in self.times.T] if rules.difficulty else None
        )

    def select_columns(self, columns: NDArray[np.int64]) -> WorkerMeans:
        """Return a copy with only the columns (draws) of these indices."""
        chosen = object.__new__(WorkerMeans)
        chosen.cells, chosen.rules = self.cells, self.rules
        chosen.times = self.times[:, columns]
        chosen._once = self._once
        chosen._effects = self._effects and [self._effects[d] for d in columns]
        return chosen

    def compute_adjusted_scores(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return answer scores less question effects, and the answers' weights.

        One column per draw.
        """
        s, _, q = self._compute_terms(scores)
        return s, self.times if q is None else self.times * self.cells.spread(q)

    def of_questions(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the effect and the weight of each question in code order, one column per draw.

        Both (Q, D) in code order: zeros and ones without the two adjustments.
        """
        _, effects, q = self._compute_terms(scores)
        shape = (self.cells.n_questions, scores.shape[1])
        return (
            np.zeros(shape) if effects is None else effects,
            np.ones(shape) if q is None else self.cells.to_questions(q),
        )

    def _compute_terms(self, scores: Floats) -> tuple[Floats, Floats | None, Floats | None]:
        """Return adjusted answer scores, question effects, and answer weights.

        One column per draw.
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

    def raw(self, scores: Floats) -> Floats:
        """Return raw scores, workers x draws: weighted means of answer scores.

        NaN without answers.
        """
        s, weight = self.compute_adjusted_scores(scores)
        if self._once:
            return self.cells.sum_by_worker(s) / self.cells.answers_of_worker[:, None]
        total, count = self.cells.sum_by_worker(weight * s), self.cells.sum_by_worker(weight)
        return divide_where_positive(total, count)


@dataclass(frozen=True)
class FixedPoint:
    """Result of the iteration, with one column for each starting column of weights.

    Attributes
    ----------
    raw, grades : (M, D) of the last iteration; NaN where undefined.
    weights : (M, D) voting weights after it; `previous` those that produced `raw`.
    trace : for each column the RMSE between successive weights, one an iteration.
    converged : (D,) whether the stopping rule was met before the iterations ran out.
    """

    raw: Floats
    grades: Floats
    weights: Floats
    previous: Floats
    trace: list[list[float]]
    converged: NDArray[np.bool_]


def scale_to_grades(raw: Floats, present: NDArray[np.bool_] | None = None) -> Floats:
    """Return grades, workers x draws: raw scores min-max scaled by column, 1 where all are equal.

    `present` (M, D) says who takes part in the minimum and the maximum (default: who has a raw
    score); grades of others are clipped to 0..1.
    """
    part = raw if present is None else np.where(present, raw, np.nan)
    # NaN where nobody takes part, which then is no spread either.
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


def iterate(
    vote: Vote,
    start: Floats,
    means: WorkerMeans,
    copies: Floats | None = None,
    watch: Callable[[Floats, Floats], None] | None = None,
) -> FixedPoint:
    """Iterate from weights `start` (workers x draws) until each column converges or is stopped.

    Parameters
    ----------
    copies : (M, D) how often each worker votes (bootstrap of workers); None for once each.
    watch : called after every iteration with the weights and grades of the columns still moving.
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
    scale = m if rules.stopping == "relative" else 1
    # Columns that have come to rest are written down and worked on no more.
    active = np.arange(columns)
    weights = start.astype(float)
    for rounds_left in reversed(range(rules.max_iterations)):
        votes = weights if copies is None else weights * copies
        raw = means.raw(vote.similarity(votes, leave_one_out=rules.leave_one_out))
        grades = scale_to_grades(raw, electorate.find_scaling_workers(copies))
        previous, weights = weights, electorate.weights(grades, copies)
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
