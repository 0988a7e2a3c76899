"""The rows of a workbook's sheet, unpacked within bounds; also in a process of its own.

``python -m annotations.exchange.reading.unpacking SECONDS BYTES PART`` unpacks the workbook that is
its standard input and prints what `unpacked` yields, a line of JSON each; PART is `Part` as JSON.
It ends at that processor time and at that much memory, see `bounded_process`: a few kilobytes of a
workbook can ask for minutes.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, BinaryIO

from annotations.exchange.reading.blank_cells import without_blank_cells
from annotations.exchange.reading.bounded_process import Bounds, serve
from annotations.exchange.reading.sheet_parts import TooMuchError, blocks, count

MOST_COLUMNS = 4_096
MOST_SHEETS = 100
"""Sheets of which the first rows are read."""
LONGEST_NUMBER = 5
MOST_IN_A_ROW = 16_384
"""Cells that a spreadsheet can have in a row."""
MOST_CELLS = 50_000_000
MOST_STRINGS = 2_000_000
LAST_ROW = 1_048_576
BATCH = 1000
# Rows without a cell before the header; a sheet that begins lower was made by no person.
EMPTY_BEFORE = 10_000

FORMULA = re.compile(rb"<(?:[^<>\s/:]+:)?f[\s/>]")
ROW = re.compile(rb"<(?:[^<>\s/:]+:)?row[\s/>]")
CELL = re.compile(rb"<(?:[^<>\s/:]+:)?c[\s/>]")
SHORTEST_ROW = MOST_IN_A_ROW * len(b"<c/>")
"""Bytes of a row with so many cells; shorter ones need not be counted."""
STRING = re.compile(rb"<(?:[^<>\s/:]+:)?si[\s/>]")
# Control characters stand in a workbook as _x000D_, and an underscore that only looks like the
# beginning of such an escape as _x005F_. (openpyxl leaves them so.)
_ESCAPE = re.compile("_x(00[01][0-9A-Fa-f]|005[Ff](?=_x[0-9A-Fa-f]{4}_)|[Ff]{3}[EeFf])_")

Cells = tuple[Any, ...]


@dataclass(slots=True)
class SheetRow:
    """A row that is not empty.

    `number` counts from 1. `texts` are its cells as text, at most as many as the first such row
    has. `uncomputed` are the positions of formulas without a stored value, `errors` those of error
    values.
    """

    number: int
    texts: list[str]
    uncomputed: list[int] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """What is read of a workbook.

    `sheet` is its name or its number from 1, "" for the first; `header_row` the number of the row
    with the header, 0 for the first that is not empty. With `first_rows` only so many rows of each
    sheet are read, from its first on.
    """

    sheet: str = ""
    header_row: int = 0
    first_rows: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """The sheet that is read, None where it is not there, and the names of all of them."""

    title: str | None
    titles: list[str]


def unpacked(handle: BinaryIO, part: Part | None = None) -> Iterator[Sheet | SheetRow]:
    """Yield the sheet, then its rows that are not empty, from the header on.

    Raises `TooMuchError`: a header of more than 4,096 cells, more than 16,384 cells in a row, more
    than 50 million cells, more than 2 million strings, rows beyond the last that a sheet can have.
    Any other exception: the workbook is damaged.
    """
    has_formulas = _inspected(handle)
    with ExitStack() as stack:
        part = part or Part()
        handle = stack.enter_context(without_blank_cells(handle))
        sheets = _worksheets(handle, stack, calculated=True)
        titles = [sheet.title for sheet in sheets]
        if part.first_rows:
            for sheet in sheets[:MOST_SHEETS]:
                yield Sheet(sheet.title, titles)
                yield from _first_rows(sheet, part.first_rows)
            return
        at = _place(part.sheet, titles)
        yield Sheet(None if at is None else titles[at], titles)
        if at is None:
            return
        entered = _worksheets(handle, stack, calculated=False)[at] if has_formulas else None
        width, skipped = _header(sheets[at], entered, part.header_row)
        if width:
            yield from _rows(sheets[at], entered, width, skipped)


def _place(sheet: str, titles: Sequence[str]) -> int | None:
    """Return the position of a sheet that is named, in any case, or numbered from 1."""
    if not sheet:
        return 0 if titles else None
    folded = [title.strip().casefold() for title in titles]
    if sheet.strip().casefold() in folded:
        return folded.index(sheet.strip().casefold())
    number = int(sheet) if sheet.isdecimal() and len(sheet) < LONGEST_NUMBER else 0
    return number - 1 if 1 <= number <= len(titles) else None


def _first_rows(sheet: Any, n_rows: int) -> Iterator[SheetRow]:
    """Yield the first rows of a sheet that are not empty, as far as they are text."""
    rows = _quietly(sheet.iter_rows(max_row=n_rows, max_col=MOST_COLUMNS), n_rows)
    for number, cells in enumerate(rows, 1):
        texts = [_text(cell.value) for cell in cells]
        while texts and not texts[-1].strip():
            texts.pop()
        if texts:
            yield SheetRow(number, texts)


def _inspected(handle: BinaryIO) -> bool:
    """Whether there are formulas; raises `TooMuchError` for too many strings, or cells in a row."""
    formulas = False
    with zipfile.ZipFile(handle) as archive:
        for part in archive.infolist():
            if not part.filename.endswith(".xml"):
                continue
            if part.filename.startswith("xl/worksheets/"):
                _refuse_wide_rows(archive, part)
                formulas = count(archive, part, FORMULA, 1) > 0 or formulas
            # A program may call its table of strings as it likes, so all other parts are counted.
            elif count(archive, part, STRING, MOST_STRINGS + 1) > MOST_STRINGS:
                raise TooMuchError(f"there are more than {MOST_STRINGS:,} texts in its table")
    return formulas


def _refuse_wide_rows(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Raise `TooMuchError` for a row with more cells than a sheet can have.

    openpyxl makes all cells of a row before it gives one, so such a row is counted beforehand.
    """
    n, tail = 0, b""
    for block in blocks(archive, part):
        text = tail + block
        # A tag that is not complete yet is looked for with what follows.
        cut = text.rfind(b"<", max(0, len(text) - 128))
        text, tail = (text, b"") if cut < 0 else (text[:cut], text[cut:])
        edges = [0, *(found.start() for found in ROW.finditer(text)), len(text)]
        for at, (first, last) in enumerate(pairwise(edges), 1):
            if at > 1:
                n = 0
            if n or at == len(edges) - 1 or last - first >= SHORTEST_ROW:
                n += len(CELL.findall(text, first, last))
            if n > MOST_IN_A_ROW:
                raise TooMuchError(f"it has more than {MOST_IN_A_ROW:,} cells in a row")


