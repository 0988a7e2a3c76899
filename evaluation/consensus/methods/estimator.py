"""AQER: grades of workers and exemplary answers, estimated without ground truth.

Yahav, Goldstein, Geva, Meir and Shehory, "Quality Control for Crowd Workers and for Language
Models", Information Systems Research 2025, section 4. What goes beyond the paper is a switch of
its own and off by default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.consensus.methods import fixed_point
from evaluation.consensus.methods.exemplary_answers import MeanVote, MeanVoteBuilder
from evaluation.consensus.methods.fitted import (
    DISCONNECTED,
    FEWER_THAN_3_WORKERS,
    FitResult,
    FittedCrowd,
    LearnedAttribute,
)
from evaluation.consensus.methods.fixed_point import (
    FixedPoint,
    IterationHistory,
    IterationRules,
    Vote,
    WorkerMeans,
    iterate_to_fixed_point,
)
from evaluation.consensus.methods.model_scores import ModelAnswerCodes, ModelScores, score_models
from evaluation.consensus.methods.question_contrast import Contrasts
from evaluation.consensus.methods.resampling import (
    DrawnVotes,
    Draws,
    DrawStore,
    Progress,
    compute_bootstrap_draws,
    compute_closed_form_errors,
    compute_score_intervals,
    map_to_grades,
)
from evaluation.consensus.methods.scale import (
    EVERYBODY,
    Ceiling,
    Electorate,
    cap_weights,
    find_components,
    find_supported_workers,
    number_connected_groups,
    rank_within_groups,
)
from evaluation.consensus.methods.votes import build_vote, convert_vectors
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers, encode_labels
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.inference.intervals import compute_t_interval

SIMILARITIES = ("cosine", "euclidean")
INITIALIZATIONS = ("equal", "random", "entailment")
AGGREGATIONS = ("mean", "majority")
STOPPING_RULES = ("relative", "paper")

# With two workers, min-max would give one of them all the voting weight.
FEWEST_WORKERS = 3

Block = tuple[Vectors, ArrayLike, ArrayLike]


class AQER:
    """Estimator that grades workers by their similarity to the crowd's weighted mean answer.

    Parameters
    ----------
    similarity : "cosine" (0 where a vector is zero) or "euclidean" (negative distance, app. B.2).
    init : "equal", "random" (by `seed`) or "entailment" (app. B.1: pass `initial_scores` to fit).
    aggregation : "mean", or "majority" for binary bags of words (app. G).
    stopping : "relative" stops when M * RMSE(w, previous w) < tolerance; "paper" at
        RMSE < tolerance, which for many workers is met at once, because weights shrink like 1/M.
    tolerance, max_iterations : see `stopping`.
    leave_one_out : compare an answer with the exemplary answer of the others.
    difficulty : subtract additive effects of questions before averaging.
    discrimination : weight questions by their item-rest correlation.
    question_contrast : raw scores and grades are the question contrast, see `contrasts_`; the
        iteration, its weights and exemplary answers are unchanged.
    unit_length : scale every vector to unit length first, so that no long vector outvotes others.
    weight_cap : largest voting weight, see `cap_weights`; at least 1/M.
    n_draws : bootstrap draws of questions for intervals; 0 for none (closed form where valid).
    bootstrap_workers : resample workers as well, for "another crowd of the same kind".
    seed : of the random initialisation, the draws and the permutation tests.

    Attributes
    ----------
    workers_, questions_ : (M,), (Q,) labels in order of first appearance.
    grades_ : (M,) 0 to 1, min-max within this run; NaN where undefined.
    raw_ : (M,) mean similarity after the switches; -1 to 1 under cosine.
    weights_ : (M,) voting weights; NaN where undefined.
    ranks_ : (M,) 1 for the best supported worker (of its group); 0 for no rank.
    groups_ : (M,) number of the worker's group where groups share no question, see
        `scale.number_connected_groups`; all 0 if there is only one.
    supported_ : (M,) at least 5 answered questions that at least 3 workers answered.
    n_answers_ : (M,); `n_workers_of_question_` (Q,).
    raw_low_, raw_high_, grade_low_, grade_high_ : (M,) 95% intervals; NaN where undefined, with
        the reason in `interval_reasons_`.
    scores_ : (N,) similarity of each answer to its exemplary answer, with the weights that
        produced raw; `leave_one_out_scores_` to that of the others, with the final weights
        (NaN for a question's only answer); `final_scores_` as the first, with the final weights.
    dispersion_ : (Q,) 0 where all answers agree. `nearest_` : (Q,) row of the best response.
    trace_ : RMSE between successive weights, one per iteration. `n_iter_`, `converged_` (None
        without a rank).
    ceiling_ : the human ceiling.
    contrasts_ : question contrast of answers and workers, see `Contrasts`, from the final weights.
    rank_low_, rank_high_ : (M,) 95% intervals of ranks_, whole numbers; NaN where undefined.
    draw_agreement_ : (n_draws,) Spearman correlation of each draw's raw scores with raw_.
    history_ : the voting weights before the first iteration and after each, see `IterationHistory`.
    reason_ : "fewer_than_3_workers" or "disconnected" where that leaves something undefined.
    out_of_ranking_ : (M,) why a worker is kept out of the ranking, or None.
    mean_vote_ : the answers' Gram blocks, from which alarms are computed; also under majority vote.
    fitted_ : all of these in one object, new with every fit.

    Examples
    --------
    >>> vectors = [[1, 0], [1, 0.1], [0, 1], [1, 0.2], [1, 0.1], [0, 1]]
    >>> aqer = AQER(n_draws=0).fit(vectors, ["ann", "bob", "cy"] * 2, [1, 1, 1, 2, 2, 2])
    >>> dict(zip(aqer.workers_.tolist(), aqer.grades_.round(2).tolist()))
    {'ann': 1.0, 'bob': 1.0, 'cy': 0.0}
    """

    fitted_: FitResult

    workers_ = LearnedAttribute[NDArray[np.generic]]()
    questions_ = LearnedAttribute[NDArray[np.generic]]()
    n_answers_ = LearnedAttribute[Integers]()
    n_workers_of_question_ = LearnedAttribute[Integers]()
    supported_ = LearnedAttribute[Booleans]()
    raw_ = LearnedAttribute[Floats]()
    grades_ = LearnedAttribute[Floats]()
    weights_ = LearnedAttribute[Floats]()
    ranks_ = LearnedAttribute[Integers]()
    groups_ = LearnedAttribute[Integers]()
    out_of_ranking_ = LearnedAttribute[list[str | None]]()
    raw_low_ = LearnedAttribute[Floats]()
    raw_high_ = LearnedAttribute[Floats]()
    grade_low_ = LearnedAttribute[Floats]()
    grade_high_ = LearnedAttribute[Floats]()
    interval_reasons_ = LearnedAttribute[list[str | None]]()
    rank_low_ = LearnedAttribute[Floats]()
    rank_high_ = LearnedAttribute[Floats]()
    draw_agreement_ = LearnedAttribute[Floats]()
    scores_ = LearnedAttribute[Floats]()
    final_scores_ = LearnedAttribute[Floats]()
    leave_one_out_scores_ = LearnedAttribute[Floats]()
    nearest_ = LearnedAttribute[Integers]()
    dispersion_ = LearnedAttribute[Floats]()
    ceiling_ = LearnedAttribute[Ceiling]()
    contrasts_ = LearnedAttribute[Contrasts]()
    mean_vote_ = LearnedAttribute[MeanVote]()
    history_ = LearnedAttribute[IterationHistory]()
    trace_ = LearnedAttribute[list[float]]()
    n_iter_ = LearnedAttribute[int]()
    converged_ = LearnedAttribute[bool | None]()
    reason_ = LearnedAttribute[str | None]()

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
        question_contrast: bool = False,
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
        self.question_contrast = question_contrast
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
        draw_store: DrawStore | None = None,
        *,
        electorate: Electorate = EVERYBODY,
        camps: ArrayLike | None = None,
        question_groups: ArrayLike | None = None,
    ) -> AQER:
        """Estimate grades, voting weights and intervals from N answers; return the estimator.

        Parameters
        ----------
        vectors : (N, d) one vector an answer, dense or sparse, of any float type.
        workers, questions : (N,) labels. A worker may answer a question once, and need not
            answer all.
        initial_scores : (N,) for ``init="entailment"``, see
            `fixed_point.compute_weights_from_scores`.
        progress : called with (draws done, draws in all).
        draw_store : store of finished draws, for a run that was interrupted; see `DrawStore`.
        electorate : which workers vote and how much, in order of first appearance.
        camps : (N,) camp of each answer within its question, for questions with more than one
            exemplary answer: the nearest one counts, see `CampedVote`.
        question_groups : (N,) passage or category of each answer's question, "" for none: with 5
            questions or more it is the group within which question contrast compares.

        Raises
        ------
        ValueError
            A parameter is unknown, lengths differ, a vector is not finite (`NonFiniteError` names
            its row), an answer is repeated, or there is none.
        """
        self._check_parameters()
        x = convert_vectors(vectors, unit_length=self.unit_length)
        worker, worker_labels = encode_labels(workers)
        question, question_labels = encode_labels(questions)
        if not len(worker) == len(question) == x.shape[0]:
            raise ValueError(
                f"{x.shape[0]} vectors, {len(worker)} workers and {len(question)} questions: "
                "they must be as many"
            )
        if not len(worker):
            raise ValueError("no answers: at least one is needed")
        cells = Cells.from_codes(worker, question, len(worker_labels), len(question_labels))
        in_camps = None if camps is None else encode_labels(camps)[0]
        vote = build_vote(
            x, cells, self.similarity, self.aggregation, in_camps, electorate.left_out
        )
        groups = None
        if question_groups is not None:
            labels = np.asarray(question_groups)
            groups = np.empty(len(question_labels), dtype=np.int64)
            # All answers to a question carry its group, so it does not matter which one is written
            # last.
            groups[question] = np.where(labels == "", -1, encode_labels(labels)[0])
        fitted = self._fit_vote(
            vote,
            worker_labels,
            question_labels,
            x,
            electorate,
            initial_scores,
            progress,
            draw_store,
        )
        fitted = replace(fitted, question_groups=groups)
        if self.question_contrast:
            if fitted.contrast_obstacle is not None:
                raise ValueError(f"question_contrast: {fitted.contrast_obstacle}")
            fitted = fitted.grade_by_contrast()
        self.fitted_ = fitted
        return self

    def fit_blocks(self, blocks: Iterable[Block], progress: Progress | None = None) -> AQER:
        """Estimate grades from blocks ``(vectors, workers, questions)``; return the estimator.

        All answers to a question must come in the same block. Blocks are not stored: a few numbers
        for each answer stay in memory. Exemplary answers and models' scores, which need the
        vectors, are not available afterwards. Mean vote only; see `fit` for the rest.
        """
        self._check_parameters()
        if self.aggregation != "mean" or self.init == "entailment":
            raise ValueError("blocks are for the mean vote, from equal or random weights")
        if self.question_contrast:
            raise ValueError("question_contrast needs the vectors, which blocks do not keep")
        builder = MeanVoteBuilder(self.similarity)
        for vectors, workers, questions in blocks:
            x = convert_vectors(vectors, unit_length=self.unit_length)
            builder.add_answers(x, np.asarray(workers), np.asarray(questions))
        self.fitted_ = self._fit_vote(*builder.build_vote(), None, EVERYBODY, None, progress)
        return self

    def compute_exemplars(self) -> Vectors:
        """Return one exemplary answer vector per question, from the final voting weights."""
        return self.fitted_.compute_exemplars()

    def score_models(
        self,
        vectors: ArrayLike | Vectors,
        models: ArrayLike,
        questions: ArrayLike,
        kind: ArrayLike | None = None,
    ) -> ModelScores:
        """Return the models' mean similarities to the exemplary answers, with intervals and ranks.

        Parameters
        ----------
        vectors : (R, d) in the space of the workers' answers; rows without a text are ignored.
        models, questions : (R,) labels; a question that no worker answered gives no score.
        kind : (R,) "text" (default), "no_text" for an empty or refused answer, which gets the
            lowest worker score of its question (under cosine at most 0), "error" for a missing
            one, which keeps the model out of the ranking.
        """
        crowd = self.fitted_.crowd
        answers = ModelAnswerCodes.from_labels(models, questions, kind, crowd.questions)
        x = convert_vectors(vectors, unit_length=self.unit_length)
        if len(answers.model) != x.shape[0]:
            raise ValueError(f"{x.shape[0]} vectors for {len(answers.model)} answers of models")
        return score_models(crowd, answers, x)

    def compute_restarted_raw(self, start: Floats, copies: Floats | None = None) -> Floats:
        """Return the raw scores after an iteration that starts from the voting weights `start`.

        Both are arrays of workers x columns; each column of `start` is iterated on its own.
        """
        return self.fitted_.crowd.compute_restarted_raw(start, copies)

    # The steps of fit, in their order.

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is unknown, out of range or conflicts with another."""
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
        if self.question_contrast and (self.difficulty or self.discrimination):
            raise ValueError("question_contrast is of plain means: no difficulty, discrimination")
        if self.weight_cap is not None and not 0 < self.weight_cap <= 1:
            raise ValueError(f"weight_cap must be above 0 and at most 1, got {self.weight_cap}")
        # A single draw has no spread, hence no standard error.
        if self.n_draws < 0 or self.n_draws == 1:
            raise ValueError(f"n_draws must be 0 or at least 2, got {self.n_draws}")

    def _fit_vote(
        self,
        vote: Vote,
        workers: NDArray[np.generic],
        questions: NDArray[np.generic],
        vectors: Vectors | None,
        electorate: Electorate,
        initial_scores: ArrayLike | None,
        progress: Progress | None,
        draw_store: DrawStore | None = None,
    ) -> FittedCrowd:
        """Return the learned values of a fit: iterate weights and grades, then bootstrap them."""
        cells = vote.cells
        m = cells.n_workers
        ranked = m >= FEWEST_WORKERS
        if ranked and self.weight_cap is not None:
            electorate = electorate.set_weight_cap(self.weight_cap, m)
        start = fixed_point.build_equal_weights(m)
        if ranked:
            start = self._compute_start(cells, electorate, initial_scores)
        rules = IterationRules(
            leave_one_out=self.leave_one_out,
            difficulty=self.difficulty,
            discrimination=self.discrimination,
            stopping=self.stopping,
            tolerance=self.tolerance,
            # One pass with equal weights gives raw scores and exemplary answers without grades.
            max_iterations=self.max_iterations if ranked else 1,
            electorate=electorate,
        )
        means = WorkerMeans(cells, rules)
        history = IterationHistory(start)
        rest = iterate_to_fixed_point(
            vote, start[:, None], means, watch=history.add_iteration if ranked else None
        )
        raw, nothing = rest.raw[:, 0], np.full(m, np.nan)
        grades, weights = (rest.grades[:, 0], rest.weights[:, 0]) if ranked else (nothing, nothing)
        reason = self._find_disconnection(means) if ranked else FEWER_THAN_3_WORKERS
        drawn, drawn_raw = None, None
        if self.n_draws:
            draws = Draws(cells, self.n_draws, self.seed, self.bootstrap_workers and ranked)
            # Without grades models' intervals are defined: the weights stay equal in all draws.
            votes = np.repeat(start[:, None], self.n_draws, axis=1)
            if ranked:
                drawn_raw, votes = compute_bootstrap_draws(
                    vote, start, rules, draws, progress, draw_store
                )
            drawn = DrawnVotes(draws, votes)
        low, high, reasons = nothing, nothing, [reason] * m
        if ranked:
            low, high, reasons = self._compute_raw_intervals(vote, means, rest, drawn_raw)
        on_scale = raw
        # Ends of intervals are mapped to grades by the minimum and maximum that made the grades.
        if electorate.on_scale is not None:
            on_scale = np.where(electorate.on_scale, raw, np.nan)
        able, groups = find_supported_workers(cells), number_connected_groups(cells)
        return FittedCrowd(
            workers=workers,
            questions=questions,
            n_answers=cells.answers_of_worker,
            n_workers_of_question=cells.to_questions(cells.sizes),
            supported=able,
            raw=raw,
            grades=grades,
            weights=weights,
            # Without a common scale of the question effects no worker is ranked.
            ranks=rank_within_groups(grades, able & (reason is None), groups),
            groups=groups,
            raw_low=low,
            raw_high=high,
            grade_low=map_to_grades(low, on_scale),
            grade_high=map_to_grades(high, on_scale),
            interval_reasons=reasons,
            drawn_raw=drawn_raw,
            history=history,
            trace=rest.trace[0] if ranked else [],
            converged=bool(rest.converged[0]) if ranked else None,
            reason=reason,
            vote=vote,
            vectors=vectors,
            votes=weights if ranked else start,
            previous=rest.previous,
            rules=rules,
            similarity=self.similarity,
            aggregation=self.aggregation,
            seed=self.seed,
            drawn=drawn,
        )

    def _compute_start(
        self, cells: Cells, electorate: Electorate, initial_scores: ArrayLike | None
    ) -> Floats:
        """Return each worker's weight before the first iteration."""
        start = electorate.start
        if start is None:
            start = fixed_point.compute_first_weights(self.init, cells, initial_scores, self.seed)
        if self.weight_cap is not None:
            start = cap_weights(start[:, None] / start.sum(), self.weight_cap)[:, 0]
        return start

    def _find_disconnection(self, means: WorkerMeans) -> str | None:
        """Return "disconnected" if difficulty-adjusted scores have no common scale; else None."""
        if self.difficulty and find_components(means.cells, means.times[:, 0] > 0)[0] > 1:
            return DISCONNECTED
        return None

    def _compute_raw_intervals(
        self, vote: Vote, means: WorkerMeans, rest: FixedPoint, drawn_raw: Floats | None
    ) -> tuple[Floats, Floats, list[str | None]]:
        """Return both ends of each raw score's 95% interval, and the reasons where they are NaN."""
        cells, raw = vote.cells, rest.raw[:, 0]
        n = cells.sum_by_worker(means.times[:, 0]).astype(np.int64)
        cosine = self.similarity == "cosine"
        if drawn_raw is not None:
            return compute_score_intervals(
                raw, drawn_raw, n, leave_one_out=self.leave_one_out, cosine=cosine
            )
        if self.leave_one_out:
            interval = compute_t_interval(raw, compute_closed_form_errors(vote, means, rest), n)
            return interval.low, interval.high, list(interval.reasons)
        nothing = np.full(cells.n_workers, np.nan)
        return nothing, nothing, ["no_draws"] * cells.n_workers
