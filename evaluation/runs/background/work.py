"""Work on queued runs one after the other, a few minutes (a turn) at a time."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable

from django.utils.module_loading import import_string

from evaluation.core.backends import BackendError
from evaluation.models import Run
from evaluation.models.collecting import interims_wait
from evaluation.models.runs import GRADING
from evaluation.runs.background import log_context, process_guard
from evaluation.runs.background.leases import Claim, Heartbeat, LeaseLostError, claim_oldest, notify
from evaluation.runs.run_types import UnknownKindError, get_run_kind
from evaluation.runs.steps.checkpoints import (
    Lane,
    OtherLaneError,
    OutOfTimeError,
    RunInputError,
    Turn,
    store_failed_run,
)

logger = logging.getLogger(__name__)

# No task works longer than this on a run before it lets others have their turn (and long before
# a broker takes a task for dead).
TURN_SECONDS = 240.0
# Features, which import this package.
INTERIM_TURN = "evaluation.interim.turns.turn"
REMOVAL_TURN = "evaluation.deletion.storage.removals.turn"
FOLLOW_SCORES = "evaluation.admission.storage.follow"


def get_process_name() -> str:
    """Return the name of this process for people: host and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"


def work_one_turn(
    seconds: float = TURN_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    lane: Lane | None = None,
) -> bool:
    """Claim the oldest free run, and work on it until it is done or the turn's time is up.

    `lane` is Lane.COMPUTING where another process does the work that waits for servers.

    Returns
    -------
    Whether there was a run, or something to delete. If so, a message was sent for the next run, or
    for the rest of the deletion.

    Raises
    ------
    Exception
        Whatever made the run fail, after its reason was stored.
    """
    removed = import_string(REMOVAL_TURN)()
    if interims_wait():
        import_string(INTERIM_TURN)()
    claim = claim_oldest(get_process_name(), lane)
    if claim is None:
        if removed:
            notify()
        return removed
    work_on(claim, clock() + seconds, clock, lane)
    return True


def work_on(
    claim: Claim,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
    lane: Lane | None = None,
    on_turn: Callable[[Turn], None] = lambda _: None,
) -> None:
    """Work on a claimed run until it is done or the time is up, then wake the next process.

    `on_turn` gets the turn before the work begins. Raises what `work_one_turn` does.
    """
    try:
        run = Run.objects.only("kind", "public_id").get(pk=claim.run_id)
        # It stays set, so that the record of an error that leaves this function has it too.
        log_context.run_id.set(str(run.public_id))
        kind = get_run_kind(run)
        assert kind.run is not None  # or it would be no kind of run
        # The guard sees a hung process, the heartbeat a lost claim; every step checks both.
        with process_guard.report_turn(claim) as sign, Heartbeat(claim) as heartbeat:

            def check() -> None:
                sign()
                heartbeat.check()

            turn = Turn(claim.run_id, claim.fenced, check, deadline, clock, lane)
            on_turn(turn)
            kind.run(turn)
        # The run is done by now: an error in here cannot mark it as failed, because `store_failure`
        # changes running runs only.
        _admit_by_scores(claim.run_id)
    except OutOfTimeError:
        claim.release()
    except OtherLaneError as error:
        claim.hand_over(error.lane)
    except LeaseLostError:
        logger.info("run %s was cancelled or taken over", claim.run_id)
    except (RunInputError, BackendError, UnknownKindError) as error:
        # What the requester can mend is no fault of the worker's.
        store_failure(claim, str(error))
    except BaseException as error:
        if isinstance(error, Exception):
            store_failure(claim, f"{type(error).__name__}: {error}")
        else:  # the worker is being stopped: somebody else goes on
            claim.release()
        raise
    finally:
        # After a failure as well: one message is for one turn, and other runs may wait.
        notify()


def _admit_by_scores(run_id: int) -> None:
    """Admit workers by score if the finished run is the official one of its question set."""
    finished = Run.objects.filter(pk=run_id, state=Run.State.DONE, kind=GRADING)
    for question_set in finished.values_list("version__question_set", flat=True):
        import_string(FOLLOW_SCORES)(question_set)


def store_failure(claim: Claim, reason: str) -> None:
    """Store a run as failed, with the reason, unless the claim is lost."""
    store_failed_run(claim.run_id, claim.held(), reason)
