"""What somebody decides of submissions: approve, reject with a reason, take back.

The log (`annotations.models.Decision`) is the one place that says what a panel is told of
somebody's work. Nothing here pays or tells anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from annotations.exchange.prolific import Wrong, category_named, wrong_with
from annotations.ledger.sentences import PAYMENTS
from annotations.models import Decision, QuestionSet, QuestionSetVersion, Submission
from annotations.models.access import Anybody, is_requester
from annotations.models.rights import rights
from annotations.sentences import CodedError

IDS = 500
"""Keys of one query: every SQLite takes that many."""


class DecisionError(ValueError):
    """Why a decision cannot be kept; `wrong` says it field by field."""

    def __init__(self, wrong: Sequence[Wrong]) -> None:
        super().__init__(" ".join(f"{one.field}: {one.why}." for one in wrong))
        self.wrong = tuple(wrong)


class WithdrawnError(CodedError, ValueError):
    """The worker took the answers back, or was erased: nothing is decided of them any more."""

    sentences = PAYMENTS


class DecidedMeanwhileError(CodedError, RuntimeError):
    """Somebody decided since the page was opened; `newest` is what they did."""

    sentences = PAYMENTS

    def __init__(self, newest: Decision) -> None:
        super().__init__("decided_meanwhile", by=str(newest.decided_by))
        self.newest = newest


class Unseen:
    """In place of what was seen: whoever decides does not say."""


UNSEEN = Unseen()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be decided of the submission with this key."""

    submission: int
    kind: str
    category: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many decisions were added, and how many stood there so already."""

    n_new: int
    n_unchanged: int


def may_decide(user: Anybody, version: QuestionSetVersion) -> bool:
    """Whether the user may decide about the people of a version: who may change its set."""
    return is_requester(user) and rights(user, version.question_set).edit


def checked(kind: str, category: str, reason: str) -> tuple[str, str, str]:
    """Return a decision as it is kept. Raises DecisionError."""
    kind, category, reason = kind.strip().casefold(), category_named(category), reason.strip()
    if wrong := list(wrong_with(kind, category, reason)):
        raise DecisionError(wrong)
    return kind, category, reason


def decide(
    submission: Submission,
    user: Any,
    kind: str,
    category: str = "",
    reason: str = "",
    seen: UUID | Unseen | None = UNSEEN,
) -> Decision:
    """Keep what somebody decides of one submission; the same once more changes nothing.

    `seen` is the newest row that the decider knew, None for none. Raises DecisionError,
    WithdrawnError, and DecidedMeanwhileError where another row is the newest.
    """
    wanted = checked(kind, category, reason)
    with transaction.atomic():
        locked([submission.pk])
        newest = newest_of([submission.pk]).get(submission.pk)
        if newest is not None and _is(newest, *wanted):
            return newest
        if newest is not None and not isinstance(seen, Unseen) and newest.public_id != seen:
            raise DecidedMeanwhileError(newest)
        kind, category, reason = wanted
        return Decision.objects.create(
            submission=submission, kind=kind, category=category, reason=reason, decided_by=user
        )


def decide_all(user: Any, wanted: Sequence[Wanted]) -> Outcome:
    """Keep many decisions, all or none; those that stand there so already add nothing.

    They are checked before (`checked`). Raises WithdrawnError.
    """
    with transaction.atomic():
        keys = [one.submission for one in wanted]
        locked(keys)
        newest = newest_of(keys)
        rows = [
            Decision(
                submission_id=one.submission,
                kind=one.kind,
                category=one.category,
                reason=one.reason,
                decided_by=user,
            )
            for one in wanted
            if (before := newest.get(one.submission)) is None
            or not _is(before, one.kind, one.category, one.reason)
        ]
        Decision.objects.bulk_create(rows, batch_size=IDS)
        return Outcome(len(rows), len(wanted) - len(rows))


def approve_undecided(user: Any, submissions: Sequence[int]) -> Outcome:
    """Approve all or none of those of whom nothing was decided when they were shown.

    Raises DecidedMeanwhileError with the first decision that counts by now, and WithdrawnError.
    """
    with transaction.atomic():
        locked(submissions)
        for row in newest_of(submissions).values():
            if row.kind != Decision.Kind.OPEN:
                raise DecidedMeanwhileError(row)
        return decide_all(user, [Wanted(key, Decision.Kind.APPROVE) for key in submissions])


def answered_version(
    question_set: QuestionSet, number: int | None = None
) -> QuestionSetVersion | None:
    """Return the version of that number; without one the newest in which somebody took part.

    The newest of all where nobody did; None where there is no such version.
    """
    versions = question_set.versions.order_by("-number").select_related("question_set")
    if number is not None:
        return versions.filter(number=number).first()
    return versions.filter(submissions__isnull=False).first() or versions.first()


def newest_of(submissions: Iterable[int]) -> dict[int, Decision]:
    """Return the newest decision of each submission that has one, what was taken back included."""
    keys, found = sorted(submissions), {}
    for begin in range(0, len(keys), IDS):
        rows = Decision.objects.filter(submission__in=keys[begin : begin + IDS]).order_by("pk")
        found.update({row.submission_id: row for row in rows.select_related("decided_by")})
    return found


def log_of(submissions: Iterable[int]) -> dict[int, list[Decision]]:
    """Return all decisions of submissions that have any, the oldest first."""
    keys = sorted(submissions)
    found: dict[int, list[Decision]] = {}
    for begin in range(0, len(keys), IDS):
        rows = Decision.objects.filter(submission__in=keys[begin : begin + IDS]).order_by("pk")
        for row in rows:
            found.setdefault(row.submission_id, []).append(row)
    return found


def locked(submissions: Sequence[int], *, also_withdrawn: bool = False) -> None:
    """Make two who work on the same people's pay wait for each other; within a transaction.

    Raises WithdrawnError for who withdrew, unless these may be there too.
    """
    keys = sorted(submissions)
    for begin in range(0, len(keys), IDS):
        # In one order, so that two who hold many of them do not wait for each other.
        held = Submission.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
        held = held.filter(pk__in=keys[begin : begin + IDS]).select_related("worker")
        gone = [one.worker for one in held if one.withdrawn_at or one.worker.erased_at]
        if gone and not also_withdrawn:
            raise WithdrawnError("withdrawn", worker=str(gone[0]))


def _is(row: Decision, kind: str, category: str, reason: str) -> bool:
    return (row.kind, row.category, row.reason) == (kind, category, reason)
