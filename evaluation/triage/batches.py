"""Accept all undecided workers of a run in one batch, take it back, and log both in the audit."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from annotations.models import AuditEntry
from evaluation.deletion.storage.removals import get_display_name
from evaluation.models import Run, WorkerVerdict
from evaluation.runs.reports.verdicts import AcceptedBatch
from evaluation.triage.report.queue import (
    UndecidedWorkers,
    WorkerScope,
    find_undecided_workers,
    hash_workers,
)
from evaluation.triage.storage import (
    BatchUndo,
    accept_batch,
    list_accepted_batches,
    lock_graded_workers,
    take_back_batch,
)

LEFT_FOR_ALARMS = "left open for an alarm or a notice"
LEFT_TO_LOOK = "left open for another review"
WITHOUT_ANSWER = "accepted without an answer"
DESPITE_ALARMS = "accepted although an alarm or a notice names them"
"""Names of counts in an audit entry."""


class NoWorkersLeftError(RuntimeError):
    """Error: the batch is empty, because no worker of the run is left to accept."""


class WorkersChangedError(RuntimeError):
    """Error: the undecided workers (`rest`) differ from those that the user saw."""

    def __init__(self, rest: UndecidedWorkers) -> None:
        super().__init__("the people are others than those that were shown")
        self.rest = rest


@transaction.atomic
def accept_undecided(
    run: Run, user: Any, seen: str, scope: WorkerScope = "everybody", *, with_alarms: bool = False
) -> AcceptedBatch:
    """Accept all undecided workers of a run, and return them as one batch.

    The workers are those of `find_undecided_workers`; `seen` is the `UndecidedWorkers.seen` that
    the user saw. Pressing twice returns the batch of the first press. Raises NoWorkersLeftError if
    no worker is left, WorkersChangedError if they differ from those that the user saw.
    """
    lock_graded_workers(run)
    undecided = find_undecided_workers(run, scope, with_alarms=with_alarms)
    # A hash stands for the workers: the ids of thousands would not fit into a form.
    if undecided.seen != seen:
        # A repeated request: the first one has accepted these workers already.
        if (earlier_batch := _find_repeated_batch(run, user, seen)) is not None:
            return earlier_batch
        if undecided.workers:
            raise WorkersChangedError(undecided)
    if not undecided.workers:
        raise NoWorkersLeftError
    batch_id = accept_batch(run, undecided.workers, user)
    counts = {
        "people accepted": undecided.n,
        LEFT_FOR_ALARMS: undecided.n_left_out,
        LEFT_TO_LOOK: len(undecided.again),
    }
    if undecided.silent:
        counts[WITHOUT_ANSWER] = len(undecided.silent)
    if with_alarms:
        counts[DESPITE_ALARMS] = len(undecided.named)
    _log_audit_entry(run, user, AuditEntry.Action.ACCEPT, counts)
    return next(batch for batch in list_accepted_batches(run) if batch.id == batch_id)


@transaction.atomic
def take_back_accepted_batch(run: Run, user: Any, batch_id: UUID) -> BatchUndo:
    """Take back a batch of acceptances and log it; return the numbers of workers.

    Raises what `take_back_batch` raises.
    """
    taken_back = take_back_batch(run, batch_id, user)
    counts = {
        "acceptances taken back": taken_back.n,
        "decided otherwise since": taken_back.n_otherwise,
    }
    _log_audit_entry(run, user, AuditEntry.Action.ACCEPT_OFF, counts)
    return taken_back


def _find_repeated_batch(run: Run, user: Any, seen: str) -> AcceptedBatch | None:
    """Return the newest batch if this user accepted exactly the workers of `seen`; else None."""
    newest = next(iter(list_accepted_batches(run)), None)
    if newest is None or newest.by != user.get_username():
        return None
    rows = WorkerVerdict.select_current(run).filter(together=newest.id)
    return (
        newest if hash_workers(rows.values_list("worker__public_id", flat=True)) == seen else None
    )


def _log_audit_entry(
    run: Run, user: Any, action: AuditEntry.Action, counts: dict[str, int]
) -> None:
    """Store an audit entry about a run; counts of zero are left out."""
    AuditEntry.objects.create(
        owner_id=run.version.question_set.owner_id,
        done_by=user,
        action=action,
        kind="run",
        object_id=run.public_id,
        name=get_display_name(run),
        counts={label: n for label, n in counts.items() if n},
    )
