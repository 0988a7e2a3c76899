"""What an expert is asked to judge, one after the other, and their judgements.

An expert sees the question, its passage and the text of an answer, or what a kind of run declares
to be shown. Everything else about it, who wrote it, its score, its camp, the run that asks, stays
behind this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from secrets import randbelow
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from annotations.models import QuestionSet, Response
from evaluation.judging.declaration import ANSWERS, Choice, Part, parts_of
from evaluation.models import HumanJudgement, JudgementRequest, Run

# Requests get a random place below it.
PLACES = 1_000_000


class Declared(NamedTuple):
    """Which `Judging` says what is judged: of a kind of run, or "" for answers of people."""

    kind: str
    name: str


OF_ANSWERS = Declared("", ANSWERS.name)


@dataclass(frozen=True)
class Task:
    """One thing to judge, and all that may be known about it.

    Attributes
    ----------
    number : among the expert's things of this sort, from 1. before : the one before, None if first.
    grade, label : given before; None and "" if not yet.
    """

    declared: Declared
    number: int
    total: int
    done: int
    before: UUID | None
    parts: tuple[Part, ...]
    grade: float | None
    label: str


@dataclass(frozen=True)
class Progress:
    """How far an expert is with a set; `next` is the first thing without a judgement, if any."""

    total: int
    done: int
    next: UUID | None
    first: UUID | None


@dataclass(frozen=True)
class Queue:
    """What an expert judges on one scale, one after the other."""

    declared: Declared
    progress: Progress


class NotAskedError(LookupError):
    """Something that the expert was not asked to judge."""


class _Row(NamedTuple):
    task: UUID
    done: bool
    declared: Declared


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
    """Return how far an expert is with everything of a set, by one query."""
    return _progress(_rows(question_set, expert))


def queues(question_set: QuestionSet, expert: int) -> list[Queue]:
    """Return what an expert was asked, answers first, by one query."""
    rows = _rows(question_set, expert)
    return [
        Queue(declared, _progress([row for row in rows if row.declared == declared]))
        for declared in sorted({row.declared for row in rows})
    ]


def task(question_set: QuestionSet, expert: int, request: UUID) -> Task | None:
    """Return what an expert was asked to judge, by three queries; None if not asked."""
    queue, at = _place_of(_rows(question_set, expert), request)
    if at is None:
        return None
    asked = JudgementRequest.objects.select_related("exhibit", "response__question__passage").get(
        public_id=request
    )
    grade, label = (
        HumanJudgement.objects.filter(
            response=asked.response_id, exhibit=asked.exhibit_id, expert=expert
        )
        .values_list("grade", "label")
        .first()
    ) or (None, "")
    return Task(
        declared=queue[at].declared,
        number=at + 1,
        total=len(queue),
        done=sum(row.done for row in queue),
        before=queue[at - 1].task if at else None,
        parts=_parts(asked),
        grade=grade,
        label=label,
    )


def judge(question_set: QuestionSet, expert: int, request: UUID, choice: Choice) -> UUID | None:
    """Store what an expert chose, whatever was there before; return the next thing to judge.

    None when all of that sort are judged. Sending it twice changes nothing. Raises
    `NotAskedError`.
    """
    queue, at = _place_of(_rows(question_set, expert), request)
    if at is None:
        raise NotAskedError(request)
    response, exhibit = JudgementRequest.objects.values_list("response", "exhibit").get(
        public_id=request
    )
    label = choice.code if choice.grade is None else ""
    HumanJudgement.objects.update_or_create(
        response_id=response,
        exhibit_id=exhibit,
        expert_id=expert,
        defaults={"grade": choice.grade, "label": label},
    )
    undone = [row.task for row in queue[at + 1 :] + queue[:at] if not row.done]
    return undone[0] if undone else None


def _parts(asked: JudgementRequest) -> tuple[Part, ...]:
    if asked.exhibit is not None:
        return parts_of(asked.exhibit.shown)
    response = asked.response
    assert response is not None  # the database sees to it that there is one of the two
    question, passage = response.question, response.question.passage
    parts = [Part("Question", question.text, "The text of this question is not known.")]
    if passage is not None:
        title = f"The passage: {passage.title}" if passage.title else "The passage"
        parts.append(Part(title, passage.text, folded=True))
    return (*parts, Part("Answer", response.text, "It was left empty.", quoted=True))


def _progress(rows: list[_Row]) -> Progress:
    undone = [row.task for row in rows if not row.done]
    first = rows[0].task if rows else None
    return Progress(len(rows), len(rows) - len(undone), undone[0] if undone else None, first)


def _place_of(rows: list[_Row], request: UUID) -> tuple[list[_Row], int | None]:
    """Return what is judged beside a request, in order, and the place of the request in it."""
    declared = next((row.declared for row in rows if row.task == request), None)
    queue = [row for row in rows if row.declared == declared]
    return queue, next((at for at, row in enumerate(queue) if row.task == request), None)


def _rows(question_set: QuestionSet, expert: int) -> list[_Row]:
    """Return the requests of an expert in their order, with whether they are done."""
    given = HumanJudgement.objects.filter(expert=expert)
    done = Exists(given.filter(response=OuterRef("response"))) | Exists(
        given.filter(exhibit=OuterRef("exhibit"))
    )
    of_set = Q(
        response__submission__version__question_set=question_set,
        response__state=Response.State.SUBMITTED,
    ) | Q(exhibit__run__version__question_set=question_set)
    rows = (
        JudgementRequest.objects.filter(of_set, expert=expert)
        .annotate(is_done=done)
        .order_by("place", "pk")
        .values_list("public_id", "is_done", "exhibit__run__kind", "exhibit__judging")
    )
    return [
        _Row(task, is_done, OF_ANSWERS if name is None else Declared(kind, name))
        for task, is_done, kind, name in rows
    ]
