"""Claims of runs by processes, and the message that runs wait for work.

Claim runs for a process: a conditional update claims, a heartbeat renews, each write checks.

The database's clock decides, so that workers on several machines agree. `attempt` is the fencing
token: it grows with every claim, and a worker whose number is no longer the run's has lost it.

Messages wake the background processes; a lost message only delays a run.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Protocol, Self

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import (
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce, Now
from kombu.exceptions import ChannelError, OperationalError

from evaluation.models import Interim, Removal, Run, RunData, RunTask
from evaluation.models.collecting import has_interim_work
from evaluation.models.run_tasks import OPEN
from evaluation.runs.run_types import list_asking_kinds
from evaluation.runs.steps.checkpoints import LANE, Lane, store_failed_run

# Signs of life in the time of a lease.
BEATS = 6
# How often a run may lose its worker before it is given up.
MOST_CRASHES = 5


def get_lease_duration() -> timedelta:
    """Return the time for which a claim on a run is valid without a heartbeat."""
    return timedelta(seconds=settings.LEASE_SECONDS)


class LeaseLostError(Exception):
    """Error: the run was cancelled, paused or claimed by another process during the work."""


def build_future_time(delay: timedelta) -> ExpressionWrapper[Any]:
    """Return the database expression for the database's current time plus a delay."""
    return ExpressionWrapper(Now() + delay, output_field=DateTimeField())


def fail_run(run_filter: Q, reason: str) -> bool:
    """Store the matching run as failed and cancel its tasks; return False if no run matches."""
    with transaction.atomic():
        runs = Run.objects.filter(run_filter).values_list("pk", flat=True)
        failed = [run for run in list(runs) if store_failed_run(run, run_filter, reason)]
        RunTask.cancel_open_tasks(run__in=failed)
    return bool(failed)


@dataclass(frozen=True)
class Claim:
    """A process's claim on a run: valid for one attempt and while the run is running."""

    run_id: int
    attempt: int

    def build_run_filter(self) -> Q:
        """Return the database filter that matches this claim's run while the claim is valid."""
        # The state too: cancelling and pausing a run leave its `attempt` as it is.
        return Q(pk=self.run_id, attempt=self.attempt, state=Run.State.RUNNING)

    @contextmanager
    def open_fenced_transaction(self) -> Iterator[None]:
        """Run the block in a transaction that first checks that the claim is valid, and renews it.

        The update locks the run's row until the commit, so the run cannot change hands between
        the check and the writes. Raises `LeaseLostError` before the block.
        """
        with transaction.atomic():
            if not self.renew():
                raise LeaseLostError(self.run_id)
            yield

    def renew(self) -> bool:
        """Extend the claim's lease from now; return False if the claim is lost."""
        return bool(
            Run.objects.filter(self.build_run_filter()).update(
                lease_until=build_future_time(get_lease_duration()), heartbeat_at=Now()
            )
        )

    def hand_over(self, lane: Lane) -> bool:
        """Release the run to another lane's queue; return False if the claim is lost."""
        with transaction.atomic():
            # In one transaction: a run that is queued without its lane would return to the lane it
            # left.
            if released := self.release():
                RunData.objects.update_or_create(
                    run_id=self.run_id, name=LANE, defaults={"data": lane.value}
                )
        return released

    def is_held(self) -> bool:
        """Return whether the claim is still valid."""
        return Run.objects.filter(self.build_run_filter()).exists()

    def store_failure(self, reason: str) -> None:
        """Store the run as failed, with the reason, unless the claim is lost."""
        fail_run(self.build_run_filter(), reason)

    def release(self) -> bool:
        """Put the claimed run back into the queue; return False if the claim is lost."""
        # `heartbeat_at` orders the queue, so a run that gives up its turn goes behind the waiting
        # ones.
        return bool(
            Run.objects.filter(self.build_run_filter()).update(
                state=Run.State.QUEUED, lease_until=None, lease_owner="", heartbeat_at=Now()
            )
        )


