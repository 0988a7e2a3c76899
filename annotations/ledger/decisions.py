"""Decisions about submissions: approve, reject with a reason, or reopen.

The log (`annotations.models.Decision`) is the only source of what a panel learns about a worker's
work. Nothing here pays a worker or notifies anybody. Receivers of `decisions_stored` record the
same decision where the grades are decided about, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value

from annotations.exchange.prolific import DecisionFault, find_decision_faults, normalise_category
from annotations.ledger.decision_signal import decisions_stored
from annotations.ledger.sentences import PAYMENTS
from annotations.models import Decision, QuestionSet, QuestionSetVersion, Submission
from annotations.models.access import AnyUser, is_requester
from annotations.models.rights import rights
from annotations.sentences import CodedError

KEYS_PER_QUERY = 500
"""Keys in one query; within SQLite's limit of parameters."""


class DecisionError(ValueError):
    """Error for a decision with invalid fields; `wrong` holds a reason for each field."""

    def __init__(self, wrong: Sequence[DecisionFault]) -> None:
        super().__init__(" ".join(f"{problem.field}: {problem.why}." for problem in wrong))
        self.wrong = tuple(wrong)


class WithdrawnError(CodedError, ValueError):
    """Error: the worker withdrew or was erased, so that no decision is possible."""

    sentences = PAYMENTS


class DecidedMeanwhileError(CodedError, RuntimeError):
    """Error: another decision (`newest`) was stored since the user opened the page."""

    sentences = PAYMENTS

    def __init__(self, newest: Decision) -> None:
        super().__init__("decided_meanwhile", by=str(newest.decided_by))
        self.newest = newest


class Unseen:
    """Type of the marker for a caller who does not know which decision the user saw."""


UNSEEN = Unseen()


@dataclass(frozen=True, slots=True)
class NewDecision:
    """A decision to store; `submission` is the key of its submission."""

    submission: int
    kind: str
    category: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Numbers of decisions that were added and of those that were already stored."""

    n_new: int
    n_unchanged: int


def may_decide(user: AnyUser, version: QuestionSetVersion) -> bool:
    """Return whether a user may decide on a version's workers."""
    return is_requester(user) and rights(user, version.question_set).edit


def validate_decision(kind: str, category: str, reason: str) -> tuple[str, str, str]:
    """Return kind, category and reason, cleaned; raise `DecisionError` if invalid."""
    kind, category, reason = kind.strip().casefold(), normalise_category(category), reason.strip()
    if wrong := list(find_decision_faults(kind, category, reason)):
        raise DecisionError(wrong)
    return kind, category, reason


def decide_on_submission(
    submission: Submission,
    user: Any,
    kind: str,
    category: str = "",
    reason: str = "",
    seen: UUID | Unseen | None = UNSEEN,
) -> Decision:
    """Store and return a decision on one submission; repeating the newest one stores nothing.

    `seen` is the newest decision that the user saw, None for none. Raises DecisionError and
    WithdrawnError. Raises DecidedMeanwhileError if another decision is newer.
    """
    validated = validate_decision(kind, category, reason)
    with transaction.atomic():
        lock_submissions([submission.pk])
        newest = load_newest_decisions([submission.pk]).get(submission.pk)
        # Checked before `seen`, so that a repeated request succeeds although its page is outdated.
        if newest is not None and _is_same_decision(newest, *validated):
            return newest
        if newest is not None and not isinstance(seen, Unseen) and newest.public_id != seen:
            raise DecidedMeanwhileError(newest)
        kind, category, reason = validated
        decision = Decision.objects.create(
            submission=submission, kind=kind, category=category, reason=reason, decided_by=user
        )
        decisions_stored.send(Decision, decisions=[decision])
        return decision


def decide_on_submissions(user: Any, decisions: Sequence[NewDecision]) -> DecisionCounts:
    """Store many valid decisions, all or none; return the numbers of new and existing ones.

    Check them first with `validate_decision`. Raises WithdrawnError.
    """
    with transaction.atomic():
        keys = [decision.submission for decision in decisions]
        lock_submissions(keys)
        newest = load_newest_decisions(keys)
        new_decisions = [
            decision
            for decision in decisions
            if (before := newest.get(decision.submission)) is None
            or not _is_same_decision(before, decision.kind, decision.category, decision.reason)
        ]
        rows = store_decisions(user, new_decisions)
        if rows:
            decisions_stored.send(Decision, decisions=rows)
        return DecisionCounts(len(rows), len(decisions) - len(rows))


def store_decisions(user: Any, decisions: Sequence[NewDecision]) -> list[Decision]:
    """Store valid decisions that differ from the newest ones, and return the new rows.

    No signal is sent. For callers that hold the lock of the submissions and record the same
    decisions for the grades.
    """
    rows = [
        Decision(
            submission_id=decision.submission,
            kind=decision.kind,
            category=decision.category,
            reason=decision.reason,
            decided_by=user,
        )
        for decision in decisions
    ]
    return Decision.objects.bulk_create(rows, batch_size=KEYS_PER_QUERY)


