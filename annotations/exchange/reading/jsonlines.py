"""Read the rows of JSON Lines files, which have one flat object per line."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotations.exchange.defusing import MARK as DEFUSED
from annotations.exchange.header import Column, Row, locate_columns
from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.decoding import TextFile, build_empty_file_error

ONE_OBJECT = frozenset({"line_invalid", "line_too_deep", "line_no_object"})
"""The codes of lines that are no object; their remedy shows one."""
MOST_KEYS = 1_000
"""Most further keys, beside the wanted ones, in all lines together."""
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _KeyLayout:
    """The keys of a line that are wanted cells, and the positions of its further keys."""

    wanted: tuple[str | None, ...]
    others: tuple[tuple[int, str], ...]
    width: int


class TooManyKeysError(InputError):
    """Error: the lines of a file have more than 1,000 further keys in all."""


class _UnusableLineError(ValueError):
    """Internal error: a line is valid JSON but not accepted; it has a problem code and values."""

    def __init__(self, code: str, **values: str) -> None:
        super().__init__(PROBLEM_MESSAGES[code].texts(values)[0])
        self.code, self.values = code, values


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a dict from (key, value) pairs; `_UnusableLineError` for a repeated key."""
    value = dict(pairs)
    if len(value) != len(pairs):
        repeated_key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise _UnusableLineError("line_key_twice", key=repeated_key)
    return value


def _refuse_constant(name: str) -> str:
    """Raise `_UnusableLineError` for NaN, Infinity and -Infinity, which JSON does not allow."""
    raise _UnusableLineError("line_no_value", value=name)


# Numbers stay as typed: 007.50 may be an id, and 1e400 must not become infinity.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_build_object, parse_int=str, parse_float=str, parse_constant=_refuse_constant
)


def parse_json_strictly(text: str) -> object:
    """Parse JSON text like a line of a file: no repeated keys, numbers as text.

    Raises ValueError with the fault; RecursionError where the text is nested too deeply.
    """
    return _DECODER.decode(text)


def read_jsonlines(
    source: TextFile,
    columns: Sequence[Column],
    problems: Problems,
    kept_aside: list[str],
    marks: set[str],
) -> Iterator[Row]:
    r"""Yield (line, wanted cells, further cells) of each object of a JSON Lines file.

    Lines end at \n only; blank ones are skipped. Keys may come in any order and differ from line
    to line, but at most 1,000 of them are not wanted. null is an empty cell, a number
    stays as typed. Lines that are no object, lack a required key, or hold true, false, a list or an
    object in a wanted column, or anything that is no text (NUL, half a surrogate pair), are noted
    in `problems` and left out. Raises `InputError` for a file without an object, for a first one
    that lacks a required key, and for too many keys.
    """
    # Most lines have the same keys in the same order: their layout is computed once.
    shapes: dict[tuple[str, ...], _KeyLayout] = {}
    number = 0
    for number, line in enumerate(source.iterate_lines("\n"), 1):
        if line.isspace():
            continue
        record = _parse_line(line, number, problems)
        if record is None:
            continue
        keys = tuple(record)
        shape = shapes.get(keys)
        if shape is None:
            try:
                shape = shapes[keys] = _locate_keys(
                    keys, columns, source.name, number, kept_aside, marks
                )
            except TooManyKeysError:
                raise
            except InputError as error:
                problems.extend(error.problems)
                if not shapes:
                    problems.raise_if_any()
                continue
        # The decoded file has no NUL and no half surrogate pair: only an escape can make one.
        if "\\u" in line and not _are_values_writable(record, number, problems):
            continue
        cells = _pick_wanted_cells(record, shape, columns, number, problems)
        if cells is not None:
            yield number, cells, _pick_further_cells(record, shape)
    if not shapes:
        problems.raise_if_any()
        raise build_empty_file_error(source.name)


def _parse_line(line: str, number: int, problems: Problems) -> dict[str, object] | None:
    """Parse the object of a line; None if the line is bad (then a problem is recorded)."""
    try:
        record = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        problems.add_code(number, error.colno, "line_invalid", error=error.msg)
    except _UnusableLineError as error:
        problems.add_code(number, None, error.code, **error.values)
    except RecursionError:
        problems.add_code(number, None, "line_too_deep")
    else:
        if isinstance(record, dict):
            return record
        problems.add_code(number, None, "line_no_object")
    return None


def _locate_keys(
    keys: tuple[str, ...],
    columns: Sequence[Column],
    file: str,
    line: int,
    kept_aside: list[str],
    marks: set[str],
) -> _KeyLayout:
    """Return which keys of a line are wanted; add new further keys to `kept_aside`."""
    if not all(_UNWRITABLE.search(key) is None for key in keys):
        raise InputError.from_code(file, "json_key_unwritable", line=line)
    # JSON needs no defusing: a key that marks defused cells, copied from a table, is ignored.
    layout = locate_columns([key for key in keys if key != DEFUSED], columns, file, line)
    keys = tuple(key for key in keys if key != DEFUSED)
    marks.update(layout.marks)
    others = []
    for position, name in layout.others:
        if name not in kept_aside:
            if len(kept_aside) == MOST_KEYS:
                # Each would be a column of every answer after it.
                raise TooManyKeysError.from_code(file, "too_many_keys", line=line, most=MOST_KEYS)
            kept_aside.append(name)
        # Lines differ in their keys, so the cell is put at the place of the name, not of the key.
        others.append((kept_aside.index(name), keys[position]))
    width = max((i for i, _ in others), default=-1) + 1
    wanted = tuple(None if i is None else keys[i] for i in layout.wanted)
    return _KeyLayout(wanted, tuple(others), width)


def _pick_wanted_cells(
    record: dict[str, object],
    shape: _KeyLayout,
    columns: Sequence[Column],
    line: int,
    problems: Problems,
) -> tuple[str, ...] | None:
    """Return the wanted cells of a line as text; None if one is no text (then recorded)."""
    cells = []
    for key, column in zip(shape.wanted, columns, strict=True):
        value = "" if key is None else record[key]
        if value is None:
            value = ""
        if column.structured and isinstance(value, list | dict):
            value = json.dumps(value, ensure_ascii=False)
        if not isinstance(value, str):
            kind = {bool: "true or false", list: "a list", dict: "an object"}[type(value)]
            problems.add_code(line, key, "cell_not_text", name=column.key, kind=kind)
            return None
        cells.append(value)
    return tuple(cells)


def _pick_further_cells(record: dict[str, object], shape: _KeyLayout) -> tuple[str, ...]:
    """Return the further cells of a line as text; lists and objects become JSON."""
    cells = [""] * shape.width
    for position, key in shape.others:
        value = record[key]
        if isinstance(value, str):
            cells[position] = value
        elif value is not None:
            cells[position] = json.dumps(value, ensure_ascii=False)
    return tuple(cells)


def _are_values_writable(record: dict[str, object], line: int, problems: Problems) -> bool:
    """Return whether all values of a line can be stored as text; record those that cannot."""
    sound = True
    for key, value in record.items():
        text = value if isinstance(value, str) else "".join(_iterate_texts(value))
        match = _UNWRITABLE.search(text)
        if match is not None:
            sound = False
            code = f"\\u{ord(match.group()):04x}"
            what = "a NUL character" if code == "\\u0000" else f"half a surrogate pair ({code})"
            problems.add_code(line, key, "cell_unwritable", what=what)
    return sound


def _iterate_texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, including keys, each followed by a space."""
    if isinstance(value, str):
        yield f"{value} "
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _iterate_texts(key)
            yield from _iterate_texts(item)
