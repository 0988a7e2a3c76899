"""Run the process that sends model requests, beside each background process.

A background process computes for one run at a time. A run that waits for a model's replies would
block the others while the processor idles. So each background process starts a second process
(`start`) that looks once a second (`main`) for runs and tasks whose next step asks a server, and
works on `ASKING_RUNS` of them at a time: one thread for each, at most one of each requester, so
that no requester takes all slots. It needs no message: the database holds what is queued. Where all
slots are taken and another requester waits, the longest turn is ended. It also sends the events of
webhooks, and deletes what is stored for a limited time. The process ends with its parent; if it
dies alone, the parent starts it again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import Error, connections
from django.db.models import Exists, OuterRef, Q
from django.utils.module_loading import import_string

from evaluation.models import Run
from evaluation.runs.background import process_guard
from evaluation.runs.background.leases import Claim, build_claimable_filter, select_claimable_tasks
from evaluation.runs.background.run_tasks import TaskClaim, claim_next_run_or_task, claim_task
from evaluation.runs.background.work import (
    TURN_SECONDS,
    get_process_name,
    work_on_run,
    work_on_task,
)
from evaluation.runs.steps.checkpoints import Lane, Turn

logger = logging.getLogger(__name__)

LOOK_EVERY = 1.0
SHORT_TURN = 30.0
"""Seconds that a run has at least where others wait for its place."""
SECONDS_TO_END = 12.0
"""What is under way comes in meanwhile; `crowdgrade.supervisor` waits for twenty."""
LONGEST_PAUSE = 30.0
"""Seconds before a process that dies at once is started again."""
# Features, which import this package.
SENDER = "evaluation.webhooks.turns.Sender"
RETENTION = "evaluation.deletion.storage.removals.Retention"
START = f"import django; django.setup(); from {__name__} import main; main()"


@dataclass
class Slot:
    """A run that this process works on, with its owner, claim, start time and turn."""

    owner: int
    claim: Claim | TaskClaim
    since: float
    turn: Turn | None = None
    is_ended: bool = False

    def end_turn(self) -> None:
        """End the turn of this run as soon as the requests already sent have returned."""
        self.is_ended = True  # also between two tasks
        if self.turn is not None:
            # min: a turn that is ending already must not get a later deadline.
            self.turn.deadline = min(self.turn.deadline, self.turn.clock())

    @property
    def is_ending(self) -> bool:
        """Whether the turn of this run is ending: no new requests are sent."""
        return self.is_ended or (self.turn is not None and self.turn.is_over())


class Slots:
    """The slots of this process: the runs that it works on concurrently, at most `most`."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._lock = threading.Lock()
        self._taken: dict[threading.Thread, Slot] = {}

    def list_taken(self) -> list[Slot]:
        """Return the slots that hold a run."""
        with self._lock:
            return list(self._taken.values())

    def fill_free_slots(self) -> None:
        """Claim queued runs for free slots, one per owner; without a free slot end the longest."""
        while len(slots := self.list_taken()) < self._most:
            claim = claim_next_run_or_task(
                get_process_name(), Lane.ASKING, busy={slot.owner for slot in slots}
            )
            if claim is None:
                return
            self._start_thread(claim)
        self._end_longest_turn(slots)

    def end_turns(self) -> None:
        """End all turns; release the claims of the runs that do not end in time."""
        deadline = time.monotonic() + SECONDS_TO_END
        while (slots := self.list_taken()) and time.monotonic() < deadline:
            for place in slots:
                place.end_turn()
            time.sleep(0.1)
        for place in slots:
            # Or another process would have to wait for the end of the lease, and count a crash.
            place.claim.release()

    def _start_thread(self, claim: Claim | TaskClaim) -> None:
        """Start a thread that works on the claimed run."""
        owner = Run.objects.values_list("owner_id", flat=True).get(pk=claim.run_id)
        place = Slot(owner, claim, self._clock())
        thread = threading.Thread(
            target=self._work_on_slot, args=(place,), name="turn", daemon=True
        )
        with self._lock:
            self._taken[thread] = place
        thread.start()

    def _work_on_slot(self, place: Slot) -> None:
        """Work on a slot's run in its own thread, and free the slot afterwards."""

        def store_turn(turn: Turn) -> None:
            place.turn = turn
            if place.is_ended:
                place.end_turn()

        deadline = self._clock() + TURN_SECONDS
        try:
            if isinstance(place.claim, Claim):
                work_on_run(place.claim, deadline, self._clock, Lane.ASKING, store_turn)
            else:
                self._work_on_tasks(place, place.claim, deadline, store_turn)
        except Exception:
            logger.exception("run %s failed", place.claim.run_id)
        finally:
            connections.close_all()  # those of this thread
            with self._lock:
                del self._taken[threading.current_thread()]

    def _work_on_tasks(
        self, place: Slot, task: TaskClaim, deadline: float, on_turn: Callable[[Turn], None]
    ) -> None:
        """Work on the tasks of a slot's run until none is left or its time is up."""
        following: TaskClaim | None = task
        while following is not None:
            place.claim = following
            work_on_task(following, self._clock, Lane.ASKING, on_turn)
            if place.is_ended or self._clock() >= deadline:
                return
            following = claim_task(following.run_id, get_process_name(), Lane.ASKING)

    def _end_longest_turn(self, slots: list[Slot]) -> None:
        """End the longest turn if more run owners wait than turns are already ending."""
        tasks = select_claimable_tasks(Lane.ASKING).filter(run=OuterRef("pk"))
        waits = build_claimable_filter(Lane.ASKING) | Q(Exists(tasks))
        other_runs = Run.objects.filter(waits).exclude(owner__in={slot.owner for slot in slots})
        # order_by() drops any order: its columns would make the rows of one owner distinct.
        n_waiting = other_runs.order_by().values("owner").distinct().count()
        active = [slot for slot in slots if not slot.is_ending]
        if n_waiting <= len(slots) - len(active):
            return
        longest = min(active, key=lambda one: one.since)
        # A run gets 30 seconds at least, or runs of many requesters would only replace each other.
        if self._clock() - longest.since >= SHORT_TURN:
            longest.end_turn()


