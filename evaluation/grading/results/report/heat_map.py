"""Workers by questions: who answered what how well, all at a glance or a block of it."""

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
    """A row. `grade` is None for a worker without one."""

    pk: int
    worker: UUID
    name: str
    grade: float | None


@dataclass(frozen=True)
class HeatQuestion:
    """A column. `mean` is the mean leave-one-out score of its answers."""

    pk: int
    question: UUID
    name: str
    mean: float | None


@dataclass(frozen=True)
class HeatCell:
    """An answer; its score is None where nobody else answered."""

    score: float | None
    text: str


@dataclass(frozen=True)
class HeatBlock:
    """Some neighbouring workers (best first) and questions (easiest first).

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
        """Whether nothing is left out."""
        return len(self.workers) == self.n_workers and len(self.questions) == self.n_questions


@dataclass(frozen=True)
class HeatOverview:
    """Means over groups of neighbours.

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


def heat_overview(run: Run) -> HeatOverview | None:
    """Return the overview of a run that is done, by one query; None where none was recorded."""
    stored = RunData.objects.filter(run=run, name=NAME).values_list("data", flat=True).first()
    return None if stored is None else HeatOverview(**stored)


def heat_block(run: Run, first_worker: int = 0, first_question: int = 0) -> HeatBlock:
    """Return the block that begins with a worker and a question, by five queries."""
    workers, questions = _workers(run), _questions(run)
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
    found = {
        (worker, question): HeatCell(score, shorten_text(text, TEXT_SHOWN))
        for worker, question, score, text in answers
    }
    return HeatBlock(
        workers=rows,
        questions=columns,
        cells=[[found.get((row.pk, column.pk)) for column in columns] for row in rows],
        first_worker=first_worker,
        first_question=first_question,
        n_workers=workers.count(),
        n_questions=questions.count(),
    )


def heat_rows(run: Run) -> tuple[list[str], Iterator[tuple[object, ...]]]:
    """Return the names of all questions, and a row for each worker: name, grade, scores."""
    columns = [HeatQuestion(*row) for row in _questions(run)]
    return [column.name for column in columns], _rows(run, [column.pk for column in columns])


def _rows(run: Run, questions: list[int]) -> Iterator[tuple[object, ...]]:
    everybody = [HeatWorker(*row) for row in _workers(run)]
    for begin in range(0, len(everybody), AT_ONCE):
        some = everybody[begin : begin + AT_ONCE]
        scores: dict[int, dict[int, float | None]] = {row.pk: {} for row in some}
        answers = AnswerScore.objects.filter(
            run=run,
            response__submission__version=run.version_id,
            response__submission__worker__in=list(scores),
        ).values_list(
            "response__submission__worker_id", "response__question_id", "score_leave_one_out"
        )
        for worker, question, score in answers.iterator(2000):
            scores[worker][question] = score
        for row in some:
            mine = scores[row.pk]
            yield (row.name, row.grade, *(mine.get(question) for question in questions))


def _workers(run: Run) -> QuerySet[WorkerGrade, Any]:
    return (
        WorkerGrade.of_crowd(run)
        .order_by(F("grade").desc(nulls_last=True), "pk")
        .values_list("worker_id", "worker__public_id", "worker__external_id", "grade")
    )


def _questions(run: Run) -> QuerySet[ExemplaryAnswer, Any]:
    return (
        ExemplaryAnswer.objects.filter(run=run)
        .order_by(F("mean_score").desc(nulls_last=True), "pk")
        .values_list("question_id", "question__public_id", "question__external_id", "mean_score")
    )
