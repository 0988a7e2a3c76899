"""A file of somebody else's as a header and rows of cells, before anyone says what is what.

CSV, TSV and XLSX come through `reading.tables`; JSON and JSON Lines hold objects, of which nested
ones are laid flat as Label Studio and Potato write them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any

from annotations.exchange.column_names import plain_name
from annotations.exchange.header import CORNER, clean_name, refuse_columns
from annotations.exchange.presets.cells import is_json, mostly
from annotations.exchange.presets.experiments import lay_out_trials, with_header
from annotations.exchange.presets.header_rows import (
    looks_like_data,
    second_header_rows,
)
from annotations.exchange.presets.known_names import worker_rank
from annotations.exchange.presets.tools import Flattened, flattened
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.json_document import Located, read_json
from annotations.exchange.reading.mturk_columns import MAY_LACK
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table

PEEKED = 200
COMPARED = 40
"""Rows that are compared to distinguish header rows from rows of data."""
SAMPLES = 3

Cells = tuple[str, ...]


@dataclass(slots=True)
class ForeignTable:
    """The rows of a file, to be gone through once, each with the line where it begins.

    `wordings` are the questions by their columns, where a second header row of the file has them,
    and `zone` the time zone that it names. `n_labels` is the number of header rows under the first.
    `fields` are the columns that annotators filled in and `task` those of what they were shown,
    where the file distinguishes them. `warnings` are sentences for people. With `holds_objects` the
    rows come from JSON, so that a cell of JSON is a list or an object of the file, and no text.
    """

    name: str
    sha256: str
    header: list[str]
    rows: Iterator[tuple[int, Cells]]
    wordings: dict[str, str] = field(default_factory=dict)
    zone: str = ""
    warnings: list[str] = field(default_factory=list)
    n_labels: int = 0
    fields: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    holds_objects: bool = False


@dataclass(frozen=True)
class Head:
    """The beginning of a file: its header and up to 200 rows, by which it is recognised.

    `is_delimited` says that the names are a row of the file and no keys of objects; `fields` and
    `task` are as in `ForeignTable`.
    """

    name: str
    header: list[str]
    rows: list[Cells]
    wordings: dict[str, str]
    fields: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    is_delimited: bool = False

    @cached_property
    def positions(self) -> dict[str, int]:
        """Each column's position, of equal names the first one's."""
        return {name: at for at, name in reversed(list(enumerate(self.header)))}

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of each plain name, see `column_names.plain_name`.

        A label of a second header row is a name too, unless a column is called so.
        """
        found: dict[str, int] = {}
        for at, name in enumerate(self.header):
            found.setdefault(plain_name(name), at)
        for name, label in self.wordings.items():
            if name in self.positions:
                found.setdefault(plain_name(label), self.positions[name])
        return found

    @cached_property
    def holds_json(self) -> bool:
        """Whether some column holds JSON."""
        return any(mostly(is_json, self.values(column)) for column in self.header)

    @cached_property
    def filled_rows(self) -> list[Cells]:
        """The rows that are not empty."""
        return [row for row in self.rows if any(map(str.strip, row))]

    def values(self, column: str) -> list[str]:
        """The cells of a column that are not empty, trimmed; none if there is no such column."""
        at = self.positions.get(column)
        if at is None:
            return []
        return [cell for row in self.rows if (cell := row[at].strip())]

    def cells(self, column: str) -> list[str]:
        """The cells of a column in rows that are not empty, trimmed."""
        at = self.positions.get(column)
        return [] if at is None else [row[at].strip() for row in self.filled_rows]

    def titles(self, column: str) -> tuple[str, ...]:
        """What a column is called: its name, and its label in a second header row."""
        label = self.wordings.get(column, "")
        return (column, label) if label and label != column else (column,)

    def samples(self, column: str) -> list[str]:
        """Its first different values, three at most."""
        return list(dict.fromkeys(self.values(column)))[:SAMPLES]

    def named(self, *names: str) -> str:
        """The first of the names, in their order, that a column has; "" if none.

        Case, blanks and signs do not count.
        """
        found = (self.places.get(plain_name(name)) for name in names)
        return next((self.header[at] for at in found if at is not None), "")

    def like(self, *parts: str) -> str:
        """The first column whose name holds one of the parts, such as "prolificid"; "" if none."""
        return next(
            (
                name
                for part in parts
                for name in sorted(self.header)
                if any(part in plain_name(title) for title in self.titles(name))
            ),
            "",
        )


def head_of(given: Readable) -> Head:
    """The beginning of a file. Raises `InputError` for one that cannot be read at all.

    Rows that are crooked are passed over: reading the file to its end reports them.
    """
    table = open_foreign(given, Problems(source_of(given).name))
    is_delimited = source_of(given).suffix not in (".json", ".jsonl", ".ndjson")
    return Head(
        table.name,
        table.header,
        list(_whole(table)),
        table.wordings,
        table.fields,
        table.task,
        is_delimited,
    )


def header_is_missing(head: Head) -> bool:
    """Whether the first row of a file looks like a row of data."""
    return (
        head.is_delimited
        and not head.wordings
        and looks_like_data(head.header, head.rows[:COMPARED])
    )


def _whole(table: ForeignTable) -> Iterator[Cells]:
    return (cells for _, cells in islice(table.rows, PEEKED))


def open_foreign(given: Readable, problems: Problems) -> ForeignTable:
    """A file as a table; bad rows are noted in `problems` while its rows are read.

    Raises `InputError` for a file that cannot be read as a whole.
    """
    source = with_header(given) or source_of(given)
    found = _opened(source, problems)
    if source.is_turned:
        _turn(found)
    else:
        lay_out_trials(found)
    return found


def _turn(table: ForeignTable) -> None:
    """Make a row of each column but the first, whose cells are the names of the columns then.

    The lines of the rows are the numbers of the columns.
    """
    rows = [cells for _, cells in table.rows]
    refuse_columns(table.name, len(rows) + 1)
    people = table.header[1:]
    corner = table.header[0]
    names = [corner if worker_rank(corner) is not None else CORNER]
    table.header = names + [" ".join(clean_name(cells[0]).split()) for cells in rows]
    table.rows = iter(
        [(at + 1, (who, *(cells[at] for cells in rows))) for at, who in enumerate(people, 1)]
    )


def _opened(given: Readable, problems: Problems) -> ForeignTable:
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
    first = list(islice(several, COMPARED))
    # A question over several lines is one line in lists, in ids and in what --map says.
    header = [" ".join(clean_name(name).split()) for name in table.kept_aside]
    is_turned = source_of(given).is_turned
    labels = second_header_rows(header, [cells for _, cells in first] if not is_turned else [])
    rest = chain(first[labels.n_rows :], several)
    found = ForeignTable(
        table.name,
        table.sha256,
        header,
        rest,
        labels.wordings,
        labels.zone,
        table.warnings,
        labels.n_rows,
    )
    if not header:
        raise InputError.from_code(table.name, "no_rows", what="answers")
    return found


def _of_objects(name: str, sha256: str, flat: Flattened, warnings: list[str]) -> ForeignTable:
    header = list(dict.fromkeys(key for _, row in flat.rows for key in row))
    if not header:
        raise InputError.from_code(name, "no_rows_saved")
    refuse_columns(name, len(header))
    cells = ((line, tuple(row.get(key, "") for key in header)) for line, row in flat.rows)
    return ForeignTable(
        name,
        sha256,
        header,
        cells,
        warnings=warnings,
        fields=flat.fields,
        task=flat.task,
        holds_objects=True,
    )


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
