"""Unpack the rows of a workbook's sheet within limits, also as a separate program.

``python -m annotations.exchange.reading.unpacking SECONDS BYTES PART`` unpacks the workbook that is
its standard input and prints what `unpack_sheet` yields, a JSON line each; PART is `WorkbookPart`
as JSON. It ends at that processor time and at that much memory, see `bounded_process`: a few
kilobytes of a workbook can ask for minutes.
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

from annotations.exchange.reading.blank_cells import remove_blank_cells
from annotations.exchange.reading.bounded_process import Bounds, print_within_limits
from annotations.exchange.reading.merged_cells import MergedCellFiller, find_merged_areas
from annotations.exchange.reading.sheet_parts import TooMuchError, count_matches, read_part_blocks

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
# Most empty rows before the header; only a crafted sheet has more.
EMPTY_BEFORE = 10_000

FORMULA = re.compile(rb"<(?:[^<>\s/:]+:)?f[\s/>]")
ROW = re.compile(rb"<(?:[^<>\s/:]+:)?row[\s/>]")
CELL = re.compile(rb"<(?:[^<>\s/:]+:)?c[\s/>]")
SHORTEST_ROW = MOST_IN_A_ROW * len(b"<c/>")
"""Bytes of a row with so many cells; shorter ones need not be counted."""
STRING = re.compile(rb"<(?:[^<>\s/:]+:)?si[\s/>]")
# A workbook writes control characters as _x000D_, and an underscore that only looks like the
# beginning of such an escape as _x005F_. (openpyxl leaves them so.)
_ESCAPE = re.compile("_x(00[01][0-9A-Fa-f]|005[Ff](?=_x[0-9A-Fa-f]{4}_)|[Ff]{3}[EeFf])_")

Cells = tuple[Any, ...]


@dataclass(slots=True)
class SheetRow:
    """One non-empty row of a sheet, with its number and its cells as text.

    `number` counts from 1. `texts` are its cells as text, at most as many as the first such row
    has. `uncomputed` are the positions of formulas without a stored value, `errors` those of error
    values.
    """

    number: int
    texts: list[str]
    uncomputed: list[int] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WorkbookPart:
    """Part of a workbook to read: the sheet, the header row, the number of rows.

    `sheet` is its name or its number from 1, "" for the first; `header_row` the number of the row
    with the header, 0 for the first that is not empty. With `first_rows` only so many rows of each
    sheet are read, from its first on.
    """

    sheet: str = ""
    header_row: int = 0
    first_rows: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """Title of the sheet that is read (None if it does not exist) and titles of all sheets.

    Hidden sheets are the last ones; `is_hidden` says whether this is one.
    """

    title: str | None
    titles: list[str]
    is_hidden: bool = False


def unpack_sheet(handle: BinaryIO, part: WorkbookPart | None = None) -> Iterator[Sheet | SheetRow]:
    """Yield the chosen sheet of a workbook, then its non-empty rows from the header on.

    Raises `TooMuchError`: a header of more than 4,096 cells, more than 16,384 cells in a row, more
    than 50 million cells, more than 2 million strings, rows beyond the last that a sheet can have.
    Any other exception: the workbook is damaged.
    """
    has_formulas = _has_formulas(handle)
    with ExitStack() as stack:
        part = part or WorkbookPart()
        handle = stack.enter_context(remove_blank_cells(handle))
        sheets = _open_worksheets(handle, stack, calculated=True)
        titles = [sheet.title for sheet in sheets]
        if part.first_rows:
            for sheet in sheets[:MOST_SHEETS]:
                yield Sheet(sheet.title, titles, _is_hidden_sheet(sheet))
                yield from _iterate_first_rows(
                    sheet, part.first_rows, _build_merged_cell_filler(handle, sheet)
                )
            return
        sheet_index = _find_sheet_index(part.sheet, titles)
        yield Sheet(None if sheet_index is None else titles[sheet_index], titles)
        if sheet_index is None:
            return
        formula_sheet = (
            _open_worksheets(handle, stack, calculated=False)[sheet_index] if has_formulas else None
        )
        width, skipped = _find_header(sheets[sheet_index], formula_sheet, part.header_row)
        if width:
            merged = _build_merged_cell_filler(handle, sheets[sheet_index])
            yield from _iterate_sheet_rows(
                sheets[sheet_index], formula_sheet, width, skipped, merged
            )


def _find_sheet_index(sheet: str, titles: Sequence[str]) -> int | None:
    """Return the index of a sheet, by name in any case or by number from 1; None if unknown."""
    if not sheet:
        return 0 if titles else None
    folded = [title.strip().casefold() for title in titles]
    if sheet.strip().casefold() in folded:
        return folded.index(sheet.strip().casefold())
    number = int(sheet) if sheet.isdecimal() and len(sheet) < LONGEST_NUMBER else 0
    return number - 1 if 1 <= number <= len(titles) else None


def _build_merged_cell_filler(handle: BinaryIO, sheet: Any) -> MergedCellFiller:
    """Return the filler of the merged cells of a sheet, for its rows in their order."""
    with zipfile.ZipFile(handle) as archive:
        # openpyxl reads no merged cells of a sheet that is too large to be held whole.
        return MergedCellFiller(find_merged_areas(archive, sheet._worksheet_path))


def _iterate_first_rows(sheet: Any, n_rows: int, merged: MergedCellFiller) -> Iterator[SheetRow]:
    """Yield the non-empty rows among the first `n_rows` rows of a sheet."""
    rows = _iterate_without_warnings(sheet.iter_rows(max_row=n_rows, max_col=MOST_COLUMNS), n_rows)
    for number, cells in enumerate(rows, 1):
        texts = [_format_cell(cell.value) for cell in cells]
        if not any(text.strip() for text in texts):
            continue
        merged.fill_row(number, texts)
        while not texts[-1].strip():
            texts.pop()
        yield SheetRow(number, texts)


def _has_formulas(handle: BinaryIO) -> bool:
    """Return whether a workbook has formulas; `TooMuchError` for too many texts or wide rows."""
    formulas = False
    with zipfile.ZipFile(handle) as archive:
        for part in archive.infolist():
            if not part.filename.endswith(".xml"):
                continue
            if part.filename.startswith("xl/worksheets/"):
                _refuse_wide_rows(archive, part)
                formulas = count_matches(archive, part, FORMULA, 1) > 0 or formulas
            # A program may call its table of strings as it likes, so all other parts are counted.
            elif count_matches(archive, part, STRING, MOST_STRINGS + 1) > MOST_STRINGS:
                raise TooMuchError(f"there are more than {MOST_STRINGS:,} texts in its table")
    return formulas


def _refuse_wide_rows(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Raise `TooMuchError` if a row has more cells than a spreadsheet allows.

    openpyxl builds all cells of a row before it returns one, so they are counted beforehand.
    """
    n_cells, tail = 0, b""
    for block in read_part_blocks(archive, part):
        text = tail + block
        # A block may end inside a tag: the unfinished tag is joined to the next block.
        tag_start = text.rfind(b"<", max(0, len(text) - 128))
        text, tail = (text, b"") if tag_start < 0 else (text[:tag_start], text[tag_start:])
        edges = [0, *(match.start() for match in ROW.finditer(text)), len(text)]
        for edge, (first, last) in enumerate(pairwise(edges), 1):
            if edge > 1:
                n_cells = 0
            if n_cells or edge == len(edges) - 1 or last - first >= SHORTEST_ROW:
                n_cells += len(CELL.findall(text, first, last))
            if n_cells > MOST_IN_A_ROW:
                raise TooMuchError(f"it has more than {MOST_IN_A_ROW:,} cells in a row")


