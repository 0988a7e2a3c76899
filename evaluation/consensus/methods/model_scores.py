"""Scores of language models' answers: similarity to the exemplary answers, question contrast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.consensus.methods.fitted import FittedCrowd
from evaluation.consensus.methods.percentiles import compute_percentile
from evaluation.consensus.methods.question_contrast import Contrasts
from evaluation.consensus.methods.resampling import compute_score_intervals
from evaluation.consensus.methods.scale import compute_worker_means, find_supported_workers
from evaluation.consensus.methods.targets import ComparedAnswers, build_compared_answers
from evaluation.core.stats.cells import (
    Booleans,
    Cells,
    Floats,
    Integers,
    divide_where_positive,
    encode_labels,
)
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.inference.comparison import (
    Comparison,
    compare_models,
    rank_by_significance,
)
from evaluation.core.stats.inference.intervals import compute_t_interval


def compute_model_contrasts(
    crowd: FittedCrowd,
    vectors: Vectors,
    model: Integers,
    question: Integers,
    compared: Booleans,
    silent: Booleans,
    n_models: int,
    other_reasons: Sequence[str | None],
) -> Contrasts:
    """Return the question contrasts of models' answers, with the mean of each model.

    Parameters
    ----------
    vectors : (R, d). model, question : (R,) codes, -1 for a question without an answer.
    compared : (R,) whether the answer has a text and its question an exemplary answer.
    silent : (R,) whether the answer is empty or refused and its question has an exemplary answer;
        it counts as the lowest contrast of a worker's answer to the question, at most 0, and is
        undefined if no worker's answer has a contrast.
    other_reasons : (R,) why an answer that is neither has no score.
    """
    r = len(model)
    if crowd.contrast_obstacle is not None:
        return Contrasts.build_undefined(r, n_models, crowd.contrast_obstacle)
    rows = np.flatnonzero(compared)
    exemplars = crowd.build_exemplars()
    others = exemplars.compare_others(vectors[rows], model[rows], question[rows], n_models)
    answers, pseudovalues = np.full((2, r), np.nan)
    answers[rows], pseudovalues[rows] = others.answers, others.pseudovalues
    reasons = list(other_reasons)
    for row, reason in zip(rows.tolist(), others.reasons, strict=True):
        reasons[row] = reason
    others = replace(others, answers=answers, reasons=reasons, pseudovalues=pseudovalues)
    return _add_silent_answers(crowd, others, model, question, np.flatnonzero(silent))


def _add_silent_answers(
    crowd: FittedCrowd, contrasts: Contrasts, model: Integers, question: Integers, silent: Integers
) -> Contrasts:
    """Return the contrasts with empty and refused answers included in the models' means."""
    if not len(silent):
        return contrasts
    answers, pseudovalues = contrasts.answers.copy(), contrasts.pseudovalues.copy()
    reasons = list(contrasts.reasons)
    lowest = _compute_lowest_contrasts(crowd)[question[silent]]
    answers[silent] = pseudovalues[silent] = lowest
    for row, value in zip(silent.tolist(), lowest.tolist(), strict=True):
        reasons[row] = "no_exemplar" if np.isnan(value) else None
    k = len(contrasts.means)
    known = ~np.isnan(answers)
    n = np.bincount(model[known], minlength=k)
    means = divide_where_positive(np.bincount(model[known], answers[known], k), n)
    centre = divide_where_positive(np.bincount(model[known], pseudovalues[known], k), n)
    squares = np.where(known, (pseudovalues - centre[model]) ** 2, 0.0)
    spread = divide_where_positive(np.bincount(model, squares, k), np.where(n > 1, n * (n - 1), 0))
    # Other models keep their errors, which also count questions that they did not answer.
    affected = np.bincount(model[silent], minlength=k) > 0
    errors = np.where(affected, np.sqrt(spread), contrasts.errors)
    interval = compute_t_interval(means, errors, n)
    return replace(
        contrasts,
        answers=answers,
        reasons=reasons,
        means=means,
        errors=errors,
        low=interval.low,
        high=interval.high,
        owner_reasons=[
            None if count else reason
            for count, reason in zip(n.tolist(), contrasts.owner_reasons, strict=True)
        ],
        interval_reasons=list(interval.reasons),
        n=n,
        pseudovalues=pseudovalues,
    )


def _compute_lowest_contrasts(crowd: FittedCrowd) -> Floats:
    """Return each question's lowest question contrast of a worker's answer, at most 0.

    An answer's question contrast is its agreement with answers to its own question less that with
    answers to other questions.
    """
    cells = crowd.vote.cells
    lowest = np.fmin.reduceat(crowd.contrasts.answers[cells.row], cells.starts)
    return np.asarray(np.minimum(cells.to_questions(lowest), 0.0))


TEXT, NO_TEXT, ERROR = "text", "no_text", "error"


