"""Results as rows, the same for files and for the database; empty where a number is undefined.

Ids are those that the answers came with: names out of a file, or primary keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from evaluation.consensus import AQER
from evaluation.consensus.inputs import GradingInput
from evaluation.grading.crowd import Undefined
from evaluation.grading.run.fitting import Graded

NO_ANSWERS = "no_answers"
TOO_FEW = "too_few"


class WorkerRow(NamedTuple):
    """A row of workers.csv."""

    worker: Any
    grade: float | None
    raw: float | None
    raw_low: float | None
    raw_high: float | None
    grade_low: float | None
    grade_high: float | None
    weight: float | None
    n_answers: int
    support: str
    rank: int | None


class AnswerRow(NamedTuple):
    """A row of answers.csv."""

    worker: Any
    question: Any
    score: float | None
    score_leave_one_out: float | None


class ExemplarRow(NamedTuple):
    """A row of exemplars.csv; `nearest` is the row number of the nearest answer."""

    question: Any
    n_answers: int
    nearest: int | None
    dispersion: float | None


class ModelRow(NamedTuple):
    """A row of models.csv."""

    model: Any
    score: float | None
    score_answered: float | None
    score_low: float | None
    score_high: float | None
    n: int
    n_answered: int
    percentile: float | None
    rank: int | None


class ModelAnswerRow(NamedTuple):
    """A row of model_answers.csv."""

    model: Any
    question: Any
    score: float | None
    reason: str | None


class Results:
    """The rows of one grading, to be taken once.

    Attributes
    ----------
    undefined : filled as rows are taken.
    """

    def __init__(self, given: GradingInput, graded: Graded) -> None:
        self.given, self.aqer, self.models = given, graded.aqer, graded.models
        self.undefined = Undefined()

    def workers(self) -> Iterator[WorkerRow]:
        """Yield a row for every worker, those without an answer too."""
        code_of = {worker: code for code, worker in enumerate(self.aqer.workers_.tolist())}
        out = self.aqer.out_of_ranking_
        for worker in self.given.workers:
            code = code_of.get(worker)
            if code is None:
                yield self._unanswering(worker)
            else:
                yield self._worker(worker, code, out[code])

    def _unanswering(self, worker: Any) -> WorkerRow:
        for column in (*WorkerRow._fields[1:8], "rank"):
            self.undefined.note("workers.csv", column, worker, NO_ANSWERS)
        return WorkerRow(worker, None, None, None, None, None, None, None, 0, TOO_FEW, None)

    def _worker(self, worker: Any, code: int, out: str | None) -> WorkerRow:
        aqer = self.aqer
        no_raw = "no_discriminating_question" if aqer.discrimination else "no_shared_question"
        of_interval = aqer.interval_reasons_[code] or "no_spread"
        numbers = {
            "grade": (aqer.grades_[code], aqer.reason_ or out or no_raw),
            "raw": (aqer.raw_[code], no_raw),
            "raw_low": (aqer.raw_low_[code], of_interval),
            "raw_high": (aqer.raw_high_[code], of_interval),
            "grade_low": (aqer.grade_low_[code], out or of_interval),
            "grade_high": (aqer.grade_high_[code], out or of_interval),
            "weight": (aqer.weights_[code], aqer.reason_ or no_raw),
        }
        cells = {
            column: self.undefined.value(number, "workers.csv", column, worker, reason)
            for column, (number, reason) in numbers.items()
        }
        rank = int(aqer.ranks_[code]) or None
        supported = bool(aqer.supported_[code])
        if rank is None:
            reason = aqer.reason_ or out or (no_raw if supported else TOO_FEW)
            self.undefined.note("workers.csv", "rank", worker, reason)
        return WorkerRow(
            worker=worker,
            n_answers=int(aqer.n_answers_[code]),
            support="ok" if supported else TOO_FEW,
            rank=rank,
            **cells,
        )

    def groups(self) -> dict[Any, int]:
        """Return the number of each worker's group; empty where all share questions."""
        found = zip(self.aqer.workers_.tolist(), self.aqer.groups_.tolist(), strict=True)
        return {worker: group for worker, group in found if group}

    def answers(self) -> Iterator[AnswerRow]:
        """Yield a row for every answer, those without a text too."""
        given, graded = self.given.given, self.answered()
        for worker, question, text in zip(given.workers, given.questions, given.texts, strict=True):
            if text:
                yield next(graded)
                continue
            for column in AnswerRow._fields[2:]:
                self.undefined.note("answers.csv", column, [worker, question], "empty")
            yield AnswerRow(worker, question, None, None)

    def answered(self) -> Iterator[AnswerRow]:
        """Yield a row for every answer with a text, in the order in which they were graded."""
        aqer, given = self.aqer, self.given.answered
        for worker, question, *numbers in zip(
            given.workers, given.questions, aqer.scores_, aqer.leave_one_out_scores_, strict=True
        ):
            alone = "no_exemplar" if np.isnan(numbers[0]) else "only_answer_to_its_question"
            cells = [
                self.undefined.value(number, "answers.csv", column, [worker, question], alone)
                for number, column in zip(numbers, AnswerRow._fields[2:], strict=True)
            ]
            yield AnswerRow(worker, question, *cells)

    def exemplars(self) -> Iterator[ExemplarRow]:
        """Yield a row for every question, those without an answer too."""
        aqer = self.aqer
        code_of = {question: code for code, question in enumerate(aqer.questions_.tolist())}
        for question in self.given.questions:
            code = code_of.get(question)
            if code is None or not aqer.n_workers_of_question_[code]:
                for column in ("nearest_worker", "nearest_answer", "dispersion"):
                    self.undefined.note("exemplars.csv", column, question, NO_ANSWERS)
                yield ExemplarRow(question, 0, None, None)
                continue
            yield ExemplarRow(
                question,
                int(aqer.n_workers_of_question_[code]),
                int(aqer.nearest_[code]),
                float(aqer.dispersion_[code]),
            )

    def model_scores(self) -> Iterator[ModelRow]:
        """Yield a row for every model."""
        scores = self.models
        if scores is None:
            return
        cut_off = set() if self.given.models is None else self.given.models.only_cut_off()
        for code, model in enumerate(scores.models.tolist()):
            why = scores.reasons[code]
            if why == "missing_answers" and model in cut_off:
                why = "replies_cut_off"
            of_run = self.aqer.reason_
            nobody = "no_supported_worker" if scores.n_answered[code] else "no_text_answers"
            of_interval = scores.interval_reasons[code] or "no_interval"
            if of_interval == "no_draws" and of_run:
                of_interval = of_run  # draws were asked for, but nobody was ranked
            numbers = {
                "score": (scores.scores[code], why or "no_exemplar"),
                "score_answered": (scores.scores_answered[code], "no_text_answers"),
                "score_low": (scores.low[code], of_interval),
                "score_high": (scores.high[code], of_interval),
                "percentile": (scores.percentiles[code], why or of_run or nobody),
            }
            cells = {
                column: self.undefined.value(number, "models.csv", column, model, reason)
                for column, (number, reason) in numbers.items()
            }
            rank = int(scores.ranks[code]) or None
            if rank is None:
                self.undefined.note("models.csv", "rank", model, why or "no_comparison")
            yield ModelRow(
                model=model,
                n=int(scores.n[code]),
                n_answered=int(scores.n_answered[code]),
                rank=rank,
                **cells,
            )

    def model_answers(self) -> Iterator[ModelAnswerRow]:
        """Yield a row for every answer of a model."""
        scores, spoken = self.models, self.given.models
        if scores is None or spoken is None:
            return
        for at, (model, question, status) in enumerate(
            zip(spoken.models, spoken.questions, spoken.statuses, strict=True)
        ):
            score = float(scores.answer_scores[at])
            reason = scores.answer_reasons[at]
            if reason == "no_text" or status.is_missing:
                reason = str(status)
            if np.isnan(score):
                key = [model, question]
                self.undefined.note("model_answers.csv", "score", key, reason or "no_exemplar")
            yield ModelAnswerRow(model, question, None if np.isnan(score) else score, reason)


def rank_bounds(aqer: AQER) -> dict[Any, tuple[int, int]]:
    """Return the interval of each worker's rank, for those that have one."""
    known = np.flatnonzero(~np.isnan(aqer.rank_low_))
    bounds = np.column_stack([aqer.rank_low_, aqer.rank_high_])[known].astype(int).tolist()
    return {
        worker: (low, high)
        for worker, (low, high) in zip(aqer.workers_[known].tolist(), bounds, strict=True)
    }


def left_out_means(aqer: AQER, workers: Sequence[Any]) -> dict[Any, float]:
    """Return the mean leave-one-out score of each worker that has one; `workers` of the answers."""
    scores = aqer.leave_one_out_scores_
    known = ~np.isnan(scores)
    ids, codes = np.unique(np.array(workers)[known], return_inverse=True)
    means = np.bincount(codes, weights=scores[known]) / np.bincount(codes)
    return dict(zip(ids.tolist(), means.tolist(), strict=True))
