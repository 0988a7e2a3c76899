"""A process beside each worker that ends it where nothing else can: stuck, or deaf to a cancel.

A worker may sit in the code of a library that never comes back and lets no other thread in. What it
begins and each sign of progress it tells to this process (`main`) through a pipe, which looks at
the run once a second: one that was cancelled, paused or taken over, and whose worker still works on
it after a while, and one without a sign for `STALL_SECONDS`, which it fails with the reason. In
both cases the worker is killed; whatever keeps it running starts it again, and what was committed
stays. A process that asks works on several runs: the others go back to the queue before the kill.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models.functions import Now

from evaluation.background.leases import Claim
from evaluation.models import Run

ROOT = Path(__file__).resolve().parents[2]
GRACE_SECONDS = 15.0
"""Asking lets what is under way come in for ten seconds: it was paid for."""
LOOK_EVERY = 1.0
ENDED = "ended "
# This module holds models, which are there only once Django is.
START = "import django, sys; django.setup(); " + (
    f"from {__name__} import main; main(int(sys.argv[1]))"
)


class Watch:
    """What a worker says it does, and whether it may go on.

    `clock` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._signs: dict[Claim, float] = {}
        self._lost: dict[Claim, float] = {}

    def hear(self, line: str) -> None:
        """Take a line: the run and attempt of a turn, at its begin and at each sign in it.

        At its end `ENDED` stands before them.
        """
        claim = Claim(*map(int, line.removeprefix(ENDED).split()))
        if line.startswith(ENDED):
            self._signs.pop(claim, None)
            self._lost.pop(claim, None)
        else:
            self._signs[claim] = self._clock()

    def must_end(self) -> bool:
        """Look at the runs; True where the worker is to be killed, after a stall was stored.

        Its other runs are then in the queue again: that it ends is not theirs to count.
        """
        ends = [claim for claim in self._signs if self._is_stuck(claim)]
        if not ends:
            return False
        for claim in self._signs:
            claim.release()
        return True

    def _is_stuck(self, claim: Claim) -> bool:
        now = self._clock()
        run = Run.objects.filter(claim.held()).only("stage", "done", "total").first()
        if run is None:
            return now - self._lost.setdefault(claim, now) >= GRACE_SECONDS
        self._lost.pop(claim, None)
        if now - self._signs[claim] < settings.STALL_SECONDS:
            return False
        Run.objects.filter(claim.held()).update(
            state=Run.State.FAILED, error=stalled(run), finished_at=Now(), lease_until=None
        )
        return True


def stalled(run: Run) -> str:
    """Return why a run was ended that made no progress, and what to do."""
    where = f" ({run.stage}: {run.done:,} of {run.total:,})" if run.stage and run.total else ""
    seconds = settings.STALL_SECONDS
    long = f"{seconds // 60} minutes" if seconds >= 120 else f"{seconds} seconds"
    return (
        f"It made no progress for {long}{where}, so it was ended. Run it again with fewer answers "
        "or a smaller model; if a model was still being downloaded, run it again once it is there. "
        "Who runs the site may allow more by STALL_SECONDS."
    )


def start_python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a process of this Python that runs `code`, with a pipe as its standard input."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


class _Guard:
    """The other end of the pipe, in the worker."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        # Runs are worked on in several threads, where they wait for servers.
        self._lock = threading.Lock()
        self._told: dict[Claim, float] = {}

    def start(self) -> None:
        self._process = start_python(START, str(os.getpid()))
        assert self._process.stdin is not None
        # Where nobody reads any more the work goes on all the same.
        os.set_blocking(self._process.stdin.fileno(), False)

    def tell(self, claim: Claim, prefix: str = "") -> None:
        with self._lock:
            if self._process is None or self._process.stdin is None:
                return
            if self._process.poll() is not None:
                self.start()
            if prefix == ENDED:
                self._told.pop(claim, None)
            else:
                self._told[claim] = time.monotonic()
            with contextlib.suppress(OSError):
                line = f"{prefix}{claim.run_id} {claim.attempt}\n"
                os.write(self._process.stdin.fileno(), line.encode())

    def sign(self, claim: Claim) -> None:
        if time.monotonic() - self._told.get(claim, 0.0) >= LOOK_EVERY:
            self.tell(claim)


_guard = _Guard()


def start() -> None:
    """Have this process watched from now on; without it nothing is watched."""
    _guard.start()


@contextlib.contextmanager
def guarded(claim: Claim) -> Iterator[Callable[[], None]]:
    """Tell of a turn while the block lasts; gives what is called at each sign of progress."""
    _guard.tell(claim)
    try:
        yield partial(_guard.sign, claim)
    finally:
        _guard.tell(claim, ENDED)


def main(worker: int) -> None:
    """Watch the worker until it closes the pipe, and kill it where it must end."""
    # Ctrl-C and the end of the site are the worker's matter, and closing the pipe is ours.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    watch, rest = Watch(), ""
    while True:
        if select.select([0], [], [], LOOK_EVERY)[0]:
            said = os.read(0, 65536).decode()
            if not said:
                return
            *lines, rest = (rest + said).split("\n")
            for line in lines:
                watch.hear(line)
        try:
            end = watch.must_end()
        except DatabaseError:  # away for a moment: nobody can say, so nothing is ended
            connection.close()
            continue
        if end and os.getppid() == worker:
            os.kill(worker, signal.SIGKILL)
            return
