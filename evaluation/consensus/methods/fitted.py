"""Learned values of a fit, and exemplary answers prepared for question contrast.

Each fit creates a new `FitResult`, so that no value of an earlier fit remains. Values that only
some callers need are computed on first access and cached.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.consensus.methods.fixed_point import (
    IterationHistory,
    IterationRules,
    Vote,
    WorkerMeans,
    iterate_to_fixed_point,
    scale_to_grades,
)
from evaluation.consensus.methods.question_contrast import Contrasts, CrowdExemplars
from evaluation.consensus.methods.resampling import DrawnVotes, map_to_grades
from evaluation.consensus.methods.scale import (
    Ceiling,
    compute_competition_ranks,
    compute_human_ceiling,
    rank_within_groups,
)
from evaluation.consensus.methods.targets import scale_by_power_of_two
from evaluation.consensus.methods.votes import LeftOutVote, find_nearest_rows, get_mean_vote
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.inference.intervals import compute_percentile_tail
from evaluation.core.stats.statistics.descriptive import round_for_ties, spearman

# Distances have no additive form over questions, nor has a majority without one of its voters.
NEEDS_COSINE = "contrast_needs_cosine"
NEEDS_MEAN_VOTE = "contrast_needs_mean_vote"
NEEDS_VECTORS = "contrast_needs_vectors"


def find_contrast_obstacle(vote: Vote, vectors: Vectors | None) -> str | None:
    """Return the code of why a vote has no question contrast; None if it has one."""
    plain = vote.vote if isinstance(vote, LeftOutVote) else vote
    if not isinstance(plain, MeanVote):
        return NEEDS_MEAN_VOTE
    if plain.euclidean:
        return NEEDS_COSINE
    return NEEDS_VECTORS if vectors is None else None


def build_crowd_exemplars(
    vote: Vote,
    vectors: Vectors,
    weights: Floats,
    groups: Integers | None,
    without: int | None = None,
) -> CrowdExemplars:
    """Return the exemplary answers of a mean vote, prepared for question contrast.

    Parameters
    ----------
    vectors : (N, d) the ones the vote was made from. weights : (M,) voting weights.
    groups : (Q,) code of each question's passage or category, -1 for none; None for no groups.
    without : code of a worker whose answers are left out of every exemplary answer.
    """
    plain = vote.vote if isinstance(vote, LeftOutVote) else vote
    assert isinstance(plain, MeanVote)
    cells = plain.cells
    exponent = cells.to_questions(np.concatenate([block.exponent for block in plain.blocks]))
    question, worker = cells.to_rows(cells.question), cells.to_rows(cells.worker)
    # The Gram blocks scaled these questions so that squares neither under- nor overflow; the
    # vectors need the same scale.
    x = scale_by_power_of_two(vectors, exponent[question]) if exponent.any() else vectors
    if without is None:
        votes = cells.to_rows(plain.gather_votes(weights[:, None])[:, 0])
        exemplars = plain.compute_exemplars(x, weights)
    else:
        left = np.flatnonzero(worker != without)
        x, question, votes = x[left], question[left], weights[worker[left]]
        # Where the weights of the others sum to 0, they count equally.
        is_empty = np.bincount(question, votes, cells.n_questions) <= 0
        votes = np.where(is_empty[question], 1.0, votes)
    shares = votes / np.bincount(question, votes, cells.n_questions)[question]
    if without is not None:
        cell = (question, np.arange(len(question)))
        exemplars = sparse.csr_array((shares, cell), shape=(cells.n_questions, len(question))) @ x
    return CrowdExemplars(exemplars, x, question, shares, groups)


def compute_rank_intervals(
    drawn: Floats, ranked: NDArray[np.bool_], n: Integers, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of each worker's 95% rank interval; NaN if unranked.

    In every draw the ranked workers with a raw score are ranked again, ties with the better rank.
    The interval lies between order statistics of a worker's ranks, low rounded down and high
    rounded up, at the tails of the widened percentile interval
    (`compute_widened_percentile_interval`).

    Parameters
    ----------
    drawn : (M, n_draws) raw scores in the draws; NaN where a draw holds no question of the worker.
    ranked : (M,) flags of the workers with a rank; the interval of the others is NaN.
    n : (M,) number of questions each worker answered; below 2 the interval is NaN.
    level : coverage, strictly between 0 and 1.
    """
    low, high = np.full((2, len(drawn)), np.nan)
    members = np.flatnonzero(ranked)
    # int32 halves the memory of workers x draws ranks.
    ranks = np.empty((len(members), drawn.shape[1]), dtype=np.int32)
    everybody = np.ones(len(members), dtype=bool)
    for draw in range(drawn.shape[1]):
        ranks[:, draw] = compute_competition_ranks(drawn[members, draw], everybody)
    n_defined = np.count_nonzero(ranks, axis=1)
    defined = (n_defined >= 2) & (n[members] >= 2)
    ranks = np.sort(ranks[defined], axis=1)  # zeros, of draws without the worker, come first
    tail = compute_percentile_tail(n[members][defined], level)
    last = n_defined[defined] - 1
    first = ranks.shape[1] - n_defined[defined]
    indices = np.arange(len(ranks))
    low[members[defined]] = ranks[indices, first + np.floor(tail * last).astype(np.int64)]
    high[members[defined]] = ranks[indices, first + np.ceil((1 - tail) * last).astype(np.int64)]
    return low, high


