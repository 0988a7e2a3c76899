"""Bootstrap draws of questions, and of workers too when another crowd of the kind is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.methods.aqer.fixed_point import Rules, Vote, WorkerMeans, iterate
from evaluation.methods.cells import Cells, Floats
from evaluation.methods.inference.intervals import bootstrap_t_interval, widened_percentile_interval

Progress = Callable[[int, int], None]

# Numbers in one working array (cells x draws): bounds the memory of a large run.
AT_ONCE = 2_000_000
# A weighted mean of cosines may be this much above 1.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Draws:
    """The seeded draws of one run; iterating gives the same ones every time.

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
        """Yield ``(columns, question_times (Q, D), copies (M, D) or None)`` in chunks.

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


class KeptDraws(Protocol):
    """Draws that are put aside, so that a long bootstrap may stop and go on another time."""

    def earlier(self) -> tuple[Floats, Floats] | None:
        """Return ``raw, votes``, both (M, k), of the first k draws; None for none."""
        ...

    def keep(self, raw: Floats, votes: Floats) -> None:
        """Take ``raw, votes``, both (M, k), of the first k draws; may raise to stop here."""
        ...


def resample(
    vote: Vote,
    start: Floats,
    rules: Rules,
    draws: Draws,
    progress: Progress | None = None,
    kept: KeptDraws | None = None,
) -> tuple[Floats, Floats]:
    """Estimate weights and raw scores anew in every draw.

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


def score_interval(
    estimate: Floats, drawn: Floats, n: NDArray[np.integer], *, leave_one_out: bool, cosine: bool
) -> tuple[Floats, Floats, list[str | None]]:
    """Return 95% intervals of k scores, low (k,) and high (k,), and why one is NaN.

    Parameters
    ----------
    estimate : (k,) scores of the run; NaN for none.
    drawn : (k, n_draws) the same in the draws.
    n : (k,) questions behind each.

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
        found = widened_percentile_interval(drawn, n)
        return found.low, found.high, list(found.reasons)
    with np.errstate(invalid="ignore"):
        outside = (np.abs(np.column_stack([estimate, drawn])) > 1.0 + ROUNDING).any(axis=1)
    bent = np.full(len(estimate), cosine) & ~outside
    low, high = np.full(len(estimate), np.nan), np.full(len(estimate), np.nan)
    reasons: list[str | None] = [None] * len(estimate)
    for rows, scale in ((np.flatnonzero(bent), "arctanh"), (np.flatnonzero(~bent), "identity")):
        found = bootstrap_t_interval(estimate[rows], drawn[rows], n[rows], scale=scale)  # type: ignore[arg-type]
        low[rows], high[rows] = found.low, found.high
        for row, reason in zip(rows, found.reasons, strict=True):
            reasons[row] = reason
    return low, high, reasons
