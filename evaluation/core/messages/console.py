"""Write terminal output of commands: progress bars, tables, errors; and handle signals."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from types import FrameType, TracebackType
from typing import Any, Self

from django.core.management.base import CommandError, OutputWrapper
from tqdm import tqdm

from annotations.exchange import InputError
from evaluation.core.backends import BackendError

BAD_INPUT = 2
# What a shell reports for a process that Ctrl-C or SIGTERM ended.
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
# Characters of a cell that a table on a terminal shows.
WIDEST = 60
WIDEST_BAR = 100
FAULT_OPTIONS = {
    "prompt_too_long": "Give a lower --max-tokens, or shorter passages.",
    "timeout": "Give a longer --timeout, or a lower --concurrency.",
    "rate_limited": "Give --requests-per-minute, or a lower --concurrency.",
    "unauthorized": "Name the environment variable with the key by --key-variable.",
    "answer_too_long": "Give a lower --max-tokens.",
    "too_large": "Give a lower --max-tokens.",
    "error_in_reply": "The same command asks for these again.",
}
"""Which option of a command helps, by the code of a fault."""
_PARAMETERS = ("temperature", "max_tokens", "max_completion_tokens", "seed", "top_p", "logprobs")


class ProgressBars:
    """Progress bars on a terminal, one for each stage of a command; silent in a pipe."""

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
        self.close()

    def show(self, stage: str, done: int, total: int) -> None:
        """Show the progress of a stage (`done` of `total`); a new stage begins a new bar."""
        if stage != self._stage:
            self.close()
            self._stage = stage
            # Terminals that do not know their size would get empty lines from tqdm.
            size = get_terminal_size()
            self._bar = tqdm(
                total=total,
                desc=stage,
                file=sys.stderr,
                disable=None,  # only where standard error is a terminal
                ncols=min(size.columns, WIDEST_BAR),
                nrows=size.lines,
            )
        # tqdm takes increments, callers report totals.
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Remove the current progress bar from the terminal; `show` begins a new one."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        self._stage = ""


def build_minimum_type(lowest: int) -> Callable[[str], int]:
    """Return an argparse `type` that accepts whole numbers of at least `lowest`."""

    def parse_whole(text: str) -> int:
        """Return the whole number in a text, or raise ArgumentTypeError."""
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
        if number < lowest:
            raise argparse.ArgumentTypeError(f"{number} is less than {lowest}")
        return number

    return parse_whole


def build_number_type(most: float = math.inf) -> Callable[[str], float]:
    """Return an argparse `type` that accepts finite numbers from 0 to `most`."""
    bounds = "from 0 on" if most == math.inf else f"from 0 to {most:g}"

    def parse_number(text: str) -> float:
        """Return the number in a text, or raise ArgumentTypeError."""
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number <= most or number == math.inf:
            raise argparse.ArgumentTypeError(f"{text!r} is no number {bounds}")
        return number

    return parse_number


@contextmanager
def report_bad_input() -> Iterator[None]:
    """Turn errors of the block that a user can fix into a CommandError with exit code 2."""
    try:
        yield
    except (InputError, BackendError) as error:
        raise CommandError(remove_control_characters(str(error)), returncode=BAD_INPUT) from error
    except MemoryError as error:
        raise CommandError(
            f"there is not enough memory ({error or 'no details'}): free some, ask for fewer draws "
            "with --bootstrap, or grade the question sets of a large file one by one",
            returncode=BAD_INPUT,
        ) from error


@contextmanager
def exit_on_signal() -> Iterator[None]:
    """Exit the block on Ctrl-C or SIGTERM without a traceback, after its cleanup."""
    # Python sets signal handlers in the main thread only.
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def exit_terminated(_number: int, _frame: FrameType | None) -> None:
        """Exit as after SIGTERM."""
        # An exception, so that `with` blocks clean up; by default SIGTERM ends the process at once.
        sys.exit(TERMINATED)

    before = signal.signal(signal.SIGTERM, exit_terminated)
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)


def print_report(output: OutputWrapper, text: str) -> None:
    """Print a command's report; a closed pipe or full disk raises no error.

    The tables are written by then, so a pipe that was closed (`| head`), a full disk behind `>`
    and letters that the terminal does not have must not end in an error.
    """
    encoding = getattr(output, "encoding", None) or "utf-8"
    known = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        output.write(known)
        output.flush()
    except (OSError, AttributeError, ValueError):  # closed by the reader, or before we started
        with suppress(OSError, AttributeError, ValueError):
            # Else Python tries once more at exit, and complains.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def remove_control_characters(text: str) -> str:
    """Return the text without control characters, except line breaks."""
    # Texts of a file could contain escape sequences that control the terminal.
    return "".join(c if c == "\n" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def format_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return header and rows as a text table: numbers right-aligned, floats to three decimals."""
    cells = [[_format_cell(value) for value in row] for row in rows]
    widths = [
        max(len(title), *(len(row[index]) for row in cells)) if cells else len(title)
        for index, title in enumerate(header)
    ]
    right = [
        all(isinstance(row[index], int | float | None) for row in rows) and bool(rows)
        for index in range(len(header))
    ]

    def format_line(values: Sequence[str]) -> str:
        """Return a row of cells as a line of padded columns."""
        padded = [
            value.rjust(width) if to_right else value.ljust(width)
            for value, width, to_right in zip(values, widths, right, strict=True)
        ]
        return "  ".join(padded).rstrip()

    return "\n".join(
        [
            format_line(header),
            format_line(["-" * width for width in widths]),
            *map(format_line, cells),
        ]
    )


def _format_cell(value: object) -> str:
    """Return a table cell as text: "" for None, a float to three decimals, long text cut."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    text = remove_control_characters(str(value)).replace("\n", " ")
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def find_remedy_option(code: str, message: str) -> str:
    """Return advice on the command-line option that avoids a fault of a reply; "" without one.

    For a refused request, the advice names the parameter that the server's `message` names.
    """
    if code != "bad_request":
        return FAULT_OPTIONS.get(code, "")
    named = next((parameter for parameter in _PARAMETERS if parameter in message), None)
    if named is None:
        return 'See --parameters: null leaves out a parameter, such as {"seed": null}.'
    if named == "max_tokens" and "max_completion_tokens" in message:
        return 'Give --parameters \'{"max_tokens": null, "max_completion_tokens": 2048}\'.'
    return f"Give --parameters '{{\"{named}\": null}}', which leaves it out."
