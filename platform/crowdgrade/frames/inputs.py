"""Write DataFrames and Python values as the files that the commands read.

A cell becomes text: a missing one (None, NaN, NA, NaT) is empty, as in a file; a list or an object
is JSON. Nothing is dropped: the file readers check every row and report each problem by its code.
"""

from __future__ import annotations

import json
import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from enum import StrEnum
from pathlib import Path
from typing import Any

import narwhals as nw

from annotations.exchange.problems import Problem
from annotations.exchange.writing.folder import format_csv_line
from crowdgrade.frames.errors import InputError, InputProblem, RowOf, WrittenFile

_KINDS = {bool: "true or false", list: "a list", tuple: "a list", dict: "an object"}
_MISSING = ("NAType", "NaTType")
# Whole numbers that float64 holds exactly.
_EXACT = 2**53


class FileFormat(StrEnum):
    """Format of the file to which an argument is written, by file ending."""

    TABLE = "csv"
    LINES = "jsonl"
    JSON = "json"
    TEXT = "txt"


_WANTED = {
    FileFormat.TABLE: "a DataFrame (pandas, Polars, PyArrow) or the path of a file",
    FileFormat.LINES: "a DataFrame, a list of objects or the path of a file",
    FileFormat.JSON: "the value that its JSON file holds or the path of a file",
    FileFormat.TEXT: "a list of texts or the path of a file",
}


def convert_to_frame(argument: str, value: Any) -> nw.DataFrame[Any] | None:
    """Return a DataFrame of any library as a narwhals DataFrame; None for other values.

    Names of columns that are not texts, such as numbers, become texts. Raises `InputError` for a
    DataFrame in which a column occurs twice or has a name of several levels.
    """
    try:
        frame = nw.from_native(value, eager_only=True)
        is_named = all(isinstance(name, str) for name in frame.columns)
        return frame if is_named else _convert_column_names(argument, frame)
    except TypeError:
        return None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in value.columns]
        repeated = {name: index for index, name in reversed(list(enumerate(names)))}
        problems = [
            _build_problem(argument, None, name, "column_twice", first=first + 1, again=index + 1)
            for index, name in enumerate(names)
            if (first := repeated[name]) != index
        ]
        raise InputError(problems) from None


