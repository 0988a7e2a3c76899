"""Errors of the Python interface: problems of a DataFrame by row, and of options by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.exchange.problems import SHOWN, Problem
from annotations.exchange.problems import InputError as FileInputError

RowOf = Callable[[int], int | None]
"""Returns the row, from 0, whose record begins in a line of the file written from a DataFrame."""

_ADVICE = "looks_like"
# Values of a problem that are numbers of lines.
_LINES = ("first_line", "after_line", "line", "earlier")


@dataclass(frozen=True)
class InputProblem:
    """A problem of an input: its place, what is wrong, and how to correct it.

    Attributes
    ----------
    argument : name of the argument of the function, such as "answers".
    row : number of the row in the DataFrame, from 0 as in `iloc`; None for the whole input.
    column : name of the column; None if the problem concerns no single column.
    code, values : the file reader's code of the problem, and the values of its sentence.
    """

    argument: str
    row: int | None
    column: str | int | None
    reason: str
    remedy: str = ""
    code: str = ""
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        place = self.argument
        if self.row is not None:
            place += f", row {self.row}"
        if self.column is not None:
            place += f", column {self.column}"
        return f"{place}: {self.reason}. {self.remedy}".rstrip()


class InputError(ValueError):
    """Error for unusable input; `problems` holds the first problems, `total` counts all."""

    def __init__(self, problems: Iterable[InputProblem], total: int | None = None) -> None:
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        # All arguments go up, so that the error survives pickling between processes.
        super().__init__(self.problems, self.total)

    @property
    def codes(self) -> list[str]:
        """The code of each stored problem, in order."""
        return [problem.code for problem in self.problems]

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if self.total > len(lines):
            lines.append(f"... and {self.total - len(lines)} more")
        return "\n".join(lines)


class OptionsError(ValueError):
    """Error for invalid options; `codes` identify the problems."""

    def __init__(self, message: str, codes: Iterable[str] = ()) -> None:
        self.codes = list(codes)
        super().__init__(message, self.codes)

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class WrittenFile:
    """A file written from an argument: its path, and the rows of its lines.

    `row_of` returns the row of a line; None for a file of the caller, whose lines are reported
    unchanged. `columns` has the caller's names of columns, by the names in problems.
    """

    argument: str
    path: Path
    row_of: RowOf | None = None
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)


def translate_error(error: FileInputError, files: Iterable[WrittenFile]) -> InputError:
    """Return the error with rows of DataFrames in place of lines of files."""
    by_name = {Path(file.path).name: file for file in files}
    problems = [_translate_problem(problem, by_name) for problem in error.problems]
    # Which command converts the file is of no use for a DataFrame.
    others = [problem for problem in problems if problem.code != _ADVICE]
    return InputError(others, error.total - (len(problems) - len(others)))


def _translate_problem(problem: Problem, files: Mapping[str, WrittenFile]) -> InputProblem:
    """Return a problem of a file as a problem of the argument from which the file was written."""
    file = files.get(Path(problem.file).name)
    argument = problem.file if file is None else file.argument
    reason, row = problem.reason, None
    column, values = problem.column, dict(problem.values)
    if file is None or file.row_of is None:
        if problem.line is not None:
            argument = f"{problem.file}, line {problem.line}"
    else:
        row = None if problem.line is None else file.row_of(problem.line)
        if isinstance(column, str):
            column = file.columns.get(column, column)
        for name in _LINES:
            earlier = values.get(name)
            earlier_row = file.row_of(earlier) if isinstance(earlier, int) else None
            if earlier_row is not None:
                reason = re.sub(rf"\bline {earlier:,}(?!\d)", f"row {earlier_row}", reason)
                reason = re.sub(rf"\bline {earlier}(?!\d)", f"row {earlier_row}", reason)
                values[name.replace("line", "row")] = earlier_row
    for name, other in files.items():
        reason = reason.replace(name, other.argument)
    return InputProblem(argument, row, column, reason, problem.remedy, problem.code, values)
