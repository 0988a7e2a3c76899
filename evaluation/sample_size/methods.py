"""Sample size: how many workers and questions a crowd needs, estimated from its own answers.

Random subsets of workers vote (Yahav et al. 2025, section 6.2, on the requester's own crowd). All
workers are scored against the exemplary answers of the voters: voters by leave-one-out, the others
as models are. These scores are compared with experts' grades, or with the scores by the whole
crowd. The reference is the same for every number of voters. Random subsets of questions likewise.

The draws of one crowd overlap, and large ones overlap more. Their range describes other draws of
this crowd, not another crowd.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evaluation.consensus.methods.estimator import AQER
from evaluation.consensus.methods.votes import convert_vectors, get_mean_vote
from evaluation.core.stats.cells import (
    Booleans,
    Floats,
    Integers,
    divide_where_positive,
    encode_labels,
)
from evaluation.core.stats.grams import Vectors, compact_vectors
from evaluation.core.stats.inference.clustered import ClusteredEstimate, compute_clustered_interval
from evaluation.core.stats.statistics.descriptive import pearson, spearman

WORKERS, QUESTIONS = "workers", "questions"
# References of the scores: experts' grades by worker and by answer, and the whole crowd's scores.
BY_WORKER, BY_ANSWER, BY_CROWD = "workers", "answers", "crowd"

FEWEST_VOTERS = 3
FEWEST_QUESTIONS = 2
FEWEST_JUDGED_WORKERS = 5
ROUND = (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 600, 800)
MOST_SIZES = 12
# Weight of a voter with grade 0: negligible, unless no other voter answered the question.
HARDLY = 1e-12
# Correlations that differ by less than this count as equal.
NOTHING_GAINED = 0.01
ENOUGH = 0.95

NO_JUDGEMENTS = "no_judgements"
TOO_FEW_JUDGED_WORKERS = "fewer_than_5_judged_workers"
NO_AGREEMENT = "no_agreement"
NO_CORRELATION = "no_correlation"

Progress = Callable[[int, int], None]
# Pearson's and Spearman's correlation of a subset, by measure.
Agreements = dict[str, tuple[float | None, float | None]]


@dataclass(frozen=True)
class SizePoint:
    """Agreement of scores by random subsets of one size with the reference.

    Attributes
    ----------
    by : "workers" or "questions"; `size` is their number.
    measure : reference of the scores: "workers" and "answers" are experts' mean grades of workers
        and of answers, "crowd" is the workers' scores by the whole crowd.
    pearson, spearman : mean correlations over the draws; None if undefined in all draws.
    low, high : 2.5% and 97.5% quantiles of Pearson's correlation over the draws. At the full size
        there is one draw, and both equal its value.
    n_draws : number of draws with a defined correlation.
    """

    by: str
    size: int
    measure: str
    pearson: float | None
    low: float | None
    high: float | None
    spearman: float | None
    n_draws: int


@dataclass(frozen=True)
class SizeVerdict:
    """How many workers or questions are enough, judged by one measure of agreement.

    Attributes
    ----------
    full : agreement of the whole crowd of `full_size`, with its interval over questions.
    enough : smallest size from which on the mean agreement is at least .95 of `full`.
    plateau : smallest size from which on the mean agreement is less than .01 below `full`.
    reason : why both are None.
    """

    by: str
    measure: str
    full_size: int
    full: ClusteredEstimate
    enough: int | None
    plateau: int | None
    reason: str | None = None


def list_subset_sizes(most: int, fewest: int) -> list[int]:
    """Return at most 12 increasing sizes of subsets from `fewest` to `most`, both included."""
    if most < fewest:
        return []
    inside = [size for size in ROUND if fewest < size < most]
    # Drops every third size: relative steps stay similar.
    while len(inside) > MOST_SIZES - 2:
        del inside[1::3]
    return sorted({fewest, *inside, most})


class CrowdSize:
    """Estimator of the agreement that smaller crowds reach, from random subsets of a crowd.

    Parameters
    ----------
    repetitions : number of random subsets of each size, at least 2.
    n_draws : bootstrap draws of questions, for the interval of the whole crowd's agreement.
    seed : seed of the subsets and the draws.
    parameters : parameters of `AQER` with mean vote.

    Attributes
    ----------
    points_ : a `SizePoint` for each size and measure.
    verdicts_ : a `SizeVerdict` for each measure; workers before questions, `measure_` first.
    measure_ : the main measure: "workers" if experts graded answers of 5 workers or more, else
        "answers"; "crowd" without grades.
    n_judged_, n_judged_workers_ : number of answers and workers that experts graded.
    """

    points_: list[SizePoint]
    verdicts_: list[SizeVerdict]
    measure_: str
    n_judged_: int
    n_judged_workers_: int

    def __init__(
        self, repetitions: int = 50, n_draws: int = 400, seed: int = 0, **parameters: Any
    ) -> None:
        self.repetitions, self.n_draws, self.seed = repetitions, n_draws, seed
        self.parameters = parameters

    def fit(
        self,
        vectors: ArrayLike | Vectors,
        workers: ArrayLike,
        questions: ArrayLike,
        grades: ArrayLike | None = None,
        progress: Progress | None = None,
        computed: MutableMapping[str, Agreements] | None = None,
    ) -> CrowdSize:
        """Compare scores by random subsets of the crowd with the reference; return self.

        Parameters
        ----------
        vectors : (N, d). workers, questions : (N,) labels, as in `AQER.fit`.
        grades : (N,) experts' mean grade of each answer, NaN for none; on any scale.
        progress : called after each subset with the number done and the total.
        computed : results of an earlier call with the same crowd and parameters, by name of the
            subset. They are not computed again, and further results are added.

        Raises
        ------
        ValueError : fewer than 2 repetitions, fewer than 3 workers, and as `AQER.fit`.
        """
        if self.repetitions < 2:
            raise ValueError(f"repetitions must be at least 2, got {self.repetitions}")
        crowd = _Crowd.encode(vectors, workers, questions, self.parameters)
        if crowd.n_workers < FEWEST_VOTERS:
            raise ValueError(f"{crowd.n_workers} workers: at least {FEWEST_VOTERS} are needed")
        truth = np.full(len(crowd.worker), np.nan)
        if grades is not None:
            truth[:] = np.asarray(grades, dtype=np.float64)
        comparison = _Comparison(crowd, truth)
        self.n_judged_ = int(np.count_nonzero(~np.isnan(truth)))
        self.n_judged_workers_ = int(np.count_nonzero(~np.isnan(comparison.worker_grades)))
        self.measure_ = self._choose_measure()
        full = {WORKERS: crowd.n_workers, QUESTIONS: crowd.n_questions}
        fewest = {WORKERS: FEWEST_VOTERS, QUESTIONS: FEWEST_QUESTIONS}
        plan = [(by, size) for by in full for size in list_subset_sizes(full[by], fewest[by])]
        results = {} if computed is None else computed
        subsets = [
            (by, size, draw)
            for by, size in plan
            for draw in range(1 if size == full[by] else self.repetitions)
        ]
        for done, (by, size, draw) in enumerate(subsets):
            name = f"{by}-{size}-{draw}"
            if name not in results:
                # A generator for each subset, so that an interrupted run continues alike.
                rng = np.random.default_rng([self.seed, by == QUESTIONS, size, draw])
                subset = np.sort(rng.choice(full[by], size=size, replace=False))
                scores = crowd.compute_scores(by, subset)
                results[name] = {
                    measure: comparison.compute_correlations(measure, scores)
                    for measure in self._list_measures(by)
                }
            if progress is not None:
                progress(done + 1, len(subsets))
        self.points_ = [
            _summarize_draws(
                by, size, measure, [results[f"{by}-{size}-{n}"][measure] for n in range(draws)]
            )
            for by, size in plan
            for draws in (1 if size == full[by] else self.repetitions,)
            for measure in self._list_measures(by)
        ]
        full_agreement = {
            measure: comparison.estimate_full_agreement(measure, self.n_draws, self.seed)
            for measure in self._list_measures(WORKERS)
        }
        self.verdicts_ = [
            _judge_sizes(by, measure, size, full_agreement[measure], self.points_)
            for by, size in full.items()
            for measure in sorted(self._list_measures(by), key=lambda name: name != self.measure_)
            if any(point.by == by for point in self.points_)
        ]
        return self

    def _choose_measure(self) -> str:
        """Return the main measure: "workers" or "answers" with experts' grades, else "crowd"."""
        if not self.n_judged_:
            return BY_CROWD
        return BY_WORKER if self.n_judged_workers_ >= FEWEST_JUDGED_WORKERS else BY_ANSWER

    def _list_measures(self, by: str) -> list[str]:
        """Return the measures of agreement available for subsets of workers or of questions."""
        # Subsets of questions also differ in their graded answers, so workers' means go first.
        judged = [BY_WORKER] if self.n_judged_workers_ >= FEWEST_JUDGED_WORKERS else []
        if self.n_judged_ and (by == WORKERS or not judged):
            judged.append(BY_ANSWER)
        return [*judged, BY_CROWD]


