"""What people decide of workers in a run: accept, look again, exclude with a reason, take back.

One by one, and many accepted by one press, which is taken back by one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Min

from annotations.models import Worker
from annotations.models.base import new_public_id
from evaluation.models import Run, WorkerGrade, WorkerVerdict
from evaluation.words.triage import OWN, REASONS

Kind = WorkerVerdict.Kind
DECISIONS = (Kind.ACCEPT, Kind.LOOK, Kind.EXCLUDE)
# With the sentences around it, it fits into what panels take (1,024 characters).
LONGEST_REASON = 600
# Rows of one statement.
BATCH = 2000


VERDICT_PROBLEMS = {
    "unknown_decision": "Choose what you decide: accept, look again or exclude.",
    "reason_too_long": "At most {longest:,} characters.",
    "reason_no_text": "There is a character in it that is no text.",
    "category_missing": "Choose why the worker is excluded.",
    "reason_missing": "Write why the worker is excluded.",
    "machine_is_no_reason": "Panels do not take a suspicion of machine-written answers as a reason "
    "to refuse pay. Exclude without rejecting the work, or choose what can be shown.",
    "nothing_to_take_back": "There is nothing to take back: nobody has decided about this worker.",
}
"""Why a decision is refused, by code."""


class VerdictError(ValueError):
    """A decision is refused: `code` is a key of `VERDICT_PROBLEMS`, `field` what to correct."""

    def __init__(self, code: str, field: str, **values: Any) -> None:
        super().__init__(VERDICT_PROBLEMS[code].format(**values))
        self.code = code
        self.field = field


class DecidedMeanwhileError(RuntimeError):
    """Somebody decided since the page was opened; `newest` is what they did."""

    def __init__(self, newest: WorkerVerdict) -> None:
        super().__init__(f"{newest.decided_by} decided meanwhile")
        self.newest = newest


class NothingToTakeBackError(RuntimeError):
    """Nothing is decided of the worker."""


@dataclass(frozen=True)
class Together:
    """People who were accepted by one press.

    Attributes
    ----------
    n : of them whose acceptance was not taken back.
    """

    id: UUID
    by: str
    at: datetime
    n: int


@dataclass(frozen=True)
class TakenBack:
    """Acceptances that were taken back; `n_otherwise` of the people were decided of since."""

    n: int
    n_otherwise: int


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

    Who was accepted together with others and is accepted alone has a row of their own, which stays
    when the others' are taken back.

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


def hold(run: Run) -> None:
    """Let everybody else who decides about somebody in a run wait; within a transaction."""
    # In one order, so that two who hold all of them do not wait for each other.
    held = WorkerGrade.objects.select_for_update().filter(run=run).order_by("pk")
    list(held.values_list("pk", flat=True))


def accept_together(run: Run, workers: Collection[UUID], user: Any) -> UUID:
    """Accept people of a run of whom nobody decided, and return the id that their rows share.

    The caller holds the run (`hold`) since it looked who they are.
    """
    keys = dict(
        WorkerGrade.objects.filter(run=run).values_list("worker__public_id", "worker_id").iterator()
    )
    together = new_public_id()
    WorkerVerdict.objects.bulk_create(
        (
            WorkerVerdict(
                run=run,
                worker_id=keys[worker],
                decided_by=user,
                kind=Kind.ACCEPT,
                together=together,
            )
            for worker in workers
        ),
        batch_size=BATCH,
    )
    return together


def take_back_together(run: Run, together: UUID, user: Any) -> TakenBack:
    """Take back all that one press accepted; what was decided of somebody since counts on.

    Raises NothingToTakeBackError where nothing of it is left, and `WorkerVerdict.DoesNotExist` for
    what was never accepted in the run.
    """
    with transaction.atomic():
        hold(run)
        if not WorkerVerdict.objects.filter(run=run, together=together).exists():
            raise WorkerVerdict.DoesNotExist
        counting = WorkerVerdict.counting(run)
        rows = list(counting.filter(together=together).values_list("pk", "worker_id"))
        if not rows:
            raise NothingToTakeBackError
        newer = counting.filter(pk__gt=rows[-1][0]).exclude(together=together)
        since = set(newer.values_list("worker_id", flat=True))
        WorkerVerdict.objects.bulk_create(
            (
                WorkerVerdict(
                    run=run,
                    worker_id=worker,
                    decided_by=user,
                    kind=Kind.UNDO,
                    takes_back_id=accepted,
                    together=together,
                )
                for accepted, worker in rows
            ),
            batch_size=BATCH,
        )
        return TakenBack(len(rows), sum(worker in since for _, worker in rows))


def accepted_together(run: Run) -> list[Together]:
    """Return what was accepted by one press and not taken back, the newest first; one query."""
    rows: Any = (
        WorkerVerdict.counting(run)
        .filter(together__isnull=False)
        .order_by()
        .values_list("together", "decided_by__username")
        .annotate(at=Min("created_at"), n=Count("pk"), first=Min("pk"))
        .order_by("-first")
    )
    return [Together(*row[:4]) for row in rows]


def current(run: Run, worker: Worker) -> WorkerVerdict | None:
    """Return what counts of a worker in a run; None where nothing is decided."""
    return WorkerVerdict.counting(run).filter(worker=worker).last()


def last_of(run: Run, user: Any) -> WorkerVerdict | None:
    """Return what somebody decided last in a run, of one worker, if it still counts."""
    mine = WorkerVerdict.counting(run).filter(decided_by=user).select_related("worker").last()
    if (
        mine is None
        or mine.together is not None
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
        raise VerdictError("unknown_decision", "verdict")
    if len(reason) > LONGEST_REASON:
        raise VerdictError("reason_too_long", "reason", longest=LONGEST_REASON)
    if "\0" in reason:
        raise VerdictError("reason_no_text", "reason")
    if kind != Kind.EXCLUDE:
        return {"kind": kind, "category": "", "reason": reason, "rejects": False}
    if category not in REASONS:
        raise VerdictError("category_missing", "category")
    if category == OWN and not reason:
        raise VerdictError("reason_missing", "reason")
    if rejects and not REASONS[category].rejects:
        raise VerdictError("machine_is_no_reason", "rejects")
    return {"kind": kind, "category": category, "reason": reason, "rejects": rejects}


def _is(row: WorkerVerdict, wanted: dict[str, Any]) -> bool:
    alone = row.together is None
    return alone and all(getattr(row, name) == value for name, value in wanted.items())


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
