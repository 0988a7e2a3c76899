"""How a worker's answers came about, beside how others' did: for people to look at.

Nothing that grades, ranks, pays, admits or rings reads these numbers, and no browser can be made
to tell the truth: they are evidence that belongs beside the texts, with what it does not prove.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce, Greatest, JSONObject, Least, Length

from annotations.models import GRADED, Response
from evaluation.models import Run
from evaluation.words.message import Message

FEWEST_OTHERS = 5
"""People of whom something is counted, without whom nobody is compared with others."""
LONG_ANSWER = 40
"""Characters from which on an answer is worth saying how little of it was typed."""

Rows = QuerySet[Response, Any]


@dataclass(frozen=True)
class WorkerSignals:
    """What is known of one worker; `said` is the evidence, in the order in which it is told.

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
        """The first of it, for a list."""
        return self.said[0]


Found = Mapping[UUID, WorkerSignals]


def signals_of(run: Run, workers: Iterable[UUID], *, in_full: bool = False) -> Found:
    """Return the evidence of some workers of a run, by one query.

    Of nobody where no answer was counted; of a worker without counts beside others that have some,
    it says that there are none. `in_full` looks for the answer of which the least was typed as
    well: for one worker at a time.
    """
    wanted = list(dict.fromkeys(workers))
    rows = _by_worker(run, wanted)
    if in_full:
        rows = rows.annotate(least=Subquery(_least_typed(run, wanted)))
    found_rows = {one["worker"]: one for one in rows}
    everybody = {key: one for key, one in found_rows.items() if one["n"]}
    if not everybody:
        return {}
    found = {}
    for worker in wanted:
        mine = everybody.get(worker)
        if mine is None:
            code = "signals.off" if worker in found_rows else "signals.none"
            found[worker] = WorkerSignals(0, 0, (Message(code),))
            continue
        others = [one for key, one in everybody.items() if key != worker]
        said = [_pasted(mine), *_compared(mine, others), _away(mine)]
        if in_full and mine["least"] is not None:
            said.insert(1, Message("signals.typed", mine["least"]))
        found[worker] = WorkerSignals(
            mine["n"], mine["pasted"], tuple(said), Message("signals.limits")
        )
    return found


def counted_answers(run: Run) -> Rows:
    """Return the answers of which something was counted; without any, there are no signals."""
    return _answers(run).filter(signals=Response.Counted.COUNTED)


def _answers(run: Run) -> Rows:
    return Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    ).order_by()


def _of(workers: list[UUID]) -> Q:
    return Q(submission__worker__public_id__in=workers)


def _by_worker(run: Run, workers: list[UUID]) -> Rows:
    """Return what is counted of each worker, without counts of who switched them off.

    Of the `workers` also how long their answers with a paste are (`length`), and how much of these
    a paste can be at most (`by_paste`); of the others no text is read.
    """
    rows = _answers(run).filter(signals__in=[Response.Counted.COUNTED, Response.Counted.OFF])
    counted = Q(signals=Response.Counted.COUNTED)
    with_paste = counted & Q(paste_count__gt=0)
    of_these = with_paste & _of(workers)
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


def _least_typed(run: Run, workers: list[UUID]) -> Rows:
    """Return of which answer the most characters were not typed; none where all of each was."""
    return (
        counted_answers(run)
        .filter(_of(workers))
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


def _pasted(mine: dict[str, Any]) -> Message:
    share = mine["by_paste"] / mine["length"] if mine["length"] else None
    return Message("signals.pasted", {"pasted": mine["pasted"], "n": mine["n"], "share": share})


def _compared(mine: dict[str, Any], others: list[dict[str, Any]]) -> list[Message]:
    """Say how many others pasted into a smaller share of their answers, and left less often."""
    if len(others) < FEWEST_OTHERS:
        return [Message("signals.few", {"others": len(others)})]
    said = []
    for code, what in (("signals.pasted_more", "pasted"), ("signals.left_more", "left")):
        own = mine[what] * 1.0 / mine["n"]
        below = sum(one[what] / one["n"] < own for one in others)
        same = sum(one[what] / one["n"] == own for one in others)
        values = {"below": below, "same": same, "above": len(others) - below - same}
        said.append(Message(code, {"others": len(others), **values}))
    return said


def _away(mine: dict[str, Any]) -> Message:
    values = {"left": mine["left"], "away": mine["away"], "active": mine["active"]}
    return Message("signals.away", values)