@dataclass(frozen=True)
class _Crowd:
    """Answers of a crowd as arrays: codes of workers and questions, and compacted vectors."""

    vectors: Vectors
    worker: Integers
    question: Integers
    n_workers: int
    n_questions: int
    parameters: dict[str, Any]

    @classmethod
    def encode(
        cls,
        vectors: ArrayLike | Vectors,
        workers: ArrayLike,
        questions: ArrayLike,
        parameters: dict[str, Any],
    ) -> _Crowd:
        """Return the answers with integer codes; raise `ValueError` for unequal lengths."""
        x = convert_vectors(vectors, unit_length=bool(parameters.get("unit_length")))
        worker, labels = encode_labels(workers)
        question, codes = encode_labels(questions)
        if not len(worker) == len(question) == x.shape[0]:
            raise ValueError(
                f"{x.shape[0]} vectors, {len(worker)} workers and {len(question)} questions: "
                "they must be as many"
            )
        members = np.split(
            np.argsort(question, kind="stable"), np.cumsum(np.bincount(question))[:-1]
        )
        # Similarities within questions do not change, and hundreds of subsets cost less.
        short = compact_vectors(x, members) if len(worker) else x
        # `convert_vectors` has applied unit_length; a second time would act on compacted vectors.
        rest = {name: value for name, value in parameters.items() if name != "unit_length"}
        return cls(short, worker, question, len(labels), len(codes), rest)

    @cached_property
    def whole(self) -> AQER:
        """AQER fitted on the answers of the whole crowd."""
        return self._fit_rows(np.ones(len(self.worker), dtype=bool))

    def _fit_rows(self, rows: Booleans) -> AQER:
        """Return AQER fitted on the answers that the mask `rows` selects."""
        aqer = AQER(n_draws=0, **self.parameters)
        return aqer.fit(self.vectors[rows], self.worker[rows], self.question[rows])

    def compute_scores(self, by: str, subset: Integers) -> Floats:
        """Return each answer's leave-one-out score by a subset of workers or questions, or NaN."""
        if by == QUESTIONS:
            rows = np.isin(self.question, subset)
            scores = np.full(len(rows), np.nan)
            scores[rows] = self._fit_rows(rows).leave_one_out_scores_
            return scores
        if len(subset) == self.n_workers:
            return self.whole.leave_one_out_scores_
        return self._score_by_voters(subset)

    def _score_by_voters(self, voters: Integers) -> Floats:
        """Return each answer's score by the voters' exemplary answers; NaN without other voters.

        The voters' weights come from grading the voters alone.
        """
        votes = np.isin(self.worker, voters)
        graded = self._fit_rows(votes)
        weights = np.zeros(self.n_workers)
        weights[graded.workers_.astype(np.int64)] = np.nan_to_num(graded.weights_)
        # Else a question where all voters have grade 0 would have no exemplary answer.
        weights[voters] = np.maximum(weights[voters], HARDLY / len(voters))
        vote = get_mean_vote(self.whole.fitted_.crowd.vote)
        scores = vote.cells.to_rows(
            vote.compute_similarities(weights[:, None], leave_one_out=True)[:, 0]
        )
        others = np.bincount(self.question, votes, self.n_questions)[self.question] - votes
        return np.where(others > 0, scores, np.nan)

    def compute_worker_means(self, values: Floats, rows: Integers | None = None) -> Floats:
        """Return each worker's mean of `values` (one per answer, NaN ignored)."""
        worker = self.worker if rows is None else self.worker[rows]
        selected = values if rows is None else values[rows]
        known = ~np.isnan(selected)
        total = np.bincount(worker[known], selected[known], self.n_workers)
        return divide_where_positive(total, np.bincount(worker[known], minlength=self.n_workers))


