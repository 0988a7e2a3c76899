"""What commands share when they talk to a terminal."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

from tqdm import tqdm

# What a shell reports for a process that SIGTERM ended.
TERMINATED = 128 + signal.SIGTERM


class Bars:
    """One progress bar a stage, on a terminal; silent in a pipe."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def show(self, stage: str, done: int, total: int) -> None:
        """Move the bar of a stage; a new stage begins a new bar."""
        if stage != self._stage:
            self._close()
            self._stage = stage
            # disable=None: only where standard error is a terminal.
            self._bar = tqdm(total=total, desc=stage, file=sys.stderr, disable=None)
        self._bar.update(done - self._bar.n)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def at_least(lowest: int) -> Callable[[str], int]:
    """Return an argument type: whole numbers from `lowest` on."""

    def whole(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
        if number < lowest:
            raise argparse.ArgumentTypeError(f"{number} is less than {lowest}")
        return number

    return whole


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Let SIGTERM end the block as an exception, so that what it was writing is cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(_number: int, _frame: FrameType | None) -> None:
        sys.exit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def text_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table for a terminal: numbers to the right with three digits, text to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max(len(title), *(len(row[at]) for row in cells)) if cells else len(title)
        for at, title in enumerate(header)
    ]
    right = [
        all(isinstance(row[at], int | float | None) for row in rows) and bool(rows)
        for at in range(len(header))
    ]

    def line(values: Sequence[str]) -> str:
        padded = [
            value.rjust(width) if to_right else value.ljust(width)
            for value, width, to_right in zip(values, widths, right, strict=True)
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, cells)])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value)
