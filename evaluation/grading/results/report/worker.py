"""Report of a worker in a run: every answer beside the consensus (nearest) answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.db.models import F, FilteredRelation, Q

from annotations.models import Response
from annotations.web.numbers import count_rows_by
from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.consensus.methods.scale import FEWEST_ANSWERERS, FEWEST_QUESTIONS
from evaluation.grading.facts.report.said import (
    FactOnQuestion,
    Marked,
    SaidFact,
    read_contradictions,
    read_facts,
)
from evaluation.grading.results.report.workers import WorkerRow, read_counted_row
from evaluation.models import ExemplaryAnswer, Run, WorkerGrade
from evaluation.runs.reports.about import RunAbout, build_about

Status = Literal["scored", "empty", "rejected", "not_in_run"]
ORDER = Keyset("position", ("question__position", "question__public_id"))


@dataclass(frozen=True)
class WorkerAnswer(Marked):
    """A worker's answer beside the answer nearest to the question's exemplary answer.

    Attributes
    ----------
    text, nearest : at most 1,500 characters.
    score : similarity to the exemplary answer; score_leave_one_out : to that of the others.
    status : scored; empty (unanswered); rejected (where it was collected); not_in_run (later)
    is_nearest : whether this answer is itself the nearest one.
    facts : what it states, and how that stands to what the others state.
    contrast : question contrast, agreement less that with the consensus of other questions.
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
    contrast: float | None = None


@dataclass(frozen=True)
class WorkerReport:
    """A worker's grade, a page of answers, and the facts that contradict the crowd.

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


def build_worker_report(
    run: Run, worker: UUID, after: str = "", size: int = PAGE
) -> WorkerReport | None:
    """Return the report of a worker; None if the run has no such worker; two queries.

    A run with facts takes two more.
    """
    answered = Response.objects.filter(
        submission__worker__public_id=worker, submission__version=run.version_id, scores__run=run
    )
    shared = ExemplaryAnswer.objects.filter(
        run=run, n_answers__gte=FEWEST_ANSWERERS, question__in=answered.values("question")
    )
    ranked = WorkerGrade.objects.filter(run=run, rank__isnull=False)
    subqueries = {
        "n_ranked": count_rows_by(ranked, "run"),
        "n_shared": count_rows_by(shared, "run"),
    }
    row_and_counts = read_counted_row(run, worker, **subqueries)
    if row_and_counts is None:
        return None
    row, counts = row_and_counts
    return WorkerReport(
        about=build_about(run),
        worker=row,
        n_ranked=counts["n_ranked"],
        n_shared=counts["n_shared"],
        answers=_read_answers(run, worker, after, size),
        contradictions=read_contradictions(run, "worker", worker),
    )


def _read_answers(run: Run, worker: UUID, after: str, size: int) -> Page[WorkerAnswer]:
    """Return a page (of a paginated list) of the worker's answers with their facts."""
    rows = (
        Response.objects.filter(
            submission__worker__public_id=worker,
            submission__version=run.version_id,
            state=Response.State.SUBMITTED,
        )
        .annotate(
            of_run=FilteredRelation("scores", condition=Q(scores__run=run)),
            exemplar=FilteredRelation(
                "question__exemplary_answers",
                condition=Q(question__exemplary_answers__run=run),
            ),
        )
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
            contrast=F("of_run__contrast"),
            question_text=select_beginning("question__text"),
            text_shown=select_beginning("text", ANSWER_SHOWN),
            n_answers=F("exemplar__n_answers"),
            nearest=F("exemplar__nearest_response__public_id"),
            nearest_worker=F("exemplar__nearest_response__submission__worker__public_id"),
            nearest_name=F("exemplar__nearest_response__submission__worker__external_id"),
            nearest_shown=select_beginning("exemplar__nearest_response__text", ANSWER_SHOWN),
        )
    )
    page = ORDER.take(rows, after, size, dict)
    facts, _ = read_facts(run, [row["pk"] for row in page.rows])
    answers = [_build_answer(row, facts.get(row["pk"], [])) for row in page.rows]
    return Page(answers, page.after, page.next)


def _build_answer(row: dict[str, Any], facts: list[SaidFact]) -> WorkerAnswer:
    """Convert a database row and its facts to a worker's answer."""
    nearest = row["nearest"]
    return WorkerAnswer(
        question=row["question__public_id"],
        question_name=row["question__external_id"],
        question_text=shorten_text(row["question_text"], EXCERPT_SHOWN),
        text=shorten_text(row["text_shown"], ANSWER_SHOWN),
        status=_find_status(row),
        score=row["score"],
        score_leave_one_out=row["left_out"],
        n_answers=row["n_answers"] or 0,
        nearest=shorten_text(row["nearest_shown"], ANSWER_SHOWN),
        nearest_worker=row["nearest_worker"],
        nearest_worker_name=row["nearest_name"] or "",
        is_nearest=nearest is not None and nearest == row["public_id"],
        facts=facts,
        contrast=row["contrast"],
    )


def _find_status(row: dict[str, Any]) -> Status:
    """Return an answer's status: scored, empty, rejected, or not_in_run if newer than the run."""
    if row["scored"] is not None:
        return "scored"
    if row["rejected"]:
        return "rejected"
    return "empty" if row["status"] == Response.Status.EMPTY else "not_in_run"
