"""Whether two views of models rise and fall together over questions.

Spearman's correlation over the questions of each model, and the mean of it over models: all models'
answers in one pot would also correlate because one model is better than another in both views,
which is no property of answers. The interval draws whole questions, with the answers of all models
to them, and ranks anew in every draw: correlations of ranks that stay as they are have too narrow
intervals. A draw without the few questions that make a view vary shows no correlation and counts as
0; left out, a single odd question would seem to prove one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.inference.clustered import Estimate, drawn_intervals
from evaluation.methods.statistics.correlation import spearman, tied

# Below so many questions with both numbers a correlation of a model is an accident.
FEWEST_QUESTIONS = 3
NO_MODEL = "no_model_with_both"

Pair = tuple[int, int]


@dataclass(frozen=True)
class ViewCorrelation:
    """How two views go together.

    Attributes
    ----------
    estimate : mean over models, -1 to 1, with its 95% interval; `n` counts the questions on which
        a model has both. Undefined where no model has 3 such questions with different numbers.
    by_model : (M,) of each model, None where undefined. n_models : that are not.
    n_cells : answers with both numbers.
    """

    estimate: Estimate
    by_model: tuple[float | None, ...]
    n_models: int
    n_cells: int


def correlations(
    values: ArrayLike, pairs: Sequence[Pair], n_draws: int = 400, seed: int = 0
) -> list[ViewCorrelation]:
    """Return how the views of each pair go together.

    Parameters
    ----------
    values : (V, M, Q) number of each view, model and question, NaN for none; a view of questions
        has the same row for every model. Digits behind the twelfth are ignored.
    pairs : two views each, by their places.
    n_draws : bootstrap draws of questions, the same for all pairs; 0 for no intervals.
    seed : of the draws.

    Returns
    -------
    One for each pair. Reasons: no_model_with_both; of the interval those of `drawn_intervals`.
    """
    views = tied(values)
    n_questions = views.shape[2]
    known = ~np.isnan(views)
    single = [[_of_model(views, known, pair, at) for at in range(views.shape[1])] for pair in pairs]
    counted = np.array([[one is not None for one in row] for row in single], dtype=np.bool_)
    means = [_mean([one for one in row if one is not None]) for row in single]
    both = [known[one] & known[other] for one, other in pairs]
    # Questions and answers of the models that count.
    counts = [cells[row].any(axis=0).sum() for cells, row in zip(both, counted, strict=True)]

    def drawn(times: Floats) -> Floats:
        found = np.full((len(pairs), views.shape[1], len(times)), np.nan)
        for model in range(views.shape[1]):
            ranked = DrawnRanks(views[:, model], times)
            for at in np.flatnonzero(counted[:, model]).tolist():
                one, other = pairs[at]
                found[at, model] = ranked.correlation(one, other, both[at][model])
        return _means(found)

    estimates = drawn_intervals(means, counts, drawn, n_questions, n_draws, seed) if pairs else []
    return [
        ViewCorrelation(
            estimate if estimate.value is not None else Estimate(None, None, None, 0, NO_MODEL),
            tuple(row),
            int(kept.sum()),
            int(cells[kept].sum()),
        )
        for estimate, row, kept, cells in zip(estimates, single, counted, both, strict=True)
    ]


def smallest_shown(n_questions: int) -> float | None:
    """Return the correlation that so many questions of one model would mostly show.

    tanh(2.8 / sqrt(n - 3)) for 80% power at the 5% level, by Fisher's transformation; None below 4
    questions. Several models show smaller ones, as far as they differ.
    """
    return None if n_questions < 4 else float(np.tanh(2.8 / np.sqrt(n_questions - 3)))


class DrawnRanks:
    """Ranks of a model's numbers in draws of questions, made once for every view and gap in it.

    Parameters
    ----------
    views : (V, Q) numbers. times : (D, Q) how often each question is drawn.
    """

    def __init__(self, views: Floats, times: Floats) -> None:
        self._views, self._times = views, times
        self._made: dict[tuple[int, bytes], tuple[Floats, Floats]] = {}

    def correlation(self, one: int, other: int, among: Booleans) -> Floats:
        """Return (D,) Spearman's correlations over some questions, 0 where a view has no spread."""
        times, key = self._times[:, among], among.tobytes()
        (a, of_a), (b, of_b) = (self._ranks(view, among, key, times) for view in (one, other))
        shared = np.einsum("dq,dq,dq->d", times, a, b)
        # Ranks are halves: a spread below a quarter is none.
        flat = (of_a < 0.25) | (of_b < 0.25)
        return np.divide(shared, np.sqrt(of_a * of_b), out=np.zeros(len(times)), where=~flat)

    def _ranks(
        self, view: int, among: Booleans, key: bytes, times: Floats
    ) -> tuple[Floats, Floats]:
        """Return (D, q) ranks less their mean, and (D,) sums of their squares, drawn as often."""
        if (view, key) not in self._made:
            ranks = drawn_ranks(self._views[view, among], times)
            ranks -= (times.sum(axis=1, keepdims=True) + 1) / 2
            self._made[view, key] = ranks, np.einsum("dq,dq,dq->d", times, ranks, ranks)
        return self._made[view, key]


def drawn_ranks(values: Floats, times: Floats) -> Floats:
    """Return (D, q) mean ranks, from 1, of q numbers of which each is there `times` (D, q) times.

    The rank of a number that is drawn twice is the mean of both; that of one that is not drawn is
    where it would stand, and of no use.
    """
    order = np.argsort(values, kind="stable")
    ends = _last_of_equals(values[order])
    up_to = np.cumsum(times[:, order], axis=1)[:, ends]
    before = np.concatenate([np.zeros((len(times), 1)), up_to[:, :-1]], axis=1)
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.searchsorted(ends, np.arange(len(values)))
    middle = (before + up_to + 1) / 2
    return np.asarray(middle[:, group], dtype=np.float64)


def _last_of_equals(ordered: Floats) -> Integers:
    """Return the place of the last of each group of equal numbers."""
    last = np.ones(len(ordered), dtype=np.bool_)
    last[:-1] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(last)


def _of_model(views: Floats, known: Booleans, pair: Pair, model: int) -> float | None:
    one, other = pair
    among = known[one, model] & known[other, model]
    if among.sum() < FEWEST_QUESTIONS:
        return None
    return spearman(views[one, model], views[other, model], among)


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else np.nan


def _means(found: Floats) -> Floats:
    """Return (K, D) means over models (K, M, D) without NaN."""
    known = ~np.isnan(found)
    count = known.sum(axis=1)
    total = np.where(known, found, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
