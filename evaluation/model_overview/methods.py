"""Statistics of measures of models (views): correlations, disagreement on an answer, means.

The correlation is Spearman's over the questions of each model, averaged over models. Answers of all
models pooled would also correlate because one model is better than another in both views, which is
no property of answers. The bootstrap draws whole questions with the answers of all models, and
ranks again in every draw: with fixed ranks the intervals are too narrow. A draw without the few
questions on which a view varies shows no correlation and counts as 0; if it were left out, a single
odd question would seem to prove a correlation.

Views have different scales, so disagreement compares the percentile rank of each number within its
view. An answer that is high in one view and low in another is worth reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.inference.clustered import (
    compute_drawn_intervals,
    compute_means,
)
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.statistics.descriptive import round_for_ties, spearman

# With fewer questions that have both numbers, the correlation of a model is chance.
FEWEST_QUESTIONS = 3
NO_MODEL = "no_model_with_both"

Pair = tuple[int, int]


@dataclass(frozen=True)
class MeasureCorrelation:
    """Rank correlation of two measures over questions, averaged over models.

    Attributes
    ----------
    estimate : mean over models, -1 to 1, with its 95% interval; `n` counts the questions on which
        a model has both. Undefined if no model has 3 such questions with different numbers.
    by_model : (M,) correlation of each model, None if undefined. n_models : number of defined ones.
    n_cells : number of answers with both values.
    """

    estimate: SampleEstimate
    by_model: tuple[float | None, ...]
    n_models: int
    n_cells: int


def compute_measure_correlations(
    values: ArrayLike, pairs: Sequence[Pair], n_draws: int = 400, seed: int = 0
) -> list[MeasureCorrelation]:
    """Return the rank correlation over questions of each pair of measures, with intervals.

    Parameters
    ----------
    values : (V, M, Q) number of each view, model and question, NaN for none; a view of questions
        has the same row for every model. Digits behind the twelfth are ignored.
    pairs : two views each, by their places.
    n_draws : bootstrap draws of questions, the same for all pairs; 0 for no intervals.
    seed : of the draws.

    Returns
    -------
    One for each pair. Reasons: no_model_with_both; of the interval those of
    `compute_drawn_intervals`.
    """
    views = round_for_ties(values)
    n_questions = views.shape[2]
    known = ~np.isnan(views)
    single = [
        [_correlate_measures(views, known, pair, index) for index in range(views.shape[1])]
        for pair in pairs
    ]
    counted = np.array([[cell is not None for cell in row] for row in single], dtype=np.bool_)
    means = [_compute_mean([cell for cell in row if cell is not None]) for row in single]
    both = [known[first] & known[second] for first, second in pairs]
    # Questions and answers of the models that count.
    counts = [cells[row].any(axis=0).sum() for cells, row in zip(both, counted, strict=True)]

    def compute_draws(times: Floats) -> Floats:
        """Return the mean correlation over models of each pair in bootstrap draws of questions."""
        draws = np.full((len(pairs), views.shape[1], len(times)), np.nan)
        for model in range(views.shape[1]):
            ranked = DrawnRanks(views[:, model], times)
            for index in np.flatnonzero(counted[:, model]).tolist():
                one, other = pairs[index]
                draws[index, model] = ranked.compute_correlation(one, other, both[index][model])
        return _compute_means(draws)

    estimates = (
        compute_drawn_intervals(means, counts, compute_draws, n_questions, n_draws, seed)
        if pairs
        else []
    )
    return [
        MeasureCorrelation(
            estimate if estimate.value is not None else SampleEstimate(reason=NO_MODEL),
            tuple(row),
            int(kept.sum()),
            int(cells[kept].sum()),
        )
        for estimate, row, kept, cells in zip(estimates, single, counted, both, strict=True)
    ]


def compute_detectable_correlation(n_questions: int) -> float | None:
    """Return the smallest correlation that a number of questions has 80% power to detect.

    tanh(2.8 / sqrt(n - 3)) for 80% power at the 5% level, by Fisher's transformation; None below 4
    questions. Several models show smaller ones, as far as they differ.
    """
    return None if n_questions < 4 else float(np.tanh(2.8 / np.sqrt(n_questions - 3)))


class DrawnRanks:
    """Ranks of one model's values in bootstrap draws of questions, cached for each measure.

    Parameters
    ----------
    views : (V, Q) values of the model. times : (D, Q) number of times each question is drawn.
    """

    def __init__(self, views: Floats, times: Floats) -> None:
        self._views, self._times = views, times
        self._made: dict[tuple[int, bytes], tuple[Floats, Floats]] = {}

    def compute_correlation(self, one: int, other: int, among: Booleans) -> Floats:
        """Return Spearman's correlation of two measures of the model in each bootstrap draw.

        0 in a draw in which all values of a measure are equal.
        """
        times, key = self._times[:, among], among.tobytes()
        (a, of_a), (b, of_b) = (
            self._compute_ranks(view, among, key, times) for view in (one, other)
        )
        shared = np.einsum("dq,dq,dq->d", times, a, b)
        # Ranks are halves: a spread below a quarter is none.
        flat = (of_a < 0.25) | (of_b < 0.25)
        return np.divide(shared, np.sqrt(of_a * of_b), out=np.zeros(len(times)), where=~flat)

    def _compute_ranks(
        self, view: int, among: Booleans, key: bytes, times: Floats
    ) -> tuple[Floats, Floats]:
        """Return a measure's centred ranks in each draw, and their sum of squares per draw."""
        if (view, key) not in self._made:
            ranks = compute_drawn_ranks(self._views[view, among], times)
            # Mean ranks of n numbers, ties or not, average (n + 1) / 2.
            ranks -= (times.sum(axis=1, keepdims=True) + 1) / 2
            self._made[view, key] = ranks, np.einsum("dq,dq,dq->d", times, ranks, ranks)
        return self._made[view, key]


