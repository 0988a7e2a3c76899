"""Rows of the result tables, and changes between two gradings.

Changes of grades and ranks between two gradings of the same workers.

Ids are those of the input: names of a file, or primary keys. A cell is None where a number is
undefined.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus import AQER
from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.methods.question_contrast import Contrasts
from evaluation.consensus.methods.scale import TOO_FEW_FOR_PERCENTILE
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.grading.crowd import EmptyCellReasons
from evaluation.grading.run.fitting import GradedWithRemedies


class GradeAndRank(NamedTuple):
    """A worker's grade, raw score and rank in one grading; None where undefined."""

    grade: float | None
    raw: float | None
    rank: int | None


class GradeChange(NamedTuple):
    """A row of remedies.csv: a worker's grade and rank without and with remedies."""

    worker: Any
    plain_grade: float | None
    plain_rank: int | None
    grade: float | None
    rank: int | None
    change: int | None


@dataclass(frozen=True)
class GradeChanges:
    """Changes of all workers' grades between two gradings, with the rank correlation.

    Attributes
    ----------
    rows : one a worker, in the order of the caller.
    spearman : rank correlation of the raw scores of workers with a grade in both, -1 to 1; None
        with `reason`. n : how many they are.
    """

    rows: tuple[GradeChange, ...]
    spearman: float | None
    n: int
    reason: str | None = None

    @classmethod
    def from_gradings(
        cls,
        workers: Iterable[Hashable],
        before: Mapping[Any, GradeAndRank],
        after: Mapping[Any, GradeAndRank],
    ) -> GradeChanges:
        """Return the changes between two gradings, one row per worker."""
        undefined = GradeAndRank(None, None, None)
        rows, raw = [], []
        for worker in workers:
            old, new = before.get(worker, undefined), after.get(worker, undefined)
            moved = None if old.rank is None or new.rank is None else old.rank - new.rank
            rows.append(GradeChange(worker, old.grade, old.rank, new.grade, new.rank, moved))
            if old.grade is not None and new.grade is not None:
                raw.append((old.raw, new.raw))
        raw_scores = np.array(raw, dtype=float).reshape(-1, 2)
        correlation = spearman(*raw_scores.T)
        reason = "fewer_than_2_workers" if len(raw_scores) < 2 else "no_spread"
        return cls(
            tuple(rows), correlation, len(raw_scores), reason if correlation is None else None
        )

    def list_movers(self, most: int = 5) -> Sequence[GradeChange]:
        """Return up to `most` workers with the largest changes of rank, ties by change of grade."""
        moved = [row for row in self.rows if row.change]

        def compute_sort_key(row: GradeChange) -> tuple[int, float]:
            """Return the sort key of a change: larger changes of rank, then of grade, first."""
            return (-abs(row.change or 0), -abs((row.grade or 0.0) - (row.plain_grade or 0.0)))

        return sorted(moved, key=compute_sort_key)[:most]

    def build_summary(self) -> dict[str, Any]:
        """Return the correlation and the largest changes as plain values for summary.json."""
        return {
            "spearman": self.spearman,
            "n": self.n,
            "reason": self.reason,
            "movers": [row._asdict() for row in self.list_movers()],
        }


def build_grades_and_ranks(aqer: AQER) -> dict[Any, GradeAndRank]:
    """Return the grade, raw score and rank of each worker of a fitted estimator."""
    columns = zip(
        aqer.workers_.tolist(), aqer.grades_, aqer.raw_, aqer.ranks_.tolist(), strict=True
    )
    return {
        worker: GradeAndRank(convert_nan_to_none(grade), convert_nan_to_none(raw), rank or None)
        for worker, grade, raw, rank in columns
    }


NO_ANSWERS = "no_answers"
TOO_FEW = "too_few"


class WorkerRow(NamedTuple):
    """A row of workers.csv: a worker's grade, raw score, intervals, weight and rank."""

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
    """A row of answers.csv: an answer's score, leave-one-out score and question contrast."""

    worker: Any
    question: Any
    score: float | None
    score_leave_one_out: float | None
    contrast: float | None


class ContrastCells(NamedTuple):
    """Cells on the question contrast of a worker or model, with its interval."""

    contrast: float | None
    contrast_low: float | None
    contrast_high: float | None