def _open_worksheets(handle: BinaryIO, stack: ExitStack, *, calculated: bool) -> list[Any]:
    """Return the sheets of a workbook, with calculated values or with formulas as cells."""
    import openpyxl  # costs a third of a second, which readers of CSV need not wait for

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(
            handle, read_only=True, data_only=calculated, keep_links=False
        )
    stack.callback(book.close)
    # Stable: visible sheets stay in their order, so that the first one is the first that is seen.
    sheets = sorted(book.worksheets, key=_is_hidden_sheet)
    for sheet in sheets:
        # Some programs write a wrong extent, and rows beyond it would be lost.
        sheet.reset_dimensions()
    return sheets


def _is_hidden_sheet(sheet: Any) -> bool:
    """Return whether a sheet is not shown in a spreadsheet."""
    return bool(sheet.sheet_state != "visible")


def _find_header(sheet: Any, formula_sheet: Any, header_row: int) -> tuple[int, int]:
    """Return (number of header cells, number of rows before the header); (0, 0) without one.

    The header is the first row from `header_row` on that is not empty.
    """
    first = max(header_row, 1)
    # One more than may be there, so that a row that is too wide shows; openpyxl fills rows up.
    pairs = _pair_cells(sheet, formula_sheet, first, MOST_COLUMNS + 1, 1)
    for n_before, (cells, formula_cells) in enumerate(pairs, first - 1):
        if n_before >= EMPTY_BEFORE + header_row:
            raise TooMuchError(f"its first {EMPTY_BEFORE:,} rows are empty")
        filled = [i for i, cell in enumerate(formula_cells, 1) if cell.value is not None]
        if any(
            formula_cells[i - 1].data_type == "f" or _format_cell(cells[i - 1].value).strip()
            for i in filled
        ):
            if filled[-1] > MOST_COLUMNS:
                raise TooMuchError(f"it has more than {MOST_COLUMNS:,} columns")
            return filled[-1], n_before
    return 0, 0