@dataclass(frozen=True)
class _Comparison:
    """Compares scores of answers with experts' grades and with the whole crowd's scores."""

    crowd: _Crowd
    grades: Floats

    @cached_property
    def worker_grades(self) -> Floats:
        """Mean expert grade of each worker's judged answers."""
        return self.crowd.compute_worker_means(self.grades)

    @cached_property
    def crowd_scores(self) -> Floats:
        """Mean score of each worker, as scored by the whole crowd."""
        return self.crowd.compute_worker_means(self.crowd.whole.leave_one_out_scores_)

    def pair_values(self, measure: str, scores: Floats) -> tuple[Floats, Floats]:
        """Return scores and their reference values, one for each answer or each worker."""
        if measure == BY_ANSWER:
            return scores, self.grades
        other = self.worker_grades if measure == BY_WORKER else self.crowd_scores
        return self.crowd.compute_worker_means(scores), other

    def compute_correlations(
        self, measure: str, scores: Floats
    ) -> tuple[float | None, float | None]:
        """Return Pearson's and Spearman's correlation of scores with the measure's reference."""
        pair = self.pair_values(measure, scores)
        return pearson(*pair), spearman(*pair)

    def estimate_full_agreement(self, measure: str, n_draws: int, seed: int) -> ClusteredEstimate:
        """Return the whole crowd's agreement, with a bootstrap interval over questions.

        The draws keep the weights. The agreement with the crowd itself is 1 by construction and
        has no interval.
        """
        scores, crowd = self.crowd.whole.leave_one_out_scores_, self.crowd
        if measure == BY_CROWD:
            return ClusteredEstimate(1.0, n=crowd.n_workers, n_clusters=crowd.n_questions)
        rows = np.flatnonzero(~np.isnan(self.grades))
        if measure == BY_ANSWER:
            return compute_clustered_interval(
                lambda draw: pearson(scores[rows[draw]], self.grades[rows[draw]]),
                crowd.question[rows],
                n_draws,
                seed,
            )
        estimate = compute_clustered_interval(
            lambda draw: pearson(
                crowd.compute_worker_means(scores, draw),
                crowd.compute_worker_means(self.grades, draw),
            ),
            crowd.question,
            n_draws,
            seed,
        )
        return replace(estimate, n=int(np.count_nonzero(~np.isnan(self.worker_grades))))


