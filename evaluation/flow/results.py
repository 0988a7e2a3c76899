"""Results as rows, the same for files and for the database; empty where a number is undefined.

Ids are whatever the caller graded with: names out of a file, or primary keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from annotations.exchange import AnswerStatus
from evaluation.methods import AQER, ModelScores

NO_ANSWERS = "no_answers"
TOO_FEW = "too_few"
# Rows named for one reason; the others are only counted.
NAMED = 1000


class Undefined:
    """Collects, for each table and column, why cells are empty and which."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], tuple[list[Any], list[int]]] = {}

    def value(self, number: float, table: str, column: str, row: object, reason: str) -> Any:
        """Return the number, or None where it is NaN, noting the reason."""
        if not math.isnan(number):
            return float(number)
        self.note(table, column, row, reason)
        return None

    def note(self, table: str, column: str, row: object, reason: str) -> None:
        """Note that a cell is empty; `row` names it, as its key columns do."""
        rows, count = self._found.setdefault((table, column, reason), ([], [0]))
        count[0] += 1
        if len(rows) < NAMED:
            rows.append(row)

    def as_list(self) -> list[dict[str, Any]]:
        """Return one entry for each table, column and reason: count, and up to 1,000 rows."""
        return [
            {"file": table, "column": column, "reason": reason, "count": count[0], "rows": rows}
            for (table, column, reason), (rows, count) in self._found.items()
        ]


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


class AlarmRow(NamedTuple):
    """A row of alarms.csv, where the lists are joined by semicolons."""

    kind: str
    severity: str
    statistic: float | None
    threshold: float | None
    workers: tuple[Any, ...]
    questions: tuple[Any, ...]
    message: str


@dataclass(frozen=True)
class Results:
    """The rows of one grading.

    Attributes
    ----------
    aqer, models : what was estimated. undefined : filled as rows are taken.
    name_of : how ids are named where they stand for empty cells.
    """

    aqer: AQER
    models: ModelScores | None
    undefined: Undefined
    name_of: Callable[[Any], object] = lambda identifier: identifier

    def workers(self, everybody: Iterable[Any]) -> Iterator[WorkerRow]:
        """Yield a row for every worker, those without an answer too."""
        code_of = {worker: code for code, worker in enumerate(self.aqer.workers_.tolist())}
        out = self.aqer.out_of_ranking_
        for worker in everybody:
            code = code_of.get(worker)
            if code is None:
                yield self._unanswering(worker)
            else:
                yield self._worker(worker, code, out[code])

    def _unanswering(self, worker: Any) -> WorkerRow:
        for column in (*WorkerRow._fields[1:8], "rank"):
            self.undefined.note("workers.csv", column, self.name_of(worker), NO_ANSWERS)
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
            column: self.undefined.value(
                number, "workers.csv", column, self.name_of(worker), reason
            )
            for column, (number, reason) in numbers.items()
        }
        rank = int(aqer.ranks_[code]) or None
        supported = bool(aqer.supported_[code])
        if rank is None:
            reason = aqer.reason_ or out or (no_raw if supported else TOO_FEW)
            self.undefined.note("workers.csv", "rank", self.name_of(worker), reason)
        return WorkerRow(
            worker=worker,
            n_answers=int(aqer.n_answers_[code]),
            support="ok" if supported else TOO_FEW,
            rank=rank,
            **cells,
        )

    def answers(self, answers: Iterable[tuple[Any, Any, bool]]) -> Iterator[AnswerRow]:
        """Yield a row for every ``(worker, question, has a text)``.

        Those with a text come in the order in which they were graded.
        """
        at = 0
        for worker, question, has_text in answers:
            key = [self.name_of(worker), self.name_of(question)]
            if not has_text:
                for column in AnswerRow._fields[2:]:
                    self.undefined.note("answers.csv", column, key, "empty")
                yield AnswerRow(worker, question, None, None)
                continue
            numbers = (self.aqer.scores_[at], self.aqer.leave_one_out_scores_[at])
            alone = "no_exemplar" if np.isnan(numbers[0]) else "only_answer_to_its_question"
            cells = [
                self.undefined.value(number, "answers.csv", column, key, alone)
                for number, column in zip(numbers, AnswerRow._fields[2:], strict=True)
            ]
            yield AnswerRow(worker, question, *cells)
            at += 1

    def exemplars(self, questions: Iterable[Any]) -> Iterator[ExemplarRow]:
        """Yield a row for every question, those without an answer too."""
        aqer = self.aqer
        code_of = {question: code for code, question in enumerate(aqer.questions_.tolist())}
        for question in questions:
            code = code_of.get(question)
            if code is None or not aqer.n_workers_of_question_[code]:
                for column in ("nearest_worker", "nearest_answer", "dispersion"):
                    self.undefined.note("exemplars.csv", column, self.name_of(question), NO_ANSWERS)
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
        for code, model in enumerate(scores.models.tolist()):
            why = scores.reasons[code]
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
                column: self.undefined.value(
                    number, "models.csv", column, self.name_of(model), reason
                )
                for column, (number, reason) in numbers.items()
            }
            rank = int(scores.ranks[code]) or None
            if rank is None:
                self.undefined.note(
                    "models.csv", "rank", self.name_of(model), why or "no_comparison"
                )
            yield ModelRow(
                model=model,
                n=int(scores.n[code]),
                n_answered=int(scores.n_answered[code]),
                rank=rank,
                **cells,
            )

    def model_answers(
        self, records: Sequence[tuple[Any, Any, AnswerStatus]]
    ) -> Iterator[ModelAnswerRow]:
        """Yield a row for every ``(model, question, status)``, in the order of scoring."""
        scores = self.models
        if scores is None:
            return
        for at, (model, question, status) in enumerate(records):
            score = float(scores.answer_scores[at])
            reason = scores.answer_reasons[at]
            if reason == "no_text" or status is AnswerStatus.ERROR:
                reason = str(status)
            if np.isnan(score):
                key = [self.name_of(model), self.name_of(question)]
                self.undefined.note("model_answers.csv", "score", key, reason or "no_exemplar")
            yield ModelAnswerRow(model, question, None if np.isnan(score) else score, reason)
