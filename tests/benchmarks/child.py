"""Measuring in a process of its own, whose memory and modules nobody else has touched."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.results import FailedError

HERE = "tests.benchmarks"


def printed_by(
    module: str,
    *arguments: object,
    process: str = "the process",
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> str:
    """Return what a module of this room prints when it is run.

    Parameters
    ----------
    module : its name in this room. arguments : those of its command line, which everybody on the
        machine may read; secrets go into the `environment`, all of it, in place of this process's.
    process : what it is called where it fails. folder : where it is started.

    Raises
    ------
    FailedError
        It ended with an error; the message has the last line of it.
    """
    done = subprocess.run(
        [sys.executable, "-m", f"{HERE}.{module}", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=folder,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FailedError(f"{process} ended with {done.returncode}: {last}")
    return done.stdout


def measured_by(module: str, *arguments: object, **how: Any) -> dict[str, Any]:
    """Return what a module of this room measures, which it prints as JSON; see `printed_by`."""
    found: dict[str, Any] = json.loads(printed_by(module, *arguments, **how))
    return found