def build_claimable_filter(lane: Lane | None = None) -> Q:
    """Return the database filter for runs that a process may claim, in one lane or all.

    These are queued, or their lease has expired.

    With `lane` only runs whose next step belongs to that lane.
    """
    # A run that waits for its tasks has no process; each of these has a lease of its own.
    tasks = RunTask.objects.filter(
        run=OuterRef("pk"), run_attempt=OuterRef("attempt"), state__in=OPEN
    )
    expired = Q(Q(state=Run.State.RUNNING, lease_until__lt=Now()) & ~Exists(tasks))
    waits = Q(state=Run.State.QUEUED) | expired
    return waits if lane is None else waits & build_lane_filter(lane)


def build_lane_filter(lane: Lane) -> Q:
    """Return the database filter for runs whose next step belongs to the lane."""
    moved = RunData.objects.filter(run=OuterRef("pk"), name=LANE)
    asks = Q(kind__in=list_asking_kinds())
    begins_here = asks if lane is Lane.ASKING else ~asks
    # A stored lane replaces that of the run type, hence ~Exists: else a run would be in two lanes.
    return Exists(moved.filter(data=lane.value)) | (begins_here & ~Exists(moved))


def select_claimable_tasks(lane: Lane | None = None) -> QuerySet[RunTask]:
    """Return the tasks that are waiting or whose lease expired, in one lane or all."""
    free = Q(state=RunTask.State.WAITING)
    expired = Q(state=RunTask.State.RUNNING, lease_until__lt=Now())
    tasks = RunTask.select_open().filter(free | expired)
    return tasks if lane is None else tasks.filter(lane=lane.value)


def select_runs_in_fair_order(
    waits: Q, lane: Lane | None, busy: Collection[int] = ()
) -> QuerySet[Run]:
    """Return the runs that match the filter `waits`, in the order in which to work on them.

    The owner whose latest turn or task is the longest ago comes first, so that many runs of one
    owner, or a long one, delay no other owner. Turns in another lane do not count: an owner whose
    run asks a model for hours is not last in the computing lane. Of one owner's runs, those that a
    user started come before automatic interim gradings, and then the one that waits longest, since
    its last turn or its creation. No runs of the owners whose keys are in `busy`.
    """
    turns = Run.objects.filter(owner=OuterRef("owner"), heartbeat_at__isnull=False)
    if lane is not None:
        turns = turns.filter(build_lane_filter(lane))
    automatic = Interim.objects.filter(run=OuterRef("pk"), by_itself=True)
    return (
        Run.objects.filter(waits)
        .exclude(owner__in=busy)
        .annotate(
            # None where no run of theirs had a turn yet: they come first.
            last_turn=Subquery(turns.order_by("-heartbeat_at").values("heartbeat_at")[:1]),
            is_automatic=Exists(automatic),
        )
        .order_by(
            F("last_turn").asc(nulls_first=True),
            "is_automatic",
            Coalesce("heartbeat_at", "created_at"),
            "pk",
        )
    )


CANDIDATE = ("pk", "attempt", "state", "crashes")
"""Columns of a run that `claim_run` compares with the row when it claims."""


def claim_next_run(
    owner: str, lane: Lane | None = None, busy: Collection[int] = ()
) -> Claim | None:
    """Claim the next queued run in fair order among owners; return None if there is none.

    With `lane` only runs in that lane; never runs of the owners whose keys are in `busy`. A run
    whose process died `MOST_CRASHES` times is not claimed but stored as failed, with the reason.
    """
    while True:
        runs = select_runs_in_fair_order(build_claimable_filter(lane), lane, busy)
        candidate = runs.values(*CANDIDATE).first()
        if candidate is None:
            return None
        if (claim := claim_run(candidate, owner)) is not None:
            return claim


