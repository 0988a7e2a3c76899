"""One alarm with its evidence: answers to the same question side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import CharField, Exists, FloatField, OuterRef, QuerySet, Subquery, Value

from annotations.models import Question, Response
from annotations.web.numbers import count_rows_by
from annotations.web.paging import PAGE, Page
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.grading.alarms.report.report import AlarmEntry, annotate_numbers, build_entry
from evaluation.grading.results.report.workers import WorkerRow, worker_rows
from evaluation.models import Alarm, LLMResponse, Run, WorkerGrade

# Pairs of answers on one page.
SHOWN = 10
# No row has this key: a page without texts asks the database as often as one with.
NOBODY = 0


@dataclass(frozen=True)
class Shown:
    """An answer beside another.

    Attributes
    ----------
    worker : None for a model's answer. is_named : whether the alarm is about this worker.
    grade : of the worker in the run, None without one.
    """

    name: str
    text: str
    worker: UUID | None = None
    is_named: bool = False
    grade: float | None = None
    is_model: bool = False


@dataclass(frozen=True)
class Exhibit:
    """Answers to one question; `right` is None where one stands alone or was withdrawn."""

    question: UUID
    question_name: str
    question_text: str
    left: Shown | None
    right: Shown | None
    is_pair: bool


@dataclass(frozen=True)
class Review:
    """What somebody made of an alarm; `remedied_by` is the run that was made with a remedy."""

    state: str
    note: str
    by: str
    at: datetime
    remedied_by: UUID | None

    @property
    def word(self) -> str:
        """The state in a word."""
        return str(Alarm.State(self.state).label)


@dataclass(frozen=True)
class AlarmEvidence:
    """An alarm with its workers, page by page, and its exhibits, page by page.

    Attributes
    ----------
    page, n_pages : of the exhibits, from 1. n_exhibits : in all.
    reviews : what people made of it, the newest first.
    """

    alarm: AlarmEntry
    n_copies: int
    workers: Page[WorkerRow]
    exhibits: list[Exhibit]
    n_exhibits: int
    page: int
    n_pages: int
    reviews: list[Review]


def alarm_evidence(
    run: Run, place: int, after: str = "", page: int = 1, size: int = PAGE, shown: int = SHOWN
) -> AlarmEvidence | None:
    """Return an alarm of a run, by four queries; None if there is none of that place.

    Raises `BadCursorError` for a page of workers that there is not; a page of exhibits that there
    is not is empty. `size` workers and `shown` exhibits are on a page.
    """
    copies = Alarm.objects.filter(
        run=run, kind="copies", severity=Alarm.Severity.ALARM, answered=False
    )
    alarms = annotate_numbers(Alarm.objects.filter(run=run, place=place))
    alarm: Any = alarms.annotate(n_copies=count_rows_by(copies, "run")).first()
    if alarm is None:
        return None
    rows = alarm.evidence[(page - 1) * shown : page * shown]
    return AlarmEvidence(
        alarm=build_entry(alarm, alarm.n_workers, alarm.n_questions),
        n_copies=alarm.n_copies,
        workers=worker_rows(run, after, size=size, alarm=alarm.pk),
        exhibits=list(_exhibits(run, alarm, rows)),
        n_exhibits=len(alarm.evidence),
        page=page,
        n_pages=max(1, -(-len(alarm.evidence) // shown)),
        reviews=list(_reviews(alarm)),
    )


def _reviews(alarm: Alarm) -> Iterable[Review]:
    rows = alarm.reviews.order_by("-pk").values_list(
        "state", "note", "reviewed_by__username", "created_at", "remedied_by__public_id"
    )
    return (Review(*row) for row in rows)


class _Text(NamedTuple):
    """A text with the id and the name of who wrote it, of a question with its own."""

    id: UUID
    name: str
    text: str
    grade: float | None
    is_named: bool


def _exhibits(run: Run, alarm: Alarm, rows: list[dict[str, Any]]) -> Iterable[Exhibit]:
    texts = _texts(run, alarm, rows)
    for row in rows:
        question = texts.get(("question", row["question"]))
        if question is None:
            continue
        reply = row["llm_response"]
        beside = texts.get(("answer", row["right"]) if reply is None else ("reply", reply))
        yield Exhibit(
            question=question.id,
            question_name=question.name,
            question_text=shorten_text(question.text, EXCERPT_SHOWN),
            left=_shown(texts.get(("answer", row["left"]))),
            right=_shown(beside, is_model=reply is not None),
            is_pair=reply is not None or row["right"] is not None,
        )


def _shown(found: _Text | None, *, is_model: bool = False) -> Shown | None:
    if found is None:
        return None
    worker = None if is_model else found.id
    text = shorten_text(found.text, ANSWER_SHOWN)
    return Shown(found.name, text, worker, found.is_named, found.grade, is_model)


def _texts(
    run: Run, alarm: Alarm, rows: list[dict[str, Any]]
) -> dict[tuple[str, int | None], _Text]:
    """Return the texts of exhibits by what they are and their keys, by one query."""
    worker = OuterRef("submission__worker")
    grades = WorkerGrade.objects.filter(run=run, worker=worker)
    named = Alarm.workers.through.objects.filter(alarm=alarm, worker=worker)

    def part(what: str, model: Any, columns: tuple[str, ...], whose: str) -> QuerySet[Any, Any]:
        keys = [NOBODY, *(row[name] or NOBODY for row in rows for name in columns)]
        is_answer = what == "answer"
        grade = Subquery(grades.values("grade")[:1]) if is_answer else Value(None, FloatField())
        found = model.objects.filter(pk__in=keys).order_by()
        return found.values_list(
            Value(what, CharField()),
            "pk",
            f"{whose}public_id",
            f"{whose}{'name' if what == 'reply' else 'external_id'}",
            select_beginning("text", EXCERPT_SHOWN if what == "question" else ANSWER_SHOWN),
            grade,
            Exists(named) if is_answer else Value(False),
        )

    answers = part("answer", Response, ("left", "right"), "submission__worker__")
    replies = part("reply", LLMResponse, ("llm_response",), "model__")
    questions = part("question", Question, ("question",), "")
    return {
        (what, key): _Text(*text)
        for what, key, *text in answers.union(replies, questions, all=True)
    }
