"""Ends a child process when its supervisor ends, even if the supervisor was killed.

The child's standard input is a pipe to which the supervisor never writes. However the supervisor
ends, the kernel closes the pipe, and the child reads the end of the file.
"""

from __future__ import annotations

import os
import signal
import threading

# Only the supervisor's children have it: any process may have an empty standard input.
VARIABLE = "CROWDGRADE_LIFELINE"


def end_with_supervisor() -> None:
    """Send SIGTERM to this process as soon as its supervisor has ended.

    Standard input is empty afterwards, so that a library that reads it does not wait forever. Does
    nothing in a process that no supervisor started.
    """
    if os.environ.pop(VARIABLE, ""):
        pipe = os.dup(0)  # not inherited by children
        close_standard_input()
        threading.Thread(
            target=_wait_for_supervisor_end, args=(pipe,), name="lifeline", daemon=True
        ).start()


def close_standard_input() -> None:
    """Close standard input and replace it by /dev/null."""
    devnull = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(devnull, 0)
    finally:
        os.close(devnull)


def _wait_for_supervisor_end(pipe: int) -> None:
    """Wait until the pipe to the supervisor closes, then send SIGTERM to this process."""
    # `os.read`, because a Python file object would hold its lock while it blocks.
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