def claim_run(candidate: Mapping[str, Any], owner: str) -> Claim | None:
    """Claim a run; return None if another process was first or the run crashed too often."""
    crashed = candidate["state"] == Run.State.RUNNING
    # Only as it was seen: whoever is first changes the attempt, and the others look again.
    as_read = Q(build_claimable_filter(), pk=candidate["pk"], attempt=candidate["attempt"])
    # A killed process cannot count its own end, so the one that finds the expired lease does.
    if crashed and candidate["crashes"] + 1 >= MOST_CRASHES:
        crashes = F("crashes") + 1
        if store_failed_run(candidate["pk"], as_read, format_crash_reason(), crashes=crashes):
            RunTask.cancel_open_tasks(run=candidate["pk"])
        return None
    was_claimed = Run.objects.filter(as_read).update(
        state=Run.State.RUNNING,
        attempt=F("attempt") + 1,
        crashes=F("crashes") + (1 if crashed else 0),
        # A run has many turns; its start is that of the first.
        started_at=Coalesce(F("started_at"), Now()),
        lease_owner=owner,
        lease_until=build_future_time(get_lease_duration()),
        heartbeat_at=Now(),
    )
    if not was_claimed:
        return None
    # Tasks of an earlier attempt count no more: this turn looks for what is missing itself.
    RunTask.cancel_open_tasks(run=candidate["pk"])
    return Claim(candidate["pk"], candidate["attempt"] + 1)


def format_crash_reason() -> str:
    """Return the reason of failure for a run whose processes ended repeatedly without result."""
    return (
        f"Its worker ended {MOST_CRASHES} times in the middle of the work (killed, "
        "out of memory?). Look into the worker's log, then run it again."
    )


class Renewable(Protocol):
    """A claim on a run or on one of its tasks that a heartbeat renews."""

    @property
    def run_id(self) -> int:
        """Return the key of the run."""

    def renew(self) -> bool:
        """Extend the lease from now; return False if the claim is lost."""


class Heartbeat:
    """Renews the claim on a run or task from its own thread while a block is executed.

    `lost` is set as soon as the claim is lost; the work checks it between its parts.
    """

    def __init__(self, claim: Renewable) -> None:
        self.claim = claim
        self.lost = threading.Event()
        self._every = settings.LEASE_SECONDS / BEATS
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._renew_until_stopped, name="heartbeat", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        # Joined, so that no late beat extends a claim that the caller releases next.
        self._thread.join()

    def check_claim(self) -> None:
        """Raise `LeaseLostError` if the thread found that the claim is lost."""
        if self.lost.is_set():
            raise LeaseLostError(self.claim.run_id)

    def _renew_until_stopped(self) -> None:
        """Renew the claim six times in each lease period, until stopped or the claim is lost."""
        try:
            while not self._stop.wait(self._every):
                try:
                    if not self.claim.renew():
                        self.lost.set()
                        return
                except DatabaseError:
                    # Busy or away for a moment: the lease is six beats long, try again.
                    connection.close()
        finally:
            # Django opens a connection per thread, and no other thread would close this one.
            connection.close()


logger = logging.getLogger(__name__)

# The task by its name: whoever rings need not know what is done then.
WORK = "evaluation.tasks.work"


def wake_process_on_commit() -> None:
    """Wake the background processes once the surrounding transaction is committed."""
    transaction.on_commit(wake_process)


def wake_process() -> bool:
    """Wake a background process; log and return False if the broker cannot take a message.

    The work is in the database, and `wake_process_if_needed` sends another message for it.
    """
    try:
        current_app.send_task(WORK)
    except (ChannelError, OperationalError, OSError) as error:
        logger.warning("the broker cannot be reached, the run waits: %s", error)
        return False
    return True


def wake_process_if_needed(lane: Lane | None = None) -> bool:
    """Wake the background processes if a run or task can be claimed or data has to be deleted.

    Also if an interim grading is due, or done but not reported. With `lane` only runs in that lane.
    Returns whether a message was sent.
    """
    waits = (
        Run.objects.filter(build_claimable_filter(lane)).exists()
        or select_claimable_tasks(lane).exists()
    )
    removes = waits or Removal.objects.filter(finished_at=None).exists()
    return (removes or has_interim_work()) and wake_process()