def approve_undecided(user: Any, submissions: Sequence[int]) -> DecisionCounts:
    """Approve submissions that the user saw as undecided, all or none.

    Raises WithdrawnError, and DecidedMeanwhileError with the first decision made since.
    """
    with transaction.atomic():
        lock_submissions(submissions)
        # A reopened worker is undecided, so the page listed them too.
        for row in load_newest_decisions(submissions).values():
            if row.kind != Decision.Kind.OPEN:
                raise DecidedMeanwhileError(row)
        return decide_on_submissions(
            user, [NewDecision(key, Decision.Kind.APPROVE) for key in submissions]
        )


def find_answered_version(
    question_set: QuestionSet, number: int | None = None
) -> QuestionSetVersion | None:
    """Return the version with this number, by default the newest with submissions.

    If no version has any, the newest of all; None if there is no such version.
    """
    return select_answered_version(question_set.versions.all(), number)


def select_answered_version(
    versions: QuerySet[QuestionSetVersion], number: int | None = None
) -> QuestionSetVersion | None:
    """Return the version with this number, by default the newest with submissions.

    The number is that of one of `versions`.

    Same as `find_answered_version`, but the set and the collection are loaded too.
    """
    versions = versions.select_related("question_set", "collection")
    if number is not None:
        return versions.filter(number=number).first()
    newest = versions.order_by(_build_answered_condition().desc(), "-number")
    return newest.annotate(is_newest_answered=Value(True)).first()


def is_newest_answered_version(version: QuestionSetVersion) -> bool:
    """Return whether a version is the newest with submissions; at most one query."""
    if hasattr(version, "is_newest_answered"):  # annotated by select_answered_version
        return True
    versions = QuestionSetVersion.objects.filter(question_set=version.question_set_id)
    newest = versions.order_by(_build_answered_condition().desc(), "-number").values_list(
        "pk", flat=True
    )
    return newest.first() == version.pk


def _build_answered_condition() -> Exists:
    """Return the query condition that a version has submissions."""
    return Exists(Submission.objects.filter(version=OuterRef("pk")))


def load_newest_decisions(submissions: Iterable[int]) -> dict[int, Decision]:
    """Return the newest decision on each decided submission, by its key.

    A decision that reopened a submission is included.
    """
    keys, decisions = sorted(submissions), {}
    for begin in range(0, len(keys), KEYS_PER_QUERY):
        # By key, not by time: the lock of the submission makes keys grow with each decision, while
        # the clocks of two servers may disagree.
        rows = Decision.objects.filter(
            submission__in=keys[begin : begin + KEYS_PER_QUERY]
        ).order_by("pk")
        decisions.update({row.submission_id: row for row in rows.select_related("decided_by")})
    return decisions


def load_decision_log(submissions: Iterable[int], *related: str) -> dict[int, list[Decision]]:
    """Return all decisions of each decided submission, by its key, the oldest first.

    `related` names relations to load with each decision.
    """
    keys = sorted(submissions)
    decisions: dict[int, list[Decision]] = {}
    for begin in range(0, len(keys), KEYS_PER_QUERY):
        chunk = Q(submission__in=keys[begin : begin + KEYS_PER_QUERY])
        decisions |= load_decisions_where(chunk, *related)
    return decisions


def load_decisions_where(condition: Q, *related: str) -> dict[int, list[Decision]]:
    """Return the decisions that meet a query condition, by submission key, oldest first; one query.

    `related` names relations to load with each decision.
    """
    rows = Decision.objects.filter(condition).order_by("pk")
    decisions: dict[int, list[Decision]] = {}
    for row in rows.select_related(*related) if related else rows:
        decisions.setdefault(row.submission_id, []).append(row)
    return decisions


def lock_submissions(submissions: Sequence[int], *, also_withdrawn: bool = False) -> None:
    """Lock submissions (by key) until the transaction ends, so that decisions cannot overlap.

    Raises WithdrawnError for a withdrawn submission, unless `also_withdrawn`.
    """
    keys = sorted(submissions)
    for begin in range(0, len(keys), KEYS_PER_QUERY):
        # Always in the order of keys, so that two transactions cannot deadlock.
        # `no_key` lets other transactions insert rows that refer to the submission.
        rows = Submission.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
        rows = rows.filter(pk__in=keys[begin : begin + KEYS_PER_QUERY]).select_related("worker")
        # Reading the rows takes the locks, so they are read even if `also_withdrawn` is set.
        withdrawn = [row.worker for row in rows if row.withdrawn_at or row.worker.erased_at]
        if withdrawn and not also_withdrawn:
            raise WithdrawnError("withdrawn", worker=str(withdrawn[0]))


def _is_same_decision(row: Decision, kind: str, category: str, reason: str) -> bool:
    """Return whether a stored decision has the same kind, category and reason."""
    return (row.kind, row.category, row.reason) == (kind, category, reason)
