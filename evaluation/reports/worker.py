"""A worker in a run: every answer beside what the crowd thinks is right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.db.models import F, FilteredRelation, Q

from annotations.models import Response
from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, beginning, shortened
from evaluation.methods.aqer.scale import FEWEST_ANSWERERS, FEWEST_QUESTIONS
from evaluation.models import ExemplaryAnswer, Run, WorkerGrade
from evaluation.reports.about import RunAbout, about
from evaluation.reports.facts.said import (
    FactOnQuestion,
    Marked,
    SaidFact,
    contradictions_of,
    facts_of_responses,
)
from evaluation.reports.workers import WorkerRow, worker_row

Status = Literal["scored", "empty", "rejected", "not_in_run"]
ORDER = Keyset("position", ("question__position", "question__public_id"))


@dataclass(frozen=True)
class WorkerAnswer(Marked):
    """An answer beside the nearest answer to the exemplary one of its question.

    Attributes
    ----------
    text, nearest : at most 1,500 characters.
    score : similarity to the exemplary answer; score_leave_one_out : to that of the others.
    status : scored; empty (unanswered); rejected (where it was collected); not_in_run (later)
    is_nearest : whether this answer is itself the nearest one.
    facts : what it states, and how that stands to what the others state.
    """

    question: UUID
    question_name: str
    question_text: str
    text: str
    status: Status
    score: float | None
    score_leave_one_out: float | None
    n_answers: int
    nearest: str
    nearest_worker: UUID | None
    nearest_worker_name: str
    is_nearest: bool
    facts: list[SaidFact] = field(default_factory=list)


@dataclass(frozen=True)
class WorkerReport:
    """A worker's grade and answers.

    Attributes
    ----------
    n_ranked : workers with a rank. n_shared : questions the worker answered that at least
        `needs_answerers` workers answered; a rank needs `needs_questions` of them.
    contradictions : where an answer contradicts the crowd, at most 50.
    """

    about: RunAbout
    worker: WorkerRow
    n_ranked: int
    n_shared: int
    answers: Page[WorkerAnswer]
    contradictions: list[FactOnQuestion] = field(default_factory=list)
    needs_questions: int = FEWEST_QUESTIONS
    needs_answerers: int = FEWEST_ANSWERERS


def worker_report(run: Run, worker: UUID, after: str = "", size: int = PAGE) -> WorkerReport | None:
    """Return a worker of a run, by five queries; None if the run has no such worker.

    A run with facts takes two more.
    """
    row = worker_row(run, worker)
    if row is None:
        return None
    answered = Response.objects.filter(
        submission__worker__public_id=worker, submission__version=run.version_id, scores__run=run
    )
    shared = ExemplaryAnswer.objects.filter(
        run=run, n_answers__gte=FEWEST_ANSWERERS, question__in=answered.values("question")
    ).count()
    return WorkerReport(
        about=about(run),
        worker=row,
        n_ranked=WorkerGrade.objects.filter(run=run, rank__isnull=False).count(),
        n_shared=shared,
        answers=_answers(run, worker, after, size),
        contradictions=contradictions_of(run, "worker", worker),
    )


def _answers(run: Run, worker: UUID, after: str, size: int) -> Page[WorkerAnswer]:
    rows = (
        Response.objects.filter(
            submission__worker__public_id=worker,
            submission__version=run.version_id,
            state=Response.State.SUBMITTED,
        )
        .annotate(of_run=FilteredRelation("scores", condition=Q(scores__run=run)))
        .order_by()
        .values(
            "pk",
            "public_id",
            "status",
            "rejected",
            "question_id",
            "question__public_id",
            "question__external_id",
            "question__position",
            scored=F("of_run__id"),
            score=F("of_run__score"),
            left_out=F("of_run__score_leave_one_out"),
            question_text=beginning("question__text"),
            text_shown=beginning("text", ANSWER_SHOWN),
        )
    )
    page = ORDER.take(rows, after, size, dict)
    exemplars: dict[int, Any] = {
        row["question_id"]: row
        for row in ExemplaryAnswer.objects.filter(
            run=run, question__in=[row["question_id"] for row in page.rows]
        ).values(
            "question_id",
            "n_answers",
            "nearest_response__public_id",
            "nearest_response__submission__worker__public_id",
            "nearest_response__submission__worker__external_id",
            nearest_shown=beginning("nearest_response__text", ANSWER_SHOWN),
        )
    }
    facts = facts_of_responses(run, [row["pk"] for row in page.rows])
    answers = [
        _answer(row, exemplars.get(row["question_id"], {}), facts.get(row["pk"], []))
        for row in page.rows
    ]
    return Page(answers, page.after, page.next)


def _answer(row: dict[str, Any], exemplar: dict[str, Any], facts: list[SaidFact]) -> WorkerAnswer:
    nearest = exemplar.get("nearest_response__public_id")
    return WorkerAnswer(
        question=row["question__public_id"],
        question_name=row["question__external_id"],
        question_text=shortened(row["question_text"], EXCERPT_SHOWN),
        text=shortened(row["text_shown"], ANSWER_SHOWN),
        status=_status(row),
        score=row["score"],
        score_leave_one_out=row["left_out"],
        n_answers=exemplar.get("n_answers", 0),
        nearest=shortened(exemplar.get("nearest_shown"), ANSWER_SHOWN),
        nearest_worker=exemplar.get("nearest_response__submission__worker__public_id"),
        nearest_worker_name=(
            exemplar.get("nearest_response__submission__worker__external_id") or ""
        ),
        is_nearest=nearest is not None and nearest == row["public_id"],
        facts=facts,
    )


def _status(row: dict[str, Any]) -> Status:
    if row["scored"] is not None:
        return "scored"
    if row["rejected"]:
        return "rejected"
    return "empty" if row["status"] == Response.Status.EMPTY else "not_in_run"
