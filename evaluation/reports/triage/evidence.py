"""A worker's answers beside those they resemble, or beside the best response."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from annotations.models import Response, Worker
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, beginning, shortened
from evaluation.models import AnswerScore, ExemplaryAnswer, LLMAnswerScore, Run
from evaluation.reports.triage.partners import BEST, Partner
from evaluation.reports.triage.times import Order, When, order_of, who_first
from evaluation.texts.aligned import AlignedPart, aligned
from evaluation.texts.copied import SAME, likeness, sequences
from evaluation.words.message import Message

# Pairs on a page, and answers of one person that are read to sort them.
SHOWN, READ = 8, 500
# No row has this key: a page without texts asks the database as often as one with.
NOBODY = 0


@dataclass(frozen=True)
class Side:
    """One of two answers: in parts, with its score in the run and its times, where known.

    Attributes
    ----------
    score : similarity to the exemplary answer of the others (a model's: to the exemplary answer).
    """

    parts: list[AlignedPart]
    score: float | None
    started: datetime | None
    submitted: datetime | None
    seconds: float | None


@dataclass(frozen=True)
class SidePair:
    """Two answers to a question; `right` is None where there is nothing to compare with.

    Attributes
    ----------
    same, longer : words that are the same in the same order, of those of the longer answer.
    is_own : whether the worker's own answer is the best response.
    order : how the worker's answer stands in time to the other's.
    """

    question: UUID
    question_name: str
    question_text: str
    left: Side
    right: Side | None
    same: int
    longer: int
    is_copy: bool
    is_own: bool
    order: Order

    @property
    def said(self) -> Message:
        """Which of the two answers was first, in a few words."""
        return Message(f"order.{self.order}")


@dataclass(frozen=True)
class Comparison:
    """A worker beside somebody, a page of pairs at a time.

    Attributes
    ----------
    same, read : answers that are the same but for light edits, of those that were compared.
    said : the same in a sentence; None beside the best response. times : who could have copied
        from whom; None where nobody could. page, n_pages : from 1.
    """

    partner: Partner
    pairs: list[SidePair]
    n: int
    page: int
    n_pages: int
    said: Message | None
    times: Message | None
    has_times: bool


@dataclass(frozen=True)
class _Answer:
    key: int | None
    text: str
    when: When
    score: float | None


def comparison(run: Run, worker: Worker, partner: Partner, page: int = 1) -> Comparison:
    """Return a page of a worker's answers beside a partner's, by at most eight queries.

    Beside people and models the answers that are most alike come first, beside the best response
    those with the lowest score. A page that there is not is the last one.
    """
    mine = _answers(run, worker.public_id)
    other = _beside(run, partner, list(mine))
    alike = {
        question: likeness(sequences(answer.text), sequences(other[question].text))
        for question, answer in mine.items()
        if question in other and answer.text and other[question].text
    }
    if partner.sort == BEST:
        order = sorted(mine, key=lambda one: (_low(mine[one].score), one))
    else:
        order = sorted(alike, key=lambda one: (-alike[one], one))
    n_pages = max(1, -(-len(order) // SHOWN))
    page = min(max(1, page), n_pages)
    shown = order[(page - 1) * SHOWN : page * SHOWN]
    orders = [order_of(mine[one].when, other[one].when) for one in alike]
    same = sum(value >= SAME for value in alike.values())
    of_people = partner.sort == "worker"
    names = {"other": partner.name, "same": same, "read": len(alike)}
    return Comparison(
        partner=partner,
        pairs=list(_pairs(run, shown, mine, other, alike)),
        n=len(order),
        page=page,
        n_pages=n_pages,
        said=None if partner.sort == BEST else Message("triage.partner", names),
        times=who_first(worker.external_id, partner.name, orders) if of_people and orders else None,
        has_times=any(answer.when.submitted for answer in mine.values()),
    )


def _low(score: float | None) -> tuple[bool, float]:
    return score is None, score or 0.0


def _answers(run: Run, worker: UUID, questions: Sequence[int] | None = None) -> dict[int, _Answer]:
    """Return somebody's answers with a text by question, up to 500; by two queries."""
    rows = Response.objects.filter(
        submission__version=run.version_id,
        submission__worker__public_id=worker,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
    )
    if questions is not None:
        rows = rows.filter(question__in=[NOBODY, *questions])
    found: list[Any] = list(
        rows.order_by("question__position", "pk").values(
            "pk",
            "question_id",
            "started_at",
            "submitted_at",
            "work_seconds",
            session_started=F("submission__started_at"),
            session_submitted=F("submission__submitted_at"),
            text_shown=beginning("text", ANSWER_SHOWN),
        )[:READ]
    )
    scores = _scores(run, [row["pk"] for row in found])
    return {row["question_id"]: _answer(row, scores) for row in found}


def _answer(row: dict[str, Any], scores: dict[int, float | None]) -> _Answer:
    # Where only the whole survey has times, each of its answers lies between them.
    when = When(
        row["started_at"] or row["session_started"],
        row["submitted_at"] or row["session_submitted"],
        row["work_seconds"],
    )
    return _Answer(
        row["pk"], shortened(row["text_shown"], ANSWER_SHOWN), when, scores.get(row["pk"])
    )


def _scores(run: Run, answers: list[int]) -> dict[int, float | None]:
    rows = AnswerScore.objects.filter(run=run, response__in=[NOBODY, *answers])
    return dict(rows.values_list("response_id", "score_leave_one_out"))


def _beside(run: Run, partner: Partner, questions: list[int]) -> dict[int, _Answer]:
    if partner.sort == "worker":
        return _answers(run, UUID(partner.key), questions)
    if partner.sort == "model":
        rows = LLMAnswerScore.objects.filter(
            run=run,
            llm_response__model__public_id=partner.key,
            llm_response__question__in=[NOBODY, *questions],
        ).values_list(
            "llm_response__question_id", "score", beginning("llm_response__text", ANSWER_SHOWN)
        )
        none = When(None, None)
        return {
            question: _Answer(None, shortened(text, ANSWER_SHOWN), none, score)
            for question, score, text in rows
        }
    nearest = ExemplaryAnswer.objects.filter(
        run=run, question__in=[NOBODY, *questions], nearest_response__isnull=False
    ).values_list(
        "question_id", "nearest_response_id", beginning("nearest_response__text", ANSWER_SHOWN)
    )
    found = list(nearest)
    scores = _scores(run, [key for _, key, _ in found])
    return {
        question: _Answer(key, shortened(text, ANSWER_SHOWN), When(None, None), scores.get(key))
        for question, key, text in found
    }


def _pairs(
    run: Run,
    questions: Sequence[int],
    mine: dict[int, _Answer],
    other: dict[int, _Answer],
    alike: dict[int, float],
) -> Iterable[SidePair]:
    rows = run.version.questions.filter(pk__in=[NOBODY, *questions]).values(
        "pk", "public_id", "external_id", text_shown=beginning("text")
    )
    known = {row["pk"]: row for row in rows}
    for question in questions:
        left, right, row = mine[question], other.get(question), known[question]
        found = aligned(left.text, right.text if right else "")
        own = right is not None and left.key == right.key
        yield SidePair(
            question=row["public_id"],
            question_name=row["external_id"],
            question_text=shortened(row["text_shown"], EXCERPT_SHOWN),
            left=_side(left, found.left),
            right=None if right is None else _side(right, found.right),
            same=found.same,
            longer=found.longer,
            is_copy=not own and alike.get(question, 0.0) >= SAME,
            is_own=own,
            order=order_of(left.when, right.when) if right else "unknown",
        )


def _side(answer: _Answer, parts: list[AlignedPart]) -> Side:
    when = answer.when
    return Side(parts, answer.score, when.started, when.submitted, when.seconds)
