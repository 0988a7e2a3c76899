"""Supervisor of several processes: restarts those that end, ends all of them together."""

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

LOCK_FILE = "up.lock"
"""Name of the lock file of `manage.py up` in CROWDGRADE_HOME."""
LONGEST_PAUSE = 30.0
# Seconds after which a child counts as started well: the next pause is short again.
WELL_AFTER = 30.0
SECONDS_TO_END = 20.0
LOOK_EVERY = 0.3


class AlreadyRunningError(Exception):
    """Error: another supervisor holds the lock file."""


# A BaseException, so that no `except Exception` on the way swallows the request to stop.
class Stopped(BaseException):
    """Exception raised in the supervisor when SIGTERM or Ctrl-C arrives."""


@dataclass
class Child:
    """A child process that the supervisor keeps running.

    Attributes
    ----------
    log : file for its output; None for the output of this process.
    sockets : listening sockets, inherited under the same numbers. They stay open here, so that
        clients that connect during a restart wait and are not refused.
    pause : seconds before the next restart; doubles after an early end, so that a broken child
        does not restart in a tight loop.
    start_at : time (`time.monotonic`) of the next restart.
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
        """Start the process in its own session, so that Ctrl-C reaches only the supervisor."""
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
                pass_fds=[listener.fileno() for listener in self.sockets],
            )

    def restart_if_ended(self, report: Callable[[str], None]) -> None:
        """Start the process again after a pause if it has ended; `report` gets a message."""
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
        report(
            f"{self.name} ended ({describe_exit_code(code)}); "
            f"starting it again in {self.pause:.0f} s"
        )

    def terminate(self) -> None:
        """Close the listening sockets and send SIGTERM to the process."""
        # While a socket listens here, the kernel lets clients connect that no process would serve.
        for listener in self.sockets:
            listener.close()
        if self.process is not None and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.terminate()

    def wait_until_ended(self, deadline: float) -> None:
        """Wait until the process has ended; at the deadline, kill its process group."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                # A session leader's pid is also its group's number, so its own children end too.
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._close_lifeline()

    def _close_lifeline(self) -> None:
        """Close the pipe to the child's standard input, so that no file stays open."""
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()


def describe_exit_code(code: int) -> str:
    """Return the text of a process's exit code; negative codes are signals."""
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@contextlib.contextmanager
def hold_lock(lock: Path) -> Iterator[None]:
    """Hold a lock file in the block; raise `AlreadyRunningError` if another process does.

    The kernel releases the lock when the process ends, even if it is killed.
    """
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunningError(lock) from None
        yield


@contextlib.contextmanager
def raise_on_signal() -> Iterator[None]:
    """Raise `Stopped` for SIGTERM and Ctrl-C in the block."""

    def raise_stopped(_number: int, _frame: FrameType | None) -> None:
        """Raise `Stopped`."""
        raise Stopped

    before = {
        number: signal.signal(number, raise_stopped) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def supervise_children(
    children: Sequence[Child],
    report: Callable[[str], None],
    until: Callable[[], bool] | None = None,
) -> None:
    """Keep the children running until `until()` is true or `Stopped` is raised; then end them.

    `report` gets a message for each child that ended and will be restarted.
    """
    try:
        while until is None or not until():
            for child in children:
                child.restart_if_ended(report)
            time.sleep(LOOK_EVERY)
    finally:
        for child in children:
            # All get the signal before any is waited for: they end at once, within one deadline.
            child.terminate()
        deadline = time.monotonic() + SECONDS_TO_END
        for child in children:
            child.wait_until_ended(deadline)


def is_port_free(host: str, port: int) -> bool:
    """Return whether a server could listen on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Otherwise a port counts as in use for a minute after its server ended (TIME_WAIT).
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
