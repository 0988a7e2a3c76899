"""Claims of tasks by background processes: which one is next, and what its end means for the run.

A task is claimed as a run is (`leases`): a conditional update claims, a heartbeat renews, and each
commit checks. A commit locks the run's row, then the task's, and compares the attempts of both: a
task of a run that was cancelled, paused or begun again writes nothing, and neither does a process
whose task another one has taken over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from evaluation.models import BackgroundWorker, Run, RunTask
from evaluation.models.run_tasks import OPEN
from evaluation.runs.background.leases import (
    CANDIDATE,
    MOST_CRASHES,
    Claim,
    LeaseLostError,
    build_claimable_filter,
    build_future_time,
    claim_run,
    fail_run,
    format_crash_reason,
    get_lease_duration,
    select_claimable_tasks,
    select_runs_in_fair_order,
)
from evaluation.runs.steps.checkpoints import Lane


@dataclass(frozen=True)
class TaskClaim:
    """A process's claim on a task: valid for one attempt of the task and one of its run."""

    run_id: int
    run_attempt: int
    task_id: int
    attempt: int

    def build_run_filter(self) -> Q:
        """Return the filter for the run while it waits for its tasks."""
        return Q(pk=self.run_id, attempt=self.run_attempt, state=Run.State.RUNNING)

    def _build_task_filter(self) -> Q:
        """Return the filter for the task while this process works on it."""
        return Q(pk=self.task_id, attempt=self.attempt, state=RunTask.State.RUNNING)

    def is_held(self) -> bool:
        """Return whether the claim is still valid."""
        return RunTask.select_open().filter(self._build_task_filter()).exists()

    def load_task(self) -> RunTask:
        """Return the task. Raises `LeaseLostError` if it was cancelled and lost its payload."""
        task = RunTask.objects.filter(self._build_task_filter()).first()
        if task is None:
            raise LeaseLostError(self.run_id)
        return task

    @contextmanager
    def open_fenced_transaction(self) -> Iterator[None]:
        """Run the block in a transaction that first locks and checks the run, then the task.

        Raises `LeaseLostError` before the block.
        """
        with transaction.atomic():
            # The time of the run's last progress orders the queue.
            if not Run.objects.filter(self.build_run_filter()).update(heartbeat_at=Now()):
                raise LeaseLostError(self.run_id)
            if not self._extend_lease():
                raise LeaseLostError(self.run_id)
            yield

    def renew(self) -> bool:
        """Extend the lease from now; return False if the claim is lost."""
        return self.is_held() and self._extend_lease()

    def _extend_lease(self) -> bool:
        """Extend the task's lease from now; return False if the claim on the task is lost."""
        tasks = RunTask.objects.filter(self._build_task_filter())
        return bool(tasks.update(lease_until=build_future_time(get_lease_duration())))

    def release(self) -> bool:
        """Let another process claim the task; return False if the claim is lost."""
        tasks = RunTask.objects.filter(self._build_task_filter())
        return bool(tasks.update(state=RunTask.State.WAITING, lease_until=None))

    def store_failure(self, reason: str) -> None:
        """Store task and run as failed, with the reason, unless the claim is lost."""
        with transaction.atomic():
            # Locks the run first, as every other commit of a task does.
            if not Run.objects.filter(self.build_run_filter()).update(heartbeat_at=Now()):
                return
            failed = RunTask.objects.filter(self._build_task_filter()).update(
                state=RunTask.State.FAILED,
                payload=None,
                lease_until=None,
                ended_at=Now(),
                error=reason,
            )
            if failed:
                fail_run(self.build_run_filter(), reason)

    def finish_task(self) -> bool:
        """Store the task as done; if no open task is left, queue its run and return True."""
        with self.open_fenced_transaction():
            RunTask.objects.filter(pk=self.task_id).update(
                state=RunTask.State.DONE, payload=None, lease_until=None, ended_at=Now()
            )
            # The run's row is locked: of two processes that finish at once, one sees both ends.
            left = RunTask.objects.filter(
                run=self.run_id, run_attempt=self.run_attempt, state__in=OPEN
            )
            if left.exists():
                return False
            Run.objects.filter(pk=self.run_id).update(
                state=Run.State.QUEUED, lease_until=None, lease_owner="", heartbeat_at=Now()
            )
        return True


def claim_next_run_or_task(
    process: str, lane: Lane | None = None, busy: Collection[int] = ()
) -> Claim | TaskClaim | None:
    """Claim the next run or task in fair order among owners; return None if there is none.

    With `lane` only in that lane; none of the owners whose keys are in `busy`.
    """
    while True:
        tasks = Exists(select_claimable_tasks(lane).filter(run=OuterRef("pk")))
        waits = build_claimable_filter(lane) | Q(tasks)
        runs = select_runs_in_fair_order(waits, lane, busy).annotate(has_tasks=tasks)
        candidate = runs.values(*CANDIDATE, "has_tasks").first()
        if candidate is None:
            return None
        claim = (
            claim_task(candidate["pk"], process, lane)
            if candidate["has_tasks"]
            else claim_run(candidate, process)
        )
        # Another process may have been first: then the next one is looked for.
        if claim is not None:
            return claim


def claim_task(run_id: int, process: str, lane: Lane | None = None) -> TaskClaim | None:
    """Claim a run's next open task; return None if there is none.

    A task whose process died `MOST_CRASHES` times makes its run fail.
    """
    free = select_claimable_tasks(lane).filter(run=run_id).order_by("number")
    while found := free.values("pk", "run_attempt", "attempt", "state", "crashes").first():
        crashed = found["state"] == RunTask.State.RUNNING
        # Only as it was seen: whoever is first changes the attempt, and the others look again. A
        # process that renewed its lease meanwhile keeps the task.
        as_read = Q(state=RunTask.State.WAITING) | Q(
            state=RunTask.State.RUNNING, lease_until__lt=Now()
        )
        tasks = RunTask.objects.filter(as_read, pk=found["pk"], attempt=found["attempt"])
        was_claimed = tasks.update(
            state=RunTask.State.RUNNING,
            attempt=F("attempt") + 1,
            crashes=F("crashes") + (1 if crashed else 0),
            process=process,
            lease_until=build_future_time(get_lease_duration()),
            started_at=Now(),
        )
        if not was_claimed:
            continue
        claim = TaskClaim(run_id, found["run_attempt"], found["pk"], found["attempt"] + 1)
        if crashed and found["crashes"] + 1 >= MOST_CRASHES:
            claim.store_failure(format_crash_reason())
            continue
        # Not in one transaction with the claim, because commits lock the run before the task.
        Run.objects.filter(claim.build_run_filter()).update(heartbeat_at=Now())
        return claim
    return None


def count_helper_processes(n_tasks: int) -> int:
    """Return how many other background processes can help with this number of new tasks."""
    return max(0, min(n_tasks, BackgroundWorker.select_running().count()) - 1)


def cancel_stale_tasks() -> int:
    """Cancel open tasks that no run waits for any more; return their number.

    Most are cancelled with their run. This finds the others, such as those of a run that the guard
    of a stuck process has failed: they hold copies of answers.
    """
    stale = RunTask.objects.filter(state__in=OPEN).exclude(
        pk__in=RunTask.select_open().values("pk")
    )
    # Read first: processes call this every few seconds, and an update takes SQLite's only lock.
    found = list(stale.values_list("pk", flat=True))
    return RunTask.cancel_open_tasks(pk__in=found) if found else 0
