"""Reports of a question's map of answers, and of scores by worker and question.

Report of a question's map: answers in two dimensions, and the path of the consensus. Report of
scores by worker and question: an overview of groups, and blocks of answers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.db.models import F, QuerySet

from annotations.web.paging import Page
from annotations.web.texts import ANSWER_SHOWN, select_beginning, shorten_text
from evaluation.grading.results.report.questions import (
    QuestionInRun,
    build_history_columns,
    read_question,
)
from evaluation.grading.summary import MapSettings, read_summary
from evaluation.models import AnswerScore, ExemplaryAnswer, Run, RunData, WorkerGrade

Axes = Literal["question", "run"]
Place = tuple[float, float]

# Answers shown; of more, the nearest to the consensus and the farthest from it.
NEAREST_SHOWN, FARTHEST_SHOWN = 150, 50
MODELS_SHOWN = 30
# Iterations shown; of more, the first ones, the last, and some between.
ITERATIONS_SHOWN = 30


@dataclass(frozen=True)
class MapAnswer:
    """A worker's answer on the map: coordinates, score, and weights and grades by iteration.

    Attributes
    ----------
    place : x and y in the units of the vectors. score : similarity to the exemplary answer.
    votes : the worker's voting weight at each shown iteration, as a multiple of the equal weight at
        the start; None if the run stored none.
    grades : the worker's grade at each shown iteration; None before the first grades.
    """

    worker: UUID
    name: str
    text: str
    place: Place
    score: float | None
    votes: list[float] | None
    grades: list[float | None]


@dataclass(frozen=True)
class MapModel:
    """A model's answer on the map: coordinates and score (models have no vote)."""

    name: str
    text: str
    place: Place
    score: float | None


@dataclass(frozen=True)
class AnswerMap:
    """Map of the answers to a question, on which similar answers are close together.

    Attributes
    ----------
    axes : "run": one pair of axes for all questions; "question": this question's own.
    share : share (0 to 1) of the variance of this question's answers that the map shows; None
        without variance.
    iterations : iterations that can be shown: 0 is the start, the last one is the run's result.
    path : coordinates of the exemplary answer at each of these iterations.
    n_answers, n_models : total numbers of workers' and of models' answers.
    similarity, unit_length : the run's similarity measure; whether its vectors have length 1.
    is_mean : whether the exemplary answer is the weighted mean of the answers, as drawn; false if
        it is decided by majority or belongs to the largest camp.
    """

    axes: Axes
    share: float | None
    iterations: list[int]
    path: list[Place]
    answers: list[MapAnswer]
    models: list[MapModel]
    n_answers: int
    n_models: int
    similarity: str
    unit_length: bool
    is_mean: bool

    @property
    def moved(self) -> list[float]:
        """Distance on the map that the exemplary answer moved in each shown iteration."""
        before = [self.path[0], *self.path]
        return [math.dist(a, b) for a, b in zip(before, self.path, strict=False)]


def read_answer_map(
    run: Run,
    question: UUID,
    axes: Axes = "run",
    question_in_run: QuestionInRun | None = None,
    page: Page[dict[str, Any]] | None = None,
) -> AnswerMap | None:
    """Return the map of the answers to a question; None if the run recorded none.

    None for a run of an older version without maps, and for a question without answers.
    `question_in_run` and `page` (of answers) save queries if they were read before.
    """
    about = read_summary(run).map
    question_in_run = question_in_run or read_question(run, question)
    exemplar = question_in_run.exemplar if question_in_run else None
    if not about or question_in_run is None or exemplar is None or exemplar.path is None:
        return None
    iterations = choose_iterations(len(about.iterations))
    first = 0 if axes == "run" else 2
    path = decode_floats(exemplar.path)
    replies = [row for row in question_in_run.replies if row["place"] is not None]
    return AnswerMap(
        axes=axes,
        share=exemplar.run_share if axes == "run" else exemplar.own_share,
        iterations=[about.iterations[index] for index in iterations],
        path=[(path[4 * index + first], path[4 * index + first + 1]) for index in iterations],
        answers=_build_map_answers(
            _choose_shown_rows(run, question, exemplar.n_answers, page), first, about, iterations
        ),
        models=[_build_model(row, first) for row in replies[:MODELS_SHOWN]],
        n_answers=exemplar.n_answers,
        n_models=len(replies),
        similarity=run.parameters.get("similarity", "cosine"),
        unit_length=about.unit_length,
        is_mean=about.is_mean,
    )


def choose_iterations(store: int, most: int = ITERATIONS_SHOWN) -> list[int]:
    """Return the indices of the iterations to show: the first ones, some others, the last.

    `store` is the number of stored iterations.
    """
    if store <= most:
        return list(range(store))
    dense = most // 2
    rest = most - dense
    spaced = [dense + round((store - 1 - dense) * step / (rest - 1)) for step in range(rest)]
    return [*range(dense), *spaced]


