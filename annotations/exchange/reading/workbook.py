"""Rows of XLSX workbooks."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import BinaryIO

from annotations.exchange.defusing import restored
from annotations.exchange.header import Column, Layout, Row, lay_out, named_corner
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.bounded_process import Bounds, values_of
from annotations.exchange.reading.decoding import OLE, ZIP, empty_file
from annotations.exchange.reading.sheet_parts import TooMuchError
from annotations.exchange.reading.source import Source
from annotations.exchange.reading.unpacking import Part, Sheet, SheetRow, unpacked

LARGEST = 1 << 30
"""Bytes a workbook may have when unpacked."""

PACKED_AT_MOST = 200
"""How many times smaller than its content a workbook of more than 64 MiB may be."""

UNPACKED_HERE = 1 << 17
"""Up to so many bytes a workbook is unpacked in this process: the worst one takes a second."""

WHOLE = Part()


def read_workbook(
    source: Source,
    columns: Sequence[Column],
    problems: Problems,
    kept_aside: list[str],
    marks: set[str],
    remarks: list[str],
) -> Iterator[Row]:
    """The data rows of a workbook's first sheet, or of that of the source, with their row numbers.

    The header is the first row that is not empty, or that of the source; empty rows are skipped;
    cells without a header are left out. Values are those that the spreadsheet stored: whole numbers
    without ".0", dates in ISO 8601, TRUE and FALSE. A formula without a stored value and an error
    value in a wanted column are noted in `problems`. `remarks` receives a sentence if there are
    further sheets and none was chosen.
    All but small ones are unpacked in a process of its own, whose processor time goes by the size
    of the file. Raises `InputError` for a file that is no workbook, one with a password, the old
    .xls, one that would unpack to an absurd size or holds more than is read, an empty sheet, and a
    header that will not do.
    """
    rows = _unpacked(source, Part(source.sheet, source.header_row))
    yield from _rows(rows, source, columns, problems, kept_aside, marks, remarks)


def first_rows(source: Source, n_rows: int) -> list[tuple[Sheet, list[SheetRow]]]:
    """Return each sheet of a workbook with those of its first rows that are not empty.

    Raises `InputError` as `read_workbook` does.
    """
    found: list[tuple[Sheet, list[SheetRow]]] = []
    for one in _unpacked(source, Part(first_rows=n_rows)):
        if isinstance(one, Sheet):
            found.append((one, []))
        else:
            found[-1][1].append(one)
    return found


def _unpacked(source: Source, part: Part) -> Iterator[Sheet | SheetRow]:
    """Yield a part of a workbook; raises `InputError` for one that cannot be read."""
    with source.open() as handle:
        try:
            if _inspected(handle, source.name) <= UNPACKED_HERE:
                yield from unpacked(handle, part)
            else:
                yield from _unpacked_elsewhere(handle, source.name, part)
        except InputError:
            raise
        except TooMuchError as error:
            raise InputError.from_code(
                source.name, "workbook_too_large", error=str(error)
            ) from error
        # The parts of a broken workbook break openpyxl in more ways than can be listed here.
        except Exception as error:
            raise InputError.from_code(source.name, "workbook_damaged") from error


def _inspected(handle: BinaryIO, name: str) -> int:
    """The bytes it has unpacked. Raises `InputError` for what is no workbook or too large."""
    head = handle.read(8)
    if head == OLE:
        raise InputError.from_code(name, "workbook_old_format")
    if not head.startswith(ZIP):
        raise InputError.from_code(name, "workbook_not_xlsx")
    size = handle.seek(0, 2)
    with zipfile.ZipFile(handle) as archive:
        parts = archive.infolist()
    # zipfile never unpacks more than a part declares, so the declared sizes can be trusted.
    found = sum(part.file_size for part in parts)
    if found > LARGEST or (found > 1 << 26 and found > PACKED_AT_MOST * size):
        raise InputError.from_code(name, "workbook_unpacked_large", n_bytes=found)
    if any(part.flag_bits & 1 for part in parts):
        raise InputError.from_code(name, "workbook_locked")
    return found


def _unpacked_elsewhere(
    handle: BinaryIO, name: str, part: Part = WHOLE
) -> Iterator[Sheet | SheetRow]:
    """What `unpacked` yields, by a process with bounds on its time and its memory."""
    bounds = limits(handle.seek(0, 2))
    arguments = [part.sheet, part.header_row, part.first_rows]
    rows = values_of(handle, name, unpacked.__module__, arguments, bounds)
    with closing(rows):
        for found in rows:
            yield Sheet(*found) if len(found) == 2 else SheetRow(*found)


def limits(size: int) -> Bounds:
    """Return the bounds for a workbook of so many bytes.

    Several times what real ones take on a slow machine: a person pays for time by the length of
    the upload.
    """
    return Bounds(20 + size // 50_000, (1536 << 20) + 10 * size)


def _rows(
    unpacked_rows: Iterator[Sheet | SheetRow],
    source: Source,
    columns: Sequence[Column],
    problems: Problems,
    kept_aside: list[str],
    marks: set[str],
    remarks: list[str],
) -> Iterator[Row]:
    layout: Layout | None = None
    name = source.name
    for row in unpacked_rows:
        if isinstance(row, Sheet):
            _note_sheets(row, source, remarks)
            continue
        if layout is None:
            names = named_corner(row.texts) if source.names_corner else row.texts
            layout = lay_out(names, columns, name, row.number)
            kept_aside.extend(other for _, other in layout.others)
            marks.update(layout.marks)
            continue
        texts = [restored(text) for text in row.texts] if layout.is_defused else row.texts
        sound = True
        for position, column in zip(layout.wanted, columns, strict=True):
            if position is not None and position < len(texts):
                code = _fault(row, position)
                if code:
                    sound = False
                    values = {"text": row.texts[position]} if position in row.errors else {}
                    problems.add_code(row.number, column.key, code, **values)
        if sound:
            yield (
                row.number,
                _picked(texts, layout.wanted),
                _picked(texts, [i for i, _ in layout.others]),
            )
    if layout is None:
        raise empty_file(name)


def _note_sheets(sheet: Sheet, source: Source, remarks: list[str]) -> None:
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


def _fault(row: SheetRow, position: int) -> str:
    """Return the code of what is wrong with a cell; "" if nothing is."""
    if position in row.uncomputed:
        return "formula_without_value"
    if position in row.errors:
        return "cell_with_error"
    return "nul_in_cell" if "\0" in row.texts[position] else ""


def _picked(texts: list[str], positions: Sequence[int | None]) -> tuple[str, ...]:
    width = len(texts)
    return tuple("" if i is None or i >= width else texts[i] for i in positions)