def _worksheets(handle: BinaryIO, stack: ExitStack, *, calculated: bool) -> list[Any]:
    import openpyxl  # costs a third of a second, which readers of CSV need not wait for

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(
            handle, read_only=True, data_only=calculated, keep_links=False
        )
    stack.callback(book.close)
    sheets = list(book.worksheets)
    for sheet in sheets:
        # Some programs write a wrong extent, and rows beyond it would be lost.
        sheet.reset_dimensions()
    return sheets


def _header(sheet: Any, entered: Any, header_row: int) -> tuple[int, int]:
    """The number of cells of the header, and the number of rows before it.

    The header is the first row from `header_row` on that is not empty.
    """
    first = max(header_row, 1)
    # One more than may be there, so that a row that is too wide shows; openpyxl fills rows up.
    pairs = _pairs(sheet, entered, first, MOST_COLUMNS + 1, 1)
    for before, (cells, typed) in enumerate(pairs, first - 1):
        if before >= EMPTY_BEFORE + header_row:
            raise TooMuchError(f"its first {EMPTY_BEFORE:,} rows are empty")
        filled = [i for i, cell in enumerate(typed, 1) if cell.value is not None]
        if any(typed[i - 1].data_type == "f" or _text(cells[i - 1].value).strip() for i in filled):
            if filled[-1] > MOST_COLUMNS:
                raise TooMuchError(f"it has more than {MOST_COLUMNS:,} columns")
            return filled[-1], before
    return 0, 0


def _rows(sheet: Any, entered: Any, width: int, skipped: int) -> Iterator[SheetRow]:
    most = MOST_CELLS // width
    pairs = _pairs(sheet, entered, skipped + 1, width, BATCH)
    for number, (cells, typed) in enumerate(pairs, skipped + 1):
        if number > LAST_ROW:
            raise TooMuchError(f"there are rows beyond {LAST_ROW:,}")
        if number - skipped > most:
            raise TooMuchError(f"it has more than {MOST_CELLS:,} cells")
        texts = [_text(cell.value) for cell in cells]
        uncomputed = [
            i
            for i, (cell, formula) in enumerate(zip(cells, typed, strict=True))
            if _is_uncomputed(cell, formula)
        ]
        if uncomputed or any(text.strip() for text in texts):
            errors = [i for i, cell in enumerate(cells) if cell.data_type == "e"]
            yield SheetRow(number, texts, uncomputed, errors)


def _pairs(
    sheet: Any, entered: Any, first: int, width: int, batch: int
) -> Iterator[tuple[Cells, Cells]]:
    """Each row's cells as calculated and as entered (the same ones if there is no formula)."""
    calculated = _quietly(sheet.iter_rows(min_row=first, max_col=width), batch)
    if entered is None:
        return ((cells, cells) for cells in calculated)
    formulas = _quietly(entered.iter_rows(min_row=first, max_col=width), batch)
    return zip(calculated, formulas, strict=True)


def _quietly(rows: Iterator[Cells], batch: int) -> Iterator[Cells]:
    # openpyxl warns of what it does not support (validation, formatting), to nobody's use. The
    # filter is the whole process's: it must not stay set while a consumer works on a row.
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = list(islice(rows, batch))
        if not read:
            return
        yield from read


def _is_uncomputed(cell: Any, entered: Any) -> bool:
    # A formula whose value is the empty string is stored with the type "str" and no value.
    return bool(entered.data_type == "f" and cell.value is None and cell.data_type != "str")


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()  # a sheet has no type for a day without a time
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def main(bounds: Bounds, part: Part) -> None:
    """Unpack standard input within bounds, and print what comes."""
    serve(bounds, map(_printed, unpacked(sys.stdin.buffer, part)))


def _printed(one: Sheet | SheetRow) -> str:
    if isinstance(one, Sheet):
        return json.dumps([one.title, one.titles])
    return json.dumps([one.number, one.texts, one.uncomputed, one.errors])


if __name__ == "__main__":
    main(Bounds(int(sys.argv[1]), int(sys.argv[2])), Part(*json.loads(sys.argv[3])))
