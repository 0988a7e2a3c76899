"""Kill background processes that are stuck or that ignore the cancellation of their run.

A background process may hang in library code that lets no other thread run. It reports each turn
and each sign of progress through a pipe to a guard process (`main`). Once a second the guard looks
for two cases: a run that was cancelled, paused or taken over, but is still worked on after a while;
and a run without a sign for `STALL_SECONDS`, which the guard fails with the reason. In both cases
it kills the background process; the supervisor starts a new one, and committed work stays. A
requesting process works on several runs: the others return to the queue before the kill.
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
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

from evaluation.models import Run
from evaluation.runs.background.leases import Claim
from evaluation.runs.background.run_tasks import TaskClaim

ROOT = Path(__file__).resolve().parents[2]
AnyClaim = Claim | TaskClaim
GRACE_SECONDS = 15.0
"""Asking lets what is under way come in for ten seconds: it was paid for."""
LOOK_EVERY = 1.0
ENDED = "ended "
# This module holds models, which are there only once Django is.
START = "import django, sys; django.setup(); " + (
    f"from {__name__} import main; main(int(sys.argv[1]))"
)


class ReportedWork:
    """Claims that a background process works on, each with the time of its last progress.

    The guard decides by them whether to kill the process.

    `clock` returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._signs: dict[AnyClaim, float] = {}
        self._lost: dict[AnyClaim, float] = {}

    def read_line(self, line: str) -> None:
        """Record one line of the process: progress on a claim, or the end of work on it.

        The line holds the numbers of the claim: two for a run, four for a task. A line for the end
        begins with `ENDED`.
        """
        numbers = list(map(int, line.removeprefix(ENDED).split()))
        claim = Claim(*numbers) if len(numbers) == len(fields(Claim)) else TaskClaim(*numbers)
        if line.startswith(ENDED):
            self._signs.pop(claim, None)
            self._lost.pop(claim, None)
        else:
            self._signs[claim] = self._clock()

    def decide_kill(self) -> bool:
        """Return whether the process must be killed; store its stalled runs as failed.

        The other runs of the process return to the queue first, so that they count no crash.
        """
        # A list and not any(): every stuck run is to be stored as failed, not only the first.
        is_stuck = [claim for claim in self._signs if self._is_stuck(claim)]
        if not is_stuck:
            return False
        # Released before the kill: a run that is not stuck must not count a crash.
        for claim in self._signs:
            claim.release()
        return True

    def _is_stuck(self, claim: AnyClaim) -> bool:
        """Return whether work continues long after a lost claim, or stalls; fail a stalled run."""
        now = self._clock()
        if not claim.is_held():
            # Not at once: work notices a lost claim at its next check, and may still save paid
            # replies.
            return now - self._lost.setdefault(claim, now) >= GRACE_SECONDS
        self._lost.pop(claim, None)
        if now - self._signs[claim] < settings.STALL_SECONDS:
            return False
        run = Run.objects.only("stage", "done", "total").get(pk=claim.run_id)
        claim.store_failure(format_stall_reason(run))
        return True


def format_stall_reason(run: Run) -> str:
    """Return the reason of failure to store for a run that made no progress."""
    where = f" ({run.stage}: {run.done:,} of {run.total:,})" if run.stage and run.total else ""
    seconds = settings.STALL_SECONDS
    long = f"{seconds // 60} minutes" if seconds >= 120 else f"{seconds} seconds"
    return (
        f"It made no progress for {long}{where}, so it was ended. Run it again with fewer answers "
        "or a smaller model; if a model was still being downloaded, run it again once it is there. "
        "Who runs the site may allow more by STALL_SECONDS."
    )


def start_python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a Python process that runs `code`, with a pipe as its standard input."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


class _GuardPipe:
    """Pipe through which the background process reports its turns to its guard."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        # Runs are worked on in several threads, where they wait for servers.
        self._lock = threading.Lock()
        self._reported: dict[AnyClaim, float] = {}

    def start_guard(self) -> None:
        """Start the guard process, with a pipe to its standard input."""
        self._process = start_python(START, str(os.getpid()))
        assert self._process.stdin is not None
        # Where nobody reads any more the work goes on all the same.
        os.set_blocking(self._process.stdin.fileno(), False)

    def report_claim(self, claim: AnyClaim, prefix: str = "") -> None:
        """Write a line about a claim's work to the pipe; restart a guard that has died."""
        with self._lock:
            if self._process is None or self._process.stdin is None:
                return
            # The new guard knows of the turns under way from their next signs of progress.
            if self._process.poll() is not None:
                self.start_guard()
            if prefix == ENDED:
                self._reported.pop(claim, None)
            else:
                self._reported[claim] = time.monotonic()
            with contextlib.suppress(OSError):
                numbers = " ".join(map(str, astuple(claim)))
                os.write(self._process.stdin.fileno(), f"{prefix}{numbers}\n".encode())

    def report_progress(self, claim: AnyClaim) -> None:
        """Report a turn's sign of progress, at most once a second."""
        if time.monotonic() - self._reported.get(claim, 0.0) >= LOOK_EVERY:
            self.report_claim(claim)


_guard = _GuardPipe()


def start_guard() -> None:
    """Start a second process that kills this one if it hangs."""
    _guard.start_guard()


@contextlib.contextmanager
def report_work_to_guard(claim: AnyClaim) -> Iterator[Callable[[], None]]:
    """Report start and end of the block to the guard process; yield a function for progress."""
    _guard.report_claim(claim)
    try:
        yield partial(_guard.report_progress, claim)
    finally:
        _guard.report_claim(claim, ENDED)


def main(worker: int) -> None:
    """Kill the process with this id if it is stuck; return when it closes the pipe."""
    # Ctrl-C and the end of the site are the worker's matter, and closing the pipe is ours.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    watch, rest = ReportedWork(), ""
    while True:
        if select.select([0], [], [], LOOK_EVERY)[0]:
            received = os.read(0, 65536).decode()
            if not received:
                return
            # A read may end in the middle of a line.
            *lines, rest = (rest + received).split("\n")
            for line in lines:
                watch.read_line(line)
        try:
            has_to_kill = watch.decide_kill()
        except DatabaseError:  # away for a moment: nobody can say, so nothing is ended
            connection.close()
            continue
        # The id of a process that has died may belong to another process by now.
        if has_to_kill and os.getppid() == worker:
            os.kill(worker, signal.SIGKILL)
            return
