"""Open a file of any accepted format (CSV, TSV, JSON Lines, XLSX) as a table of text cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from annotations.exchange.header import Column, Row
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.decoding import build_empty_file_error, open_text
from annotations.exchange.reading.delimited import read_delimited
from annotations.exchange.reading.jsonlines import read_jsonlines
from annotations.exchange.reading.source import TABLE_ENDINGS, Readable, make_source
from annotations.exchange.reading.workbook import Faults, read_workbook

ALIKE = {".results": ".tsv"}
"""Endings of tools that write a table under a name of their own, such as Mechanical Turk's."""
OTHERWISE = "Save the answers in one of these formats."
INSTEAD = {
    ".xls": "Save it as .xlsx, or export it as CSV.",
    ".ods": "Save it as .xlsx, or export it as CSV.",
    ".json": "Write JSON Lines: one object a line, in a file that ends in .jsonl.",
    ".gz": "Unpack it first.",
    ".zip": "Unpack it first: of archives, only those of one file in these formats are read.",
    ".txt": "If its cells are parted by commas or tabs, rename it to end in .csv or .tsv.",
}


@dataclass(slots=True)
class OpenTable:
    """A file opened as a table; its rows can be iterated only once.

    `kept_aside` (names of the columns that were not wanted) and `warnings` are complete when the
    rows have been read, `marks` (see `header.MARKS`) with the first one. `encoding` is None for a
    workbook. `faults` are the problem codes of further cells of a workbook without a value, by row
    number and position among these cells; a row's are there when the row is.
    """

    name: str
    sha256: str
    encoding: str | None
    rows: Iterator[Row]
    kept_aside: list[str]
    marks: set[str]
    warnings: list[str]
    faults: Faults = field(default_factory=dict)


def open_table(
    file: Readable,
    columns: Sequence[Column],
    problems: Problems,
    may_lack: Collection[str] = (),
    *,
    bare_quotes: bool = False,
) -> OpenTable:
    """Open a file as a table; the ending of its name, in any case, selects the format.

    `may_lack` names columns that rows of CSV and TSV may end before, if they are the header's last:
    their cells are empty then. With `bare_quotes` a quote in CSV and TSV is an ordinary character.
    Bad rows are noted in `problems` while the rows are read. Raises `InputError`, here or at the
    first row, for a file that cannot be read as a whole.
    """
    origin = make_source(file)
    kind = ALIKE.get(origin.suffix, origin.suffix)
    kept_aside: list[str] = []
    marks: set[str] = set()
    # Before the ending is checked, so that a missing file is reported as missing.
    stamp = origin.read_stamp()
    if kind not in TABLE_ENDINGS:
        raise InputError.from_code(
            origin.name,
            "ending_unknown",
            ending=Path(origin.name).suffix or "(none)",
            accepted=", ".join(TABLE_ENDINGS),
            remedy=INSTEAD.get(kind, OTHERWISE),
        )
    if kind == ".xlsx":
        if stamp[0] == 0:
            raise build_empty_file_error(origin.name)
        remarks: list[str] = []
        faults: Faults = {}
        rows = read_workbook(origin, columns, problems, kept_aside, marks, remarks, faults)
        facts = (kept_aside, marks, remarks, faults)
        return OpenTable(origin.name, origin.compute_digest(), None, rows, *facts)

    source = open_text(origin)
    if kind in (".jsonl", ".ndjson"):
        rows = read_jsonlines(source, columns, problems, kept_aside, marks)
    else:
        delimiter = "\t" if kind == ".tsv" else None
        delimiter_options = (delimiter, frozenset(may_lack))
        rows = read_delimited(
            source,
            columns,
            problems,
            kept_aside,
            marks,
            *delimiter_options,
            bare_quotes=bare_quotes,
            header_row=origin.header_row,
            names_corner=origin.names_corner,
        )
    return OpenTable(
        origin.name,
        source.sha256,
        source.encoding,
        rows,
        kept_aside,
        marks,
        list(source.warnings),
    )