def compute_draw_agreement(raw: Floats, drawn: Floats, ranked: NDArray[np.bool_]) -> Floats:
    """Return each bootstrap draw's Spearman correlation with the run's raw scores.

    It is computed over the ranked workers with a score in both; NaN in a draw with fewer than 2, or
    if all their scores are equal. Scores that differ by the last bits only are tied, as in ranks,
    because their order depends on the processor.

    Parameters
    ----------
    raw : (M,) raw scores of the run. drawn : (M, n_draws) raw scores in the draws.
    ranked : (M,) whether a worker has a rank.
    """
    raw, drawn = round_for_ties(raw), round_for_ties(drawn)
    correlations = [spearman(raw, column, ranked) for column in drawn.T]
    return np.array(correlations, dtype=np.float64)  # None becomes NaN


FEWER_THAN_3_WORKERS = "fewer_than_3_workers"
DISCONNECTED = "disconnected"

V = TypeVar("V")


class LearnedAttribute(Generic[V]):
    """Descriptor of a learned attribute of an estimator: ``grades_`` reads ``fitted_.grades``.

    Raises AttributeError before the first fit.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.removesuffix("_")

    def __get__(self, estimator: object, owner: type) -> V:
        result: V = getattr(estimator.fitted_, self._name)  # type: ignore[attr-defined]
        return result


@dataclass(frozen=True, kw_only=True)
class FitResult(ABC):
    """Learned values of one fit of `AQER`, such as grades, weights, ranks and intervals.

    `AQER` documents the attributes.

    `drawn_raw` (M, n_draws) are the raw scores in the bootstrap draws; None without.
    """

    workers: NDArray[np.generic]
    questions: NDArray[np.generic]
    n_answers: Integers
    n_workers_of_question: Integers
    supported: Booleans
    raw: Floats
    grades: Floats
    weights: Floats
    ranks: Integers
    groups: Integers
    raw_low: Floats
    raw_high: Floats
    grade_low: Floats
    grade_high: Floats
    interval_reasons: list[str | None]
    drawn_raw: Floats | None
    history: IterationHistory
    trace: list[float]
    converged: bool | None
    reason: str | None

    @property
    @abstractmethod
    def crowd(self) -> FittedCrowd:
        """Fit of the workers who vote; the fit of all workers if all vote."""

    @abstractmethod
    def compute_exemplars(self) -> Vectors:
        """Return one exemplary answer vector per question, from the final voting weights."""

    @property
    @abstractmethod
    def contrasts(self) -> Contrasts:
        """Leave-one-out question contrasts of answers and workers, from the final weights."""

    @property
    def n_iter(self) -> int:
        """Number of iterations that the fit took."""
        return len(self.trace)

    @property
    def out_of_ranking(self) -> list[str | None]:
        """Why each worker is left out of the ranking; None for a ranked worker."""
        return [None] * len(self.workers)

    @property
    def mean_vote(self) -> MeanVote:
        """Mean vote of the voting answers (their inner products), also under majority vote."""
        return get_mean_vote(self.crowd.vote)

    @property
    def ceiling(self) -> Ceiling:
        """Human ceiling: mean leave-one-out score of the best quarter of the voting workers."""
        return self.crowd.human_ceiling

    @cached_property
    def rank_interval(self) -> tuple[Floats, Floats]:
        """Lower and upper ends of each worker's 95% rank interval; NaN without bootstrap draws.

        Ranks are those within the worker's connected group.
        """
        if self.drawn_raw is None:
            nothing = np.full(len(self.workers), np.nan)
            return nothing, nothing
        low, high = np.full((2, len(self.workers)), np.nan)
        for group in np.unique(self.groups):
            members = self.groups == group
            ranked = (self.ranks > 0) & members
            ends = compute_rank_intervals(self.drawn_raw, ranked, self.n_answers)
            low[members], high[members] = (end[members] for end in ends)
        return low, high

    @property
    def rank_low(self) -> Floats:
        """Best rank within the 95% rank interval of each worker."""
        return self.rank_interval[0]

    @property
    def rank_high(self) -> Floats:
        """Worst rank within the 95% rank interval of each worker."""
        return self.rank_interval[1]

    @cached_property
    def draw_agreement(self) -> Floats:
        """Spearman correlation of each bootstrap draw's raw scores with the run's."""
        if self.drawn_raw is None:
            return np.empty(0)
        return compute_draw_agreement(self.raw, self.drawn_raw, self.ranks > 0)


@dataclass(frozen=True, kw_only=True)
class FittedCrowd(FitResult):
    """Learned values of a fit in which all answers vote.

    Attributes
    ----------
    vote : vote of the answers. vectors : (N, d) vectors of the answers; None if not stored.
    votes : (M,) final voting weights, equal below 3 workers; previous : (M, 1) weights that
        produced `raw`.
    rules : rules of the iteration. similarity, aggregation, seed : parameters of the estimator.
    drawn : the bootstrap draws; None without.
    question_groups : (Q,) code of each question's passage or category, -1 for none; None for no
        groups.
    """

    vote: Vote
    vectors: Vectors | None
    votes: Floats
    previous: Floats
    rules: IterationRules
    similarity: str
    aggregation: str
    seed: int
    drawn: DrawnVotes | None
    question_groups: Integers | None = None

    @property
    def crowd(self) -> FittedCrowd:
        """The fit itself, because all its workers vote."""
        return self

    @property
    def ranked(self) -> bool:
        """Whether there are at least 3 workers, so that grades and ranks are defined."""
        return self.reason != FEWER_THAN_3_WORKERS

    @property
    def answer_vectors(self) -> Vectors:
        """Vectors of the answers, one row each.

        Raises ValueError after `AQER.fit_blocks`, which stores none.
        """
        if self.vectors is None:
            raise ValueError("fitted block by block: the vectors were not stored")
        return self.vectors

    def compute_exemplars(self) -> Vectors:
        """Return one exemplary answer vector per question, from the final voting weights."""
        return self.vote.compute_exemplars(self.answer_vectors, self.votes)

    @cached_property
    def scores(self) -> Floats:
        """In-sample similarity of each answer to the exemplary answer that gave the raw scores."""
        return self._compute_scores_by_row(self.previous, leave_one_out=False)

    @cached_property
    def final_scores(self) -> Floats:
        """In-sample similarity of each answer to the exemplary answer by the final weights."""
        return self._compute_scores_by_row(self.votes[:, None], leave_one_out=False)

    @cached_property
    def leave_one_out_scores(self) -> Floats:
        """Leave-one-out similarity of each answer by the final weights; NaN for an only answer."""
        return self._compute_scores_by_row(self.votes[:, None], leave_one_out=True)

    @property
    def contrast_obstacle(self) -> str | None:
        """Code of why this fit has no question contrast; None if it has one."""
        return find_contrast_obstacle(self.vote, self.vectors)

    def build_exemplars(self, without: int | None = None) -> CrowdExemplars:
        """Return the exemplary answers for question contrast, without the worker code `without`.

        Call it only without a `contrast_obstacle`.
        """
        groups = self.question_groups
        return build_crowd_exemplars(self.vote, self.answer_vectors, self.votes, groups, without)

    @cached_property
    def contrasts(self) -> Contrasts:
        """Leave-one-out question contrast of answers and workers, from the final weights."""
        cells = self.vote.cells
        if self.contrast_obstacle is not None:
            return Contrasts.build_undefined(len(cells), cells.n_workers, self.contrast_obstacle)
        return self.build_exemplars().compare_workers(cells.to_rows(cells.worker), cells.n_workers)

    def grade_by_contrast(self) -> FittedCrowd:
        """Return a copy of the fit whose raw scores, grades and ranks are question contrasts.

        Voting weights and exemplary answers stay those of the iteration.
        """
        contrasts, on_scale = self.contrasts, self.rules.electorate.on_scale
        raw = contrasts.means
        if not self.ranked:
            fitted = replace(self, raw=raw)
        else:
            scaling = raw if on_scale is None else np.where(on_scale, raw, np.nan)
            present = None if on_scale is None else on_scale[:, None]
            grades = scale_to_grades(raw[:, None], present)[:, 0]
            fitted = replace(
                self,
                raw=raw,
                grades=grades,
                ranks=rank_within_groups(grades, self.supported, self.groups),
                raw_low=contrasts.low,
                raw_high=contrasts.high,
                grade_low=map_to_grades(contrasts.low, scaling),
                grade_high=map_to_grades(contrasts.high, scaling),
                interval_reasons=contrasts.interval_reasons,
                drawn_raw=self._draw_contrasts(contrasts),
            )
        # `replace` starts with an empty cache, and a frozen dataclass refuses setattr: filling the
        # cache directly saves computing the contrasts a second time.
        vars(fitted)["contrasts"] = contrasts
        return fitted

    def _draw_contrasts(self, contrasts: Contrasts) -> Floats | None:
        """Return each worker's question contrast in every bootstrap draw; None without draws."""
        if self.drawn is None:
            return None
        cells = self.vote.cells
        worker, question = cells.to_rows(cells.worker), cells.to_rows(cells.question)
        return contrasts.average_in_draws(self.drawn, worker, question)

    @property
    def leave_one_out_by_cell(self) -> Floats:
        """Leave-one-out similarity of each answer, in the order of the vote's cells."""
        return self.leave_one_out_scores[self.vote.cells.row]

    def _compute_scores_by_row(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return the similarity of each answer by one column of voting weights, in input order."""
        similarity = self.vote.compute_similarities(weights, leave_one_out=leave_one_out)
        return self.vote.cells.to_rows(similarity[:, 0])

    @cached_property
    def nearest(self) -> Integers:
        """Input row of each question's answer nearest to the exemplary answer, first of ties."""
        return find_nearest_rows(self.vote, self.final_scores, self.votes)

    @cached_property
    def dispersion(self) -> Floats:
        """Dispersion of each question: 1 minus the length of the mean unit vector."""
        return self.vote.compute_dispersions(self.votes)

    @cached_property
    def human_ceiling(self) -> Ceiling:
        """Human ceiling: mean leave-one-out score of the best quarter of the workers."""
        if not self.ranked:
            return Ceiling(None, None, None, 0, 0, FEWER_THAN_3_WORKERS)
        return compute_human_ceiling(self.leave_one_out_by_cell, self.vote.cells, self.seed)

    def compute_lowest_scores(self) -> Floats:
        """Return the lowest worker score on each question, which an empty model reply gets.

        It uses the final weights, as the scores of models do. Under cosine it is at most 0.
        """
        cells = self.vote.cells
        scores = self.final_scores[cells.row]
        lowest = cells.to_questions(np.minimum.reduceat(scores, cells.starts))
        return np.minimum(lowest, 0.0) if self.similarity == "cosine" else lowest

    def compute_restarted_raw(self, start: Floats, copies: Floats | None = None) -> Floats:
        """Return the raw scores after an iteration that starts from the voting weights `start`.

        `copies` (M, D) is the number of votes of each worker; a worker with 0 votes is left out
        and has raw NaN.
        """
        cells = self.vote.cells
        times = np.ones(start.shape) if copies is None else (copies > 0).astype(float)
        means = WorkerMeans(cells, self.rules, times[cells.worker])
        return iterate_to_fixed_point(self.vote, start, means, copies).raw
