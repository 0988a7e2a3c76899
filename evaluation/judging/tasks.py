"""What an expert is asked to judge, one after the other, and their judgements.

An expert sees the question, its passage and the text of an answer, or what a kind of run declares
to be shown. Everything else about it, who wrote it, its score, its camp, the run that asks, stays
behind this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from secrets import randbelow
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.models import QuestionSet, Response
from evaluation.judging.adjudication import settles
from evaluation.judging.declaration import ANSWERS, Choice, Part, parts_of
from evaluation.models import HumanJudgement, JudgementRequest, Run, WorkerVerdict
from evaluation.models.judgements import PLACES, THINGS

TO_SETTLE = (
    "Nobody is told who gave which. Your grade counts in place of theirs; it need not be one of "
    "them, nor lie between them."
)


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


class Row(NamedTuple):
    """Something to judge, and whether it is."""

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


def progress(question_set: QuestionSet, expert: int, *, is_asked: bool = False) -> Progress:
    """Return how far an expert is with everything of a set, by two queries.

    By one where it is known that the expert `is_asked` to judge something.
    """
    return progress_of(_rows(question_set, expert, known=is_asked))


def queues(question_set: QuestionSet, expert: int) -> list[Queue]:
    """Return what an expert was asked, answers first, by two queries."""
    rows = _rows(question_set, expert)
    return [
        Queue(declared, progress_of([row for row in rows if row.declared == declared]))
        for declared in sorted({row.declared for row in rows})
    ]


def task(question_set: QuestionSet, expert: int, request: UUID) -> Task | None:
    """Return what an expert was asked to judge, by four queries; None if not asked."""
    queue, at = _place_of(_rows(question_set, expert), request)
    if at is None:
        return None
    asked = JudgementRequest.objects.select_related(
        "exhibit", "response__question__passage", "llm_response__question__passage"
    ).get(public_id=request)
    grade, label = (
        HumanJudgement.objects.filter(**_thing(asked), expert=expert)
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
    label = choice.code if choice.grade is None else ""
    HumanJudgement.objects.update_or_create(
        **_thing(JudgementRequest.objects.get(public_id=request)),
        expert_id=expert,
        defaults={"grade": choice.grade, "label": label},
    )
    undone = [row.task for row in queue[at + 1 :] + queue[:at] if not row.done]
    return undone[0] if undone else None


def last_judged(question_set: QuestionSet, expert: int) -> UUID | None:
    """Return what an expert judged, or changed, last of all in a set; None for nothing."""
    asked = asked_of(expert, QuestionSet.objects.filter(pk=question_set.pk)).filter(is_done=True)
    given = HumanJudgement.objects.filter(expert=expert).order_by()
    times = [
        Subquery(given.filter(**{thing: OuterRef(thing)}).values("updated_at")[:1])
        for thing in THINGS
    ]
    latest = asked.annotate(at=Coalesce(*times)).order_by("-at", "-pk")
    return latest.values_list("public_id", flat=True).first()


def undo(question_set: QuestionSet, expert: int, request: UUID) -> bool:
    """Take a judgement back, so that it is still to be given; return whether there was one.

    Raises `NotAskedError`.
    """
    asked = (
        asked_of(expert, QuestionSet.objects.filter(pk=question_set.pk))
        .filter(public_id=request)
        .first()
    )
    if asked is None:
        raise NotAskedError(request)
    gone, _ = HumanJudgement.objects.filter(**_thing(asked), expert=expert).delete()
    return gone > 0


def _thing(asked: JudgementRequest) -> dict[str, Any]:
    """Return what a request is about, as fields of a judgement."""
    return {f"{thing}_id": getattr(asked, f"{thing}_id") for thing in THINGS}


def _parts(asked: JudgementRequest) -> tuple[Part, ...]:
    if asked.exhibit is not None:
        return parts_of(asked.exhibit.shown)
    # The database sees to it that there is one of the three. Who wrote it, a person or a model,
    # shows in nothing.
    response = asked.response or asked.llm_response
    assert response is not None
    question, passage = response.question, response.question.passage
    parts = [Part("Question", question.text, "The text of this question is not known.")]
    if passage is not None:
        title = f"The passage: {passage.title}" if passage.title else "The passage"
        parts.append(Part(title, passage.text, folded=True))
    if question.accepted_answers:
        one = len(question.accepted_answers) == 1
        title = "Reference answer" if one else "Reference answers"
        parts.append(Part(title, _reference(question.accepted_answers)))
    parts.append(Part("Answer", response.text, "It was left empty.", quoted=True))
    if given := settles(asked):
        said = " and ".join(f"{grade:g}" for grade in given)
        parts.append(Part("To settle: experts disagree", f"They gave {said}. {TO_SETTLE}"))
    return tuple(parts)


def _reference(accepted: list[Any]) -> str:
    """Return the right answers of a question, a line each; wordings of one stand side by side."""
    lines = [entry if isinstance(entry, list) else [entry] for entry in accepted]
    return "\n".join(" / ".join(str(wording) for wording in line) for line in lines)


def progress_of(rows: list[Row]) -> Progress:
    """Return how far somebody is with things to judge, in their order."""
    undone = [row.task for row in rows if not row.done]
    first = rows[0].task if rows else None
    return Progress(len(rows), len(rows) - len(undone), undone[0] if undone else None, first)


def _place_of(rows: list[Row], request: UUID) -> tuple[list[Row], int | None]:
    """Return what is judged beside a request, in order, and the place of the request in it."""
    declared = next((row.declared for row in rows if row.task == request), None)
    queue = [row for row in rows if row.declared == declared]
    return queue, next((at for at, row in enumerate(queue) if row.task == request), None)


def _rows(question_set: QuestionSet, expert: int, *, known: bool = False) -> list[Row]:
    """Return the requests of an expert in their order, with whether they are done."""
    if not (known or is_asked(expert)):
        return []
    rows = (
        asked_of(expert, QuestionSet.objects.filter(pk=question_set.pk))
        .order_by("place", "pk")
        .values_list("public_id", "is_done", "exhibit__run__kind", "exhibit__judging")
    )
    return [Row(task, is_done, declared_by(kind, name)) for task, is_done, kind, name in rows]


def is_asked(expert: int) -> bool:
    """Return whether somebody is asked to judge anything: most people are not, and it is cheap."""
    return requests_to(expert).exists()


def requests_to(expert: int) -> QuerySet[JudgementRequest]:
    """Return all that somebody was asked to judge."""
    return JudgementRequest.objects.filter(expert=expert)


def asked_of(expert: int, sets: QuerySet[QuestionSet]) -> QuerySet[Any, Any]:
    """Return what an expert was asked of some sets, with whether it `is_done`.

    Answers of workers who were excluded since are not asked about any more.
    """
    given = HumanJudgement.objects.filter(expert=expert)
    done = [Exists(given.filter(**{thing: OuterRef(thing)})) for thing in THINGS]
    among = sets.order_by().values("pk")
    of_sets = (
        Q(
            response__submission__version__question_set__in=among,
            response__state=Response.State.SUBMITTED,
        )
        | Q(llm_response__question__version__question_set__in=among)
        | Q(exhibit__run__version__question_set__in=among)
    )
    rows = JudgementRequest.objects.filter(of_sets, expert=expert)
    return without_excluded(rows.annotate(is_done=done[0] | done[1] | done[2]))


def without_excluded(requests: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
    """Return the requests that are done, or are about nobody whom people excluded from the set."""
    rows = requests.annotate(of_author=WorkerVerdict.of_author())
    return rows.exclude(is_done=False, of_author=WorkerVerdict.Kind.EXCLUDE)


def declared_by(kind: str | None, name: str | None) -> Declared:
    """Return which `Judging` it is, by what is stored with an exhibit; None for an answer."""
    return OF_ANSWERS if name is None else Declared(kind or "", name)
