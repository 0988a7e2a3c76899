"""Evidence on workers: the answers of an alarm, and signals of how a worker wrote.

Report of one alarm with its evidence: answers to the same question side by side.

Signals of how a worker wrote answers (pasted, left the page), compared with others.

No grade, rank, payment, admission or alarm reads these numbers, and a browser can be made to report
false ones: they are evidence for a person, shown beside the texts with their limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import (
    CharField,
    Count,
    Exists,
    F,
    FloatField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.functions import Coalesce, Greatest, JSONObject, Least, Length

from annotations.models import GRADED, Question, Response
from annotations.web.numbers import build_group_count
from annotations.web.paging import PAGE, Page
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report.report import (
    AlarmEntry,
    annotate_named_counts,
    build_alarm_entry,
)
from evaluation.grading.results.report.workers import WorkerRow, read_worker_rows
from evaluation.models import Alarm, LLMResponse, Run, WorkerGrade

# Pairs of answers on one page.
MAX_SHOWN = 10
# No row has this key: a page without texts asks the database as often as one with.
NO_ID = 0


@dataclass(frozen=True)
class EvidenceAnswer:
    """An answer shown as evidence of an alarm, with its author and the author's grade.

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
    """Two answers to a question, shown side by side as evidence; `right` may be None."""

    question: UUID
    question_name: str
    question_text: str
    left: EvidenceAnswer | None
    right: EvidenceAnswer | None
    is_pair: bool


@dataclass(frozen=True)
class Review:
    """A user's review of an alarm: state, note, author, time, and the run with the remedy."""

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
    """An alarm with its reviews, a page of its workers and a page of example answers.

    Attributes
    ----------
    page, n_pages : of the exhibits, from 1. n_exhibits : in all.
    reviews : reviews by people, newest first.
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
    run: Run, place: int, after: str = "", page: int = 1, size: int = PAGE, limit: int = MAX_SHOWN
) -> AlarmEvidence | None:
    """Return the alarm number `place` of a run with its evidence; None if there is none.

    Raises `BadCursorError` for an unknown page of workers; an unknown page of exhibits is empty.
    `size` workers and `limit` exhibits are on a page.
    """
    copies = Alarm.objects.filter(
        run=run, kind="copies", severity=Alarm.Severity.ALARM, answered=False
    )
    alarms = annotate_named_counts(Alarm.objects.filter(run=run, place=place))
    alarm: Any = alarms.annotate(n_copies=build_group_count(copies, "run")).first()
    if alarm is None:
        return None
    rows = alarm.evidence[(page - 1) * limit : page * limit]
    return AlarmEvidence(
        alarm=build_alarm_entry(alarm, alarm.n_workers, alarm.n_questions),
        n_copies=alarm.n_copies,
        workers=read_worker_rows(run, after, size=size, alarm=alarm.pk),
        exhibits=list(_build_exhibits(run, alarm, rows)),
        n_exhibits=len(alarm.evidence),
        page=page,
        n_pages=max(1, -(-len(alarm.evidence) // limit)),
        reviews=list(_read_reviews(alarm)),
    )


def _read_reviews(alarm: Alarm) -> Iterable[Review]:
    """Return the reviews of an alarm, newest first."""
    rows = alarm.reviews.order_by("-pk").values_list(
        "state", "note", "reviewed_by__username", "created_at", "remedied_by__public_id"
    )
    return (Review(*row) for row in rows)


class _ShownText(NamedTuple):
    """Text of an answer or question to show, with id, name and the author's grade."""

    id: UUID
    name: str
    text: str
    grade: float | None
    is_named: bool


def _build_exhibits(run: Run, alarm: Alarm, rows: list[dict[str, Any]]) -> Iterable[Exhibit]:
    """Yield the pairs of example answers of an alarm, for questions that still exist."""
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
            left=_build_evidence_answer(texts.get(("answer", row["left"]))),
            right=_build_evidence_answer(beside, is_model=reply is not None),
            is_pair=reply is not None or row["right"] is not None,
        )


