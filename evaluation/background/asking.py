"""The process that asks: beside each worker, it works on the runs that wait for a server.

A worker computes for one run at a time; a run that waits for the replies of a model would keep the
others waiting while the processor idles. So each worker starts a process (`start`) that looks for
runs of the lane of asking once a second (`main`) and works on `ASKING_RUNS` of them at a time, a
thread each and one of each requester, so that nobody takes all places. It needs no message: the
database says what waits. Where all places are taken and another requester waits, the longest turn
is ended. It ends with its worker; if it dies alone, the worker starts it again.
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

from evaluation.background import guarding
from evaluation.background.leases import Claim, claim_oldest, claimable
from evaluation.background.work import TURN_SECONDS, work_on, worker_name
from evaluation.models import Run
from evaluation.steps.checkpoints import Lane, Turn

logger = logging.getLogger(__name__)

LOOK_EVERY = 1.0
SHORT_TURN = 30.0
"""Seconds that a run has at least where others wait for its place."""
SECONDS_TO_END = 12.0
"""What is under way comes in meanwhile; `crowdgrade.supervisor` waits for twenty."""
LONGEST_PAUSE = 30.0
"""Seconds before a process that dies at once is started again."""
START = f"import django; django.setup(); from {__name__} import main; main()"


@dataclass
class Place:
    """A run that is worked on: for whom, by which claim, since when; `turn` once it has begun."""

    owner: int
    claim: Claim
    since: float
    turn: Turn | None = None

    def end(self) -> None:
        """Have the turn end as soon as what is under way has come."""
        if self.turn is not None:
            self.turn.deadline = min(self.turn.deadline, self.turn.clock())

    @property
    def ends(self) -> bool:
        """Whether the turn begins nothing new."""
        return self.turn is not None and self.turn.is_over()


class Places:
    """The runs that one process works on beside each other, at most so many."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._lock = threading.Lock()
        self._taken: dict[threading.Thread, Place] = {}

    def taken(self) -> list[Place]:
        """Return what is worked on just now."""
        with self._lock:
            return list(self._taken.values())

    def fill(self) -> None:
        """Begin with waiting runs while there are places, one of a requester; else make room."""
        while len(taken := self.taken()) < self._most:
            claim = claim_oldest(worker_name(), Lane.ASKING, busy={one.owner for one in taken})
            if claim is None:
                return
            self._begin(claim)
        self._make_room(taken)

    def end(self) -> None:
        """End all turns; what does not end in time goes back to the queue."""
        until = time.monotonic() + SECONDS_TO_END
        while (taken := self.taken()) and time.monotonic() < until:
            for place in taken:
                place.end()
            time.sleep(0.1)
        for place in taken:
            place.claim.release()

    def _begin(self, claim: Claim) -> None:
        owner = Run.objects.values_list("owner_id", flat=True).get(pk=claim.run_id)
        place = Place(owner, claim, self._clock())
        thread = threading.Thread(target=self._work, args=(place,), name="turn", daemon=True)
        with self._lock:
            self._taken[thread] = place
        thread.start()

    def _work(self, place: Place) -> None:
        def begun(turn: Turn) -> None:
            place.turn = turn

        try:
            work_on(place.claim, self._clock() + TURN_SECONDS, self._clock, Lane.ASKING, begun)
        except Exception:
            logger.exception("run %s failed", place.claim.run_id)
        finally:
            connections.close_all()  # those of this thread
            with self._lock:
                del self._taken[threading.current_thread()]

    def _make_room(self, taken: list[Place]) -> None:
        """End the longest turn where more requesters wait than turns are ending already."""
        others = Run.objects.filter(claimable(Lane.ASKING)).exclude(
            owner__in={one.owner for one in taken}
        )
        waiting = others.order_by().values("owner").distinct().count()
        going = [one for one in taken if not one.ends]
        if waiting <= len(taken) - len(going):
            return
        longest = min(going, key=lambda one: one.since)
        if self._clock() - longest.since >= SHORT_TURN:
            longest.end()


def main() -> None:
    """Work on runs that wait for servers, until the worker that started this process is gone."""
    # Ctrl-C and the end of the site are the worker's matter, and closing the pipe is ours.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    line = os.dup(0)  # no child of ours holds it
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    guarding.start()
    places = Places(settings.ASKING_RUNS)
    # Nobody writes to the pipe: it can be read once its other end is closed.
    while not select.select([line], [], [], LOOK_EVERY)[0]:
        try:
            places.fill()
        except Exception:
            # Away for a moment, or a run was deleted just now: the next look comes in a second.
            logger.exception("runs that wait for servers cannot be looked for")
            connections.close_all()
    with contextlib.suppress(Error):
        places.end()
    os._exit(0)  # whatever a thread still waits for


class _Asking:
    """The process that asks, as its worker sees it: started again whenever it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._keeper: threading.Thread | None = None

    def start(self) -> None:
        self._process = guarding.start_python(START)
        self._keeper = threading.Thread(target=self._keep, name="asking-process", daemon=True)
        self._keeper.start()

    def stop(self) -> None:
        """Close the pipe: the process ends by itself."""
        self._stopping.set()
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()

    def wait(self) -> None:
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(SECONDS_TO_END + 3)

    def _keep(self) -> None:
        pause = 1.0
        while self._process is not None:
            began = time.monotonic()
            code = self._process.wait()
            if self._stopping.is_set():
                return
            pause = 1.0 if time.monotonic() - began > LONGEST_PAUSE else min(2 * pause, 30.0)
            logger.warning("the process that asks ended (%s); again in %.0f s", code, pause)
            if self._stopping.wait(pause):
                return
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = guarding.start_python(START)


_asking = _Asking()
_divided = False


def divide() -> None:
    """Say that this worker only computes: `start` will start the process that asks."""
    global _divided  # noqa: PLW0603
    _divided = True


def lane() -> Lane | None:
    """Return the lane of this process's own turns; None where it does everything."""
    return Lane.COMPUTING if _divided else None


def start() -> None:
    """Start the process that asks, and keep it running."""
    _asking.start()


def stop() -> None:
    """Have it end, without waiting."""
    _asking.stop()


def wait() -> None:
    """Wait for its end, some seconds at most."""
    _asking.wait()
