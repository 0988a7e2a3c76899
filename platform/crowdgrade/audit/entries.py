"""Entries of the audit log, read from the tables that hold them, newest first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from django.db.models import F, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from annotations.models import AuditEntry, BonusPayment, Decision, ExportRead, SignInEvent
from evaluation.models import AlarmReview, RunOfRecord, WorkerVerdict


@dataclass(frozen=True)
class LogFilter:
    """Filter of the audit log: user, name of the set, and dates; empty values do not filter.

    `user` is a whole user name, `name` a part of a set's name; `since` and `until` are inclusive
    days in UTC.
    """

    user: str = ""
    name: str = ""
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True)
class DecisionEntry:
    """A decision of a user for the audit log: time, kind, choice and subject.

    `kind` is a key of `build_decision_sources`. `subject` is the worker's id, the kind of alarm, or
    the id of the run or object; reasons are left out, because they may quote answers.
    """

    at: datetime
    kind: str
    user: str
    choice: str
    set_name: str
    subject: str


@dataclass(frozen=True)
class DecisionSource:
    """Table of decisions, with the query paths of a row to time, user, choice, set and subject."""

    rows: QuerySet[Any, Any]
    user: str
    choice: Any
    set_name: str
    subject: Any
    at: str = "created_at"

    def read_entries(self, kind: str, wanted: LogFilter) -> Iterator[DecisionEntry]:
        """Yield the entries that pass the filter, newest first."""
        rows = _filter_rows(self.rows, wanted, self.user, self.set_name, self.at)
        values = rows.annotate(
            log_at=F(self.at),
            log_user=F(f"{self.user}__username"),
            log_choice=self.choice,
            log_set=F(self.set_name),
            log_subject=Cast(self.subject, TextField()),
        ).order_by("-log_at")
        names = ("log_at", "log_user", "log_choice", "log_set", "log_subject")
        for at, user, choice, set_name, subject in values.values_list(*names).iterator(2000):
            # Withdrawals of workers themselves have no user.
            yield DecisionEntry(at, kind, user or "", choice, set_name, subject)


_OF_SUBMISSION: Final = "submission__version__question_set__name"
_WORKER: Final = F("submission__worker__external_id")


def build_decision_sources() -> dict[str, DecisionSource]:
    """Return the tables that hold decisions, by kind of entry."""
    return {
        "payment_decision": DecisionSource(
            *(Decision.objects.all(), "decided_by", F("kind"), _OF_SUBMISSION, _WORKER)
        ),
        "payment": DecisionSource(
            BonusPayment.objects.filter(actor__isnull=False),
            "actor",
            _join_texts("event", Cast("amount", TextField()), "currency"),
            _OF_SUBMISSION,
            _WORKER,
        ),
        "worker_decision": DecisionSource(
            *(WorkerVerdict.objects.all(), "decided_by", F("kind")),
            *("question_set__name", F("worker__external_id")),
        ),
        "alarm_review": DecisionSource(
            *(AlarmReview.objects.all(), "reviewed_by", F("state")),
            *("alarm__run__version__question_set__name", F("alarm__kind")),
        ),
        "official_run": DecisionSource(
            RunOfRecord.objects.filter(chosen_by__isnull=False),
            *("chosen_by", Value("chosen"), "question_set__name", F("run__public_id")),
            at="chosen_at",
        ),
        "action": DecisionSource(
            *(AuditEntry.objects.all(), "done_by", F("action"), "name"),
            _join_texts("kind", Cast("object_id", TextField())),
        ),
    }


def _join_texts(*parts: Any) -> Concat:
    """Return the SQL expression that joins texts with spaces."""
    spaced = [piece for part in parts for piece in (Value(" "), part)][1:]
    return Concat(*spaced, output_field=TextField())


def read_decisions(wanted: LogFilter, kind: str = "") -> Iterator[DecisionEntry]:
    """Yield the decisions that pass the filter, newest first; with `kind`, only of that kind."""
    sources = build_decision_sources()
    chosen = {kind: sources[kind]} if kind else sources
    parts = (source.read_entries(name, wanted) for name, source in chosen.items())
    return heapq.merge(*parts, key=lambda entry: entry.at, reverse=True)


def select_exports(wanted: LogFilter) -> QuerySet[ExportRead]:
    """Return the downloads that pass the filter, with their users, newest first, as a queryset."""
    rows = _filter_rows(ExportRead.objects.all(), wanted, "user", "set_name", "created_at")
    return rows.select_related("user").order_by("-pk")


def select_sign_ins(wanted: LogFilter, event: str = "") -> QuerySet[SignInEvent]:
    """Return sign-ins, and changes of factors and links, that pass the filter, newest first."""
    rows = _filter_rows(SignInEvent.objects.all(), wanted, "", "", "created_at")
    if event:
        rows = rows.filter(event=event)
    return rows.order_by("-pk")


def _filter_rows(
    rows: QuerySet[Any, Any], wanted: LogFilter, user: str, set_name: str, at: str
) -> QuerySet[Any, Any]:
    """Return the rows that pass the filter; `user`, `set_name` and `at` are query paths from a row.

    With `user` "", the rows have a column `name` with the user's name.
    """
    conditions: dict[str, Any] = {
        f"{user}__username" if user else "name": wanted.user,
        f"{set_name}__icontains": wanted.name,
        f"{at}__date__gte": wanted.since,
        f"{at}__date__lte": wanted.until,
    }
    return rows.filter(**{path: value for path, value in conditions.items() if value})
