"""Report of a run's questions, in their order, or by dispersion or difficulty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db.models import QuerySet

from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.texts import select_beginning, shorten_text
from evaluation.models import ExemplaryAnswer, Run
from evaluation.runs.flow.forecast import GradedQuestion

By = Literal["position", "dispersion", "difficulty"]
ORDERS: dict[By, Keyset] = {
    "position": Keyset("position", ("question__position", "question__public_id")),
    "dispersion": Keyset("dispersion", ("-dispersion", "question__public_id"), empty_last=True),
    # The lower the mean score, the harder.
    "difficulty": Keyset("difficulty", ("mean_score", "question__public_id"), empty_last=True),
}


@dataclass(frozen=True)
class QuestionRow:
    """A question in a run: its dispersion, difficulty, and consensus (nearest) answer.

    Attributes
    ----------
    name : its id in files. text, nearest : beginnings of the question and of the nearest answer.
    dispersion : 0 where all answers say the same, toward 1 where they have nothing in common.
    difficulty : how far the answers are from the consensus of the others on average: 1 less their
        mean leave-one-out score, or their mean distance; None where nobody else answered.
    nearest_worker : who gave the nearest answer; "" if it was withdrawn or nobody answered.
    """

    question: UUID
    name: str
    text: str
    n_answers: int
    dispersion: float | None
    difficulty: float | None
    nearest: str
    nearest_worker: str


def read_question_rows(
    run: Run, after: str = "", by: By = "position", size: int = PAGE, alarm: int | None = None
) -> Page[QuestionRow]:
    """Return a page of questions in an order of `ORDERS`; `alarm` limits it to those it names.

    `alarm` is the key of an alarm that names them.
    """
    rows = _query_questions(run)
    if alarm is not None:
        rows = rows.filter(question__alarms=alarm)
    return ORDERS[by].take(rows, after, size, build_row_builder(run))


def query_disputed_questions(run: Run) -> QuerySet[ExemplaryAnswer, Any]:
    """Return the query for questions with a dispersion, most disagreement first."""
    rows = _query_questions(run).filter(dispersion__isnull=False)
    return rows.order_by("-dispersion", "question__public_id")


def build_row_builder(run: Run) -> Callable[[dict[str, Any]], QuestionRow]:
    """Return the function that converts a database row to a `QuestionRow`."""
    best = 0.0 if run.parameters.get("similarity") == "euclidean" else 1.0
    return lambda values: _build_row(values, best)


def _query_questions(run: Run) -> QuerySet[ExemplaryAnswer, Any]:
    """Return the query for a run's questions, with their nearest answers."""
    return (
        ExemplaryAnswer.objects.filter(run=run)
        .order_by()
        .values(
            "question__public_id",
            "question__external_id",
            "question__position",
            "n_answers",
            "dispersion",
            "mean_score",
            "nearest_response__submission__worker__external_id",
            text_shown=select_beginning("question__text"),
            nearest_shown=select_beginning("nearest_response__text"),
        )
    )


def _build_row(row: dict[str, Any], best: float) -> QuestionRow:
    """Convert a database row to a question of the report; `best` is the highest score."""
    mean = row["mean_score"]
    return QuestionRow(
        question=row["question__public_id"],
        name=row["question__external_id"],
        text=shorten_text(row["text_shown"]),
        n_answers=row["n_answers"],
        dispersion=row["dispersion"],
        difficulty=None if mean is None else best - mean,
        nearest=shorten_text(row["nearest_shown"]),
        nearest_worker=row["nearest_response__submission__worker__external_id"] or "",
    )


def read_answered_questions(run: Run) -> list[GradedQuestion]:
    """Return the questions of a run that have an answer, in their order."""
    # A distance has no likeness to a truth that could be worked out.
    cosine = run.parameters.get("similarity", "cosine") == "cosine"
    return [
        GradedQuestion(key, name, answers, score if cosine else None)
        for key, name, answers, score in ExemplaryAnswer.objects.filter(run=run, n_answers__gte=1)
        .order_by("question__position", "pk")
        .values_list("question__public_id", "question__external_id", "n_answers", "mean_score")
    ]
