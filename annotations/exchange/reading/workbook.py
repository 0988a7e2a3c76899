"""Read the rows of XLSX workbooks."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import BinaryIO

from annotations.exchange.defusing import restore_text
from annotations.exchange.header import (
    Column,
    ColumnLayout,
    Row,
    fill_empty_headings,
    locate_columns,
)
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.bounded_process import Bounds, run_and_read_values
from annotations.exchange.reading.decoding import OLE, ZIP, build_empty_file_error
from annotations.exchange.reading.sheet_parts import TooMuchError
from annotations.exchange.reading.source import Source
from annotations.exchange.reading.unpacking import Sheet, SheetRow, WorkbookPart, unpack_sheet

LARGEST = 1 << 30
"""Bytes a workbook may have when unpacked."""

PACKED_AT_MOST = 200
"""How many times smaller than its content a workbook of more than 64 MiB may be."""

UNPACKED_HERE = 1 << 17
"""Up to so many bytes a workbook is unpacked in this process: the worst one takes a second."""

WHOLE = WorkbookPart()
SHEET_FIELDS = 3
"""Number of values in a printed line that describes a sheet; a row has another number."""
Faults = dict[int, dict[int, tuple[str, str]]]
"""Problem code and text of cells without a value, by row number and position in the row."""


def read_workbook(
    source: Source,
    columns: Sequence[Column],
    problems: Problems,
    kept_aside: list[str],
    marks: set[str],
    remarks: list[str],
    faults: Faults,
) -> Iterator[Row]:
    """Yield (row number, wanted cells, further cells) of each data row of a workbook's sheet.

    The header is the first row that is not empty, or that of the source; empty rows are skipped;
    cells without a header are left out. Values are those that the spreadsheet stored: whole numbers
    without ".0", dates in ISO 8601, TRUE and FALSE. A formula without a stored value and an error
    value in a wanted column are noted in `problems`, in a further column in `faults`. `remarks`
    receives a sentence if there are
    further sheets and none was chosen. All but small workbooks are unpacked in a process of its
    own, whose limit of processor time grows with the size of the file. Raises `InputError` for a
    file that is no workbook, one with a password, the old .xls, one that would unpack to an absurd
    size or exceeds the limits, an empty sheet, and an invalid header.
    """
    rows = _iterate_sheets_and_rows(source, WorkbookPart(source.sheet, source.header_row))
    yield from _pick_rows(rows, source, columns, problems, kept_aside, marks, remarks, faults)


def read_first_rows(source: Source, n_rows: int) -> list[tuple[Sheet, list[SheetRow]]]:
    """Return each sheet of a workbook with the non-empty ones of its first `n_rows` rows.

    Raises `InputError` as `read_workbook` does.
    """
    sheets: list[tuple[Sheet, list[SheetRow]]] = []
    for part in _iterate_sheets_and_rows(source, WorkbookPart(first_rows=n_rows)):
        if isinstance(part, Sheet):
            sheets.append((part, []))
        else:
            sheets[-1][1].append(part)
    return sheets


def _iterate_sheets_and_rows(source: Source, part: WorkbookPart) -> Iterator[Sheet | SheetRow]:
    """Yield the sheets and rows of a part of a workbook; `InputError` if it cannot be read."""
    with source.open() as handle:
        try:
            if _measure_unpacked_size(handle, source.name) <= UNPACKED_HERE:
                yield from unpack_sheet(handle, part)
            else:
                yield from _unpack_in_process(handle, source.name, part)
        except InputError:
            raise
        except TooMuchError as error:
            raise InputError.from_code(
                source.name, "workbook_too_large", error=str(error)
            ) from error
        # The parts of a broken workbook break openpyxl in more ways than can be listed here.
        except Exception as error:
            raise InputError.from_code(source.name, "workbook_damaged") from error


def _measure_unpacked_size(handle: BinaryIO, name: str) -> int:
    """Return a workbook's unpacked size in bytes; `InputError` if it is none or too large."""
    head = handle.read(8)
    # The old .xls, or a workbook with a password, which is wrapped in the same format.
    if head == OLE:
        raise InputError.from_code(name, "workbook_old_format")
    if not head.startswith(ZIP):
        raise InputError.from_code(name, "workbook_not_xlsx")
    size = handle.seek(0, 2)
    with zipfile.ZipFile(handle) as archive:
        parts = archive.infolist()
    # zipfile never unpacks more than a part declares, so the declared sizes can be trusted.
    unpacked_size = sum(part.file_size for part in parts)
    if unpacked_size > LARGEST or (
        unpacked_size > 1 << 26 and unpacked_size > PACKED_AT_MOST * size
    ):
        raise InputError.from_code(name, "workbook_unpacked_large", n_bytes=unpacked_size)
    # Bit 0 of a part's flags: it is encrypted.
    if any(part.flag_bits & 1 for part in parts):
        raise InputError.from_code(name, "workbook_locked")
    return unpacked_size