def compute_drawn_ranks(values: Floats, times: Floats) -> Floats:
    """Return the mean rank of each number in draws (rows) that repeat it `times` times.

    The rank of a number that is drawn twice is the mean of both. That of a number that is not drawn
    has no meaning; its weight is 0.
    """
    order = np.argsort(values, kind="stable")
    ends = _find_last_of_equals(values[order])
    up_to = np.cumsum(times[:, order], axis=1)[:, ends]
    before = np.concatenate([np.zeros((len(times), 1)), up_to[:, :-1]], axis=1)
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.searchsorted(ends, np.arange(len(values)))
    # Equal numbers share the mean of the ranks before + 1 to up_to.
    middle = (before + up_to + 1) / 2
    return np.asarray(middle[:, group], dtype=np.float64)


def _find_last_of_equals(ordered: Floats) -> Integers:
    """Return the index of the last of each group of equal numbers in sorted numbers."""
    last = np.ones(len(ordered), dtype=np.bool_)
    last[:-1] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(last)


def _correlate_measures(views: Floats, known: Booleans, pair: Pair, model: int) -> float | None:
    """Return one model's rank correlation of two measures; None below 3 common questions."""
    one, other = pair
    among = known[one, model] & known[other, model]
    if among.sum() < FEWEST_QUESTIONS:
        return None
    return spearman(views[one, model], views[other, model], among)


def _compute_mean(values: list[float]) -> float:
    """Return the mean of the values; NaN without any."""
    return float(np.mean(values)) if values else np.nan