@dataclass(frozen=True)
class ModelAnswerCodes:
    """Answers of language models as integer codes: model, question and kind of each answer.

    Attributes
    ----------
    model : (R,) code of the model.
    question : (R,) question code, -1 for a question that no worker answered.
    kind : (R,) "text"; "no_text" (empty or refused: the lowest score); "error" (missing).
    """

    model: Integers
    question: Integers
    kind: NDArray[np.str_]
    names: NDArray[np.generic]

    @classmethod
    def from_labels(
        cls,
        models: ArrayLike,
        questions: ArrayLike,
        kind: ArrayLike | None,
        known: NDArray[np.generic],
    ) -> ModelAnswerCodes:
        """Return the codes of labelled answers; -1 for a question that is not in `known`.

        Raises ValueError where the columns differ in length.
        """
        model, names = encode_labels(models)
        code_of = {label: code for code, label in enumerate(known.tolist())}
        question_ids = np.asarray(questions).tolist()
        question = np.array([code_of.get(label, -1) for label in question_ids], dtype=np.int64)
        kinds = np.full(len(model), TEXT) if kind is None else np.asarray(kind, dtype=np.str_)
        if not len(model) == len(question) == len(kinds):
            raise ValueError("models, questions and kind must be as many")
        return cls(model, question, kinds, names)

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Flags of the answers that have a text and whose question has an exemplary answer."""
        return np.asarray((self.kind == TEXT) & (self.question >= 0))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Flags of the empty or refused answers whose question has an exemplary answer."""
        return np.asarray((self.kind == NO_TEXT) & (self.question >= 0))


@dataclass(frozen=True)
class ModelScores:
    """Scores, intervals, percentiles and ranks of language models; mostly one element per model.

    Attributes
    ----------
    models : names, in order of first appearance.
    scores : mean over the questions with an exemplary answer, where an empty or refused answer
        counts as the lowest score; scores_answered : mean over the questions answered with a text.
        NaN without any.
    low, high : 95% interval of `scores`; NaN where undefined.
    n, n_answered : numbers of answers in these two means.
    percentiles : 0 to 100 among supported workers on the questions the model answered.
    ranks : 1 + the number of models significantly better (permutation test, Holm); 0 for a model
        with a missing answer or without a question in common with another.
    reasons, interval_reasons : per model, why its score or its interval is undefined, or None.
    answer_scores : (R,) similarities, NaN where undefined; `answer_reasons` (R,) codes.
    comparisons : one result for every pair of models.
    contrasts : question contrast of the answers and the models.
    """

    models: NDArray[np.generic]
    scores: Floats
    scores_answered: Floats
    low: Floats
    high: Floats
    n: Integers
    n_answered: Integers
    percentiles: Floats
    ranks: Integers
    reasons: list[str | None]
    interval_reasons: list[str | None]
    answer_scores: Floats
    answer_reasons: list[str | None]
    comparisons: list[Comparison]
    contrasts: Contrasts


def score_models(crowd: FittedCrowd, answers: ModelAnswerCodes, vectors: Vectors) -> ModelScores:
    """Return the models' scores, intervals, percentiles and ranks, from their answers' vectors."""
    rows = np.flatnonzero(answers.compared)
    targets = build_compared_answers(
        crowd.vote, crowd.answer_vectors, vectors[rows], answers.question[rows]
    )
    similarity = targets.compute_similarities(crowd.votes[:, None])[:, 0]
    scores, reasons = compute_answer_scores(answers, similarity, crowd.compute_lowest_scores())
    mean, n = compute_means_by_model(scores[:, None], answers)
    answered = np.where(answers.compared, scores, np.nan)
    mean_answered, n_answered = compute_means_by_model(answered[:, None], answers)
    low, high, interval_reasons = _compute_intervals(crowd, answers, targets, scores, mean[:, 0], n)
    cells = crowd.vote.cells
    k = len(answers.names)
    with_error = np.isin(np.arange(k), answers.model[answers.kind == ERROR])
    percentiles = np.full(k, np.nan)
    if crowd.ranked:
        percentiles = compute_percentiles(answers, scores, crowd.leave_one_out_by_cell, cells)
        # A missing answer keeps a model out of all rankings until it is asked again.
        percentiles[with_error] = np.nan
    ranks, comparisons = rank_models(answers, scores, cells.n_questions, crowd.seed)
    return ModelScores(
        models=answers.names,
        scores=mean[:, 0],
        scores_answered=mean_answered[:, 0],
        low=low,
        high=high,
        n=n,
        n_answered=n_answered,
        percentiles=percentiles,
        ranks=ranks,
        reasons=[
            "missing_answers" if missing else "no_exemplar" if not count else None
            for missing, count in zip(with_error, n, strict=True)
        ],
        interval_reasons=interval_reasons,
        answer_scores=scores,
        answer_reasons=reasons,
        comparisons=comparisons,
        contrasts=compute_model_contrasts(
            crowd,
            vectors,
            answers.model,
            answers.question,
            answers.compared,
            answers.silent,
            k,
            reasons,
        ),
    )