class RankCells(NamedTuple):
    """Cells on the 95% interval of a worker's rank."""

    rank_low: int | None
    rank_high: int | None


class ExemplarRow(NamedTuple):
    """A row of exemplars.csv: a question's dispersion and the row of its nearest answer."""

    question: Any
    n_answers: int
    nearest: int | None
    dispersion: float | None


class ModelRow(NamedTuple):
    """A row of models.csv: a language model's score, interval, percentile and rank."""

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
    """A row of model_answers.csv: a model answer's score and contrast, or a reason for none."""

    model: Any
    question: Any
    score: float | None
    reason: str | None
    contrast: float | None


class Results:
    """The rows of all result tables of one grading; each table can be iterated once.

    Attributes
    ----------
    undefined : reasons for empty cells; filled while the rows are iterated.
    """

    def __init__(self, grading_input: GradingInput, graded: GradedWithRemedies) -> None:
        self.inputs, self.aqer, self.models = grading_input, graded.aqer, graded.models
        self.undefined = EmptyCellReasons()

    def iterate_workers(self) -> Iterator[WorkerRow]:
        """Yield a row for every worker, also for workers without an answer."""
        code_of = {worker: code for code, worker in enumerate(self.aqer.workers_.tolist())}
        exclusion_reasons = self.aqer.out_of_ranking_
        for worker in self.inputs.workers:
            code = code_of.get(worker)
            if code is None:
                yield self._build_empty_row(worker)
            else:
                yield self._build_worker_row(worker, code, exclusion_reasons[code])

    def _build_empty_row(self, worker: Any) -> WorkerRow:
        """Return the row of a worker without an answer, and record why its cells are empty.

        Where workers are graded the worker has no vote: the weight is 0.
        """
        weight = None if self.aqer.reason_ else 0.0
        defined = () if weight is None else ("weight",)
        for column in (*WorkerRow._fields[1:8], "rank"):
            if column not in defined:
                self.undefined.add_reason("workers.csv", column, worker, NO_ANSWERS)
        return WorkerRow(worker, None, None, None, None, None, None, weight, 0, TOO_FEW, None)

    def _build_worker_row(self, worker: Any, code: int, out: str | None) -> WorkerRow:
        """Return the row of a graded worker, and record why its cells are empty."""
        aqer, no_raw = self.aqer, self._find_no_raw_reason(code)
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
            column: self.undefined.convert_number(number, "workers.csv", column, worker, reason)
            for column, (number, reason) in numbers.items()
        }
        # Ranks are whole numbers from 1 in an array, where 0 stands for none.
        rank = int(aqer.ranks_[code]) or None
        supported = bool(aqer.supported_[code])
        if reason := self._find_no_rank_reason(code):
            self.undefined.add_reason("workers.csv", "rank", worker, reason)
        return WorkerRow(
            worker=worker,
            n_answers=int(aqer.n_answers_[code]),
            support="ok" if supported else TOO_FEW,
            rank=rank,
            **cells,
        )

    def _find_no_raw_reason(self, code: int) -> str:
        """Return the code of why a worker has no raw score."""
        if self.aqer.question_contrast and (why := self.aqer.contrasts_.owner_reasons[code]):
            return why
        return "no_discriminating_question" if self.aqer.discrimination else "no_shared_question"

    def _find_no_rank_reason(self, code: int) -> str:
        """Return the code of why a worker has no rank; "" for a ranked worker."""
        if self.aqer.ranks_[code]:
            return ""
        unsupported = self._find_no_raw_reason(code) if self.aqer.supported_[code] else TOO_FEW
        return self.aqer.reason_ or self.aqer.out_of_ranking_[code] or unsupported

    def list_groups(self) -> dict[Any, int]:
        """Return each worker's connected group; empty if all workers are connected.

        Workers are connected if they share questions.
        """
        group_of_worker = zip(self.aqer.workers_.tolist(), self.aqer.groups_.tolist(), strict=True)
        return {worker: group for worker, group in group_of_worker if group}

    def build_rank_cells(self) -> dict[Any, RankCells]:
        """Return the cells on each worker's rank interval, and record why cells are empty."""
        aqer = self.aqer
        bounds, cells = find_rank_bounds(aqer), {}
        code_of = {worker: code for code, worker in enumerate(aqer.workers_.tolist())}
        no_interval = "fewer_than_2_draws" if aqer.n_draws else "no_draws"
        for worker in self.inputs.workers:
            cells[worker] = RankCells(*bounds.get(worker, (None, None)))
            if worker in bounds:
                continue
            code = code_of.get(worker)
            reason = NO_ANSWERS if code is None else self._find_no_rank_reason(code) or no_interval
            for column in RankCells._fields:
                self.undefined.add_reason("workers.csv", column, worker, reason)
        return cells

    def build_worker_contrasts(self) -> dict[Any, ContrastCells]:
        """Return the cells on each worker's question contrast, and record why cells are empty."""
        contrasts = self.aqer.contrasts_
        cells = self._build_contrast_cells(self.aqer.workers_, contrasts, "workers.csv")
        for worker in self.inputs.workers:
            if worker not in cells:
                for column in ContrastCells._fields:
                    self.undefined.add_reason("workers.csv", column, worker, NO_ANSWERS)
                cells[worker] = ContrastCells(None, None, None)
        return cells

    def build_model_contrasts(self) -> dict[Any, ContrastCells]:
        """Return the cells on each model's question contrast, and record why cells are empty."""
        if self.models is None:
            return {}
        return self._build_contrast_cells(self.models.models, self.models.contrasts, "models.csv")

    def _build_contrast_cells(
        self, names: NDArray[np.generic], contrasts: Contrasts, table: str
    ) -> dict[Any, ContrastCells]:
        """Return the cells on question contrasts by the name of the worker or model."""
        cells = {}
        for code, name in enumerate(names.tolist()):
            reason = contrasts.owner_reasons[code] or "no_exemplar"
            interval_reason = contrasts.interval_reasons[code] or "no_interval"
            of_interval = reason if np.isnan(contrasts.means[code]) else interval_reason
            numbers = (contrasts.means[code], contrasts.low[code], contrasts.high[code])
            reasons = (reason, of_interval, of_interval)
            cells[name] = ContrastCells(
                *(
                    self.undefined.convert_number(number, table, column, name, why)
                    for number, column, why in zip(
                        numbers, ContrastCells._fields, reasons, strict=True
                    )
                )
            )
        return cells

    def iterate_answers(self) -> Iterator[AnswerRow]:
        """Yield a row for every answer, also for answers without a text."""
        input_columns, graded_rows = self.inputs.all_answers, self.iterate_answered()
        for worker, question, text in zip(
            input_columns.workers, input_columns.questions, input_columns.texts, strict=True
        ):
            if text:
                # Both are in the order of the file; only answers with a text were graded.
                yield next(graded_rows)
                continue
            for column in AnswerRow._fields[2:]:
                self.undefined.add_reason("answers.csv", column, [worker, question], "empty")
            yield AnswerRow(worker, question, None, None, None)

    def iterate_answered(self) -> Iterator[AnswerRow]:
        """Yield a row for every answer with a text, in the order of grading."""
        aqer, answered = self.aqer, self.inputs.answered
        for worker, question, why, *numbers in zip(
            answered.workers,
            answered.questions,
            aqer.contrasts_.reasons,
            aqer.scores_,
            aqer.leave_one_out_scores_,
            aqer.contrasts_.answers,
            strict=True,
        ):
            reason = "no_exemplar" if np.isnan(numbers[0]) else "only_answer_to_its_question"
            reasons = (reason, reason, why or reason)
            cells = [
                self.undefined.convert_number(
                    number, "answers.csv", column, [worker, question], reason
                )
                for number, column, reason in zip(
                    numbers, AnswerRow._fields[2:], reasons, strict=True
                )
            ]
            yield AnswerRow(worker, question, *cells)

    def iterate_exemplars(self) -> Iterator[ExemplarRow]:
        """Yield a row for every question, also for questions without an answer."""
        aqer = self.aqer
        code_of = {question: code for code, question in enumerate(aqer.questions_.tolist())}
        for question in self.inputs.questions:
            code = code_of.get(question)
            if code is None or not aqer.n_workers_of_question_[code]:
                for column in ("nearest_worker", "nearest_answer", "dispersion"):
                    self.undefined.add_reason("exemplars.csv", column, question, NO_ANSWERS)
                yield ExemplarRow(question, 0, None, None)
                continue
            yield ExemplarRow(
                question,
                int(aqer.n_workers_of_question_[code]),
                int(aqer.nearest_[code]),
                float(aqer.dispersion_[code]),
            )

    def iterate_models(self) -> Iterator[ModelRow]:
        """Yield a row for every language model; none without models."""
        scores = self.models
        if scores is None:
            return
        cut_off = (
            set() if self.inputs.models is None else self.inputs.models.find_models_only_cut_off()
        )
        for code, model in enumerate(scores.models.tolist()):
            missing_reason = scores.reasons[code]
            if missing_reason == "missing_answers" and model in cut_off:
                missing_reason = "replies_cut_off"
            of_run = self.aqer.reason_
            no_percentile = TOO_FEW_FOR_PERCENTILE if scores.n_answered[code] else "no_text_answers"
            of_interval = scores.interval_reasons[code] or "no_interval"
            if of_interval == "no_draws" and of_run:
                of_interval = of_run  # draws were asked for, but nobody was ranked
            numbers = {
                "score": (scores.scores[code], missing_reason or "no_exemplar"),
                "score_answered": (scores.scores_answered[code], "no_text_answers"),
                "score_low": (scores.low[code], of_interval),
                "score_high": (scores.high[code], of_interval),
                "percentile": (scores.percentiles[code], missing_reason or of_run or no_percentile),
            }
            cells = {
                column: self.undefined.convert_number(number, "models.csv", column, model, reason)
                for column, (number, reason) in numbers.items()
            }
            rank = int(scores.ranks[code]) or None
            if rank is None:
                self.undefined.add_reason(
                    "models.csv", "rank", model, missing_reason or "no_comparison"
                )
            yield ModelRow(
                model=model,
                n=int(scores.n[code]),
                n_answered=int(scores.n_answered[code]),
                rank=rank,
                **cells,
            )

    def iterate_model_answers(self) -> Iterator[ModelAnswerRow]:
        """Yield a row for every answer of a language model; none without models."""
        scores, model_columns = self.models, self.inputs.models
        if scores is None or model_columns is None:
            return
        for index, (model, question, status) in enumerate(
            zip(model_columns.models, model_columns.questions, model_columns.statuses, strict=True)
        ):
            score, contrast = (
                float(scores.answer_scores[index]),
                float(scores.contrasts.answers[index]),
            )
            reason = scores.answer_reasons[index]
            if reason == "no_text" or status.is_missing:
                reason = str(status)
            key = [model, question]
            why = scores.contrasts.reasons[index]
            cells = [
                self.undefined.convert_number(number, "model_answers.csv", column, key, because)
                for number, column, because in (
                    (score, "score", reason or "no_exemplar"),
                    (contrast, "contrast", reason or why or "no_exemplar"),
                )
            ]
            yield ModelAnswerRow(model, question, cells[0], reason, cells[1])


def find_rank_bounds(aqer: AQER) -> dict[Any, tuple[int, int]]:
    """Return each worker's rank interval (low, high); workers without one are left out."""
    known = np.flatnonzero(~np.isnan(aqer.rank_low_))
    bounds = np.column_stack([aqer.rank_low_, aqer.rank_high_])[known].astype(int).tolist()
    return {
        worker: (low, high)
        for worker, (low, high) in zip(aqer.workers_[known].tolist(), bounds, strict=True)
    }


def compute_leave_one_out_means(aqer: AQER, workers: Sequence[Any]) -> dict[Any, float]:
    """Return the mean leave-one-out score of each worker's answers.

    `workers` holds the author of each answer.
    """
    scores = aqer.leave_one_out_scores_
    known = ~np.isnan(scores)
    ids, codes = np.unique(np.array(workers)[known], return_inverse=True)
    means = np.bincount(codes, weights=scores[known]) / np.bincount(codes)
    return dict(zip(ids.tolist(), means.tolist(), strict=True))
