"""Bootstrap draws of questions, and on request of workers too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evaluation.consensus.methods.fixed_point import Rules, Vote, WorkerMeans, iterate
from evaluation.core.stats.cells import Cells, Floats

Progress = Callable[[int, int], None]

# Numbers in one working array (cells x draws): bounds the memory of a large run.
AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Draws:
    """Seeded bootstrap draws of one run; every iteration over them yields the same draws.

    Attributes
    ----------
    n_draws : how many.
    workers : resample workers as well, as multiplicities.
    """

    cells: Cells
    n_draws: int
    seed: int
    workers: bool = False

    def __iter__(self) -> Iterator[tuple[slice, Floats, Floats | None]]:
        """Yield chunks of draws: column slice, copies of each question, copies of each worker.

        Questions and workers have a stream of random numbers each, so that neither the size of a
        chunk nor the resampling of workers changes which questions are drawn.
        """
        for_questions, for_workers = np.random.default_rng(self.seed).spawn(2)
        q, m = self.cells.n_questions, self.cells.n_workers
        step = max(1, AT_ONCE // max(len(self.cells), q, m))
        for begin in range(0, self.n_draws, step):
            count = min(step, self.n_draws - begin)
            times = for_questions.multinomial(q, np.full(q, 1.0 / q), size=count).T.astype(float)
            copies = None
            if self.workers:
                copies = for_workers.multinomial(m, np.full(m, 1.0 / m), size=count).T.astype(float)
            yield slice(begin, begin + count), times, copies


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


class DrawStore(Protocol):
    """Store of finished draws, so that an interrupted bootstrap continues where it ended."""

    def earlier(self) -> tuple[Floats, Floats] | None:
        """Return stored raw scores and votes (workers x draws) of the first draws.

        None without any.
        """
        ...

    def keep(self, raw: Floats, votes: Floats) -> None:
        """Store raw scores and votes (workers x draws) of the first draws.

        May raise to interrupt.
        """
        ...


def resample(
    vote: Vote,
    start: Floats,
    rules: Rules,
    draws: Draws,
    progress: Progress | None = None,
    kept: DrawStore | None = None,
) -> tuple[Floats, Floats]:
    """Return raw scores and voting weights, workers x draws, re-estimated in every bootstrap draw.

    Parameters
    ----------
    start : (M,) weights that every draw starts from, the run's own.
    kept : earlier draws of the same run, which are not computed again, and where to put new ones.

    Returns
    -------
    raw : (M, n_draws) raw scores; NaN where a draw holds no question of the worker.
    votes : (M, n_draws) voting weights times the copies of a worker.
    """
    cells = vote.cells
    raw = np.empty((cells.n_workers, draws.n_draws))
    votes = np.empty_like(raw)
    known = 0
    if kept is not None and (earlier := kept.earlier()) is not None:
        known = earlier[0].shape[1]
        raw[:, :known], votes[:, :known] = earlier
    for columns, question_times, copies in draws:
        # The seeded draws are the same every time, so a stored chunk replaces its computation.
        if columns.stop <= known:
            continue
        times = question_times[cells.question]
        count = times.shape[1]
        initial = np.repeat(start[:, None], count, axis=1)
        rest = iterate(vote, initial, WorkerMeans(cells, rules, times), copies)
        raw[:, columns] = rest.raw
        votes[:, columns] = rest.weights if copies is None else rest.weights * copies
        if progress is not None:
            progress(columns.stop, draws.n_draws)
        if kept is not None:
            kept.keep(raw[:, : columns.stop], votes[:, : columns.stop])
    return raw, votes
