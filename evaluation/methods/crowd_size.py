"""How many workers, and how many questions, a crowd needs, tried on the crowd itself.

Some of the workers, drawn at random, vote; all are scored against the exemplary answers of those,
each against that of the others: who votes as in leave-one-out, who does not as a model is. Does
it matter that the rest was not asked? What the scores are compared with, experts' grades or the
scores that the whole crowd gives, stays the same for every number of voters. (Yahav et al. 2025,
section 6.2, with the requester's own crowd.) The same with some of the questions.

The draws of one crowd overlap, the more the larger they are: their range says what another draw
of it would have given, and nothing of another crowd.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evaluation.methods.aqer.estimator import AQER
from evaluation.methods.aqer.votes import mean_vote_of, usable
from evaluation.methods.cells import Booleans, Floats, Integers, codes_of
from evaluation.methods.grams import Vectors, compacted
from evaluation.methods.inference.resampled import Estimated, clustered_interval
from evaluation.methods.statistics.correlation import pearson, spearman
from evaluation.methods.undefined import ratio

WORKERS, QUESTIONS = "workers", "questions"
# What scores are compared with: experts' grades, by worker and by answer; the whole crowd's scores.
OF_WORKERS, OF_ANSWERS, OF_CROWD = "workers", "answers", "crowd"

FEWEST_VOTERS = 3
FEWEST_QUESTIONS = 2
FEWEST_JUDGED_WORKERS = 5
ROUND = (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 600, 800)
MOST_SIZES = 12
# A voter of weight 0 has this one beside the others': as good as none, unless there are no others.
HARDLY = 1e-12
# Correlations that differ by less than this are as good as each other.
NOTHING_GAINED = 0.01
ENOUGH = 0.95

NO_JUDGEMENTS = "no_judgements"
TOO_FEW_JUDGED_WORKERS = "fewer_than_5_judged_workers"
NO_AGREEMENT = "no_agreement"
NO_CORRELATION = "no_correlation"

Progress = Callable[[int, int], None]
# What came of a part, by its name: for each measure Pearson's and Spearman's correlation.
Tried = dict[str, tuple[float | None, float | None]]


@dataclass(frozen=True)
class SizePoint:
    """Agreement at one size.

    Attributes
    ----------
    by : "workers" or "questions", of which there are `size`.
    measure : what the scores are compared with: "workers" and "answers", experts' mean grades of
        workers and of answers; "crowd", workers' scores by the whole crowd.
    pearson, spearman : means over the draws; None where undefined in all of them.
    low, high : range of Pearson's in 95 of 100 draws; both the mean at the full size, which is one
        draw.
    n_draws : draws in which it is defined.
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
    """From which size on more hardly helps, by one measure.

    Attributes
    ----------
    full : agreement of the whole crowd, `full_size` of them, with its interval over questions.
    enough : the smallest size from which on the mean agreement is .95 of `full` or more.
    plateau : the smallest size from which on it is less than .01 below `full`.
    reason : why there is neither.
    """

    by: str
    measure: str
    full_size: int
    full: Estimated
    enough: int | None
    plateau: int | None
    reason: str | None = None


def sizes_up_to(most: int, fewest: int) -> list[int]:
    """Return at most 12 round sizes from `fewest` to `most`, both among them, if there are any."""
    if most < fewest:
        return []
    inside = [size for size in ROUND if fewest < size < most]
    # Beyond the middle a step of a fifth tells nothing new.
    while len(inside) > MOST_SIZES - 2:
        del inside[1::3]
    return sorted({fewest, *inside, most})


