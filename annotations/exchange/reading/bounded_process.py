"""Read a file in a separate process, with limits on processor time and memory.

A crafted file of a few megabytes can take minutes to parse, and only a process can be ended in the
middle of it. `run_and_read_values` starts the process and yields the JSON values it prints, one a
line; the module that runs in the process calls `print_within_limits`.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from annotations.exchange.problems import InputError, Problem
from annotations.exchange.reading.sheet_parts import TooMuchError

AT_ONCE = 4
"""Files that a site reads in processes at the same time: they never take all its threads."""

SECONDS_TO_WAIT = 10.0
"""How long a file waits for its turn."""

END = b"\x04"
"""Begins the last line, which says how reading ended."""

_turns = threading.BoundedSemaphore(AT_ONCE)
_ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a reading process: seconds of processor time and bytes of memory."""

    seconds: int
    memory: int


def limit_processes(processes: int) -> None:
    """Limit how many files this server process reads at once to its share of `AT_ONCE`.

    Call it before the first file is read; `processes` is how many server processes the site has.
    """
    global _turns  # noqa: PLW0603, a bound of this process, as the semaphore is
    _turns = threading.BoundedSemaphore(max(1, AT_ONCE // processes))


def run_and_read_values(
    handle: BinaryIO, name: str, module: str, arguments: Sequence[Any], bounds: Bounds
) -> Generator[Any, None, None]:
    """Run a module on a file in a separate process and yield the JSON values it prints.

    Raises `InputError` as the process did, or where no process is free; `TooMuchError` beyond the
    bounds; ValueError where the process broke.
    """
    for line in run_and_read_lines(handle, name, module, arguments, bounds):
        yield json.loads(line)


def run_and_read_lines(
    handle: BinaryIO, name: str, module: str, arguments: Sequence[Any], bounds: Bounds
) -> Generator[bytes, None, None]:
    """Run a module on a file in a separate process and yield the lines it prints."""
    limits = [str(bounds.seconds), str(bounds.memory)]
    with _hold_process_slot(name), _copy_to_temporary_file(handle) as file:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *limits, json.dumps(arguments)],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Libraries for arrays, which openpyxl loads, reserve memory for each of their threads.
            env={"PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1", **_select_environment()},
        )
        assert process.stdout is not None
        last_line: dict[str, Any] | None = None
        try:
            for line in process.stdout:
                if line.startswith(END):
                    last_line = json.loads(line[1:])
                    break
                yield line
        finally:
            # The consumer may stop before the end: then the process must not continue.
            if last_line is None:
                process.kill()
            process.stdout.close()
            process.wait()
        _raise_if_failed(last_line, process.returncode, bounds)


def _raise_if_failed(last_line: dict[str, Any] | None, code: int, bounds: Bounds) -> None:
    """Raise the error with which the reading process ended, if it ended with one."""
    if last_line is None:
        # -9 and -24 are the kernel's answer to too much time; else the file broke the process.
        if code in (-9, -24):
            raise TooMuchError(f"it takes more than {bounds.seconds} s")
        raise ValueError("the process that read the file broke")
    if "too_much" in last_line:
        raise TooMuchError(last_line["too_much"])
    if "refused" in last_line:
        raise InputError(
            [Problem(**refused) for refused in last_line["refused"]], last_line["total"]
        )


@contextmanager
def _hold_process_slot(name: str) -> Iterator[None]:
    """Hold one of the `AT_ONCE` process slots; `InputError` if none is free within 10 s."""
    if not _turns.acquire(timeout=SECONDS_TO_WAIT):
        raise InputError.from_code(name, "files_busy")
    try:
        yield
    finally:
        _turns.release()


@contextmanager
def _copy_to_temporary_file(handle: BinaryIO) -> Iterator[IO[bytes]]:
    """Yield a temporary file with a copy of the bytes, so that another process can read it."""
    with tempfile.TemporaryFile() as file:
        handle.seek(0)
        shutil.copyfileobj(handle, file)
        file.seek(0)
        yield file


def _select_environment() -> dict[str, str]:
    """Return the environment variables of the reading process: PATH, HOME, TMPDIR."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


def print_within_limits(bounds: Bounds, lines: Iterable[str]) -> None:
    """Print lines within the limits, then a last line with the error that ended them, if any."""
    resource.setrlimit(resource.RLIMIT_CPU, (bounds.seconds, bounds.seconds))
    resource.setrlimit(resource.RLIMIT_AS, (bounds.memory, bounds.memory))
    # No core file, with the content of the upload, when a limit ends the process.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)  # requests for pages have priority
    write = sys.stdout.buffer.write
    last_line: dict[str, Any] = {}
    try:
        for line in lines:
            write(line.encode() + b"\n")
    except TooMuchError as error:
        last_line = {"too_much": str(error)}
    except MemoryError:
        last_line = {"too_much": f"it needs more than {bounds.memory >> 20:,} MiB"}
    except InputError as error:
        last_line = {
            "refused": [asdict(problem) for problem in error.problems],
            "total": error.total,
        }
    # Always written, also after success: without it the parent takes the process for broken.
    write(END + json.dumps(last_line, default=str).encode() + b"\n")
    sys.stdout.flush()
