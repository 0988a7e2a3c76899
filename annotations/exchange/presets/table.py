"""A file of somebody else's as a header and rows of cells, before anyone says what is what.

CSV, TSV and XLSX come through `reading.tables`; JSON and JSON Lines hold objects, of which nested
ones are laid flat as Label Studio and Potato write them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from annotations.exchange.header import clean_name
from annotations.exchange.presets.tools import flattened
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.json_document import Located, read_json
from annotations.exchange.reading.mturk_columns import MAY_LACK
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table

PEEKED = 200
IMPORT_ID = '{"ImportId"'
LABEL_OF_START = "Start Date"
SAMPLES = 3

Cells = tuple[str, ...]


@dataclass(slots=True)
class ForeignTable:
    """The rows of a file, to be gone through once, each with the line where it begins.

    `wordings` are the questions by their columns, where a second header row of the file has them,
    and `zone` the time zone that it names. `warnings` are sentences for people.
    """

    name: str
    sha256: str
    header: list[str]
    rows: Iterator[tuple[int, Cells]]
    wordings: dict[str, str] = field(default_factory=dict)
    zone: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file: its header and up to 200 rows, by which it is recognised."""

    name: str
    header: list[str]
    rows: list[Cells]
    wordings: dict[str, str]

    def values(self, column: str) -> list[str]:
        """The cells of a column that are not empty, trimmed; none if there is no such column."""
        if column not in self.header:
            return []
        at = self.header.index(column)
        return [cell for row in self.rows if (cell := row[at].strip())]

    def samples(self, column: str) -> list[str]:
        """Its first different values, three at most."""
        return list(dict.fromkeys(self.values(column)))[:SAMPLES]

    def named(self, *names: str) -> str:
        """The first of the names, in their order, that a column has in any case; "" if none."""
        of = {_plain(column): column for column in reversed(self.header)}
        return next((of[_plain(name)] for name in names if _plain(name) in of), "")

    def like(self, *parts: str) -> str:
        """The first column whose name holds one of the parts, such as "prolificid"; "" if none."""
        return next((name for name in self.header for part in parts if part in _plain(name)), "")


def head_of(given: Readable) -> Head:
    """The beginning of a file. Raises `InputError` for one that cannot be read at all.

    Rows that are crooked are passed over: who reads the file to its end is told of them.
    """
    table = open_foreign(given, Problems(source_of(given).name))
    return Head(table.name, table.header, list(_whole(table)), table.wordings)


def _whole(table: ForeignTable) -> Iterator[Cells]:
    return (cells for _, cells in islice(table.rows, PEEKED))


def open_foreign(given: Readable, problems: Problems) -> ForeignTable:
    """A file as a table; bad rows are noted in `problems` while its rows are read.

    Raises `InputError` for a file that cannot be read as a whole.
    """
    suffix = source_of(given).suffix
    if suffix == ".json":
        document = read_json(given)
        rows = flattened(document.value, document.name)
        return _of_objects(document.name, document.sha256, rows, list(document.warnings))
    table = open_table(given, (), problems, MAY_LACK)
    if suffix in (".jsonl", ".ndjson"):
        # Keys may differ from line to line: the header is known when all have been read.
        read = [(line, extra) for line, _, extra in table.rows]
        objects = [(line, dict(zip(table.kept_aside, extra, strict=False))) for line, extra in read]
        rows = flattened([_located(line, cells) for line, cells in objects], table.name)
        return _of_objects(table.name, table.sha256, rows, table.warnings)
    several = ((line, extra) for line, _, extra in table.rows)
    first = list(islice(several, 2))
    # A question over several lines is one line in lists, in ids and in what --map says.
    header = [" ".join(clean_name(name).split()) for name in table.kept_aside]
    wordings, zone, n_labels = _labels(header, [cells for _, cells in first])
    rest = chain(first[n_labels:], several)
    found = ForeignTable(table.name, table.sha256, header, rest, wordings, zone, table.warnings)
    if not header:
        raise InputError.from_code(table.name, "no_rows", what="answers")
    return found


def _of_objects(
    name: str, sha256: str, rows: list[tuple[int, dict[str, str]]], warnings: list[str]
) -> ForeignTable:
    header = list(dict.fromkeys(key for _, row in rows for key in row))
    if not header:
        raise InputError.from_code(name, "no_rows_saved")
    cells = ((line, tuple(row.get(key, "") for key in header)) for line, row in rows)
    return ForeignTable(name, sha256, header, cells, warnings=warnings)


def _located(line: int, cells: dict[str, str]) -> Located:
    found = Located({name: _value(cell) for name, cell in cells.items()})
    found.line = line
    return found


def _value(cell: str) -> Any:
    """An object or a list that JSON Lines held, which `reading` hands on as JSON."""
    if cell[:1] in "{[" and cell:
        try:
            return json.loads(cell)
        except ValueError:
            pass
    return cell


def _labels(header: Sequence[str], rows: Sequence[Cells]) -> tuple[dict[str, str], str, int]:
    """Wordings, time zone, and how many of the first rows are header rows of Qualtrics."""
    ids = rows[1] if len(rows) > 1 else ()
    if ids and all(cell.startswith(IMPORT_ID) or not cell.strip() for cell in ids) and any(ids):
        zones = (_zone(cell) for cell in ids)
        return _wordings(header, rows[0]), next((zone for zone in zones if zone), ""), 2
    if rows and "StartDate" in header and rows[0][header.index("StartDate")] == LABEL_OF_START:
        return _wordings(header, rows[0]), "", 1
    return {}, "", 0


def _wordings(header: Sequence[str], labels: Cells) -> dict[str, str]:
    return {name: " ".join(text.split()) for name, text in zip(header, labels, strict=False)}


def _zone(cell: str) -> str:
    try:
        zone = json.loads(cell).get("timeZone", "")
    except (ValueError, AttributeError):
        return ""
    return zone if isinstance(zone, str) else ""


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())
