"""Read a file of any other tool as a header and rows, before its columns are mapped.

CSV, TSV and XLSX come through `reading.tables`; JSON and JSON Lines hold objects, of which nested
ones are laid flat as Label Studio and Potato write them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

from annotations.exchange.column_names import normalise_name
from annotations.exchange.header import CORNER, clean_column_name, refuse_too_many_columns
from annotations.exchange.ids import is_blank
from annotations.exchange.presets.cells import holds_for_most, is_json
from annotations.exchange.presets.experiments import add_psiturk_header, add_trial_columns
from annotations.exchange.presets.header_rows import find_second_header, looks_like_data
from annotations.exchange.presets.known_names import rank_worker_name
from annotations.exchange.presets.literals import MISSING, parse_literal
from annotations.exchange.presets.tools import (
    FlatRows,
    flatten_document,
    flatten_objects,
    is_tool_record,
)
from annotations.exchange.problems import InputError, Problem, Problems
from annotations.exchange.reading.json_document import (
    READ_HERE,
    JsonObject,
    read_json_here,
    read_values_in_process,
)
from annotations.exchange.reading.mturk_columns import MAY_LACK
from annotations.exchange.reading.nested_records import parse_cell
from annotations.exchange.reading.source import Readable, Source, make_source
from annotations.exchange.reading.tables import open_table
from annotations.exchange.reading.workbook import Faults

PEEKED = 200
COMPARED = 40
"""Rows that are compared to distinguish header rows from rows of data."""
SAMPLES = 3
LONGEST_LINE = 1 << 20
"""Bytes of a first line that is tried as JSON."""
OWN = frozenset({"worker", "question", "answer"})
OF_OBJECTS = (".json", ".jsonl", ".ndjson")
MOST_VALUES_LAID_FLAT = 4_000_000
"""Values of a document of answers: a table of 400,000 rows and nine columns."""
LAYING_FLAT = "annotations.exchange.presets.laying_flat"
"""The module that lays a large file flat in a process of its own."""

Cells = tuple[str, ...]


@dataclass(slots=True)
class ForeignTable:
    """Header and rows of another tool's file; the rows can be iterated only once.

    `wordings` are the questions by their columns, where a second header row of the file has them,
    and `zone` the time zone that it names. `n_labels` is the number of header rows under the first.
    `fields` are the columns that annotators filled in and `task` those of what they were shown,
    where the file distinguishes them. `warnings` are sentences for people. With `holds_objects` the
    rows come from JSON, so that a cell of JSON is a list or an object of the file, and no text.
    `faults` are as in `OpenTable`.
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
    faults: Faults = field(default_factory=dict)

    def record_faults(self, problems: Problems, line: int, places: dict[str, int]) -> bool:
        """Record each cell of a row in these columns that has an error or no value; return if any.

        Such are formulas of a workbook that was never opened in a spreadsheet.
        """
        # A row's faults are there when it was read, and are not needed after it.
        faults = self.faults.pop(line, {})
        names = [name for name, place in places.items() if place in faults]
        for name in names:
            code, text = faults[places[name]]
            problems.add_code(line, name, code, text=text)
        return bool(names)


@dataclass(frozen=True)
class Head:
    """Beginning of a file (header and up to 200 rows), from which its kind is recognised.

    `is_delimited` states that the names are a row of the file and no keys of objects; `fields` and
    `task` are as in `ForeignTable`. `n_problems` counts the malformed rows that are left out.
    """

    name: str
    header: list[str]
    rows: list[Cells]
    wordings: dict[str, str]
    fields: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    is_delimited: bool = False
    n_problems: int = 0

    @cached_property
    def positions(self) -> dict[str, int]:
        """Position of each column by its name; of equal names, the first one's."""
        # Reversed, because the last of equal keys remains in a dict.
        return {name: at for at, name in reversed(list(enumerate(self.header)))}

    @cached_property
    def places(self) -> dict[str, int]:
        """Position of each column by its normalised name (`column_names.normalise_name`).

        A label of a second header row is a name too, unless a column has that name.
        """
        found: dict[str, int] = {}
        for at, name in enumerate(self.header):
            found.setdefault(normalise_name(name), at)
        for name, label in self.wordings.items():
            if name in self.positions:
                found.setdefault(normalise_name(label), self.positions[name])
        return found

    @cached_property
    def holds_json(self) -> bool:
        """Whether any column holds JSON lists or objects."""
        return bool(self.list_json_columns())

    def list_json_columns(self) -> list[str]:
        """Return the names of the columns whose cells are JSON lists or objects."""
        return [
            column for column in self.header if holds_for_most(is_json, self.get_values(column))
        ]

    @cached_property
    def filled_rows(self) -> list[Cells]:
        """The rows that have at least one non-empty cell."""
        return [row for row in self.rows if any(map(str.strip, row))]

    def get_values(self, column: str) -> list[str]:
        """Return the non-empty cells of a column, trimmed; [] if there is no such column."""
        at = self.positions.get(column)
        if at is None:
            return []
        return [cell for row in self.rows if (cell := row[at].strip())]

    def get_cells(self, column: str) -> list[str]:
        """Return the trimmed cells of a column, also empty ones, in rows that are not empty."""
        at = self.positions.get(column)
        return [] if at is None else [row[at].strip() for row in self.filled_rows]

    def get_titles(self, column: str) -> tuple[str, ...]:
        """Return a column's name and, if there is one, its label in a second header row."""
        label = self.wordings.get(column, "")
        return (column, label) if label and label != column else (column,)

    def get_samples(self, column: str, cell: Callable[[str], str] = str) -> list[str]:
        """Return the first different values of a column as `cell` reads them, at most three."""
        values = (cell(value).strip() for value in self.get_values(column))
        return list(dict.fromkeys(value for value in values if not is_blank(value)))[:SAMPLES]

    def find_column(self, *names: str) -> str:
        """Return the first column that has one of these names; "" if none has.

        Case, blanks and signs do not count.
        """
        found = (self.places.get(normalise_name(name)) for name in names)
        return next((self.header[at] for at in found if at is not None), "")

    def find_similar_column(self, *parts: str) -> str:
        """Return the first column whose title contains one of the parts; "" if none."""
        return next(
            (
                name
                for part in parts
                # Sorted, so that the result does not depend on the order of the columns.
                for name in sorted(self.header)
                if any(part in normalise_name(title) for title in self.get_titles(name))
            ),
            "",
        )


