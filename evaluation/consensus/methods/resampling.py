"""Bootstrap draws of questions and workers, and the intervals of mean scores from them.

Intervals of mean scores, from bootstrap draws or in closed form, and their map to grades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.methods.fixed_point import (
    FixedPoint,
    IterationRules,
    Vote,
    WorkerMeans,
    iterate_to_fixed_point,
    scale_to_grades,
)
from evaluation.core.stats.cells import Cells, Floats, divide_where_positive
from evaluation.core.stats.inference.intervals import (
    compute_bootstrap_t_interval,
    compute_widened_percentile_interval,
)

Progress = Callable[[int, int], None]

# Numbers in one working array (cells x draws): bounds the memory of a large run.
AT_ONCE = 2_000_000


Streams = tuple[np.random.Generator, np.random.Generator]


@dataclass(frozen=True)
class Draws:
    """Seeded bootstrap draws of questions, and of workers if asked; the same at each iteration.

    Attributes
    ----------
    n_draws : number of draws.
    workers : whether workers are resampled as well, as multiplicities.
    """

    cells: Cells
    n_draws: int
    seed: int
    workers: bool = False

    @cached_property
    def chunks(self) -> list[slice]:
        """Slices of draw numbers that are computed at once, in order."""
        step = max(1, AT_ONCE // max(len(self.cells), self.cells.n_questions, self.cells.n_workers))
        return [
            slice(begin, min(begin + step, self.n_draws)) for begin in range(0, self.n_draws, step)
        ]

    def open_streams(self) -> Streams:
        """Return two new random generators: one to draw questions, one to draw workers.

        Questions and workers have a stream each, so that neither the size of a chunk nor the
        resampling of workers changes which questions are drawn.
        """
        for_questions, for_workers = np.random.default_rng(self.seed).spawn(2)
        return for_questions, for_workers

    def draw_next(self, columns: slice, streams: Streams) -> tuple[Floats, Floats | None]:
        """Return the next draws: how often each question is drawn, and each worker (or None).

        They are taken from the random generators `streams`, as many as `columns` has.
        """
        for_questions, for_workers = streams
        q, m, count = self.cells.n_questions, self.cells.n_workers, columns.stop - columns.start
        # Multiplicities in place of drawn questions: no answer is copied.
        times = for_questions.multinomial(q, np.full(q, 1.0 / q), size=count).T.astype(float)
        if not self.workers:
            return times, None
        return times, for_workers.multinomial(m, np.full(m, 1.0 / m), size=count).T.astype(float)

    def __iter__(self) -> Iterator[tuple[slice, Floats, Floats | None]]:
        """Yield chunks of draws: column slice, copies of each question, copies of each worker."""
        streams = self.open_streams()
        for columns in self.chunks:
            yield columns, *self.draw_next(columns, streams)


@dataclass(frozen=True)
class DrawnVotes:
    """Bootstrap draws of a run together with each worker's voting weight in every draw.

    Attributes
    ----------
    votes : (M, n_draws), times the copies of a worker.
    """

    draws: Draws
    votes: Floats

    def __iter__(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield chunks of draws: column slice, copies of each question, worker weights."""
        for columns, times, _ in self.draws:
            yield columns, times, self.votes[:, columns]


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap of a vote, in chunks of draws that any process can compute identically.

    Attributes
    ----------
    start : (M,) weights that every draw starts from, the run's own.
    """

    vote: Vote
    start: Floats
    rules: IterationRules
    draws: Draws
    _streams: list[Streams] = field(default_factory=list, init=False, compare=False, repr=False)

    def compute_chunk(self, number: int) -> tuple[Floats, Floats]:
        """Return raw scores and voting weights (workers x draws) of the chunk with this number."""
        if not self._streams:
            self._streams.append(self.draws.open_streams())
        # The streams as they are at the beginning of each chunk, so that no number is drawn more
        # than twice, in whatever order the chunks are computed.
        for before in range(len(self._streams) - 1, number):
            streams = deepcopy(self._streams[before])
            self.draws.draw_next(self.draws.chunks[before], streams)
            self._streams.append(streams)
        streams = deepcopy(self._streams[number])
        times, copies = self.draws.draw_next(self.draws.chunks[number], streams)
        if len(self._streams) == number + 1:
            self._streams.append(streams)
        cells = self.vote.cells
        of_cells = times[cells.question]
        initial = np.repeat(self.start[:, None], of_cells.shape[1], axis=1)
        rest = iterate_to_fixed_point(
            self.vote, initial, WorkerMeans(cells, self.rules, of_cells), copies
        )
        return rest.raw, rest.weights if copies is None else rest.weights * copies


class DrawStore(Protocol):
    """Protocol of a store of bootstrap draws, from which an interrupted bootstrap continues."""

    def begin_bootstrap(self, bootstrap: Bootstrap) -> None:
        """Prepare to store the draws of a bootstrap; may raise to have them computed elsewhere."""
        ...

    def read_stored_draws(self) -> tuple[Floats, Floats] | None:
        """Return stored raw scores and votes (workers x draws) of the first draws; None without."""
        ...

    def store_draws(self, raw: Floats, votes: Floats) -> None:
        """Store the raw scores and votes (workers x draws) of all draws so far.

        May raise an exception, which ends the bootstrap.
        """
        ...


def compute_bootstrap_draws(
    vote: Vote,
    start: Floats,
    rules: IterationRules,
    draws: Draws,
    progress: Progress | None = None,
    draw_store: DrawStore | None = None,
) -> tuple[Floats, Floats]:
    """Return raw scores and voting weights (workers x draws), re-estimated in each draw.

    Parameters
    ----------
    start : (M,) weights that every draw starts from, the run's own.
    draw_store : store of draws: earlier ones of the same run are not computed again, new ones are
        added.

    Returns
    -------
    raw : (M, n_draws) raw scores; NaN where a draw holds no question of the worker.
    votes : (M, n_draws) voting weights times the copies of a worker.
    """
    bootstrap = Bootstrap(vote, start, rules, draws)
    raw = np.empty((vote.cells.n_workers, draws.n_draws))
    votes = np.empty_like(raw)
    known = 0
    if draw_store is not None:
        draw_store.begin_bootstrap(bootstrap)
        if (earlier := draw_store.read_stored_draws()) is not None:
            known = earlier[0].shape[1]
            raw[:, :known], votes[:, :known] = earlier
    for number, columns in enumerate(draws.chunks):
        # The seeded draws are the same every time, so a stored chunk replaces its computation.
        if columns.stop <= known:
            continue
        raw[:, columns], votes[:, columns] = bootstrap.compute_chunk(number)
        if progress is not None:
            progress(columns.stop, draws.n_draws)
        if draw_store is not None:
            draw_store.store_draws(raw[:, : columns.stop], votes[:, : columns.stop])
    return raw, votes


# A weighted mean of cosines may be this much above 1.
ROUNDING = 1e-9


def compute_score_intervals(
    estimate: Floats, drawn: Floats, n: NDArray[np.integer], *, leave_one_out: bool, cosine: bool
) -> tuple[Floats, Floats, list[str | None]]:
    """Return both ends of each mean score's 95% interval, and the reasons where they are NaN.

    Parameters
    ----------
    estimate : (k,) scores of the run; NaN for none.
    drawn : (k, n_draws) scores in the bootstrap draws.
    n : (k,) number of questions behind each score.

    Notes
    -----
    With leave-one-out, bootstrap standard error and Student's t, on the arctanh scale for
    cosines; a score that an adjustment for difficulty brought outside -1..1 stays on its own
    scale. Without leave-one-out, the widened percentile interval: a worker's share in its own
    exemplary answers biases the draws, which a standard error around the estimate would miss.
    """
    undefined = np.isnan(estimate)
    drawn = np.where(undefined[:, None], np.nan, drawn)
    if not leave_one_out:
        bounds = compute_widened_percentile_interval(drawn, n)
        return bounds.low, bounds.high, list(bounds.reasons)
    # NaN, of workers without a score, compares as False: not outside, and without an interval.
    with np.errstate(invalid="ignore"):
        outside = (np.abs(np.column_stack([estimate, drawn])) > 1.0 + ROUNDING).any(axis=1)
    bent = np.full(len(estimate), cosine) & ~outside
    low, high = np.full(len(estimate), np.nan), np.full(len(estimate), np.nan)
    reasons: list[str | None] = [None] * len(estimate)
    for rows, scale in ((np.flatnonzero(bent), "arctanh"), (np.flatnonzero(~bent), "identity")):
        bounds = compute_bootstrap_t_interval(estimate[rows], drawn[rows], n[rows], scale=scale)  # type: ignore[arg-type]
        low[rows], high[rows] = bounds.low, bounds.high
        for row, reason in zip(rows, bounds.reasons, strict=True):
            reasons[row] = reason
    return low, high, reasons


def compute_closed_form_errors(vote: Vote, means: WorkerMeans, rest: FixedPoint) -> Floats:
    """Return the standard error of each worker's leave-one-out raw score, in closed form.

    They are the errors of the weighted means; sd / sqrt(n) if no parameter weights the questions;
    NaN for a worker with fewer than 2 scores.
    """
    cells = vote.cells
    raw = rest.raw[:, 0]
    scores = vote.compute_similarities(rest.previous, leave_one_out=True)
    s, weight = (part[:, 0] for part in means.compute_adjusted_scores(scores))
    n = cells.sum_by_worker((weight > 0).astype(float))
    squares = cells.sum_by_worker(weight**2 * np.nan_to_num(s - raw[cells.worker]) ** 2)
    total = cells.sum_by_worker(weight)
    safe = divide_where_positive(n, n - 1)
    return np.asarray(np.sqrt(squares * safe) / np.where(total > 0, total, np.nan))


def map_to_grades(values: Floats, raw: Floats) -> Floats:
    """Return values on the raw-score scale as grades 0..1, by the run's minimum and maximum.

    `raw` (M,) are the run's raw scores; all grades are NaN where these have no spread.
    """
    known = raw[~np.isnan(raw)]
    spread = known.max() - known.min() if len(known) else 0.0
    flat = not len(known) or bool((scale_to_grades(known[:, None]) == 1.0).all())
    if flat:
        return np.full(len(values), np.nan)
    return np.asarray(np.clip((values - known.min()) / spread, 0.0, 1.0))