class CrowdSize:
    """Score all workers by a part of the crowd, again and again, and compare.

    Parameters
    ----------
    repetitions : random parts of each size, at least 2.
    n_draws : bootstrap draws of questions, for the interval of the whole crowd's agreement.
    seed : of the parts and the draws.
    parameters : of `AQER`, mean vote.

    Attributes
    ----------
    points_ : a `SizePoint` for each size and measure.
    verdicts_ : one for each measure, those by workers first, of these that by `measure_`.
    measure_ : the one to go by: "workers" where 5 workers or more were judged, else "answers",
        without judgements "crowd".
    n_judged_, n_judged_workers_ : how many answers and workers the experts graded.
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
        kept: MutableMapping[str, Tried] | None = None,
    ) -> CrowdSize:
        """Try the crowd of N answers; returns self.

        Parameters
        ----------
        vectors : (N, d). workers, questions : (N,) labels, as in `AQER.fit`.
        grades : (N,) experts' mean grade of each answer, NaN for none; on any scale.
        progress : called after each part with (parts done, parts in all).
        kept : what came of parts that were tried before, to which the others are added; of the
            same crowd and parameters.

        Raises
        ------
        ValueError : fewer than 2 repetitions, fewer than 3 workers, and as `AQER.fit`.
        """
        if self.repetitions < 2:
            raise ValueError(f"repetitions must be at least 2, got {self.repetitions}")
        crowd = _Crowd.of(vectors, workers, questions, self.parameters)
        if crowd.n_workers < FEWEST_VOTERS:
            raise ValueError(f"{crowd.n_workers} workers: at least {FEWEST_VOTERS} are needed")
        truth = np.full(len(crowd.worker), np.nan)
        if grades is not None:
            truth[:] = np.asarray(grades, dtype=np.float64)
        compared = _Compared(crowd, truth)
        self.n_judged_ = int(np.count_nonzero(~np.isnan(truth)))
        self.n_judged_workers_ = int(np.count_nonzero(~np.isnan(compared.of_workers)))
        self.measure_ = self._measure()
        full = {WORKERS: crowd.n_workers, QUESTIONS: crowd.n_questions}
        fewest = {WORKERS: FEWEST_VOTERS, QUESTIONS: FEWEST_QUESTIONS}
        plan = [(by, size) for by in full for size in sizes_up_to(full[by], fewest[by])]
        tried = {} if kept is None else kept
        parts = [
            (by, size, draw)
            for by, size in plan
            for draw in range(1 if size == full[by] else self.repetitions)
        ]
        for done, (by, size, draw) in enumerate(parts):
            name = f"{by}-{size}-{draw}"
            if name not in tried:
                rng = np.random.default_rng([self.seed, by == QUESTIONS, size, draw])
                part = np.sort(rng.choice(full[by], size=size, replace=False))
                scores = crowd.scores(by, part)
                tried[name] = {
                    measure: compared.agreement(measure, scores) for measure in self._measures(by)
                }
            if progress is not None:
                progress(done + 1, len(parts))
        self.points_ = [
            _point(by, size, measure, [tried[f"{by}-{size}-{n}"][measure] for n in range(draws)])
            for by, size in plan
            for draws in (1 if size == full[by] else self.repetitions,)
            for measure in self._measures(by)
        ]
        at_full = {
            measure: compared.full(measure, self.n_draws, self.seed)
            for measure in self._measures(WORKERS)
        }
        self.verdicts_ = [
            _verdict(by, measure, size, at_full[measure], self.points_)
            for by, size in full.items()
            for measure in sorted(self._measures(by), key=lambda one: one != self.measure_)
            if any(point.by == by for point in self.points_)
        ]
        return self

    def _measure(self) -> str:
        if not self.n_judged_:
            return OF_CROWD
        return OF_WORKERS if self.n_judged_workers_ >= FEWEST_JUDGED_WORKERS else OF_ANSWERS

    def _measures(self, by: str) -> list[str]:
        """What can be compared; with some of the questions the judged answers change, too."""
        judged = [OF_WORKERS] if self.n_judged_workers_ >= FEWEST_JUDGED_WORKERS else []
        if self.n_judged_ and (by == WORKERS or not judged):
            judged.append(OF_ANSWERS)
        return [*judged, OF_CROWD]


@dataclass(frozen=True)
class _Crowd:
    """The answers as codes, with short vectors and the vote of all of them."""

    vectors: Vectors
    worker: Integers
    question: Integers
    n_workers: int
    n_questions: int
    parameters: dict[str, Any]

    @classmethod
    def of(
        cls,
        vectors: ArrayLike | Vectors,
        workers: ArrayLike,
        questions: ArrayLike,
        parameters: dict[str, Any],
    ) -> _Crowd:
        x = usable(vectors, unit_length=bool(parameters.get("unit_length")))
        worker, labels = codes_of(workers)
        question, asked = codes_of(questions)
        if not len(worker) == len(question) == x.shape[0]:
            raise ValueError(
                f"{x.shape[0]} vectors, {len(worker)} workers and {len(question)} questions: "
                "they must be as many"
            )
        members = np.split(
            np.argsort(question, kind="stable"), np.cumsum(np.bincount(question))[:-1]
        )
        # Similarities are those of the long vectors, and hundreds of parts cost less.
        short = compacted(x, members) if len(worker) else x
        rest = {name: value for name, value in parameters.items() if name != "unit_length"}
        return cls(short, worker, question, len(labels), len(asked), rest)

    @cached_property
    def whole(self) -> AQER:
        """The crowd as it is."""
        return self._graded(np.ones(len(self.worker), dtype=bool))

    def _graded(self, rows: Booleans) -> AQER:
        some = AQER(n_draws=0, **self.parameters)
        return some.fit(self.vectors[rows], self.worker[rows], self.question[rows])

    def scores(self, by: str, part: Integers) -> Floats:
        """Return (N,) leave-one-out scores; NaN for what a part of the crowd cannot score."""
        if by == QUESTIONS:
            rows = np.isin(self.question, part)
            found = np.full(len(rows), np.nan)
            found[rows] = self._graded(rows).leave_one_out_scores_
            return found
        if len(part) == self.n_workers:
            return self.whole.leave_one_out_scores_
        return self._scored_by(part)

    def _scored_by(self, voters: Integers) -> Floats:
        """Grade some workers by themselves, then score everybody by their exemplary answers."""
        votes = np.isin(self.worker, voters)
        graded = self._graded(votes)
        weights = np.zeros(self.n_workers)
        weights[graded.workers_.astype(np.int64)] = np.nan_to_num(graded.weights_)
        weights[voters] = np.maximum(weights[voters], HARDLY / len(voters))
        vote = mean_vote_of(self.whole.fitted_.crowd.vote)
        found = vote.cells.to_rows(vote.similarity(weights[:, None], leave_one_out=True)[:, 0])
        others = np.bincount(self.question, votes, self.n_questions)[self.question] - votes
        return np.where(others > 0, found, np.nan)

    def means(self, values: Floats, rows: Integers | None = None) -> Floats:
        """Return (M,) mean of each worker's values (N,), NaN left out; of some rows, if given."""
        worker = self.worker if rows is None else self.worker[rows]
        some = values if rows is None else values[rows]
        known = ~np.isnan(some)
        total = np.bincount(worker[known], some[known], self.n_workers)
        return ratio(total, np.bincount(worker[known], minlength=self.n_workers))