def _compute_means(values: Floats) -> Floats:
    """Return means over the middle axis (models), ignoring NaN; one row per pair of measures."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


NONE = -1


@dataclass(frozen=True, eq=False)
class Disagreement:
    """How much the measures of each answer differ in rank, and the two most extreme measures.

    Attributes
    ----------
    places : (S, M, Q) share of the view's numbers that are lower, equal ones counted half: above 0
        and below 1, NaN where it has none. In a view of two values neither is extreme if half of
        the answers have it.
    strength : (M, Q) highest less lowest place, 0 to 1; NaN with fewer than 2 views.
    highest, lowest : (M, Q) views with them, the first of equal ones; -1 where strength is NaN.
    """

    places: Floats
    strength: Floats
    highest: Integers
    lowest: Integers

    def order_answers(self) -> Integers:
        """Return (model, question) index pairs of the answers, the largest disagreement first."""
        flat = self.strength.ravel()
        known = np.flatnonzero(~np.isnan(flat))
        ordered = known[np.argsort(-flat[known], kind="stable")]
        return np.column_stack(np.unravel_index(ordered, self.strength.shape)).astype(np.int64)


def compute_disagreement(values: ArrayLike) -> Disagreement:
    """Return how much the percentile ranks of each answer differ between measures.

    Parameters
    ----------
    values : (S, M, Q) numbers of S views, greater for better, NaN for none.
    """
    places = np.stack([_compute_percentile_ranks(view) for view in round_for_ties(values)])
    known = ~np.isnan(places)
    enough = known.sum(axis=0) >= 2
    high = np.where(known, places, -np.inf)
    low = np.where(known, places, np.inf)
    with np.errstate(invalid="ignore"):
        strength = np.where(enough, high.max(axis=0) - low.min(axis=0), np.nan)
    return Disagreement(
        places,
        strength,
        np.where(enough, high.argmax(axis=0), NONE),
        np.where(enough, low.argmin(axis=0), NONE),
    )


def _compute_percentile_ranks(view: Floats) -> Floats:
    """Return the percentile rank, 0 to 1, of each number within its measure; NaN stays NaN."""
    known = ~np.isnan(view)
    result = np.full(view.shape, np.nan)
    if known.any():
        # Less a half, so that the least and the greatest are equally far from 0 and 1.
        result[known] = (stats.rankdata(view[known]) - 0.5) / known.sum()
    return result


@dataclass(frozen=True)
class ModelResult:
    """A model's mean in one measure, its difference from the other models' mean, and its rank.

    Attributes
    ----------
    mean : mean over the questions with a value. difference : mean less the other models' mean,
        over the questions on which this and another model have values; undefined for a single
        model. Both have 95% intervals over questions.
    rank : 1 + the number of models with a better mean; None without a mean. n_models : number of
        models with a mean.
    """

    mean: SampleEstimate
    difference: SampleEstimate
    rank: int | None
    n_models: int


def compute_model_results(
    values: ArrayLike, *, higher_is_better: bool = True, n_draws: int = 400, seed: int = 0
) -> list[ModelResult]:
    """Return each model's mean, difference from the others' mean and rank in one measure."""
    own = np.asarray(values, dtype=np.float64)
    m = len(own)
    means = compute_means(np.concatenate([own, own - _compute_means_of_others(own)]), n_draws, seed)
    mean, difference = means[:m], means[m:]
    known = [estimate.value for estimate in mean if estimate.value is not None]

    def is_better(one: float, than: float) -> bool:
        """Return whether one mean is better than another in this measure."""
        return one > than if higher_is_better else one < than

    return [
        ModelResult(
            of_model,
            less_others,
            None
            if of_model.value is None
            else 1 + sum(is_better(other, of_model.value) for other in known),
            len(known),
        )
        for of_model, less_others in zip(mean, difference, strict=True)
    ]


def _compute_means_of_others(own: Floats) -> Floats:
    """Return the other models' mean per model and question; NaN where no other has a value."""
    known = ~np.isnan(own)
    filled = np.where(known, own, 0.0)
    # The sum of all less the own number, in place of a loop over models.
    total = filled.sum(axis=0) - filled
    count = known.sum(axis=0) - known
    return np.divide(total, count, out=np.full(own.shape, np.nan), where=count > 0)
