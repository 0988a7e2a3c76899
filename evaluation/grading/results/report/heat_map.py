"""Report of scores by worker and question: an overview of groups, and blocks of answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from annotations.web.texts import select_beginning, shorten_text
from evaluation.models import AnswerScore, ExemplaryAnswer, Run, RunData, WorkerGrade

NAME = "heat-map"
# A block's workers and questions.
ROWS, COLUMNS = 40, 24
TEXT_SHOWN = 110
# Workers whose answers are read at once for a file.
AT_ONCE = 100


@dataclass(frozen=True)
class HeatWorker:
    """A row of a heat map: a worker, with the grade or None."""

    pk: int
    worker: UUID
    name: str
    grade: float | None


@dataclass(frozen=True)
class HeatQuestion:
    """A column of a heat map: a question, with its answers' mean leave-one-out score."""

    pk: int
    question: UUID
    name: str
    mean: float | None


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map: an answer and its leave-one-out score, None for a lone answer."""

    score: float | None
    text: str


@dataclass(frozen=True)
class HeatBlock:
    """Part of a heat map: up to 40 workers and 24 questions, with their answers.

    Attributes
    ----------
    cells : a row for each worker; None where there is no answer in the run.
    first_worker, first_question : how many stand before. n_workers, n_questions : in all.
    """

    workers: list[HeatWorker]
    questions: list[HeatQuestion]
    cells: list[list[HeatCell | None]]
    first_worker: int
    first_question: int
    n_workers: int
    n_questions: int

    @property
    def is_whole(self) -> bool:
        """Whether the block contains all workers and all questions of the run."""
        return len(self.workers) == self.n_workers and len(self.questions) == self.n_questions


@dataclass(frozen=True)
class HeatOverview:
    """Mean scores of groups of neighbouring workers on groups of neighbouring questions.

    Attributes
    ----------
    means, counts : a row for each group of workers, a column for each group of questions.
    workers_to, questions_to : how many there are up to the end of each group.
    quantiles : six numbers that part all scores into equal shares; empty in older runs.
    """

    means: list[list[float | None]]
    counts: list[list[int]]
    workers_to: list[int]
    questions_to: list[int]
    quantiles: list[float] = field(default_factory=list)


def read_heat_overview(run: Run) -> HeatOverview | None:
    """Return a run's mean scores by groups; None if none were recorded; one query."""
    stored = RunData.objects.filter(run=run, name=NAME).values_list("data", flat=True).first()
    return None if stored is None else HeatOverview(**stored)


def read_heat_block(run: Run, first_worker: int = 0, first_question: int = 0) -> HeatBlock:
    """Return the heat-map block that begins at these offsets; five queries."""
    workers, questions = _query_workers(run), _query_questions(run)
    rows = [HeatWorker(*row) for row in workers[first_worker : first_worker + ROWS]]
    columns = [HeatQuestion(*row) for row in questions[first_question : first_question + COLUMNS]]
    answers = AnswerScore.objects.filter(
        run=run,
        response__submission__version=run.version_id,
        response__submission__worker__in=[row.pk for row in rows],
        response__question__in=[column.pk for column in columns],
    ).values_list(
        "response__submission__worker_id",
        "response__question_id",
        "score_leave_one_out",
        select_beginning("response__text", TEXT_SHOWN),
    )
    cell_of = {
        (worker, question): HeatCell(score, shorten_text(text, TEXT_SHOWN))
        for worker, question, score, text in answers
    }
    return HeatBlock(
        workers=rows,
        questions=columns,
        cells=[[cell_of.get((row.pk, column.pk)) for column in columns] for row in rows],
        first_worker=first_worker,
        first_question=first_question,
        n_workers=workers.count(),
        n_questions=questions.count(),
    )


def read_heat_rows(run: Run) -> tuple[list[str], Iterator[tuple[object, ...]]]:
    """Return the names of all questions, and an iterator of (name, grade, *scores) by worker."""
    columns = [HeatQuestion(*row) for row in _query_questions(run)]
    return [column.name for column in columns], _iterate_rows(
        run, [column.pk for column in columns]
    )


def _iterate_rows(run: Run, questions: list[int]) -> Iterator[tuple[object, ...]]:
    """Yield (name, grade, *scores) of each worker, reading 100 workers at a time."""
    workers = [HeatWorker(*row) for row in _query_workers(run)]
    for begin in range(0, len(workers), AT_ONCE):
        part = workers[begin : begin + AT_ONCE]
        scores: dict[int, dict[int, float | None]] = {row.pk: {} for row in part}
        answers = AnswerScore.objects.filter(
            run=run,
            response__submission__version=run.version_id,
            response__submission__worker__in=list(scores),
        ).values_list(
            "response__submission__worker_id", "response__question_id", "score_leave_one_out"
        )
        for worker, question, score in answers.iterator(2000):
            scores[worker][question] = score
        for row in part:
            own_scores = scores[row.pk]
            yield (row.name, row.grade, *(own_scores.get(question) for question in questions))


def _query_workers(run: Run) -> QuerySet[WorkerGrade, Any]:
    """Return the query for the workers of a run, best grade first."""
    return (
        WorkerGrade.of_crowd(run)
        .order_by(F("grade").desc(nulls_last=True), "pk")
        .values_list("worker_id", "worker__public_id", "worker__external_id", "grade")
    )


def _query_questions(run: Run) -> QuerySet[ExemplaryAnswer, Any]:
    """Return the query for the questions of a run, easiest first."""
    return (
        ExemplaryAnswer.objects.filter(run=run)
        .order_by(F("mean_score").desc(nulls_last=True), "pk")
        .values_list("question_id", "question__public_id", "question__external_id", "mean_score")
    )
