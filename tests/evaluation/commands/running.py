"""Runs manage.py: in this process where that tells enough, else in one of its own."""

import io
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from django.core.management import CommandError, call_command, execute_from_command_line

from tests.contracts.replay import refusals_of

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Ran:
    """What a command did: `refusals` are the places and codes of the errors that ended it."""

    code: int
    out: str
    err: str
    refusals: tuple[str, ...] = ()


def manage(*arguments: object) -> Ran:
    """Run a command in this process, with the exit code that a shell would see."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    refusals: list[str] = []
    with redirect_stdout(out), redirect_stderr(err):
        try:
            execute_from_command_line(["manage.py", *map(str, arguments)])
        except SystemExit as end:
            code, refusals = end.code, refusals_of(end)
    return Ran(int(code or 0), out.getvalue(), err.getvalue(), tuple(refusals))


def called(command: str, *arguments: object) -> Ran:
    """Run a command without ending the connection, which a test of the database still needs."""
    out = io.StringIO()
    try:
        call_command(command, *map(str, arguments), stdout=out)
    except CommandError as error:
        return Ran(error.returncode, out.getvalue(), str(error), tuple(refusals_of(error)))
    return Ran(0, out.getvalue(), "")


def evaluate(*arguments: object) -> Ran:
    return manage("evaluate", "aqer", *arguments)


def start(*arguments: object, **options) -> subprocess.Popen:
    """Start manage.py in a process of its own, which Ctrl-C can end as on a terminal."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONWARNINGS": "default"},
        # A shell that runs the tests in the background has made its children deaf to Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        **options,
    )


def run(*arguments: object) -> Ran:
    process = start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.communicate(timeout=300)
    return Ran(process.returncode, out, err)
