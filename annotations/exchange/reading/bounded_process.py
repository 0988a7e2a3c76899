"""Read a file in a separate process, within bounds of processor time and memory.

A crafted file of a few megabytes can take minutes to parse, and only a process can be ended in the
middle of it. `values_of` starts the process and yields what it prints, one JSON value a line; the
module that is started calls `serve`.
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
    """Seconds of processor time and bytes of memory."""

    seconds: int
    memory: int


def share_turns(processes: int) -> None:
    """Leave to this process its share of `AT_ONCE`, one at least: so many processes serve a site.

    To be called before it reads its first file.
    """
    global _turns  # noqa: PLW0603, a bound of this process, as the semaphore is
    _turns = threading.BoundedSemaphore(max(1, AT_ONCE // processes))


def values_of(
    handle: BinaryIO, name: str, module: str, arguments: Sequence[Any], bounds: Bounds
) -> Generator[Any, None, None]:
    """Yield the values that a module prints of a file.

    Raises `InputError` as the process did, or where no process is free; `TooMuchError` beyond the
    bounds; ValueError where the process broke.
    """
    for line in lines_of(handle, name, module, arguments, bounds):
        yield json.loads(line)


def lines_of(
    handle: BinaryIO, name: str, module: str, arguments: Sequence[Any], bounds: Bounds
) -> Generator[bytes, None, None]:
    """Yield the lines that a module prints of a file; raises as `values_of` does."""
    limits = [str(bounds.seconds), str(bounds.memory)]
    with _turn(name), _on_disk(handle) as file:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *limits, json.dumps(arguments)],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Libraries for arrays, which openpyxl loads, reserve memory for each of their threads.
            env={"PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1", **_places()},
        )
        assert process.stdout is not None
        ended: dict[str, Any] | None = None
        try:
            for line in process.stdout:
                if line.startswith(END):
                    ended = json.loads(line[1:])
                    break
                yield line
        finally:
            if ended is None:
                process.kill()
            process.stdout.close()
            process.wait()
        _raise_if_failed(ended, process.returncode, bounds)


def _raise_if_failed(ended: dict[str, Any] | None, code: int, bounds: Bounds) -> None:
    if ended is None:
        # -9 and -24 are the kernel's answer to too much time; else the file broke the process.
        if code in (-9, -24):
            raise TooMuchError(f"it takes more than {bounds.seconds} s")
        raise ValueError("the process that read the file broke")
    if "too_much" in ended:
        raise TooMuchError(ended["too_much"])
    if "refused" in ended:
        raise InputError([Problem(**one) for one in ended["refused"]], ended["total"])


@contextmanager
def _turn(name: str) -> Iterator[None]:
    if not _turns.acquire(timeout=SECONDS_TO_WAIT):
        raise InputError.from_code(name, "files_busy")
    try:
        yield
    finally:
        _turns.release()


@contextmanager
def _on_disk(handle: BinaryIO) -> Iterator[IO[bytes]]:
    """The bytes as a file that another process can open, at its beginning."""
    with tempfile.TemporaryFile() as file:
        handle.seek(0)
        shutil.copyfileobj(handle, file)
        file.seek(0)
        yield file


def _places() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


def serve(bounds: Bounds, lines: Iterable[str]) -> None:
    """Print lines within bounds, and how they ended; what a module that is started does."""
    resource.setrlimit(resource.RLIMIT_CPU, (bounds.seconds, bounds.seconds))
    resource.setrlimit(resource.RLIMIT_AS, (bounds.memory, bounds.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)  # requests for pages have priority
    write = sys.stdout.buffer.write
    ended: dict[str, Any] = {}
    try:
        for line in lines:
            write(line.encode() + b"\n")
    except TooMuchError as error:
        ended = {"too_much": str(error)}
    except MemoryError:
        ended = {"too_much": f"it needs more than {bounds.memory >> 20:,} MiB"}
    except InputError as error:
        ended = {"refused": [asdict(one) for one in error.problems], "total": error.total}
    write(END + json.dumps(ended, default=str).encode() + b"\n")
    sys.stdout.flush()
