"""Everybody of whom nobody decided, accepted by one press and taken back by one; in the audit."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from annotations.models import AuditEntry
from evaluation.background.removals import name_of
from evaluation.models import Run, WorkerVerdict
from evaluation.reports.triage.rest import Rest, Who, rest_of, seen_of
from evaluation.triaging import (
    TakenBack,
    Together,
    accept_together,
    accepted_together,
    hold,
    take_back_together,
)

LEFT_FOR_ALARMS = "left open for an alarm or a notice"
LEFT_TO_LOOK = "left open to be looked at again"
WITHOUT_ANSWER = "accepted without an answer"
DESPITE_ALARMS = "accepted although an alarm or a notice names them"
"""Names of counts in the audit."""


class NobodyLeftError(RuntimeError):
    """There is nobody whom one press could accept."""


class MovedMeanwhileError(RuntimeError):
    """They are others than those that were shown; `rest` are those of now."""

    def __init__(self, rest: Rest) -> None:
        super().__init__("the people are others than those that were shown")
        self.rest = rest


@transaction.atomic
def accept_rest(
    run: Run, user: Any, seen: str, who: Who = "everybody", *, with_alarms: bool = False
) -> Together:
    """Accept everybody whom `rest_of` names, and return what was accepted.

    `seen` is the `Rest.seen` that whoever presses has been shown. Who presses twice gets what the
    first press did. Raises NobodyLeftError and MovedMeanwhileError.
    """
    hold(run)
    rest = rest_of(run, who, with_alarms=with_alarms)
    if rest.seen != seen:
        if (before := _just_now(run, user, seen)) is not None:
            return before
        if rest.workers:
            raise MovedMeanwhileError(rest)
    if not rest.workers:
        raise NobodyLeftError
    made = accept_together(run, rest.workers, user)
    counts = {
        "people accepted": rest.n,
        LEFT_FOR_ALARMS: rest.n_left_out,
        LEFT_TO_LOOK: len(rest.again),
    }
    if rest.silent:
        counts[WITHOUT_ANSWER] = len(rest.silent)
    if with_alarms:
        counts[DESPITE_ALARMS] = len(rest.named)
    _enter(run, user, AuditEntry.Action.ACCEPT, counts)
    return next(one for one in accepted_together(run) if one.id == made)


@transaction.atomic
def take_back_accepted(run: Run, user: Any, together: UUID) -> TakenBack:
    """Take back what one press accepted. Raises what `take_back_together` raises."""
    back = take_back_together(run, together, user)
    counts = {"acceptances taken back": back.n, "decided otherwise since": back.n_otherwise}
    _enter(run, user, AuditEntry.Action.ACCEPT_OFF, counts)
    return back


def _just_now(run: Run, user: Any, seen: str) -> Together | None:
    """Return what somebody accepted last by one press, if it is the same once more."""
    last = next(iter(accepted_together(run)), None)
    if last is None or last.by != user.get_username():
        return None
    rows = WorkerVerdict.counting(run).filter(together=last.id)
    return last if seen_of(rows.values_list("worker__public_id", flat=True)) == seen else None


def _enter(run: Run, user: Any, action: AuditEntry.Action, counts: dict[str, int]) -> None:
    AuditEntry.objects.create(
        owner_id=run.version.question_set.owner_id,
        done_by=user,
        action=action,
        kind="run",
        object_id=run.public_id,
        name=name_of(run),
        counts={what: n for what, n in counts.items() if n},
    )
