"""AQER: grades for workers and exemplary answers, out of the answers alone.

Yahav, Goldstein, Geva, Meir and Shehory, "Quality Control for Crowd Workers and for Language
Models", Information Systems Research 2025, section 4. What goes beyond the paper is a switch of
its own and off by default.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from evaluation.methods.aqer import initialization
from evaluation.methods.aqer.effects import components
from evaluation.methods.aqer.electorate import EVERYBODY, Electorate, capped
from evaluation.methods.aqer.fixed_point import Rest, Rules, Vote, WorkerMeans, iterate
from evaluation.methods.aqer.history import History
from evaluation.methods.aqer.mean_vote import MeanVote, MeanVoteBuilder
from evaluation.methods.aqer.model_scores import Crowd, ModelAnswers, ModelScores, score_models
from evaluation.methods.aqer.resampling import (
    Draws,
    KeptDraws,
    Progress,
    resample,
)
from evaluation.methods.aqer.scale import Ceiling, competition_ranks, human_ceiling, supported
from evaluation.methods.aqer.score_intervals import (
    as_grades,
    closed_form_errors,
    score_interval,
)
from evaluation.methods.aqer.stability import draw_agreement, rank_intervals
from evaluation.methods.aqer.votes import mean_vote_of, nearest_rows, usable, vote_of
from evaluation.methods.cells import Cells, Floats, Integers, codes_of
from evaluation.methods.grams import Vectors
from evaluation.methods.inference.intervals import t_interval

SIMILARITIES = ("cosine", "euclidean")
INITIALIZATIONS = ("equal", "random", "entailment")
AGGREGATIONS = ("mean", "majority")
STOPPING_RULES = ("relative", "paper")

# Computed when asked for, and forgotten by the next fit.
LATER = (
    "scores_",
    "final_scores_",
    "leave_one_out_scores_",
    "nearest_",
    "dispersion_",
    "ceiling_",
    "_rank_intervals",
    "draw_agreement_",
)

FEWEST_WORKERS = 3
FEWER_THAN_3_WORKERS = "fewer_than_3_workers"
DISCONNECTED = "disconnected"

Block = tuple[Vectors, ArrayLike, ArrayLike]


class AQER:
    """Estimate how good workers are by how near their answers come to the crowd's own answer.

    Parameters
    ----------
    similarity : "cosine" (0 where a vector is zero) or "euclidean" (negative distance, app. B.2).
    init : "equal", "random" (by `seed`) or "entailment" (app. B.1: pass `initial_scores` to fit).
    aggregation : "mean", or "majority" for binary bags of words (app. G).
    stopping : "relative" stops when M * RMSE(w, previous w) < tolerance; "paper" at
        RMSE < tolerance, which for many workers is met at once, because weights shrink like 1/M.
    tolerance, max_iterations : see `stopping`.
    leave_one_out : compare an answer with the exemplary answer of the others.
    difficulty : take out additive effects of questions before averaging.
    discrimination : weight questions by their item-rest correlation.
    unit_length : bring every vector to unit length first, so that no long vector outvotes others.
    weight_cap : no voting weight above it, see `capped`; at least 1/M.
    n_draws : bootstrap draws of questions for intervals; 0 for none (closed form where valid).
    bootstrap_workers : resample workers as well, for "another crowd of the same kind".
    seed : of the random initialisation, the draws and the permutation tests.

    Attributes
    ----------
    workers_, questions_ : (M,), (Q,) labels in order of first appearance.
    grades_ : (M,) 0 to 1, min-max within this run; NaN where undefined.
    raw_ : (M,) mean similarity after the switches; -1 to 1 under cosine.
    weights_ : (M,) voting weights; NaN where undefined.
    ranks_ : (M,) 1 for the best supported worker; 0 for no rank.
    supported_ : (M,) at least 5 answered questions that at least 3 workers answered.
    n_answers_ : (M,); `n_workers_of_question_` (Q,).
    raw_low_, raw_high_, grade_low_, grade_high_ : (M,) 95% intervals; NaN where undefined, with
        the reason in `interval_reasons_`.
    scores_ : (N,) similarity of each answer to its exemplary answer, with the weights that
        produced raw; `leave_one_out_scores_` to that of the others, with the final weights
        (NaN for a question's only answer); `final_scores_` as the first, with the final weights.
    dispersion_ : (Q,) 0 where all answers agree. `nearest_` : (Q,) row of the best response.
    trace_ : RMSE of the weights, one an iteration. `n_iter_`, `converged_` (None without a rank).
    ceiling_ : the human ceiling.
    rank_low_, rank_high_ : (M,) 95% intervals of ranks_, whole numbers; NaN where undefined.
    draw_agreement_ : (n_draws,) Spearman correlation of each draw's raw scores with raw_.
    history_ : the voting weights before the first iteration and after each, see `History`.
    reason_ : "fewer_than_3_workers" or "disconnected" where that leaves something undefined.

    Examples
    --------
    >>> vectors = [[1, 0], [1, 0.1], [0, 1], [1, 0.2], [1, 0.1], [0, 1]]
    >>> aqer = AQER(n_draws=0).fit(vectors, ["ann", "bob", "cy"] * 2, [1, 1, 1, 2, 2, 2])
    >>> dict(zip(aqer.workers_.tolist(), aqer.grades_.round(2).tolist()))
    {'ann': 1.0, 'bob': 1.0, 'cy': 0.0}
    """

    def __init__(
        self,
        similarity: str = "cosine",
        init: str = "equal",
        aggregation: str = "mean",
        stopping: str = "relative",
        tolerance: float = 1e-6,
        max_iterations: int = 100,
        leave_one_out: bool = False,
        difficulty: bool = False,
        discrimination: bool = False,
        unit_length: bool = False,
        weight_cap: float | None = None,
        n_draws: int = 400,
        bootstrap_workers: bool = False,
        seed: int = 0,
    ) -> None:
        self.similarity = similarity
        self.init = init
        self.aggregation = aggregation
        self.stopping = stopping
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.leave_one_out = leave_one_out
        self.difficulty = difficulty
        self.discrimination = discrimination
        self.unit_length = unit_length
        self.weight_cap = weight_cap
        self.n_draws = n_draws
        self.bootstrap_workers = bootstrap_workers
        self.seed = seed

    def fit(
        self,
        vectors: ArrayLike | Vectors,
        workers: ArrayLike,
        questions: ArrayLike,
        initial_scores: ArrayLike | None = None,
        progress: Progress | None = None,
        kept: KeptDraws | None = None,
        *,
        electorate: Electorate = EVERYBODY,
        camps: ArrayLike | None = None,
    ) -> AQER:
        """Grade the workers of N answers; returns self.

        Parameters
        ----------
        vectors : (N, d) one vector an answer, dense or sparse, of any float type.
        workers, questions : (N,) labels. A worker may answer a question once, and need not
            answer all.
        initial_scores : (N,) for ``init="entailment"``, see `initialization.from_scores`.
        progress : called with (draws done, draws in all).
        kept : where draws are put aside and come from, see `KeptDraws`.
        electorate : who votes and how much, workers in order of first appearance.
        camps : (N,) camp of each answer within its question, for questions with more than one
            exemplary answer: the nearest one counts, see `CampedVote`.

        Raises
        ------
        ValueError
            A parameter is unknown, lengths differ, a vector is not finite (`NonFiniteError` names
            its row), an answer is repeated, or there is none.
        """
        self._check()
        x = usable(vectors, unit_length=self.unit_length)
        worker, self.workers_ = codes_of(workers)
        question, self.questions_ = codes_of(questions)
        if not len(worker) == len(question) == x.shape[0]:
            raise ValueError(
                f"{x.shape[0]} vectors, {len(worker)} workers and {len(question)} questions: "
                "they must be as many"
            )
        if not len(worker):
            raise ValueError("no answers: at least one is needed")
        cells = Cells.from_codes(worker, question, len(self.workers_), len(self.questions_))
        in_camps = None if camps is None else codes_of(camps)[0]
        self._vote: Vote = vote_of(
            x, cells, self.similarity, self.aggregation, in_camps, electorate.left_out
        )
        self._vectors: Vectors | None = x
        return self._settle(initial_scores, progress, electorate, kept)

    def fit_blocks(self, blocks: Iterable[Block], progress: Progress | None = None) -> AQER:
        """Grade workers whose answers come in blocks ``(vectors, workers, questions)``.

        All answers to a question must come in the same block. A block is not kept: what stays in
        memory is a few numbers an answer. Exemplary answers and models' scores, which need the
        vectors, are not available afterwards. Mean vote only; see `fit` for the rest.
        """
        self._check()
        if self.aggregation != "mean" or self.init == "entailment":
            raise ValueError("blocks are for the mean vote, from equal or random weights")
        builder = MeanVoteBuilder(self.similarity)
        for vectors, workers, questions in blocks:
            x = usable(vectors, unit_length=self.unit_length)
            builder.add(x, np.asarray(workers), np.asarray(questions))
        self._vote, self.workers_, self.questions_ = builder.build()
        self._vectors = None
        return self._settle(None, progress, EVERYBODY)

    @property
    def out_of_ranking_(self) -> list[str | None]:
        """(M,) why a worker is kept out of the ranking; None for those who are in it."""
        return [None] * len(self.workers_)

    def exemplars(self) -> Vectors:
        """Return (Q, d) exemplary answers made with the final weights, in float64."""
        return self._vote.exemplars(self._kept_vectors(), self._votes)

    def score_models(
        self,
        vectors: ArrayLike | Vectors,
        models: ArrayLike,
        questions: ArrayLike,
        kind: ArrayLike | None = None,
    ) -> ModelScores:
        """Score answers of models against the exemplary answers.

        Parameters
        ----------
        vectors : (R, d) in the space of the workers' answers; rows without a text are ignored.
        models, questions : (R,) labels; a question that no worker answered gives no score.
        kind : (R,) "text" (default), "no_text" for an empty or refused answer, which scores 0
            under cosine and the lowest worker score of its question under Euclidean distance,
            "error" for a missing one, which keeps the model out of the ranking.
        """
        answers = ModelAnswers.of(models, questions, kind, self.questions_)
        x = usable(vectors, unit_length=self.unit_length)
        if len(answers.model) != x.shape[0]:
            raise ValueError(f"{x.shape[0]} vectors for {len(answers.model)} answers of models")
        cells = self._vote.cells
        crowd = Crowd(
            vote=self._vote,
            vectors=self._kept_vectors(),
            votes=self._votes,
            scores=self.scores_[cells.row],
            left_out=self._left_out,
            draws=self._draws,
            drawn_votes=self._drawn_votes,
            ranked=self.reason_ != FEWER_THAN_3_WORKERS,
            leave_one_out=self.leave_one_out,
            cosine=self.similarity == "cosine",
            seed=self.seed,
        )
        return score_models(crowd, answers, x)

    # What follows from the weights is computed when it is asked for.

    @cached_property
    def scores_(self) -> Floats:
        """(N,) similarity to the exemplary answers that produced raw."""
        return self._to_rows(self._previous, leave_one_out=False)

    @cached_property
    def final_scores_(self) -> Floats:
        """(N,) similarity to the exemplary answers of the final weights."""
        return self._to_rows(self._votes[:, None], leave_one_out=False)

    @cached_property
    def leave_one_out_scores_(self) -> Floats:
        """(N,) similarity to the exemplary answers of the others, with the final weights."""
        return self._to_rows(self._votes[:, None], leave_one_out=True)

    @cached_property
    def nearest_(self) -> Integers:
        """(Q,) row of the answer nearest to each exemplary answer, the first of several."""
        return nearest_rows(self._vote, self.final_scores_, self._votes)

    @cached_property
    def dispersion_(self) -> Floats:
        """(Q,) 0 where all answers to a question agree."""
        return self._vote.dispersion(self._votes)

    @cached_property
    def ceiling_(self) -> Ceiling:
        """The human ceiling."""
        if self.reason_ == FEWER_THAN_3_WORKERS:
            return Ceiling(None, None, None, 0, 0, FEWER_THAN_3_WORKERS)
        return human_ceiling(self._left_out, self._vote.cells)

    @property
    def rank_low_(self) -> Floats:
        """(M,) lower, that is better, end of each rank's interval."""
        return self._rank_intervals[0]

    @property
    def rank_high_(self) -> Floats:
        """(M,) upper end of each rank's interval."""
        return self._rank_intervals[1]

    @cached_property
    def _rank_intervals(self) -> tuple[Floats, Floats]:
        if self._drawn_raw is None:
            nothing = np.full(len(self.workers_), np.nan)
            return nothing, nothing
        return rank_intervals(self._drawn_raw, self.ranks_ > 0, self.n_answers_)

    @cached_property
    def draw_agreement_(self) -> Floats:
        """(n_draws,) how well the draws agree with the run, -1 to 1; empty without draws."""
        if self._drawn_raw is None:
            return np.empty(0)
        return draw_agreement(self.raw_, self._drawn_raw, self.ranks_ > 0)

    @property
    def mean_vote_(self) -> MeanVote:
        """The answers' Gram blocks, which the alarms rest on; under majority vote as well."""
        return mean_vote_of(self._vote)

    def restarted(self, start: Floats, copies: Floats | None = None) -> Floats:
        """Return (M, D) raw scores with the run's own rules, from other weights (M, D).

        `copies` (M, D) says how often each worker votes; who votes 0 times is left out altogether,
        with raw NaN.
        """
        cells, rules = self._vote.cells, self._rules
        times = np.ones(start.shape) if copies is None else (copies > 0).astype(float)
        return iterate(
            self._vote, start, WorkerMeans(cells, rules, times[cells.worker]), copies
        ).raw

    @property
    def _left_out(self) -> Floats:
        return self.leave_one_out_scores_[self._vote.cells.row]

    def _to_rows(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        found = self._vote.similarity(weights, leave_one_out=leave_one_out)
        return self._vote.cells.to_rows(found[:, 0])

    # The steps of fit, in their order.

    def _check(self) -> None:
        for name, value, known in (
            ("similarity", self.similarity, SIMILARITIES),
            ("init", self.init, INITIALIZATIONS),
            ("aggregation", self.aggregation, AGGREGATIONS),
            ("stopping", self.stopping, STOPPING_RULES),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        if not self.tolerance >= 0:
            raise ValueError(f"tolerance must not be negative, got {self.tolerance}")
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, got {self.max_iterations}")
        if self.unit_length and self.aggregation == "majority":
            raise ValueError("unit_length is for the mean vote: a majority counts zeros and ones")
        if self.weight_cap is not None and not 0 < self.weight_cap <= 1:
            raise ValueError(f"weight_cap must be above 0 and at most 1, got {self.weight_cap}")
        if self.n_draws < 0 or self.n_draws == 1:
            raise ValueError(f"n_draws must be 0 or at least 2, got {self.n_draws}")

    def _settle(
        self,
        initial_scores: ArrayLike | None,
        progress: Progress | None,
        electorate: Electorate,
        kept: KeptDraws | None = None,
    ) -> AQER:
        for name in LATER:
            self.__dict__.pop(name, None)
        cells = self._vote.cells
        self.n_answers_ = cells.answers_of_worker
        self.n_workers_of_question_ = cells.to_questions(cells.sizes)
        self.supported_ = supported(cells)
        ranked = cells.n_workers >= FEWEST_WORKERS
        self.reason_: str | None = None if ranked else FEWER_THAN_3_WORKERS
        self._electorate = electorate
        if ranked and self.weight_cap is not None:
            self._electorate = electorate.with_cap(self.weight_cap, cells.n_workers)
        start = self._start(initial_scores) if ranked else initialization.equal(cells.n_workers)
        rules = self._rules = Rules(
            leave_one_out=self.leave_one_out,
            difficulty=self.difficulty,
            discrimination=self.discrimination,
            stopping=self.stopping,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations if ranked else 1,
            electorate=self._electorate,
        )
        means = WorkerMeans(cells, rules)
        self.history_ = History(start)
        watch = self.history_.add if ranked else None
        rest = iterate(self._vote, start[:, None], means, watch=watch)
        self.raw_ = rest.raw[:, 0]
        self._votes = rest.weights[:, 0] if ranked else start
        self._previous = rest.previous
        if ranked:
            self._write_grades(means, rest)
            self._write_intervals(start, means, rest, progress, kept)
        else:
            self._write_no_grades(start)
        return self

    def _start(self, initial_scores: ArrayLike | None) -> Floats:
        start = self._electorate.start
        if start is None:
            cells = self._vote.cells
            start = initialization.first_weights(self.init, cells, initial_scores, self.seed)
        if self.weight_cap is not None:
            start = capped(start[:, None] / start.sum(), self.weight_cap)[:, 0]
        return start

    def _write_grades(self, means: WorkerMeans, rest: Rest) -> None:
        self.grades_ = rest.grades[:, 0]
        self.weights_ = rest.weights[:, 0]
        self.trace_ = rest.trace[0]
        self.n_iter_ = len(self.trace_)
        self.converged_: bool | None = bool(rest.converged[0])
        among = self.supported_
        if self.difficulty:
            cells = self._vote.cells
            used = means.times[:, 0] > 0
            if components(cells, used)[0] > 1:
                self.reason_ = DISCONNECTED
                among = np.zeros_like(among)
        self.ranks_ = competition_ranks(self.grades_, among)

    def _write_no_grades(self, start: Floats) -> None:
        m = self._vote.cells.n_workers
        nothing = np.full(m, np.nan)
        self.grades_ = self.weights_ = nothing
        self.raw_low_ = self.raw_high_ = self.grade_low_ = self.grade_high_ = nothing
        self.ranks_ = np.zeros(m, dtype=np.int64)
        self.trace_, self.n_iter_, self.converged_ = [], 0, None
        self.interval_reasons_: list[str | None] = [FEWER_THAN_3_WORKERS] * m
        # Models' intervals are defined: questions are drawn, the weights stay equal.
        self._draws: Draws | None = None
        self._drawn_votes: Floats | None = None
        self._drawn_raw: Floats | None = None
        if self.n_draws:
            self._draws = Draws(self._vote.cells, self.n_draws, self.seed)
            self._drawn_votes = np.repeat(start[:, None], self.n_draws, axis=1)

    def _write_intervals(
        self,
        start: Floats,
        means: WorkerMeans,
        rest: Rest,
        progress: Progress | None,
        kept: KeptDraws | None,
    ) -> None:
        cells = self._vote.cells
        n = cells.sum_by_worker(means.times[:, 0]).astype(np.int64)
        self._draws = self._drawn_votes = self._drawn_raw = None
        low = high = np.full(cells.n_workers, np.nan)
        reasons: list[str | None] = ["no_draws"] * cells.n_workers
        if self.n_draws:
            self._draws = Draws(cells, self.n_draws, self.seed, self.bootstrap_workers)
            self._drawn_raw, self._drawn_votes = resample(
                self._vote, start, means.rules, self._draws, progress, kept
            )
            low, high, reasons = score_interval(
                self.raw_,
                self._drawn_raw,
                n,
                leave_one_out=self.leave_one_out,
                cosine=self.similarity == "cosine",
            )
        elif self.leave_one_out:
            found = t_interval(self.raw_, closed_form_errors(self._vote, means, rest), n)
            low, high, reasons = found.low, found.high, list(found.reasons)
        self.raw_low_, self.raw_high_, self.interval_reasons_ = low, high, reasons
        on_scale = self.raw_
        if self._electorate.on_scale is not None:
            on_scale = np.where(self._electorate.on_scale, self.raw_, np.nan)
        self.grade_low_ = as_grades(low, on_scale)
        self.grade_high_ = as_grades(high, on_scale)

    # The steps of score_models.

    def _kept_vectors(self) -> Vectors:
        if self._vectors is None:
            raise ValueError("fitted block by block: the vectors were not kept")
        return self._vectors