def read_head(given: Readable) -> Head:
    """Return the beginning of a file: its header and up to 200 rows.

    Malformed rows are skipped here; reading the whole file reports them.
    """
    problems = Problems(make_source(given).name)
    table = open_foreign_table(given, problems)
    rows = list(_iterate_first_rows(table))
    return Head(
        table.name,
        table.header,
        rows,
        table.wordings,
        table.fields,
        table.task,
        not table.holds_objects,
        problems.total,
    )


def is_header_missing(head: Head) -> bool:
    """Return whether a file's first row looks like data, not like a header."""
    return (
        head.is_delimited
        and not head.wordings
        and looks_like_data(head.header, head.rows[:COMPARED])
    )


def _iterate_first_rows(table: ForeignTable) -> Iterator[Cells]:
    """Return an iterator of the cells of a table's first 200 rows."""
    return (cells for _, cells in islice(table.rows, PEEKED))


def open_foreign_table(given: Readable, problems: Problems) -> ForeignTable:
    """Open a file of any tool as a table; bad rows go to `problems` while the rows are read.

    Raises `InputError` for a file that cannot be read as a whole.
    """
    source = convert_to_json_lines(add_psiturk_header(given) or make_source(given))
    table = _open_table(source, problems)
    if source.is_turned:
        _transpose_table(table)
    else:
        add_trial_columns(table)
    return table


def convert_to_json_lines(source: Source) -> Source:
    """Return a .json file whose first two lines are objects as JSON Lines; others unchanged.

    Older exports of doccano are named so.
    """
    if source.suffix != ".json":
        return source
    with source.open() as handle:
        lines = [handle.readline(LONGEST_LINE) for _ in range(2)]
    try:
        are_objects = all(isinstance(json.loads(line), dict) for line in lines)
    except ValueError:
        return source
    return replace(source, name=f"{source.name}l") if are_objects else source


def _transpose_table(table: ForeignTable) -> None:
    """Transpose a table whose columns are people, so that each person becomes a row.

    The lines of the rows are the numbers of the columns.
    """
    # All at once: the first person is complete only with the last row.
    rows = [cells for _, cells in table.rows]
    refuse_too_many_columns(table.name, len(rows) + 1)
    people = table.header[1:]
    corner = table.header[0]
    names = [corner if rank_worker_name(corner) is not None else CORNER]
    table.faults = {}
    table.header = names + [" ".join(clean_column_name(cells[0]).split()) for cells in rows]
    table.rows = iter(
        [(at + 1, (who, *(cells[at] for cells in rows))) for at, who in enumerate(people, 1)]
    )


def _open_table(given: Readable, problems: Problems) -> ForeignTable:
    """Return a file as a table; large files are read in a separate process."""
    source = make_source(given)
    if source.suffix in OF_OBJECTS and source.read_stamp()[0] > READ_HERE:
        return _open_table_in_process(source, problems)
    table = open_table_here(source, problems)
    if table is None:
        return _open_table_in_process(source, problems)
    return table


def _open_table_in_process(source: Source, problems: Problems) -> ForeignTable:
    """Return a large file of objects as a table, read in a separate process with limits."""
    arguments = [source.name, source.sheet, source.header_row, source.names_corner]
    values = read_values_in_process(source, LAYING_FLAT, ["rows", *arguments])
    said = next(values)
    noted = [Problem(**problem) for problem in said["problems"]]
    problems.extend(noted)
    # The process sends the problems that are stored; the others are only counted.
    problems.total += said["total"] - len(noted)
    return ForeignTable(
        source.name,
        said["sha256"],
        said["header"],
        ((line, tuple(cells)) for line, cells in values),
        warnings=said["warnings"],
        fields=tuple(said["fields"]),
        task=tuple(said["task"]),
        holds_objects=True,
    )