@dataclass(frozen=True)
class _Compared:
    """Scores against experts' grades (N,) and against the scores by the whole crowd."""

    crowd: _Crowd
    grades: Floats

    @cached_property
    def of_workers(self) -> Floats:
        """(M,) mean grade of each worker's judged answers."""
        return self.crowd.means(self.grades)

    @cached_property
    def of_crowd(self) -> Floats:
        """(M,) mean score of each worker by the whole crowd."""
        return self.crowd.means(self.crowd.whole.leave_one_out_scores_)

    def sides(self, measure: str, scores: Floats) -> tuple[Floats, Floats]:
        """Return what is compared with what."""
        if measure == OF_ANSWERS:
            return scores, self.grades
        other = self.of_workers if measure == OF_WORKERS else self.of_crowd
        return self.crowd.means(scores), other

    def agreement(self, measure: str, scores: Floats) -> tuple[float | None, float | None]:
        """Return Pearson's and Spearman's correlation; None where undefined."""
        pair = self.sides(measure, scores)
        return pearson(*pair), spearman(*pair)

    def full(self, measure: str, n_draws: int, seed: int) -> Estimated:
        """Return the whole crowd's agreement, with the interval over questions.

        The weights stay as they are: it is about the questions that were asked and judged. With
        itself a crowd agrees by construction, and there is nothing to estimate.
        """
        scores, crowd = self.crowd.whole.leave_one_out_scores_, self.crowd
        if measure == OF_CROWD:
            return Estimated(1.0, None, None, crowd.n_workers, crowd.n_questions)
        rows = np.flatnonzero(~np.isnan(self.grades))
        if measure == OF_ANSWERS:
            return clustered_interval(
                lambda some: pearson(scores[rows[some]], self.grades[rows[some]]),
                crowd.question[rows],
                n_draws,
                seed,
            )
        found = clustered_interval(
            lambda some: pearson(crowd.means(scores, some), crowd.means(self.grades, some)),
            crowd.question,
            n_draws,
            seed,
        )
        return replace(found, n=int(np.count_nonzero(~np.isnan(self.of_workers))))


def _point(
    by: str, size: int, measure: str, found: Sequence[tuple[float | None, float | None]]
) -> SizePoint:
    """Return the agreement of a size out of that of its draws."""
    linear = [value for value, _ in found if value is not None]
    ranked = [value for _, value in found if value is not None]
    if not linear:
        return SizePoint(by, size, measure, None, None, None, None, 0)
    low, high = np.quantile(linear, [0.025, 0.975]).tolist()
    mean, of_ranks = float(np.mean(linear)), float(np.mean(ranked)) if ranked else None
    return SizePoint(by, size, measure, mean, low, high, of_ranks, len(linear))


def _verdict(
    by: str, measure: str, size: int, full: Estimated, points: Sequence[SizePoint]
) -> SizeVerdict:
    """Return from which size on more hardly helps."""
    mine = [point for point in points if point.by == by and point.measure == measure]
    if full.value is None:
        return SizeVerdict(by, measure, size, full, None, None, NO_CORRELATION)
    if full.value <= 0 or (full.low is not None and full.low <= 0):
        return SizeVerdict(by, measure, size, full, None, None, NO_AGREEMENT)
    return SizeVerdict(
        by,
        measure,
        size,
        full,
        reached_from(mine, ENOUGH * full.value),
        reached_from(mine, full.value - NOTHING_GAINED),
    )


def reached_from(points: Sequence[SizePoint], least: float) -> int | None:
    """Return the smallest size from which on the mean agreement is never below `least`."""
    found = None
    for point in reversed(points):
        if point.pearson is None or point.pearson < least:
            break
        found = point.size
    return found