def _iterate_sheet_rows(
    sheet: Any, formula_sheet: Any, width: int, skipped: int, merged: MergedCellFiller
) -> Iterator[SheetRow]:
    """Yield the non-empty rows of a sheet; `TooMuchError` for too many cells or rows."""
    # Counted by rows: each row is filled up to the width of the header.
    most = MOST_CELLS // width
    pairs = _pair_cells(sheet, formula_sheet, skipped + 1, width, BATCH)
    for number, (cells, formula_cells) in enumerate(pairs, skipped + 1):
        if number > LAST_ROW:
            raise TooMuchError(f"there are rows beyond {LAST_ROW:,}")
        if number - skipped > most:
            raise TooMuchError(f"it has more than {MOST_CELLS:,} cells")
        texts = [_format_cell(cell.value) for cell in cells]
        uncomputed = [
            i
            for i, (cell, formula) in enumerate(zip(cells, formula_cells, strict=True))
            if _is_uncomputed_formula(cell, formula)
        ]
        if uncomputed or any(text.strip() for text in texts):
            merged.fill_row(number, texts, uncomputed)
            errors = [i for i, cell in enumerate(cells) if cell.data_type == "e"]
            yield SheetRow(number, texts, uncomputed, errors)


def _pair_cells(
    sheet: Any, formula_sheet: Any, first: int, width: int, batch: int
) -> Iterator[tuple[Cells, Cells]]:
    """Yield each row as (calculated cells, formula cells); the same if there are no formulas."""
    calculated = _iterate_without_warnings(sheet.iter_rows(min_row=first, max_col=width), batch)
    if formula_sheet is None:
        return ((cells, cells) for cells in calculated)
    formulas = _iterate_without_warnings(
        formula_sheet.iter_rows(min_row=first, max_col=width), batch
    )
    return zip(calculated, formulas, strict=True)


def _iterate_without_warnings(rows: Iterator[Cells], batch: int) -> Iterator[Cells]:
    """Yield the rows of an openpyxl sheet in batches, suppressing openpyxl's warnings."""
    # openpyxl warns of validation and formatting, which this reader does not need. The filter
    # applies to the whole process: it must not remain set while a consumer works on a row.
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = list(islice(rows, batch))
        if not read:
            return
        yield from read


def _is_uncomputed_formula(cell: Any, formula_cell: Any) -> bool:
    """Return whether a cell is a formula for which the workbook stores no value."""
    # A formula whose value is the empty string is stored with the type "str" and no value.
    return bool(formula_cell.data_type == "f" and cell.value is None and cell.data_type != "str")


def _format_cell(value: object) -> str:
    """Return a cell's value as text: whole numbers without ".0", dates in ISO 8601."""
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


def print_sheet_rows(bounds: Bounds, part: WorkbookPart) -> None:
    """Unpack the workbook on standard input within limits, and print its rows as JSON lines."""
    print_within_limits(bounds, map(_encode_row, unpack_sheet(sys.stdin.buffer, part)))


def _encode_row(part: Sheet | SheetRow) -> str:
    """Return a sheet or a row as one line of JSON, for the process that reads the output."""
    if isinstance(part, Sheet):
        return json.dumps([part.title, part.titles, part.is_hidden])
    return json.dumps([part.number, part.texts, part.uncomputed, part.errors])


if __name__ == "__main__":
    print_sheet_rows(
        Bounds(int(sys.argv[1]), int(sys.argv[2])), WorkbookPart(*json.loads(sys.argv[3]))
    )