def open_table_here(
    source: Source, problems: Problems, *, is_alone: bool = False
) -> ForeignTable | None:
    """Return a file as a table, read in this process; None if it needs a separate one.

    None for a large table with objects of a tool in its cells, which only a process that `is_alone`
    reads.
    """
    given, suffix = source, source.suffix
    if suffix == ".json":
        document = read_json_here(source, MOST_VALUES_LAID_FLAT)
        rows = flatten_document(document.value, document.name)
        return _build_object_table(document.name, document.sha256, rows, list(document.warnings))
    table = open_table(given, (), problems, MAY_LACK)
    if suffix in (".jsonl", ".ndjson"):
        # Keys may differ from line to line: the header is known when all have been read.
        read = [(line, extra) for line, _, extra in table.rows]
        objects = [(line, dict(zip(table.kept_aside, extra, strict=False))) for line, extra in read]
        rows = flatten_document(
            [_build_located_object(line, cells) for line, cells in objects], table.name
        )
        return _build_object_table(table.name, table.sha256, rows, table.warnings)
    several = ((line, extra) for line, _, extra in table.rows)
    first = list(islice(several, COMPARED))
    # A question over several lines is one line in lists, in ids and in what --map says.
    header = [" ".join(clean_column_name(name).split()) for name in table.kept_aside]
    is_turned = make_source(given).is_turned
    labels = find_second_header(header, [cells for _, cells in first] if not is_turned else [])
    rest = chain(first[labels.n_rows :], several)
    foreign_table = ForeignTable(
        table.name,
        table.sha256,
        header,
        rest,
        labels.wordings,
        labels.zone,
        table.warnings,
        labels.n_rows,
        faults=table.faults,
    )
    if not header:
        raise InputError.from_code(table.name, "no_rows", what="answers")
    if is_turned or labels.n_rows:
        return foreign_table
    is_large = not is_alone and source.read_stamp()[0] > READ_HERE
    return _flatten_object_cells(foreign_table, is_large=is_large)


def _flatten_object_cells(table: ForeignTable, *, is_large: bool) -> ForeignTable | None:
    """Return a table with one row per answer, if cells hold a tool's objects; else unchanged.

    None for a large one with such objects.
    """
    plain = set(map(normalise_name, table.header))
    # Our own form has no such cells, and `add_trial_columns` reads those of jsPsych.
    if plain >= OWN or "trialtype" in plain:
        return table
    first = list(islice(table.rows, COMPARED))
    rows = chain(first, table.rows)
    columns = [[cells[at] for _, cells in first] for at in range(len(table.header))]
    kinds = [_holds_objects(column) for column in columns]
    if not any(
        is_tool_record(json_object, table.name)
        for json_object in _iterate_json_rows(table, kinds, first, is_sure=False)
    ):
        table.rows = rows
        return table
    if is_large:
        return None
    flat = flatten_objects(_iterate_json_rows(table, kinds, rows, is_sure=True), table.name)
    return _build_object_table(table.name, table.sha256, flat, table.warnings)


def _holds_objects(cells: Sequence[str]) -> bool | None:
    """Return whether at least half of a column's cells are lists or objects; None if empty."""
    values = [cell for cell in cells if cell.strip() not in MISSING]
    return 2 * sum(map(is_json, values)) >= len(values) if values else None


def _iterate_json_rows(
    table: ForeignTable,
    kinds: Sequence[bool | None],
    rows: Iterable[tuple[int, Cells]],
    *,
    is_sure: bool,
) -> Iterator[JsonObject]:
    """Yield each row as a JSON object, with the lists and objects in its cells parsed.

    Where it `is_sure` that they are a tool's, raises `InputError` for a cell of such a column that
    holds none, as it was cut or damaged.
    """
    for line, cells in rows:
        item = JsonObject(line=line)
        for name, kind, cell in zip(table.header, kinds, cells, strict=True):
            if kind is False:
                item[name] = cell
                continue
            value: Any = parse_literal(cell)
            if value is None and cell.strip() not in MISSING:
                if is_sure and (kind or cell.strip().startswith(("[", "{"))):
                    raise InputError.from_code(
                        table.name, "object_cell_cut", line=line, column=name
                    )
                value = cell
            item[name] = value
        yield item


def _build_object_table(
    name: str, sha256: str, flat: FlatRows, warnings: list[str]
) -> ForeignTable:
    """Return the table of rows that were made from objects."""
    header = list(dict.fromkeys(key for _, row in flat.rows for key in row))
    if not header:
        raise InputError.from_code(name, "no_rows_saved")
    refuse_too_many_columns(name, len(header))
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


def _build_located_object(line: int, cells: dict[str, str]) -> JsonObject:
    """Return a row as a JSON object with its line number."""
    json_object = JsonObject({name: parse_cell(cell) for name, cell in cells.items()})
    json_object.line = line
    return json_object