def _convert_column_names(argument: str, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Return a pandas DataFrame as a narwhals one whose column names are texts.

    Raises `InputError` for a name of several levels.
    """
    native = frame.to_native().copy(deep=False)
    names = list(native.columns)
    nested = next((name for name in names if isinstance(name, tuple)), None)
    if nested is not None:
        reason, code = f"the name {nested} of a column has several levels", "column_nested"
        remedy = "Flatten them: df.columns = df.columns.map('_'.join)"
        raise InputError([InputProblem(argument, None, None, reason, remedy, code)])
    native.columns = [str(name) for name in names]
    return nw.from_native(native, eager_only=True)


def write_input(
    folder: Path, argument: str, value: Any, form: FileFormat, roles: Mapping[str, str]
) -> WrittenFile:
    """Write the value of an argument to a file in `folder`; a path is used unchanged.

    Parameters
    ----------
    form : format of the file, unless `value` is a path.
    roles : names of the columns that must hold texts or numbers, by role.

    Raises `InputError` for a value of another type, and for cells that no text can hold.
    """
    if isinstance(value, (str, Path)):
        return WrittenFile(argument, Path(value).absolute())
    path = folder / f"{argument}.{form}"
    frame = convert_to_frame(argument, value)
    if form is FileFormat.TABLE and frame is not None:
        here = {role: name for role, name in roles.items() if name in frame.columns}
        return WrittenFile(argument, path, _write_table(path, argument, frame, here), here)
    if frame is not None and form is FileFormat.TEXT:
        value = frame[frame.columns[0]].to_list() if frame.columns else []
    elif frame is not None:
        value = [dict(zip(frame.columns, row, strict=True)) for row in frame.iter_rows()]
    is_list = isinstance(value, Sequence)
    if form is FileFormat.JSON and (is_list or isinstance(value, Mapping)):
        path.write_text(json.dumps(_convert_to_json_value(value), ensure_ascii=False), "utf-8")
        return WrittenFile(argument, path)
    if form is FileFormat.LINES and is_list:
        lines = [json.dumps(_convert_to_json_value(row), ensure_ascii=False) for row in value]
    elif form is FileFormat.TEXT and is_list:
        lines = [str(row) for row in value]
    else:
        raise InputError([_build_type_problem(argument, value, form)])
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return WrittenFile(argument, path, lambda line: line - 1)


def build_json_lines(argument: str, value: Any, names: Mapping[str, str]) -> bytes:
    """Return a DataFrame's rows as JSON Lines; `names` are the keys of renamed columns.

    Raises `InputError` for a value that is not a DataFrame.
    """
    frame = convert_to_frame(argument, value)
    if frame is None:
        raise InputError([_build_type_problem(argument, value, FileFormat.TABLE)])
    # A column that has the name of a renamed one would replace its values.
    taken = {role for name, role in names.items() if name != role}
    columns = [name for name in frame.columns if name in names or name not in taken]
    keys = [names.get(name, name) for name in columns]
    rows = (dict(zip(keys, row, strict=True)) for row in frame.select(columns).iter_rows())
    return "".join(f"{json.dumps(_convert_to_json_value(row))}\n" for row in rows).encode()


def find_integer_columns(argument: str, value: Any, roles: Mapping[str, str]) -> set[str]:
    """Return the roles of a DataFrame's columns that hold integers, also as categories."""
    frame = convert_to_frame(argument, value)
    if frame is None:
        return set()
    names = [(role, name) for role, name in roles.items() if name in frame.columns]
    return {role for role, name in names if _holds_integers(frame[name])}


def _holds_integers(series: nw.Series[Any]) -> bool:
    """Return whether all known cells of a column are integers, whatever its type is called."""
    if series.dtype.is_numeric() or series.dtype == nw.String:
        return series.dtype.is_integer()
    known = (_convert_to_json_value(value) for value in series.to_list() if not _is_missing(value))
    return all(isinstance(value, int) and not isinstance(value, bool) for value in known)


def _build_problem(
    argument: str, row: int | None, column: str | None, code: str, **values: Any
) -> InputProblem:
    """Return a problem of an input, with the texts that the file readers use for this code."""
    problem = Problem.from_code("", None, None, code, **values)
    return InputProblem(argument, row, column, problem.reason, problem.remedy, code, values)


def _build_type_problem(argument: str, value: Any, form: FileFormat) -> InputProblem:
    """Return the problem of an argument whose type cannot be written to a file."""
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    remedy = f"Pass {_WANTED[form]}."
    if name.endswith("LazyFrame"):
        remedy = "Call collect() first."
    reason = f"the type {name} is not accepted"
    return InputProblem(argument, None, None, reason, remedy, "type_unknown", {"type": name})


def _write_table(
    path: Path, argument: str, frame: nw.DataFrame[Any], roles: Mapping[str, str]
) -> RowOf:
    """Write a DataFrame as CSV; return a function from a line to the row that begins there.

    Raises `InputError` for cells that no text can hold.
    """
    role_by_name = {name: role for role, name in roles.items()}
    problems: list[InputProblem] = []
    columns = [
        list(_format_cells(frame[name], argument, role_by_name.get(name), problems))
        for name in frame.columns
    ]
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    first_lines = array("q")
    with path.open("w", encoding="utf-8", newline="") as file:
        header = format_csv_line([str(name) for name in frame.columns])
        file.write(f"{header}\n")
        line = 2 + _count_line_breaks(header)
        for row in zip(*columns, strict=True):
            first_lines.append(line)
            # A row of one empty cell would be an empty line, which readers of CSV skip.
            text = format_csv_line(row) or '""'
            file.write(f"{text}\n")
            line += 1 + _count_line_breaks(text)

    def find_row(line: int) -> int | None:
        """Return the row that begins in a line of the file; None if none does."""
        index = bisect_left(first_lines, line)
        return index if index < len(first_lines) and first_lines[index] == line else None

    return find_row


def _count_line_breaks(text: str) -> int:
    """Return the number of line breaks in a text."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _format_cells(
    series: nw.Series[Any], argument: str, role: str | None, problems: list[InputProblem]
) -> Iterator[str | None]:
    """Yield a column's cells as text, None if missing; record problems in `problems`.

    A column with a role must hold texts or numbers. A whole number that is a float because other
    cells of the column are missing, as in pandas, is written without ".0".
    """
    values = series.to_list()
    is_widened = series.dtype.is_float() and any(map(_is_missing, values))
    for row, value in enumerate(values):
        if isinstance(value, str):
            fault = _find_unwritable_character(value)
            if fault is not None:
                code = "cell_unwritable"
                problems.append(_build_problem(argument, row, series.name, code, what=fault))
            yield value
        elif _is_missing(value):
            yield None
        elif role is not None and not _is_number(value):
            kind = _KINDS.get(type(value), type(value).__name__)
            values_of = {"name": role, "kind": kind}
            problem = _build_problem(argument, row, series.name, "cell_not_text", **values_of)
            problems.append(problem)
            yield None
        else:
            yield _format_cell_value(value, is_widened)


def _find_unwritable_character(text: str) -> str | None:
    """Return a description of a character that no file can contain; None if the text has none."""
    if "\0" in text:
        return "a NUL character"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a surrogate pair (\\u{ord(text[error.start]):04x})"
    return None


def _is_missing(value: Any) -> bool:
    """Return whether a cell is missing: None, NaN, NA or NaT."""
    if value is None or type(value).__name__ in _MISSING:
        return True
    return isinstance(value, float) and math.isnan(value)


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, but not a Boolean value."""
    plain = _convert_to_json_value(value)
    return isinstance(plain, (int, float)) and not isinstance(plain, bool)


def _format_cell_value(value: Any, is_widened: bool) -> str:
    """Return a cell that is not a string as text; lists and objects as JSON."""
    plain = _convert_to_json_value(value)
    if isinstance(plain, (list, dict)):
        return json.dumps(plain, ensure_ascii=False)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if is_widened and isinstance(plain, float) and plain.is_integer() and abs(plain) < _EXACT:
        return str(int(plain))
    return str(plain)


def _convert_to_json_value(value: Any) -> Any:
    """Return a value in JSON's types: arrays as lists, missing numbers as null, dates as text."""
    if _is_missing(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _convert_to_json_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_convert_to_json_value(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        return _convert_to_json_value(value.tolist())
    if isinstance(value, (date, time)):
        return value.isoformat()
    return value if isinstance(value, (str, int, float)) else str(value)
