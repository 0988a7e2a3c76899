"""What people decide of workers in a run: accept, look again, exclude with a reason, take back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from annotations.models import Worker
from evaluation.models import Run, WorkerGrade, WorkerVerdict
from evaluation.words.triage import OWN, REASONS

Kind = WorkerVerdict.Kind
DECISIONS = (Kind.ACCEPT, Kind.LOOK, Kind.EXCLUDE)
# With the sentences around it, it fits into what panels take (1,024 characters).
LONGEST_REASON = 600


class VerdictError(ValueError):
    """Why a decision cannot be kept; `field` is what has to be mended."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class DecidedMeanwhileError(RuntimeError):
    """Somebody decided since the page was opened; `newest` is what they did."""

    def __init__(self, newest: WorkerVerdict) -> None:
        super().__init__(f"{newest.decided_by} decided meanwhile")
        self.newest = newest


class NothingToTakeBackError(RuntimeError):
    """Nothing is decided of the worker."""


class Unseen:
    """In place of what was seen: whoever decides does not say."""


UNSEEN = Unseen()
Seen = UUID | Unseen | None


def decide(
    run: Run,
    worker: Worker,
    user: Any,
    kind: str,
    category: str = "",
    reason: str = "",
    rejects: bool = False,
    seen: Seen = UNSEEN,
) -> WorkerVerdict:
    """Keep what somebody decides of a worker, and return it; the same once more changes nothing.

    `seen` is the newest row of the worker that the decider knew, None for none. Raises
    VerdictError, DecidedMeanwhileError where another row is the newest, and
    `WorkerGrade.DoesNotExist` for a worker who is not in the run.
    """
    wanted = _checked(kind, category, reason, rejects)
    with transaction.atomic():
        newest = _newest(run, worker)
        if newest is not None and newest.decided_by_id == user.pk and _is(newest, wanted):
            return newest
        _refuse_unseen(newest, seen)
        if (now := current(run, worker)) is not None and _is(now, wanted):
            return now
        return WorkerVerdict.objects.create(run=run, worker=worker, decided_by=user, **wanted)


def take_back(run: Run, worker: Worker, user: Any, seen: Seen = UNSEEN) -> WorkerVerdict:
    """Take back what counts of a worker, so that what was decided before counts again.

    Raises DecidedMeanwhileError, NothingToTakeBackError and `WorkerGrade.DoesNotExist`.
    """
    with transaction.atomic():
        newest = _newest(run, worker)
        if newest is not None and _took_back(newest, user, seen):
            return newest
        _refuse_unseen(newest, seen)
        counts = current(run, worker)
        if counts is None:
            raise NothingToTakeBackError
        return WorkerVerdict.objects.create(
            run=run, worker=worker, decided_by=user, kind=Kind.UNDO, takes_back=counts
        )


def current(run: Run, worker: Worker) -> WorkerVerdict | None:
    """Return what counts of a worker in a run; None where nothing is decided."""
    return WorkerVerdict.counting(run).filter(worker=worker).last()


def last_of(run: Run, user: Any) -> WorkerVerdict | None:
    """Return what somebody decided last in a run, if it still counts."""
    mine = WorkerVerdict.counting(run).filter(decided_by=user).select_related("worker").last()
    if (
        mine is None
        or WorkerVerdict.counting(run).filter(worker=mine.worker_id, pk__gt=mine.pk).exists()
    ):
        return None
    return mine


def excluded(run: Run) -> list[WorkerVerdict]:
    """Return the verdicts by which workers are left out, in the order of the decisions."""
    newest = {
        row.worker_id: row
        for row in WorkerVerdict.counting(run).select_related("worker", "decided_by")
    }
    return [row for row in newest.values() if row.kind == Kind.EXCLUDE]


def _checked(kind: str, category: str, reason: str, rejects: bool) -> dict[str, Any]:
    reason = reason.strip()
    if kind not in DECISIONS:
        raise VerdictError("verdict", "Choose what you decide: accept, look again or exclude.")
    if len(reason) > LONGEST_REASON:
        raise VerdictError("reason", f"At most {LONGEST_REASON:,} characters.")
    if "\0" in reason:
        raise VerdictError("reason", "There is a character in it that is no text.")
    if kind != Kind.EXCLUDE:
        return {"kind": kind, "category": "", "reason": reason, "rejects": False}
    if category not in REASONS:
        raise VerdictError("category", "Choose why the worker is excluded.")
    if category == OWN and not reason:
        raise VerdictError("reason", "Write why the worker is excluded.")
    if rejects and not REASONS[category].rejects:
        raise VerdictError(
            "rejects",
            "Panels do not take a suspicion of machine-written answers as a reason to refuse pay. "
            "Exclude without rejecting the work, or choose what can be shown.",
        )
    return {"kind": kind, "category": category, "reason": reason, "rejects": rejects}


def _is(row: WorkerVerdict, wanted: dict[str, Any]) -> bool:
    return all(getattr(row, name) == value for name, value in wanted.items())


def _newest(run: Run, worker: Worker) -> WorkerVerdict | None:
    # The worker's row in the run makes two who decide at once wait for each other.
    WorkerGrade.objects.select_for_update().only("pk").get(run=run, worker=worker)
    rows = WorkerVerdict.objects.filter(run=run, worker=worker)
    rows = rows.select_related("decided_by", "takes_back")
    return rows.order_by("-pk").first()


def _took_back(newest: WorkerVerdict, user: Any, seen: Seen) -> bool:
    """Whether somebody asks a second time for what they did just now."""
    back = newest.takes_back
    return back is not None and newest.decided_by_id == user.pk and back.public_id == seen


def _refuse_unseen(newest: WorkerVerdict | None, seen: Seen) -> None:
    if isinstance(seen, Unseen) or newest is None:
        return
    if newest.public_id != seen:
        raise DecidedMeanwhileError(newest)
