"""Problems of an input file: where each one is, what is wrong, and how to correct it."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from annotations.exchange.problem_messages import PROBLEM_MESSAGES

KEPT = 200
"""Most problems stored of one file; the others are only counted."""

SHOWN = 20
"""Problems that the message of an error spells out."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of one file: its line and column, what is wrong, and how to correct it.

    `line` is the physical line (for XLSX the row) where the record begins, None for the whole file.
    `column` is the column's name or, inside a line of text, the number of the character, counted
    from 1. `remedy` is worded for every interface, `on_terminal` for the command line where it has
    an option. `str()` is one line for the terminal. `code` names the message in `problem_messages`
    from which `values` make these texts; "" if there is none. `row` is the row that a spreadsheet
    shows for the line, if that is another number.
    """

    file: str
    line: int | None
    column: str | int | None
    reason: str
    remedy: str = ""
    on_terminal: str = ""
    code: str = ""
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    row: int | None = None

    @classmethod
    def from_code(
        cls,
        file: str,
        line: int | None,
        column: str | int | None,
        code: str,
        /,
        **values: Any,
    ) -> Problem:
        """Return the problem with this code; `values` fill its texts."""
        texts = PROBLEM_MESSAGES[code].texts(values)
        return cls(file, line, column, *texts, code=code, values=values)

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f", {describe_line(self.line, self.row)}"
        if self.column is not None:
            place += f", column {self.column}"
        sentence = f"{place}: {self.reason}."
        remedy = self.on_terminal or self.remedy
        return f"{sentence} {remedy}" if remedy else sentence


def describe_line(line: int, row: int | None) -> str:
    """Return a line number as text, with the spreadsheet's row number if it differs."""
    return f"line {line}" if row in (None, line) else f"line {line} (row {row} of the sheet)"


class RowNumbers:
    """Row numbers that a spreadsheet shows for the lines of a CSV file.

    A record with line breaks in its cells has several lines, but is one row. Only the lines at
    which the difference changes are stored.
    """

    def __init__(self) -> None:
        self._lines, self._rows = array("q"), array("q")

    def add_record(self, line: int, row: int) -> None:
        """Store the row number of the record that begins in a line; lines must ascend."""
        if self.get_row(line) != row:
            self._lines.append(line)
            self._rows.append(row)

    def get_row(self, line: int) -> int:
        """Return the row number of the record that begins in a line."""
        at = bisect_right(self._lines, line) - 1
        return line if at < 0 else self._rows[at] + line - self._lines[at]


class InputError(Exception):
    """Error of unusable input; `problems` are the stored problems, `total` counts all.

    The message holds the first twenty problems, a line each, and the number of the others.
    """

    def __init__(self, problems: Iterable[Problem], total: int | None = None) -> None:
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        # All arguments go up, so that the error survives pickling between processes.
        super().__init__(self.problems, self.total)

    @classmethod
    def single(
        cls,
        file: str,
        reason: str,
        remedy: str = "",
        *,
        line: int | None = None,
        column: str | int | None = None,
    ) -> InputError:
        """Return an error with one problem, given by its texts."""
        return cls([Problem(file, line, column, reason, remedy)])

    @classmethod
    def from_code(
        cls,
        file: str,
        code: str,
        /,
        *,
        line: int | None = None,
        column: str | int | None = None,
        **values: Any,
    ) -> Self:
        """Return an error with one problem, given by its code in `problem_messages`."""
        return cls([Problem.from_code(file, line, column, code, **values)])

    def __str__(self) -> str:
        shown = [str(problem) for problem in self.problems[:SHOWN]]
        if self.total > len(shown):
            shown.append(f"... and {self.total - len(shown)} more")
        return "\n".join(shown)


class Problems:
    """Collector of the problems of one file, so that all bad rows are reported at once.

    It stores the first `KEPT` and counts the others.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.total = 0
        self.rows: RowNumbers | None = None
        self._kept: list[Problem] = []

    def get_row(self, line: int) -> int:
        """Return the row number that a spreadsheet shows for a line of the file."""
        return line if self.rows is None else self.rows.get_row(line)

    def add(
        self,
        line: int | None,
        column: str | int | None,
        reason: str,
        remedy: str = "",
        on_terminal: str = "",
        *,
        code: str = "",
    ) -> None:
        """Add a problem given by its texts, and optionally by a code of another catalogue."""
        problem = Problem(self.file, line, column, reason, remedy, on_terminal, code)
        self.extend([problem])

    def add_code(
        self, line: int | None, column: str | int | None, code: str, /, **values: Any
    ) -> None:
        """Add a problem given by its code in `problem_messages`."""
        self.extend([Problem.from_code(self.file, line, column, code, **values)])

    def insert_file_problem(self, code: str, /, **values: Any) -> None:
        """Insert a problem of the whole file before all others, so that it is always shown."""
        self.total += 1
        # It may exceed `KEPT` by one.
        self._kept.insert(0, Problem.from_code(self.file, None, None, code, **values))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add problems of the same file that other code found."""
        for problem in problems:
            self.total += 1
            # A million rows may have problems; a requester reads the first ones only.
            if len(self._kept) < KEPT:
                row = problem.line and self.get_row(problem.line)
                changed = row != problem.line and problem.row is None
                self._kept.append(replace(problem, row=row) if changed else problem)

    def sort_by_line(self) -> None:
        """Sort the stored problems by line; problems of the whole file come first."""
        self._kept.sort(key=lambda problem: problem.line or 0)

    def raise_if_any(self) -> None:
        """Raise `InputError` with the collected problems, if there are any."""
        if self.total:
            raise InputError(self._kept, self.total)
