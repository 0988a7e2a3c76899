"""Tables of what a reader of files accepts and refuses: rows are made of them, and read.

A table names the columns of a file. Of each column it says what a cell may hold, and the code of
the problem where it holds something else. `outcomes` makes files of four rows, of which the second
and the fourth are bad in the same way, and returns what the reader noted: so each table also shows
that reading goes on behind a bad row.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest import mock

from annotations.exchange import InputError
from annotations.exchange.header import Column
from tests.problems import faults

PLACES = ("line", "row")
"""Fields of records that say where they were read."""
LETTERS = "é字😀"
Code = str | int
"""What comes of bad rows: "code" of a problem in the column that was changed, "column:code" of one
in another, ":code" of one in no column, or the number of records where nothing is refused."""
SOUND = 4
OF_TABLES = ("cell_not_text", "column_missing")
"""Codes of what any table may have, whose values the tests of the formats check."""
GONE = object()
"""In place of a cell: its row has no such column."""
Changes = Mapping[str, Any]


class Refused(list[tuple[int | None, str | int | None, str]]):
    """The line, the column and the code of each problem of a file; `values` of the first one."""

    def __init__(self, error: InputError) -> None:
        super().__init__(faults(error))
        self.values = dict(error.problems[0].values)


@dataclass(frozen=True)
class Holds:
    """What the cells of a column hold.

    Attributes
    ----------
    sound : the cell of a sound row, or what gives it by the row's number; "{n}" in it is that
        number.
    empty, missing : what comes of an empty cell, and of a row without the column; `missing` is as
        `empty` where it is None.
    others : further cells, by what comes of them.
    is_text : whether the column takes any text, of which a record holds some.
    most, long : the most bytes (or characters, `in_characters`) and the code of one more.
    """

    sound: Any = ""
    empty: Code = SOUND
    missing: Code | None = None
    others: Mapping[Code, Sequence[Any]] = field(default_factory=dict)
    is_text: bool = False
    most: int = 0
    long: str = ""
    in_characters: bool = False


TEXT = Holds("a {n}", is_text=True)


def identified(name: str, code: Code, **more: Any) -> Holds:
    """Return a column of ids: `name` and the number of the row; `code` where one is missing."""
    return Holds(name + "{n}", code, is_text=True, **more)


def limited(most: int, code: str, sound: str = "a", empty: Code = SOUND) -> Holds:
    """Return a column of texts of at most so many characters."""
    return Holds(sound, empty, is_text=True, most=most, long=code, in_characters=True)


@dataclass(frozen=True)
class Reader:
    """A reader and its table.

    Attributes
    ----------
    read : reads a file.
    records : where what it returns has the records of the rows; "" if it returns these themselves.
    cells : what each column holds.
    required : the columns that a table must have, or without which an object is refused.
    nothing : the code of a file without rows, or how many records it has.
    together : changes of several cells of a row, and what comes of them.
    again : changes of a row that else repeats the first one, and what comes of them.
    record, bare : what the record of the first row holds, and of a row that has the required
        columns alone; fields that are empty, 0 or False are left out.
    values : by code, what the first problem with it says of its row, where it says something.
    fixed : cells that all rows have, such as the mark of an export.
    module : where it opens its table; "" where its rows are JSON objects.
    """

    read: Callable[[Path], Any]
    records: str
    cells: Mapping[str, Holds]
    nothing: Code
    together: Sequence[tuple[Changes, Code]] = ()
    again: Sequence[tuple[Changes, Code]] = ()
    required: Sequence[str] = ()
    record: Any = None
    bare: Any = None
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fixed: Changes = field(default_factory=dict)
    module: str = ""

    def records_in(self, file: Any) -> list[Any]:
        """Return the records of what `read` returned."""
        found = getattr(file, self.records) if self.records else file
        return list(found.items() if isinstance(found, Mapping) else found)

    def row(self, n: int, changes: Changes | None = None, numbered: int = 0) -> dict[str, Any]:
        """Return the cells of row `n`; those of `changes` have the number `numbered`, or n."""
        sound = {name: filled(holds.sound, n) for name, holds in self.cells.items()}
        changed = {key: filled(one, numbered or n) for key, one in (changes or {}).items()}
        cells = {**self.fixed, **sound, **changed}
        return {name: cell for name, cell in cells.items() if cell is not GONE}


def filled(cell: Any, n: int) -> Any:
    """Return a cell with the number of its row."""
    if callable(cell):
        return cell(n)
    return cell.replace("{n}", str(n)) if isinstance(cell, str) else cell


def columns_of(reader: Reader, folder: Path) -> tuple[Column, ...]:
    """Return the columns that a reader of tables asks for."""
    module = sys.modules[reader.module]
    with mock.patch.object(module, "open_table", wraps=module.open_table) as opened:
        read(reader, folder, [reader.row(n) for n in range(1, SOUND + 1)])
    return tuple(opened.call_args.args[1])


def read(reader: Reader, folder: Path, rows: Sequence[Any]) -> Any:
    """Return the records of a file of these rows, or what is wrong with it."""
    file = file_of(reader, folder, rows)
    return file if isinstance(file, Refused) else reader.records_in(file)


def file_of(reader: Reader, folder: Path, rows: Sequence[Any]) -> Any:
    """Return what a reader makes of a file of these rows, or what is wrong with it."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    try:
        return reader.read(path)
    except InputError as error:
        return Refused(error)


