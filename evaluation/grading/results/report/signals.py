"""Signals of how a worker wrote answers (pasted, left the page), compared with others.

No grade, rank, payment, admission or alarm reads these numbers, and a browser can be made to report
false ones: they are evidence for a person, shown beside the texts with their limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce, Greatest, JSONObject, Least, Length

from annotations.models import GRADED, Response
from evaluation.core.messages.message import Message
from evaluation.models import Run

FEWEST_OTHERS = 5
"""People of whom something is counted, without whom nobody is compared with others."""
LONG_ANSWER = 40
"""Characters from which on an answer is worth saying how little of it was typed."""

Rows = QuerySet[Response, Any]


@dataclass(frozen=True)
class WorkerSignals:
    """How one worker wrote the answers: counts of pastes, and messages to show.

    Attributes
    ----------
    counted : answers of which something was counted. pasted : those of them with a paste.
    limits : what it does not prove; None where nothing was counted.
    """

    counted: int
    pasted: int
    said: tuple[Message, ...]
    limits: Message | None = field(default=None)

    @property
    def brief(self) -> Message:
        """The first message, for a list of workers."""
        return self.said[0]


Found = Mapping[UUID, WorkerSignals]


def read_signals(run: Run, workers: Iterable[UUID], *, in_full: bool = False) -> Found:
    """Return how some workers wrote their answers, by worker; empty if nothing was recorded.

    Of nobody where no answer was counted; of a worker without counts beside others that have some,
    it says that there are none. `in_full` looks for the answer of which the least was typed as
    well: for one worker at a time.
    """
    worker_ids = list(dict.fromkeys(workers))
    rows = _query_by_worker(run, worker_ids)
    if in_full:
        rows = rows.annotate(least=Subquery(_query_least_typed(run, worker_ids)))
    found_rows = {one["worker"]: one for one in rows}
    counted_rows = {key: one for key, one in found_rows.items() if one["n"]}
    if not counted_rows:
        return {}
    signals = {}
    for worker in worker_ids:
        own_row = counted_rows.get(worker)
        if own_row is None:
            code = "signals.off" if worker in found_rows else "signals.none"
            signals[worker] = WorkerSignals(0, 0, (Message(code),))
            continue
        others = [one for key, one in counted_rows.items() if key != worker]
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
    """Return the query for answers of which typing and pasting were recorded."""
    return _query_answers(run).filter(signals=Response.Counted.COUNTED)


def _query_answers(run: Run) -> Rows:
    """Return the query for submitted answers with a text to graded questions."""
    return Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    ).order_by()


def _is_of_workers(workers: list[UUID]) -> Q:
    """Return the query condition that an answer is by one of these workers."""
    return Q(submission__worker__public_id__in=workers)


def _query_by_worker(run: Run, workers: list[UUID]) -> Rows:
    """Return the query that sums pastes, page leaves and times by worker.

    Of the `workers` also how long their answers with a paste are (`length`), and how much of these
    a paste can be at most (`by_paste`); of the others no text is read.
    """
    rows = _query_answers(run).filter(signals__in=[Response.Counted.COUNTED, Response.Counted.OFF])
    counted = Q(signals=Response.Counted.COUNTED)
    with_paste = counted & Q(paste_count__gt=0)
    of_these = with_paste & _is_of_workers(workers)
    return rows.values(worker=F("submission__worker__public_id")).annotate(
        n=Count("pk", filter=counted),
        pasted=Count("pk", filter=with_paste),
        left=Sum("blur_count", filter=counted),
        away=Sum("away_seconds", filter=counted),
        active=Sum("active_seconds", filter=counted),
        length=Coalesce(Sum(Length("text"), filter=of_these), Value(0)),
        by_paste=Coalesce(
            Sum(Least(F("pasted_characters"), Length("text")), filter=of_these), Value(0)
        ),
    )


def _query_least_typed(run: Run, workers: list[UUID]) -> Rows:
    """Return the query for the long answer with the most characters that were not typed."""
    return (
        query_counted_answers(run)
        .filter(_is_of_workers(workers))
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


def _build_pasted_message(mine: dict[str, Any]) -> Message:
    """Return the message on how many answers a worker pasted into."""
    share = mine["by_paste"] / mine["length"] if mine["length"] else None
    return Message("signals.pasted", {"pasted": mine["pasted"], "n": mine["n"], "share": share})


def _build_comparison_messages(mine: dict[str, Any], others: list[dict[str, Any]]) -> list[Message]:
    """Return messages on how many others pasted less and left the page less often."""
    if len(others) < FEWEST_OTHERS:
        return [Message("signals.few", {"others": len(others)})]
    messages = []
    for code, what in (("signals.pasted_more", "pasted"), ("signals.left_more", "left")):
        own = mine[what] * 1.0 / mine["n"]
        below = sum(one[what] / one["n"] < own for one in others)
        same = sum(one[what] / one["n"] == own for one in others)
        values = {"below": below, "same": same, "above": len(others) - below - same}
        messages.append(Message(code, {"others": len(others), **values}))
    return messages


def _build_away_message(mine: dict[str, Any]) -> Message:
    """Return the message on how often and how long a worker left the page."""
    values = {"left": mine["left"], "away": mine["away"], "active": mine["active"]}
    return Message("signals.away", values)