def main() -> None:
    """Work on runs that ask model servers until the parent process has ended."""
    # Ctrl-C and the end of the site are the worker's matter, and closing the pipe is ours.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    parent_pipe = os.dup(0)  # no child of ours holds it
    null_device = os.open(os.devnull, os.O_RDONLY)
    # Standard input becomes the null device: a child that inherited the pipe would keep it open.
    os.dup2(null_device, 0)
    process_guard.start_guard()
    places = Slots(settings.ASKING_RUNS)
    sender, retention = import_string(SENDER)(), import_string(RETENTION)()
    steps = {
        "runs that wait for servers": places.fill_free_slots,
        "webhooks": sender.process_due_deliveries,
        "expired rows": retention.step,
    }
    # Nobody writes to the pipe: it can be read once its other end is closed.
    while not select.select([parent_pipe], [], [], LOOK_EVERY)[0]:
        # Each for itself: a fault of one must not stop the others.
        for what, step in steps.items():
            try:
                step()
            except Exception:
                # Away for a moment, or a row was deleted just now: the next look is in a second.
                logger.exception("%s cannot be looked for", what)
                connections.close_all()
    with contextlib.suppress(Error):
        places.end_turns()
    with contextlib.suppress(Error):
        sender.end()
    os._exit(0)  # whatever a thread still waits for


class _ProcessKeeper:
    """Starts the process that sends requests, and restarts it whenever it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._keeper: threading.Thread | None = None

    def start(self) -> None:
        """Start the process that sends requests, and a thread that restarts it."""
        self._process = process_guard.start_python(START)
        self._keeper = threading.Thread(
            target=self._restart_until_stopped, name="asking-process", daemon=True
        )
        self._keeper.start()

    def stop(self) -> None:
        """Close the pipe to the process, which then ends by itself."""
        self._stopping.set()
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()

    def wait(self) -> None:
        """Wait at most 15 seconds for the end of the process."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(SECONDS_TO_END + 3)

    def _restart_until_stopped(self) -> None:
        """Restart the process when it ends, after longer pauses if it dies at once."""
        pause = 1.0
        while self._process is not None:
            began = time.monotonic()
            code = self._process.wait()
            if self._stopping.is_set():
                return
            # Doubled only if it died soon: one crash after long work is no reason to wait.
            pause = 1.0 if time.monotonic() - began > LONGEST_PAUSE else min(2 * pause, 30.0)
            logger.warning("the process that asks ended (%s); again in %.0f s", code, pause)
            if self._stopping.wait(pause):
                return
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = process_guard.start_python(START)


_asking = _ProcessKeeper()
_divided = False


def limit_to_computing() -> None:
    """Make this process claim only runs that compute; the request process claims the others."""
    global _divided  # noqa: PLW0603
    _divided = True


def get_own_lane() -> Lane | None:
    """Return the lane whose runs this process claims; None if it claims all."""
    return Lane.COMPUTING if _divided else None


def start_request_process() -> None:
    """Start the process that sends model requests, and restart it if it ends."""
    _asking.start()


def stop_request_process() -> None:
    """Close the pipe to the process that sends model requests, which then ends by itself."""
    _asking.stop()


def wait_for_request_process() -> None:
    """Wait at most 15 seconds for the end of the process that sends model requests."""
    _asking.wait()