def facts_of(reader: Reader, folder: Path, rows: Sequence[Any]) -> tuple[Any, Any]:
    """Return what a file says of itself and of its rows, and what it should."""
    file = file_of(reader, folder, rows)
    content = (folder / "rows.jsonl").read_bytes()
    expected = {
        "name": "rows.jsonl",
        "sha256": hashlib.sha256(content).hexdigest(),
        "encoding": "utf-8",
        "n_rows": len(rows),
        "n_repeated": 0 if isinstance(file, Refused) else len(rows) - len(reader.records_in(file)),
    }
    there = {name: one for name, one in expected.items() if hasattr(file, name)}
    return {name: getattr(file, name) for name in there}, there


def plain(record: Any) -> Any:
    """Return what a record holds: dicts for objects, texts for times, nothing that is empty."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        fields = [field.name for field in dataclasses.fields(record)]
        return plain({name: getattr(record, name) for name in fields if name not in PLACES})
    if isinstance(record, Mapping):
        return {key: plain(value) for key, value in record.items() if value}
    if isinstance(record, tuple):
        return tuple(map(plain, record))
    return record.isoformat() if isinstance(record, datetime) else record


def noted(found: Any) -> Any:
    """Return problems as they are, records as their number, and all else as it is."""
    return (
        len(found) if isinstance(found, list | tuple) and not isinstance(found, Refused) else found
    )


def wanted(code: Code, column: str | None) -> Any:
    """Return what a reader notes of two bad rows in lines 2 and 4."""
    if isinstance(code, int):
        return code
    where, colon, code = code.rpartition(":")
    place = (where or None) if colon else column
    return [(line, place, code) for line in (2, 4)]


def cases(reader: Reader, declared: Sequence[Column]) -> Iterator[tuple[str, Changes, Any]]:
    """Yield what is wrong with a row, in words, the changes that make it so and what is noted."""
    texts_only = {column.names[0] for column in declared if not column.structured}
    for name, holds in reader.cells.items():
        missing = holds.empty if holds.missing is None else holds.missing
        if reader.module and name in reader.required:
            missing = ":column_missing"
        yield f"{name}: missing", {name: GONE}, wanted(missing, name)
        yield f"{name}: empty", {name: ""}, wanted(holds.empty, name)
        for code, cells in holds.others.items():
            for cell in cells:
                yield f"{name}: {json.dumps(cell)[:60]}", {name: cell}, wanted(code, name)
        if name in texts_only:
            for cell in ([7], {"a": 7}, True):
                yield f"{name}: {json.dumps(cell)}", {name: cell}, wanted("cell_not_text", name)
        if holds.is_text:
            yield f"{name}: letters", {name: LETTERS + "{n}"}, SOUND
        if holds.most:
            longest = longest_text(holds)
            yield f"{name}: longest", {name: longest}, SOUND
            yield f"{name}: too long", {name: longest + "x"}, wanted(holds.long, name)
    for changes, code in reader.together:
        (name, *_) = changes
        yield f"together: {changes}", changes, wanted(code, name)


def longest_text(holds: Holds) -> str:
    """Return a text as long as a column takes; as bytes, most of it is not ASCII."""
    if holds.in_characters:
        # Others in each row, as no id may stand there twice.
        return "{n}" + "字" * (holds.most - 1)
    # Of the characters with the most bytes, so that a reader that counts others notices nothing.
    size = len("😀".encode())
    return "{n}" + "😀" * ((holds.most - 1) // size) + "x" * ((holds.most - 1) % size)


def outcomes(reader: Reader, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what comes of each bad row by what is wrong with it, and what should."""
    declared = columns_of(reader, folder) if reader.module else ()
    found: dict[str, Any] = {}
    expected: dict[str, Any] = {}

    values: dict[str, Any] = {}

    def check(what: str, came: Any, should: Any) -> None:
        if isinstance(came, Refused) and came.values and came[0][-1] not in OF_TABLES:
            values.setdefault(came[0][-1], came.values)
        found[what], expected[what] = noted(came), should

    sound = read(reader, folder, [reader.row(n) for n in range(1, SOUND + 1)])
    check("sound rows", sound, SOUND)
    rows = [reader.row(n) for n in range(1, SOUND + 1)]
    if reader.records:
        check("facts of the file", *facts_of(reader, folder, rows))
    check("record", {"is": plain(sound[0])}, {"is": reader.record})
    check("bare record", {"is": plain(bare_record(reader, folder))}, {"is": reader.bare})
    marks = reader.fixed.keys()
    asked = {one.names[0] for one in declared if not one.mark or one.mark in marks}
    required = {one.names[0] for one in declared if one.required}
    if reader.module:
        check("required columns", required, set(reader.required))
    known = reader.cells.keys() | marks
    check("columns without a line in the table", asked - known, set())
    empty: dict[str, Any] = {}
    for what, changes, should in cases(reader, declared):
        rows = [reader.row(n, changes if n in (2, 4) else None) for n in range(1, SOUND + 1)]
        came = read(reader, folder, rows)
        check(what, came, should)
        name, _, kind = what.partition(": ")
        if kind == "letters":
            shown = unicodedata.normalize("NFC", LETTERS)
            check(f"{name}: letters are kept", shown in repr(came), True)
        if kind == "missing" and should == SOUND:
            empty[name] = came
        if kind == "empty" and should == SOUND and name in empty:
            check(f"{name}: missing is empty", came == empty[name], True)
    for changes, code in reader.again:
        (name, *_) = (*changes, None)
        rows = [reader.row(1 if n in (2, 4) else n) for n in range(1, SOUND + 1)]
        for n in (2, 4):
            rows[n - 1] = reader.row(1, changes, numbered=n)
        check(f"again: {changes}", read(reader, folder, rows), wanted(code, name))
        if reader.records and isinstance(code, int):
            check(f"again: {changes}: facts", *facts_of(reader, folder, rows))
    check("no rows", read_nothing(reader, folder), nothing_of(reader))
    found["values"], expected["values"] = values, dict(reader.values)
    return found, expected


def bare_record(reader: Reader, folder: Path) -> Any:
    """Return the first record of rows that have the required columns alone, or its problem."""
    gone = {name: GONE for name in reader.cells if name not in reader.required}
    found = read(reader, folder, [reader.row(n, gone) for n in range(1, SOUND + 1)])
    return found[0]


def read_nothing(reader: Reader, folder: Path) -> Any:
    """Return what comes of a table without rows, or of an empty JSON list."""
    path = folder / ("none.csv" if reader.module else "none.json")
    header = ",".join((*reader.fixed, *reader.cells))
    path.write_text(f"{header}\n" if reader.module else "[]", "utf-8")
    try:
        return reader.records_in(reader.read(path))
    except InputError as error:
        return Refused(error)


def nothing_of(reader: Reader) -> Any:
    if isinstance(reader.nothing, int):
        return reader.nothing
    where, _, code = reader.nothing.rpartition(":")
    return [(None, where or None, code)]