def _build_evidence_answer(
    author_text: _ShownText | None, *, is_model: bool = False
) -> EvidenceAnswer | None:
    """Return an answer to show as evidence; None for a withdrawn answer."""
    if author_text is None:
        return None
    worker = None if is_model else author_text.id
    text = shorten_text(author_text.text, ANSWER_SHOWN)
    return EvidenceAnswer(
        author_text.name, text, worker, author_text.is_named, author_text.grade, is_model
    )


def _read_texts(
    run: Run, alarm: Alarm, rows: list[dict[str, Any]]
) -> dict[tuple[str, int | None], _ShownText]:
    """Return the texts of example answers and their questions, by kind and key; one query."""
    worker = OuterRef("submission__worker")
    grades = WorkerGrade.objects.filter(run=run, worker=worker)
    is_named_alarm = Alarm.workers.through.objects.filter(alarm=alarm, worker=worker)

    def query_texts(
        what: str, model: Any, columns: tuple[str, ...], author_path: str
    ) -> QuerySet[Any, Any]:
        """Return the query for the texts of one kind: answer, reply or question."""
        keys = [NO_ID, *(row[name] or NO_ID for row in rows for name in columns)]
        is_answer = what == "answer"
        grade = Subquery(grades.values("grade")[:1]) if is_answer else Value(None, FloatField())
        models = model.objects.filter(pk__in=keys).order_by()
        return models.values_list(
            Value(what, CharField()),
            "pk",
            f"{author_path}public_id",
            f"{author_path}{'name' if what == 'reply' else 'external_id'}",
            select_beginning("text", EXCERPT_SHOWN if what == "question" else ANSWER_SHOWN),
            grade,
            Exists(is_named_alarm) if is_answer else Value(False),
        )

    # One statement for three tables, whose columns are therefore the same.
    answers = query_texts("answer", Response, ("left", "right"), "submission__worker__")
    replies = query_texts("reply", LLMResponse, ("llm_response",), "model__")
    questions = query_texts("question", Question, ("question",), "")
    return {
        (what, key): _ShownText(*text)
        for what, key, *text in answers.union(replies, questions, all=True)
    }


FEWEST_OTHERS = 5
"""Fewest other people with a count for a comparison of a worker with them."""
LONG_ANSWER = 40
"""Fewest characters of an answer for which the typed share is shown."""

Rows = QuerySet[Response, Any]


@dataclass(frozen=True)
class WorkerSignals:
    """Signals of how a worker wrote: counts of answers with pasted text, and messages.

    Attributes
    ----------
    counted : number of answers whose typing was recorded. pasted : number of them with a paste.
    said : messages to show. limits : message on what the signals do not prove; None without any.
    """

    counted: int
    pasted: int
    said: tuple[Message, ...]
    limits: Message | None = field(default=None)

    @property
    def brief(self) -> Message:
        """First message, used in lists of workers."""
        return self.said[0]


SignalsByWorker = Mapping[UUID, WorkerSignals]


def read_signals(run: Run, workers: Iterable[UUID], *, in_full: bool = False) -> SignalsByWorker:
    """Return the signals of how these workers wrote, by worker; empty if none were recorded.

    Empty if no answer of the run was recorded. A worker without recorded answers gets a message
    that says so, if other workers have some. `in_full` also finds the answer with the smallest
    typed part; use it for one worker at a time.
    """
    worker_ids = list(dict.fromkeys(workers))
    rows = _query_by_worker(run, worker_ids)
    if in_full:
        rows = rows.annotate(least=Subquery(_query_least_typed(run, worker_ids)))
    found_rows = {row["worker"]: row for row in rows}
    counted_rows = {key: row for key, row in found_rows.items() if row["n"]}
    if not counted_rows:
        return {}
    signals = {}
    for worker in worker_ids:
        own_row = counted_rows.get(worker)
        if own_row is None:
            code = "signals.off" if worker in found_rows else "signals.none"
            signals[worker] = WorkerSignals(0, 0, (Message(code),))
            continue
        others = [row for key, row in counted_rows.items() if key != worker]
        messages = [
            _build_pasted_message(own_row),
            *_build_comparison_messages(own_row, others),
            _build_away_message(own_row),
        ]
        if in_full and own_row["least"] is not None:
            messages.insert(1, Message("signals.typed", own_row["least"]))
        signals[worker] = WorkerSignals(
            own_row["n"], own_row["pasted"], tuple(messages), Message("signals.limits")
        )
    return signals