def _compute_intervals(
    crowd: FittedCrowd,
    answers: ModelAnswerCodes,
    targets: ComparedAnswers,
    scores: Floats,
    mean: Floats,
    n: Integers,
) -> tuple[Floats, Floats, list[str | None]]:
    """Return both ends of each model score's 95% interval, and the reasons where they are NaN."""
    k = len(answers.names)
    if crowd.drawn is not None:
        drawn = np.empty((k, crowd.drawn.draws.n_draws))
        for columns, times, votes in crowd.drawn:
            similarity = targets.compute_similarities(votes)
            table = np.repeat(scores[:, None], similarity.shape[1], axis=1)
            # Empty and refused answers keep the run's own score.
            table[answers.compared] = similarity
            drawn[:, columns] = compute_means_by_model(table, answers, times)[0]
        return compute_score_intervals(
            mean,
            drawn,
            n,
            leave_one_out=crowd.rules.leave_one_out,
            cosine=crowd.similarity == "cosine",
        )
    nothing = np.full(k, np.nan)
    if not crowd.rules.leave_one_out:
        return nothing, nothing, ["no_draws"] * k
    # sd / sqrt(n) of a model's answer scores
    error = np.full(k, np.nan)
    for code in range(k):
        mine = scores[(answers.model == code) & ~np.isnan(scores)]
        if len(mine) > 1:
            error[code] = mine.std(ddof=1) / np.sqrt(len(mine))
    interval = compute_t_interval(mean, error, n)
    return interval.low, interval.high, list(interval.reasons)


def compute_answer_scores(
    answers: ModelAnswerCodes, similarity: Floats, lowest: Floats
) -> tuple[Floats, list[str | None]]:
    """Return each model answer's score, and its reason code: why it is NaN or the lowest score.

    The reason is None for the score of an answer with a text.

    Parameters
    ----------
    similarity : (C,) similarities of the compared answers.
    lowest : (Q,) score of an empty or refused answer: the lowest worker score on each question,
        under cosine at most 0.
    """
    scores = np.full(len(answers.kind), np.nan)
    scores[answers.compared] = similarity
    known, silent = answers.question >= 0, answers.silent
    scores[silent] = lowest[answers.question[silent]]
    reasons: list[str | None] = []
    for kind, has_exemplar in zip(answers.kind, known, strict=True):
        if kind == ERROR:
            reasons.append("error")
        elif not has_exemplar:
            reasons.append("no_exemplar")
        else:
            reasons.append("no_text" if kind == NO_TEXT else None)
    return scores, reasons


def compute_means_by_model(
    scores: Floats, answers: ModelAnswerCodes, times: Floats | None = None
) -> tuple[Floats, Integers]:
    """Return mean scores (models x draws), and the number of known scores of each model.

    `times` (Q, D) is the number of copies of each question in each of the D columns.
    """
    known = ~np.isnan(scores[:, 0])
    k = len(answers.names)
    model = answers.model[known]
    columns = scores.shape[1]
    weight = np.ones((len(model), columns)) if times is None else times[answers.question[known]]
    total, count = np.zeros((k, columns)), np.zeros((k, columns))
    # `total[model] += ...` would add only one of the answers of a model.
    np.add.at(total, model, weight * scores[known])
    np.add.at(count, model, weight)
    mean = divide_where_positive(total, count)
    return mean, np.bincount(model, minlength=k)


def compute_percentiles(
    answers: ModelAnswerCodes, scores: Floats, leave_one_out: Floats, cells: Cells
) -> Floats:
    """Return each model's percentile among supported workers, on the questions it answered.

    NaN below 10 supported workers with a score on these questions.
    """
    able = find_supported_workers(cells)
    out = np.full(len(answers.names), np.nan)
    for code in range(len(answers.names)):
        is_of_model = answers.compared & (answers.model == code)
        if not is_of_model.any():
            continue
        has_answers = np.zeros(cells.n_questions, dtype=bool)
        has_answers[answers.question[is_of_model]] = True
        # Workers' means over the same questions: otherwise a model that answered easy ones would
        # look better.
        workers = compute_worker_means(leave_one_out, cells, has_answers)[able]
        place = compute_percentile(float(scores[is_of_model].mean()), workers)
        out[code] = np.nan if place is None else place
    return out


def rank_models(
    answers: ModelAnswerCodes, scores: Floats, n_questions: int, seed: int
) -> tuple[Integers, list[Comparison]]:
    """Return each model's rank (0 if an answer is missing), and all pairwise comparisons.

    A rank is 1 plus the number of models that are significantly better.
    """
    k = len(answers.names)
    table = np.full((k, n_questions), np.nan)
    known = ~np.isnan(scores)
    table[answers.model[known], answers.question[known]] = scores[known]
    missing = np.isin(np.arange(k), answers.model[answers.kind == ERROR])
    # A model with a missing answer is no competitor: it would cost the others power under Holm.
    entered = np.flatnonzero(~missing & ~np.isnan(table).all(axis=1))
    names = [str(answers.names[code]) for code in entered]
    comparisons = compare_models(table[entered], names, seed=seed)
    ranks = np.zeros(k, dtype=np.int64)
    ranks[entered] = [standing.rank or 0 for standing in rank_by_significance(comparisons, names)]
    return ranks, comparisons
