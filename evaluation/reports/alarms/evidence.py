"""One alarm with its evidence: answers to the same question side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from annotations.models import Question, Response
from annotations.web.paging import PAGE, Page
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, beginning, shortened
from evaluation.models import Alarm, LLMResponse, Run, WorkerGrade
from evaluation.reports.alarms.report import AlarmEntry, entry_of
from evaluation.reports.workers import WorkerRow, worker_rows

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
    workers: Page[WorkerRow]
    exhibits: list[Exhibit]
    n_exhibits: int
    page: int
    n_pages: int
    reviews: list[Review]


def alarm_evidence(
    run: Run, place: int, after: str = "", page: int = 1, size: int = PAGE, shown: int = SHOWN
) -> AlarmEvidence | None:
    """Return an alarm of a run, by nine queries; None if there is none of that place.

    Raises `BadCursorError` for a page of workers that there is not; a page of exhibits that there
    is not is empty. `size` workers and `shown` exhibits are on a page.
    """
    alarm = Alarm.objects.filter(run=run, place=place).first()
    if alarm is None:
        return None
    n_workers, n_questions = alarm.workers.count(), alarm.questions.count()
    rows = alarm.evidence[(page - 1) * shown : page * shown]
    return AlarmEvidence(
        alarm=entry_of(alarm, n_workers, n_questions),
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


def _exhibits(run: Run, alarm: Alarm, rows: list[dict[str, Any]]) -> Iterable[Exhibit]:
    answers = _answers(run, alarm, [row[side] for row in rows for side in ("left", "right")])
    of_models = _of_models([row["llm_response"] for row in rows])
    questions = {
        row["pk"]: row
        for row in Question.objects.filter(
            pk__in=[NOBODY, *(row["question"] for row in rows)]
        ).values("pk", "public_id", "external_id", text_shown=beginning("text"))
    }
    for row in rows:
        question = questions.get(row["question"])
        if question is None:
            continue
        other = row["llm_response"]
        yield Exhibit(
            question=question["public_id"],
            question_name=question["external_id"],
            question_text=shortened(question["text_shown"], EXCERPT_SHOWN),
            left=answers.get(row["left"]),
            right=of_models.get(other) if other is not None else answers.get(row["right"]),
            is_pair=other is not None or row["right"] is not None,
        )


def _answers(run: Run, alarm: Alarm, keys: list[int | None]) -> dict[int, Shown]:
    rows = list(
        Response.objects.filter(pk__in=[NOBODY, *(key or NOBODY for key in keys)]).values(
            "pk",
            "submission__worker_id",
            "submission__worker__public_id",
            "submission__worker__external_id",
            text_shown=beginning("text", ANSWER_SHOWN),
        )
    )
    workers = [row["submission__worker_id"] for row in rows] or [NOBODY]
    grades = dict(
        WorkerGrade.objects.filter(run=run, worker__in=workers).values_list("worker_id", "grade")
    )
    named = set(alarm.workers.filter(pk__in=workers).values_list("pk", flat=True))
    return {
        row["pk"]: Shown(
            name=row["submission__worker__external_id"],
            text=shortened(row["text_shown"], ANSWER_SHOWN),
            worker=row["submission__worker__public_id"],
            is_named=row["submission__worker_id"] in named,
            grade=grades.get(row["submission__worker_id"]),
        )
        for row in rows
    }


def _of_models(keys: list[int | None]) -> dict[int, Shown]:
    rows = LLMResponse.objects.filter(pk__in=[NOBODY, *(key or NOBODY for key in keys)]).values(
        "pk", "model__name", text_shown=beginning("text", ANSWER_SHOWN)
    )
    return {
        row["pk"]: Shown(
            row["model__name"], shortened(row["text_shown"], ANSWER_SHOWN), is_model=True
        )
        for row in rows
    }
