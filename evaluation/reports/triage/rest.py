"""Everybody of whom nobody decided: who could be accepted by one press, and who is left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from evaluation.models import Run, WorkerGrade
from evaluation.reports.triage.queue import Queue, QueueRow, queue_of, rows_of
from evaluation.words.message import Message

Who = Literal["everybody", "look"]
# People that are named.
NAMED = 50


@dataclass(frozen=True)
class Rest:
    """Whom one press would accept, before it is pressed.

    Attributes
    ----------
    who : of everybody in the run, or of those who are worth looking at.
    with_alarms : whether those are accepted, too, whom an alarm or a notice names that nobody
        dismissed and no remedy answered.
    workers : who would be accepted. silent : who of them gave no answer.
    named : of whom nobody decided and an alarm or a notice names them.
    again : to be looked at again, which one press never overrules.
    n_decided : who is accepted or excluded already.
    n_others : of whom nobody decided either, and who are not asked about.
    """

    run: Run
    queue: Queue
    who: Who
    with_alarms: bool
    workers: tuple[UUID, ...]
    silent: tuple[UUID, ...]
    named: tuple[UUID, ...]
    again: tuple[UUID, ...]
    n_decided: int
    n_others: int

    @property
    def n(self) -> int:
        """How many would be accepted."""
        return len(self.workers)

    @property
    def n_left_out(self) -> int:
        """How many stay undecided because an alarm or a notice names them."""
        return 0 if self.with_alarms else len(self.named)

    @property
    def seen(self) -> str:
        """What stands for exactly these people, as a form sends it back."""
        return seen_of(self.workers)

    @property
    def said(self) -> Message:
        """What one press would do, in a sentence or two."""
        values = {
            "n": self.n,
            "silent": len(self.silent),
            "named": len(self.named),
            "with_alarms": self.with_alarms,
            "again": len(self.again),
            "decided": self.n_decided,
        }
        return Message("triage.rest", values)

    @property
    def accepted_rows(self) -> list[QueueRow]:
        """The first 50 who would be accepted; one query."""
        return rows_of(self.run, self.queue, self.workers[:NAMED])

    @property
    def silent_rows(self) -> list[QueueRow]:
        """The first 50 who would be accepted without an answer; one query."""
        return rows_of(self.run, self.queue, self.silent[:NAMED])

    @property
    def left_rows(self) -> list[QueueRow]:
        """The first 50 who stay open: named by an alarm or a notice, or to look again; a query."""
        left = (*(() if self.with_alarms else self.named), *self.again)
        return rows_of(self.run, self.queue, left[:NAMED])


def seen_of(workers: Iterable[UUID]) -> str:
    """Return a short text that no other people have, in whatever order these come."""
    ids = "".join(sorted(worker.hex for worker in workers))
    return hashlib.sha256(ids.encode()).hexdigest()[:32]


def rest_of(run: Run, who: Who = "everybody", *, with_alarms: bool = False) -> Rest:
    """Return whom one press would accept in a run that is done, by five queries."""
    queue = queue_of(run, everybody=True)
    asked = [
        one
        for one in queue.workers
        if who == "everybody" or one in queue.marks or one in queue.lowest
    ]
    undecided = [one for one in asked if one not in queue.verdicts]
    named = tuple(one for one in undecided if one in queue.marks)
    again = tuple(
        one for one in asked if one in queue.verdicts and queue.verdicts[one].kind == "look"
    )
    workers = tuple(one for one in undecided if with_alarms or one not in queue.marks)
    unanswering = WorkerGrade.objects.filter(run=run, n_answers=0)
    silent = set(unanswering.values_list("worker__public_id", flat=True))
    return Rest(
        run=run,
        queue=queue,
        who=who,
        with_alarms=with_alarms,
        workers=workers,
        silent=tuple(one for one in workers if one in silent),
        named=named,
        again=again,
        n_decided=len(asked) - len(undecided) - len(again),
        n_others=queue.n_open - len(undecided),
    )
