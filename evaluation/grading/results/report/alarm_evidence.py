"""Report of one alarm with its evidence: answers to the same question side by side."""

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
from evaluation.grading.results.report.workers import WorkerRow, read_worker_rows
from evaluation.models import Alarm, LLMResponse, Run, WorkerGrade

# Pairs of answers on one page.
SHOWN = 10
# No row has this key: a page without texts asks the database as often as one with.
NOBODY = 0


@dataclass(frozen=True)
class Shown:
    """An answer shown as evidence beside another one, with its author and grade.

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
    """Two answers to a question shown side by side; `right` is None for a single answer."""

    question: UUID
    question_name: str
    question_text: str
    left: Shown | None
    right: Shown | None
    is_pair: bool


@dataclass(frozen=True)
class Review:
    """A user's review of an alarm: state, note, author, time and the run with the remedy."""

    state: str
    note: str
    by: str
    at: datetime
    remedied_by: UUID | None

    @property
    def word(self) -> str:
        """The review state as a label, such as "Dismissed"."""
        return str(Alarm.State(self.state).label)


@dataclass(frozen=True)
class AlarmEvidence:
    """An alarm with its reviews, and one page each of its workers and its example answers.

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


def read_alarm_evidence(
    run: Run, place: int, after: str = "", page: int = 1, size: int = PAGE, shown: int = SHOWN
) -> AlarmEvidence | None:
    """Return the alarm with number `place` in a run, with its evidence; None if none.

    Raises `BadCursorError` for an unknown page of workers; an unknown page of exhibits is empty.
    `size` workers and `shown` exhibits are on a page.
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
        workers=read_worker_rows(run, after, size=size, alarm=alarm.pk),
        exhibits=list(_build_exhibits(run, alarm, rows)),
        n_exhibits=len(alarm.evidence),
        page=page,
        n_pages=max(1, -(-len(alarm.evidence) // shown)),
        reviews=list(_read_reviews(alarm)),
    )


def _read_reviews(alarm: Alarm) -> Iterable[Review]:
    """Yield the reviews of an alarm, newest first."""
    rows = alarm.reviews.order_by("-pk").values_list(
        "state", "note", "reviewed_by__username", "created_at", "remedied_by__public_id"
    )
    return (Review(*row) for row in rows)


class _Text(NamedTuple):
    """A text of an answer or question with its id, name, and the author's grade."""

    id: UUID
    name: str
    text: str
    grade: float | None
    is_named: bool


def _build_exhibits(run: Run, alarm: Alarm, rows: list[dict[str, Any]]) -> Iterable[Exhibit]:
    """Yield the pairs of example answers of an alarm whose question still exists."""
    texts = _read_texts(run, alarm, rows)
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
            left=_build_shown(texts.get(("answer", row["left"]))),
            right=_build_shown(beside, is_model=reply is not None),
            is_pair=reply is not None or row["right"] is not None,
        )


def _build_shown(author_text: _Text | None, *, is_model: bool = False) -> Shown | None:
    """Return an answer's text for display; None for a withdrawn answer."""
    if author_text is None:
        return None
    worker = None if is_model else author_text.id
    text = shorten_text(author_text.text, ANSWER_SHOWN)
    return Shown(author_text.name, text, worker, author_text.is_named, author_text.grade, is_model)


def _read_texts(
    run: Run, alarm: Alarm, rows: list[dict[str, Any]]
) -> dict[tuple[str, int | None], _Text]:
    """Return the texts of example answers and questions by kind and primary key; one query."""
    worker = OuterRef("submission__worker")
    grades = WorkerGrade.objects.filter(run=run, worker=worker)
    is_named_alarm = Alarm.workers.through.objects.filter(alarm=alarm, worker=worker)

    def query_part(
        what: str, model: Any, columns: tuple[str, ...], whose: str
    ) -> QuerySet[Any, Any]:
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
            Exists(is_named_alarm) if is_answer else Value(False),
        )

    answers = query_part("answer", Response, ("left", "right"), "submission__worker__")
    replies = query_part("reply", LLMResponse, ("llm_response",), "model__")
    questions = query_part("question", Question, ("question",), "")
    return {
        (what, key): _Text(*text)
        for what, key, *text in answers.union(replies, questions, all=True)
    }
