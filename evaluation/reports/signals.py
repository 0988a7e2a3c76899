"""How a worker's answers came about, beside how others' did: for people to look at.

Nothing that grades, ranks, pays, admits or rings reads these numbers, and no browser can be made
to tell the truth: they are evidence that belongs beside the texts, with what it does not prove.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, Greatest, Least, Length

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
    """Return the evidence of some workers of a run, by at most three queries.

    Of nobody, by one, where no answer was counted; of a worker without counts beside others that
    have some, it says that there are none. `in_full` looks for the answer of which
    the least was typed as well: for one worker at a time.
    """
    wanted = list(dict.fromkeys(workers))
    rows = _answers(run).filter(signals=Response.Counted.COUNTED)
    everybody = {one["worker"]: one for one in _by_worker(rows)}
    if not everybody:
        return {}
    texts = {one["worker"]: one for one in _texts(rows.filter(_of(wanted)))}
    off = set(
        _answers(run)
        .filter(_of(wanted), signals=Response.Counted.OFF)
        .values_list("submission__worker__public_id", flat=True)
    )
    found = {}
    for worker in wanted:
        mine = everybody.get(worker)
        if mine is None:
            code = "signals.off" if worker in off else "signals.none"
            found[worker] = WorkerSignals(0, 0, (Message(code),))
            continue
        others = [one for key, one in everybody.items() if key != worker]
        said = [_pasted(mine, texts[worker]), *_compared(mine, others), _away(mine)]
        if in_full and (least := _least_typed(rows, worker)) is not None:
            said.insert(1, least)
        found[worker] = WorkerSignals(
            mine["n"], mine["pasted"], tuple(said), Message("signals.limits")
        )
    return found


def _answers(run: Run) -> Rows:
    return Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    ).order_by()


def _of(workers: list[UUID]) -> Q:
    return Q(submission__worker__public_id__in=workers)


def _by_worker(rows: Rows) -> Rows:
    return rows.values(worker=F("submission__worker__public_id")).annotate(
        n=Count("pk"),
        pasted=Count("pk", filter=Q(paste_count__gt=0)),
        left=Sum("blur_count"),
        away=Sum("away_seconds"),
        active=Sum("active_seconds"),
    )


def _texts(rows: Rows) -> Rows:
    """How long answers with a paste are, and how much of each a paste can be at most."""
    return rows.values(worker=F("submission__worker__public_id")).annotate(
        length=Coalesce(Sum(Length("text"), filter=Q(paste_count__gt=0)), Value(0)),
        by_paste=Coalesce(
            Sum(Least(F("pasted_characters"), Length("text")), filter=Q(paste_count__gt=0)),
            Value(0),
        ),
    )


def _least_typed(rows: Rows, worker: UUID) -> Message | None:
    """Say of which answer the most characters were not typed; None where all of each was."""
    found = (
        rows.filter(_of([worker]))
        .annotate(length=Length("text"))
        .annotate(rest=Greatest(F("length") - F("typed_characters"), Value(0)))
        .filter(length__gte=LONG_ANSWER, rest__gt=F("length") / 2)
        .order_by("-rest", "pk")
        .values("length", "typed_characters", "pasted_characters", "question__external_id")
        .first()
    )
    if found is None:
        return None
    return Message(
        "signals.typed",
        {
            "question": found["question__external_id"],
            "typed": found["typed_characters"],
            "length": found["length"],
            "pasted": found["pasted_characters"],
        },
    )


def _pasted(mine: dict[str, Any], texts: dict[str, Any]) -> Message:
    share = texts["by_paste"] / texts["length"] if texts["length"] else None
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