def query_counted_answers(run: Run) -> Rows:
    """Return the query for a run's answers whose typing and pasting were recorded."""
    return _query_answers(run).filter(signals=Response.Counted.COUNTED)


def _query_answers(run: Run) -> Rows:
    """Return the query for the submitted answers with a text to graded questions."""
    return Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    ).order_by()


def _build_worker_condition(workers: list[UUID]) -> Q:
    """Return the query condition that an answer is by one of these workers."""
    return Q(submission__worker__public_id__in=workers)


def _query_by_worker(run: Run, workers: list[UUID]) -> Rows:
    """Return the query for each worker's sums of pasted answers, page leaves and times.

    Of the `workers` also how long their answers with a paste are (`length`), and how much of these
    a paste can be at most (`by_paste`); of the others no text is read.
    """
    rows = _query_answers(run).filter(signals__in=[Response.Counted.COUNTED, Response.Counted.OFF])
    counted = Q(signals=Response.Counted.COUNTED)
    with_paste = counted & Q(paste_count__gt=0)
    of_these = with_paste & _build_worker_condition(workers)
    return rows.values(worker=F("submission__worker__public_id")).annotate(
        n=Count("pk", filter=counted),
        pasted=Count("pk", filter=with_paste),
        left=Sum("blur_count", filter=counted),
        away=Sum("away_seconds", filter=counted),
        active=Sum("active_seconds", filter=counted),
        length=Coalesce(Sum(Length("text"), filter=of_these), Value(0)),
        # At most the text: what was pasted and deleted again may be longer than what was sent.
        by_paste=Coalesce(
            Sum(Least(F("pasted_characters"), Length("text")), filter=of_these), Value(0)
        ),
    )


def _query_least_typed(run: Run, workers: list[UUID]) -> Rows:
    """Return the query for each worker's long answer with the most characters not typed."""
    return (
        query_counted_answers(run)
        .filter(_build_worker_condition(workers))
        .annotate(length=Length("text"))
        .annotate(rest=Greatest(F("length") - F("typed_characters"), Value(0)))
        .filter(length__gte=LONG_ANSWER, rest__gt=F("length") / 2)
        .order_by("-rest", "pk")
        .values(
            values=JSONObject(
                question="question__external_id",
                typed="typed_characters",
                length="length",
                pasted="pasted_characters",
            )
        )[:1]
    )


def _build_pasted_message(worker_sums: dict[str, Any]) -> Message:
    """Return the message on the number of answers with pasted text."""
    share = worker_sums["by_paste"] / worker_sums["length"] if worker_sums["length"] else None
    return Message(
        "signals.pasted", {"pasted": worker_sums["pasted"], "n": worker_sums["n"], "share": share}
    )


def _build_comparison_messages(
    worker_sums: dict[str, Any], others: list[dict[str, Any]]
) -> list[Message]:
    """Return messages that compare a worker's pasting and leaving with other workers'."""
    if len(others) < FEWEST_OTHERS:
        return [Message("signals.few", {"others": len(others)})]
    messages = []
    for code, what in (("signals.pasted_more", "pasted"), ("signals.left_more", "left")):
        own = worker_sums[what] * 1.0 / worker_sums["n"]
        below = sum(other[what] / other["n"] < own for other in others)
        same = sum(other[what] / other["n"] == own for other in others)
        values = {"below": below, "same": same, "above": len(others) - below - same}
        messages.append(Message(code, {"others": len(others), **values}))
    return messages


def _build_away_message(worker_sums: dict[str, Any]) -> Message:
    """Return the message on how often and for how long a worker left the page."""
    values = {
        "left": worker_sums["left"],
        "away": worker_sums["away"],
        "active": worker_sums["active"],
    }
    return Message("signals.away", values)
