"""Work on queued runs and their tasks one after the other, a few minutes (a turn) at a time."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.utils.module_loading import import_string

from evaluation.core.backends import BackendError
from evaluation.models import Run
from evaluation.models.collecting import has_interim_work
from evaluation.models.runs import GRADING
from evaluation.runs.background import log_context, process_guard
from evaluation.runs.background.leases import Claim, Heartbeat, LeaseLostError, wake_process
from evaluation.runs.background.run_tasks import (
    TaskClaim,
    claim_next_run_or_task,
    count_helper_processes,
)
from evaluation.runs.run_types import UnknownKindError, get_run_kind
from evaluation.runs.steps.checkpoints import (
    Lane,
    OtherLaneError,
    OutOfTimeError,
    RunInputError,
    Turn,
)
from evaluation.runs.steps.run_tasks import WORKERS, WaitsForTasksError

logger = logging.getLogger(__name__)

# No task works longer than this on a run before it lets others have their turn (and long before
# a broker takes a task for dead).
TURN_SECONDS = 240.0
# Features, which import this package.
INTERIM_TURN = "evaluation.interim.turns.run_interim_turn"
REMOVAL_TURN = "evaluation.deletion.storage.removals.work_on_oldest_deletion"
FOLLOW_SCORES = "evaluation.admission.storage.apply_rules_of_set"


def get_process_name() -> str:
    """Return the name of this process for people: host and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"


def work_one_turn(
    seconds: float = TURN_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    lane: Lane | None = None,
) -> bool:
    """Work for one turn on the next run or tasks; return whether there was anything to do.

    Tasks are computed one after the other until the time is up, or until a run is next, which then
    has its turn. `lane` is Lane.COMPUTING where another process does the work that waits for
    servers.

    Returns
    -------
    Whether there was a run, a task, or something to delete. If so, a message was sent for what is
    left.

    Raises
    ------
    Exception
        Error that made the run fail, after its reason was stored.
    """
    removed = import_string(REMOVAL_TURN)()
    if has_interim_work():
        import_string(INTERIM_TURN)()
    claim = claim_next_run_or_task(get_process_name(), lane)
    if claim is None:
        if removed:
            wake_process()
        return removed
    deadline = clock() + seconds
    # Not a message for each task: a broker may take as long to deliver it as the task lasts.
    while isinstance(claim, TaskClaim):
        work_on_task(claim, clock, lane)
        following = (
            None if clock() >= deadline else claim_next_run_or_task(get_process_name(), lane)
        )
        if following is None:
            wake_process()
            return True
        claim = following
    work_on_run(claim, clock() + seconds, clock, lane)
    return True


def work_on_run(
    claim: Claim,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
    lane: Lane | None = None,
    on_turn: Callable[[Turn], None] = lambda _: None,
) -> None:
    """Work on a claimed run until it is done or the time is up, then wake the next process.

    `on_turn` gets the turn before the work begins. Raises what `work_one_turn` does.
    """

    def compute(turn: Turn, run: Run) -> None:
        kind = get_run_kind(run)
        assert kind.run is not None  # or it would be no kind of run
        kind.run(turn)

    try:
        with _store_ending(claim):
            _compute_under_claim(claim, compute, deadline, clock, lane, on_turn)
        # The run is done by now: an error in here cannot mark it as failed, because `fail` changes
        # running runs only.
        _admit_workers_by_score(claim.run_id)
    except WaitsForTasksError as error:
        # Each message wakes one process; the first one is sent below.
        all(wake_process() for _ in range(count_helper_processes(error.n_tasks)))
    finally:
        # After a failure as well: one message is for one turn, and other runs may wait.
        wake_process()


def work_on_task(
    claim: TaskClaim,
    clock: Callable[[], float] = time.monotonic,
    lane: Lane | None = None,
    on_turn: Callable[[Turn], None] = lambda _: None,
) -> None:
    """Work on a claimed task until it is done; queue its run if no task is left.

    `on_turn` gets the turn, whose deadline it may set, before the work begins. Sends a message only
    if it raises, which it does as `work_one_turn`.
    """

    def compute(turn: Turn, run: Run) -> None:
        task = claim.load_task()
        import_string(WORKERS[task.kind])(turn, task)
        claim.finish_task()

    try:
        with _store_ending(claim):
            # Tasks are short: none is ended by the time.
            _compute_under_claim(claim, compute, float("inf"), clock, lane, on_turn)
    except BaseException:
        wake_process()
        raise


def _compute_under_claim(
    claim: Claim | TaskClaim,
    compute: Callable[[Turn, Run], None],
    deadline: float,
    clock: Callable[[], float],
    lane: Lane | None,
    on_turn: Callable[[Turn], None],
) -> None:
    """Call `compute` with a turn and the run, while a thread renews the claim."""
    run = Run.objects.only("kind", "public_id").get(pk=claim.run_id)
    # It stays set, so that the record of an error that leaves this function has it too.
    log_context.run_id.set(str(run.public_id))
    # The guard sees a hung process, the heartbeat a lost claim; every step checks both.
    with process_guard.report_work_to_guard(claim) as sign, Heartbeat(claim) as heartbeat:

        def check() -> None:
            sign()
            heartbeat.check_claim()

        turn = Turn(claim.run_id, claim.open_fenced_transaction, check, deadline, clock, lane)
        on_turn(turn)
        compute(turn, run)


@contextmanager
def _store_ending(claim: Claim | TaskClaim) -> Iterator[None]:
    """Run the block, then release, hand over or fail the claimed run by the error it raised."""
    try:
        yield
    except WaitsForTasksError:
        raise  # the run has its tasks, and needs nothing more of this process
    except OutOfTimeError:
        claim.release()
    except OtherLaneError as error:
        assert isinstance(claim, Claim)  # a task has its lane
        claim.hand_over(error.lane)
    except LeaseLostError:
        logger.info("run %s was cancelled or taken over", claim.run_id)
    except (RunInputError, BackendError, UnknownKindError) as error:
        # What the requester can mend is no fault of the worker's.
        claim.store_failure(str(error))
    except BaseException as error:
        if isinstance(error, Exception):
            claim.store_failure(f"{type(error).__name__}: {error}")
        else:  # the worker is being stopped: somebody else goes on
            claim.release()
        raise


def _admit_workers_by_score(run_id: int) -> None:
    """Admit workers by score if the finished run is the official one of its question set."""
    finished = Run.objects.filter(pk=run_id, state=Run.State.DONE, kind=GRADING)
    for question_set in finished.values_list("version__question_set", flat=True):
        import_string(FOLLOW_SCORES)(question_set)