def _summarize_draws(
    by: str, size: int, measure: str, correlations: Sequence[tuple[float | None, float | None]]
) -> SizePoint:
    """Return the point of one size: mean and range of its draws' correlations."""
    linear = [value for value, _ in correlations if value is not None]
    ranked = [value for _, value in correlations if value is not None]
    if not linear:
        return SizePoint(by, size, measure, None, None, None, None, 0)
    low, high = np.quantile(linear, [0.025, 0.975]).tolist()
    mean, rank_mean = float(np.mean(linear)), float(np.mean(ranked)) if ranked else None
    return SizePoint(by, size, measure, mean, low, high, rank_mean, len(linear))


def _judge_sizes(
    by: str, measure: str, size: int, full: ClusteredEstimate, points: Sequence[SizePoint]
) -> SizeVerdict:
    """Return the verdict on which size is enough, with the reason if none can be named."""
    curve = [point for point in points if point.by == by and point.measure == measure]
    if full.value is None:
        return SizeVerdict(by, measure, size, full, None, None, NO_CORRELATION)
    if full.value <= 0 or (full.low is not None and full.low <= 0):
        return SizeVerdict(by, measure, size, full, None, None, NO_AGREEMENT)
    return SizeVerdict(
        by,
        measure,
        size,
        full,
        find_smallest_size(curve, ENOUGH * full.value),
        find_smallest_size(curve, full.value - NOTHING_GAINED),
    )


def find_smallest_size(points: Sequence[SizePoint], least: float) -> int | None:
    """Return the smallest size from which on agreement stays at or above `least`; else None."""
    smallest = None
    for point in reversed(points):
        if point.pearson is None or point.pearson < least:
            break
        smallest = point.size
    return smallest
