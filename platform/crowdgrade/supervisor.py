"""Runs several processes as one program: restarts what dies, ends all of them together."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from crowdgrade import lifeline

LONGEST_PAUSE = 30.0
# A child that lived so long has started well: the next pause is short again.
WELL_AFTER = 30.0
SECONDS_TO_END = 20.0
LOOK_EVERY = 0.3


class AlreadyRunningError(Exception):
    """Another supervisor holds the lock file."""


class Stopped(BaseException):
    """SIGTERM or Ctrl-C arrived."""


@dataclass
class Child:
    """A process that should be running.

    What it says goes to `log`, or to our own output where that is None. `pause` doubles with every
    early death, so that a broken child does not spin. `sockets` listen, and are open in the child
    under the same numbers; they stay open here, so that whoever connects while it is started again
    only waits.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path | None = None
    sockets: Sequence[socket.socket] = ()
    process: subprocess.Popen[bytes] | None = None
    pause: float = 1.0
    started: float = 0.0
    start_at: float = field(default=0.0)

    def start(self) -> None:
        """Start it in a process group of its own, so that Ctrl-C reaches the supervisor alone."""
        self.started = time.monotonic()
        with contextlib.ExitStack() as stack:
            output = None if self.log is None else stack.enter_context(self.log.open("ab"))
            self.process = subprocess.Popen(
                self.command,
                env={**self.environment, lifeline.VARIABLE: "1"},
                stdin=subprocess.PIPE,  # see `lifeline`
                stdout=output,
                stderr=output,
                start_new_session=True,
                pass_fds=[one.fileno() for one in self.sockets],
            )

    def look(self, say: Callable[[str], None]) -> None:
        """Restart it if it died, after a pause."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.start_at:
                self.start()
            return
        code = self.process.poll()
        if code is None:
            return
        self.pause = 1.0 if now - self.started > WELL_AFTER else min(2 * self.pause, LONGEST_PAUSE)
        self._close_lifeline()
        self.start_at, self.process = now + self.pause, None
        say(f"{self.name} ended ({describe(code)}); starting it again in {self.pause:.0f} s")

    def end(self) -> None:
        """Ask it to end; nobody connects any more."""
        for one in self.sockets:
            one.close()
        if self.process is not None and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.terminate()

    def wait(self, deadline: float) -> None:
        """Wait until it ended; kill its group when the time is up."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._close_lifeline()

    def _close_lifeline(self) -> None:
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()


def describe(code: int) -> str:
    """Return an exit code in words."""
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@contextlib.contextmanager
def only_one(lock: Path) -> Iterator[None]:
    """Hold a lock file while the block runs. Raises `AlreadyRunningError`.

    The kernel releases it with the process, however that ends.
    """
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunningError(lock) from None
        yield


@contextlib.contextmanager
def stopped_by_signal() -> Iterator[None]:
    """Turn SIGTERM and Ctrl-C into `Stopped` inside the block."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def supervise(
    children: Sequence[Child], say: Callable[[str], None], until: Callable[[], bool] | None = None
) -> None:
    """Keep the children running until `until` says so, or `Stopped` is raised; then end them."""
    try:
        while until is None or not until():
            for child in children:
                child.look(say)
            time.sleep(LOOK_EVERY)
    finally:
        for child in children:
            child.end()
        deadline = time.monotonic() + SECONDS_TO_END
        for child in children:
            child.wait(deadline)


def port_is_free(host: str, port: int) -> bool:
    """Return whether a server could listen there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
