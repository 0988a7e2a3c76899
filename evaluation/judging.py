"""Answers given to experts to judge blindly, and their judgements.

An expert sees the question, its passage and the text of the answer. Everything else about it, who
wrote it, its score, its camp, the run that asks, stays behind this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from secrets import randbelow
from uuid import UUID

from django.db.models import Exists, OuterRef, Subquery

from annotations.models import QuestionSet, Response
from evaluation.models import HumanJudgement, JudgementRequest, Run

# Requests get a random place below it.
PLACES = 1_000_000


@dataclass(frozen=True)
class Task:
    """One answer to judge, and all that may be known about it.

    Attributes
    ----------
    number : among the expert's answers of the set, from 1. before : the one before, None if first.
    grade : given before, None if not yet.
    """

    number: int
    total: int
    done: int
    before: UUID | None
    question: str
    passage_title: str
    passage: str
    answer: str
    grade: float | None


@dataclass(frozen=True)
class Progress:
    """How far an expert is with a set; `next` is the first answer without a grade, if any."""

    total: int
    done: int
    next: UUID | None
    first: UUID | None


class NotAskedError(LookupError):
    """An answer that the expert was not asked to judge."""


def ask(run: Run | None, responses: Iterable[Response], expert: int) -> None:
    """Ask an expert to judge answers, in a random order; what was asked before stays as it is."""
    JudgementRequest.objects.bulk_create(
        [
            JudgementRequest(run=run, response=response, expert_id=expert, place=randbelow(PLACES))
            for response in responses
        ],
        ignore_conflicts=True,
    )


def progress(question_set: QuestionSet, expert: int) -> Progress:
    """Return how far an expert is, by one query."""
    rows = _rows(question_set, expert)
    undone = [request for request, is_done in rows if not is_done]
    first = rows[0][0] if rows else None
    return Progress(len(rows), len(rows) - len(undone), undone[0] if undone else None, first)


def task(question_set: QuestionSet, expert: int, request: UUID) -> Task | None:
    """Return an answer that an expert was asked to judge, by two queries; None if not asked."""
    rows = _rows(question_set, expert)
    order = [public_id for public_id, _ in rows]
    if request not in order:
        return None
    at = order.index(request)
    given = HumanJudgement.objects.filter(response=OuterRef("response"), expert=expert)
    question, title, passage, answer, grade = (
        JudgementRequest.objects.filter(public_id=request)
        .values_list(
            "response__question__text",
            "response__question__passage__title",
            "response__question__passage__text",
            "response__text",
            Subquery(given.values("grade")),
        )
        .get()
    )
    return Task(
        number=at + 1,
        total=len(rows),
        done=sum(is_done for _, is_done in rows),
        before=order[at - 1] if at else None,
        question=question,
        passage_title=title or "",
        passage=passage or "",
        answer=answer,
        grade=grade,
    )


def judge(question_set: QuestionSet, expert: int, request: UUID, grade: int) -> UUID | None:
    """Store an expert's grade, whatever was there before; return the next answer to judge.

    None when all have a grade. Sending it twice changes nothing. Raises `NotAskedError`.
    """
    rows = _rows(question_set, expert)
    order = [public_id for public_id, _ in rows]
    if request not in order:
        raise NotAskedError(request)
    response = JudgementRequest.objects.values_list("response", flat=True).get(public_id=request)
    HumanJudgement.objects.update_or_create(
        response_id=response, expert_id=expert, defaults={"grade": grade}
    )
    at = order.index(request)
    undone = [public_id for public_id, is_done in rows[at + 1 :] + rows[:at] if not is_done]
    return undone[0] if undone else None


def _rows(question_set: QuestionSet, expert: int) -> list[tuple[UUID, bool]]:
    """Return the requests of an expert in their order, with whether they are done."""
    judged = HumanJudgement.objects.filter(response=OuterRef("response"), expert=expert)
    return list(
        JudgementRequest.objects.filter(
            expert=expert,
            response__submission__version__question_set=question_set,
            response__state=Response.State.SUBMITTED,
        )
        .order_by("place", "pk")
        .values_list("public_id", Exists(judged))
    )