def _build_map_answers(
    rows: Iterable[dict[str, Any]], first: int, about: MapSettings, iterations: list[int]
) -> list[MapAnswer]:
    """Return the workers' answers on the map, from database rows."""
    map_answers = []
    for row in rows:
        weights, worker_grades = (decode_floats(row[part] or b"") for part in ("weights", "grades"))
        # Weights sum to 1 over all workers: times their number, an equal vote is 1.
        votes = [weights[index] * about.n_workers for index in iterations] if weights else None
        grades = [
            None if math.isnan(worker_grades[index]) else worker_grades[index]
            for index in iterations
            if worker_grades
        ]
        map_answers.append(
            MapAnswer(
                worker=row["worker_public"],
                name=row["worker_name"],
                text=shorten_text(row["text_shown"], ANSWER_SHOWN),
                place=_read_place(row["place"], first),
                score=row["score"],
                votes=votes,
                grades=grades or [None] * len(iterations),
            )
        )
    return map_answers


def _choose_shown_rows(
    run: Run, question: UUID, n_answers: int, page: Page[dict[str, Any]] | None
) -> Iterable[dict[str, Any]]:
    """Return the rows of the answers to show: all, or only the nearest and the farthest."""
    rows = [] if page is None or page.after else page.rows
    placed = [row for row in rows if row["place"] is not None]
    if page is None or page.after or page.next:
        return _read_nearest_and_farthest(run, question, n_answers, placed[:NEAREST_SHOWN])
    return placed


def _read_nearest_and_farthest(
    run: Run, question: UUID, n_answers: int, nearest: list[dict[str, Any]]
) -> Iterable[dict[str, Any]]:
    """Return the rows of the answers nearest to and farthest from the exemplary answer.

    `nearest` holds the nearest ones if they are already known.
    """
    rows: QuerySet[AnswerScore, Any] = (
        AnswerScore.objects.filter(
            run=run, response__question__public_id=question, place__isnull=False
        )
        .order_by(F("score").desc(nulls_last=True), "response__public_id")
        .values(
            "score",
            "place",
            **build_history_columns(run),
            worker_public=F("response__submission__worker__public_id"),
            worker_name=F("response__submission__worker__external_id"),
            text_shown=select_beginning("response__text", ANSWER_SHOWN),
        )
    )
    if n_answers <= NEAREST_SHOWN + FARTHEST_SHOWN:
        return rows
    if len(nearest) < NEAREST_SHOWN:
        nearest = list(rows[:NEAREST_SHOWN])
    return [*nearest, *reversed(rows.reverse()[:FARTHEST_SHOWN])]


def _build_model(row: dict[str, Any], first: int) -> MapModel:
    """Return a model's answer on the map, from its database row."""
    return MapModel(
        name=row["name"],
        text=shorten_text(row["text_shown"], ANSWER_SHOWN),
        place=_read_place(row["place"], first),
        score=row["score"],
    )


def _read_place(stored: bytes | memoryview, first: int) -> Place:
    """Return x and y of a stored map position, of which x has the index `first`."""
    four = decode_floats(stored)
    return four[first], four[first + 1]


def decode_floats(stored: bytes | memoryview) -> tuple[float, ...]:
    """Return the numbers that are stored as little-endian float32 bytes."""
    return struct.unpack(f"<{len(stored) // 4}f", stored)


NAME = "heat-map"
# A block's workers and questions.
ROWS, COLUMNS = 40, 24
TEXT_SHOWN = 110
# Workers whose answers are read at once for a file.
AT_ONCE = 100


@dataclass(frozen=True)
class HeatWorker:
    """A row of a heat map: a worker with the grade (None without one)."""

    pk: int
    worker: UUID
    name: str
    grade: float | None


@dataclass(frozen=True)
class HeatQuestion:
    """A column of a heat map: a question with the mean leave-one-out score of its answers."""

    pk: int
    question: UUID
    name: str
    mean: float | None


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map: an answer with its leave-one-out score (None for a lone answer)."""

    score: float | None
    text: str


@dataclass(frozen=True)
class HeatBlock:
    """A part of a heat map: up to 40 workers and 24 questions, with their answers.

    Attributes
    ----------
    cells : a row for each worker; None without an answer in the run.
    first_worker, first_question : indices of the first row and column in the whole heat map.
    n_workers, n_questions : total numbers.
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
    """Mean scores of groups of workers on groups of questions, for a heat map.

    Groups are formed of neighbours in the heat map's order.

    Attributes
    ----------
    means, counts : a row for each group of workers, a column for each group of questions.
    workers_to, questions_to : cumulative numbers at the end of each group.
    quantiles : six numbers that part all scores into equal shares; empty in older runs.
    """

    means: list[list[float | None]]
    counts: list[list[int]]
    workers_to: list[int]
    questions_to: list[int]
    quantiles: list[float] = field(default_factory=list)


def read_heat_overview(run: Run) -> HeatOverview | None:
    """Return a run's mean scores by groups of workers and questions; None if not recorded."""
    stored = RunData.objects.filter(run=run, name=NAME).values_list("data", flat=True).first()
    return None if stored is None else HeatOverview(**stored)


def read_heat_block(run: Run, first_worker: int = 0, first_question: int = 0) -> HeatBlock:
    """Return the part of a heat map from this worker and question on; five queries."""
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
        WorkerGrade.select_crowd(run)
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