def _unpack_in_process(
    handle: BinaryIO, name: str, part: WorkbookPart = WHOLE
) -> Iterator[Sheet | SheetRow]:
    """Run `unpack_sheet` in a process with limits and yield the sheets and rows it prints."""
    bounds = compute_unpacking_bounds(handle.seek(0, 2))
    arguments = [part.sheet, part.header_row, part.first_rows]
    rows = run_and_read_values(handle, name, unpack_sheet.__module__, arguments, bounds)
    # If the consumer stops early, this ends the process now and not when memory is cleaned up.
    with closing(rows):
        for fields in rows:
            yield Sheet(*fields) if len(fields) == SHEET_FIELDS else SheetRow(*fields)


def compute_unpacking_bounds(size: int) -> Bounds:
    """Return the time and memory limits for unpacking a workbook of `size` bytes.

    They are several times what real workbooks take on a slow machine: a longer process needs a
    longer upload.
    """
    return Bounds(20 + size // 50_000, (1536 << 20) + 10 * size)


def _pick_rows(
    unpacked_rows: Iterator[Sheet | SheetRow],
    source: Source,
    columns: Sequence[Column],
    problems: Problems,
    kept_aside: list[str],
    marks: set[str],
    remarks: list[str],
    faults: Faults,
) -> Iterator[Row]:
    """Yield (row number, wanted cells, further cells); rows with bad cells go to `problems`."""
    layout: ColumnLayout | None = None
    name = source.name
    for row in unpacked_rows:
        if isinstance(row, Sheet):
            _check_sheets(row, source, remarks)
            continue
        if layout is None:
            names = fill_empty_headings(row.texts) if source.names_corner else row.texts
            layout = locate_columns(names, columns, name, row.number)
            kept_aside.extend(other for _, other in layout.others)
            marks.update(layout.marks)
            continue
        texts = [restore_text(text) for text in row.texts] if layout.is_defused else row.texts
        sound = True
        for position, column in zip(layout.wanted, columns, strict=True):
            if position is not None and position < len(texts):
                code = _find_cell_fault(row, position)
                if code:
                    sound = False
                    values = {"text": row.texts[position]} if position in row.errors else {}
                    problems.add_code(row.number, column.key, code, **values)
        if sound:
            if row.uncomputed or row.errors:
                faults[row.number] = {
                    place: (code, row.texts[i])
                    for place, (i, _) in enumerate(layout.others)
                    if i < len(texts) and (code := _find_cell_fault(row, i))
                }
            yield (
                row.number,
                _pick_cells(texts, layout.wanted),
                _pick_cells(texts, [i for i, _ in layout.others]),
            )
    if layout is None:
        raise build_empty_file_error(name)


def _check_sheets(sheet: Sheet, source: Source, remarks: list[str]) -> None:
    """Raise `InputError` if the sheet does not exist; add a remark on sheets not read."""
    if not sheet.titles:
        raise InputError.from_code(source.name, "workbook_without_sheet")
    if sheet.title is None:
        listed = ", ".join(sheet.titles[:20])
        raise InputError.from_code(
            source.name, "sheet_unknown", sheet=source.sheet[:60], sheets=listed
        )
    if len(sheet.titles) > 1 and not source.sheet:
        remarks.append(
            f"{source.name} has {len(sheet.titles)} sheets; only the first, {sheet.title}, was "
            "read."
        )


def _find_cell_fault(row: SheetRow, position: int) -> str:
    """Return the problem code of a cell, such as "cell_with_error"; "" if the cell is valid."""
    if position in row.uncomputed:
        return "formula_without_value"
    if position in row.errors:
        return "cell_with_error"
    return "nul_in_cell" if "\0" in row.texts[position] else ""


def _pick_cells(texts: list[str], positions: Sequence[int | None]) -> tuple[str, ...]:
    """Return the cells at these positions; "" if a position is None or beyond the row."""
    width = len(texts)
    return tuple("" if i is None or i >= width else texts[i] for i in positions)
