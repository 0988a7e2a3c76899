"""Rows of XLSX workbooks."""

from __future__ import annotations

import datetime
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, BinaryIO

from annotations.exchange.defusing import restored
from annotations.exchange.header import Column, Row, lay_out
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.decoding import OLE, ZIP, empty_file
from annotations.exchange.reading.source import Source

LARGEST = 1 << 30
"""Bytes a workbook may have when unpacked."""

PACKED_AT_MOST = 200
"""How many times smaller than its content a workbook of more than 64 MiB may be."""

LAST_ROW = 1_048_576
BATCH = 1000

_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
# Control characters stand in a workbook as _x000D_, and an underscore that only looks like the
# beginning of such an escape as _x005F_. (openpyxl leaves them so.)
_ESCAPE = re.compile("_x(00[01][0-9A-Fa-f]|005[Ff](?=_x[0-9A-Fa-f]{4}_)|[Ff]{3}[EeFf])_")

Cells = tuple[Any, ...]


def read_workbook(
    source: Source,
    columns: Sequence[Column],
    problems: Problems,
    kept_aside: list[str],
    marks: set[str],
    remarks: list[str],
) -> Iterator[Row]:
    """The data rows of a workbook's first sheet, with their row numbers.

    The header is the first row that is not empty; empty rows are skipped; cells without a header
    are left out. Values are those that the spreadsheet stored: whole numbers without ".0", dates
    in ISO 8601, TRUE and FALSE. A formula without a stored value and an error value in a wanted
    column are noted in `problems`. `remarks` receives a sentence if there are further sheets.
    Raises `InputError` for a file that is no workbook, one with a password, the old .xls, one
    that would unpack to an absurd size, an empty sheet, and a header that will not do.
    """
    damaged = InputError.single(
        source.name,
        "this is no XLSX workbook, or a damaged one",
        "Open it in a spreadsheet and save it anew as .xlsx, or export it as CSV.",
    )
    with ExitStack() as stack:
        handle = stack.enter_context(source.open())
        try:
            sheet = _sheet_rows(handle, source.name, stack, remarks)
            yield from _rows(sheet, source.name, columns, problems, kept_aside, marks)
        except InputError:
            raise
        # The parts of a broken workbook break openpyxl in more ways than can be listed here.
        except Exception as error:
            raise damaged from error


def _sheet_rows(
    handle: BinaryIO, name: str, stack: ExitStack, remarks: list[str]
) -> Iterator[tuple[Cells, Cells]]:
    """Each row's cells as calculated and as entered (the same ones if there is no formula)."""
    has_formulas = _inspected(handle, name)
    sheets = _worksheets(handle, stack, calculated=True)
    if not sheets:
        raise InputError.single(name, "the workbook has no worksheet", "Put the answers in one.")
    if len(sheets) > 1:
        remarks.append(
            f"{name} has {len(sheets)} sheets; only the first, {sheets[0].title}, was read."
        )
    calculated = _quietly(sheets[0].iter_rows())
    if not has_formulas:
        return ((cells, cells) for cells in calculated)
    entered = _quietly(_worksheets(handle, stack, calculated=False)[0].iter_rows())
    return zip(calculated, entered, strict=True)


def _inspected(handle: BinaryIO, name: str) -> bool:
    """Whether there are formulas. Raises `InputError` for what is no workbook or too large."""
    head = handle.read(8)
    if head == OLE:
        raise InputError.single(
            name,
            "this is an old workbook (.xls) or one with a password",
            "Save it as .xlsx without a password, or export it as CSV.",
        )
    if not head.startswith(ZIP):
        raise InputError.single(
            name,
            "this is no XLSX workbook",
            "If it is text, rename it to end in .csv, .tsv or .jsonl.",
        )
    size = handle.seek(0, 2)
    with zipfile.ZipFile(handle) as archive:
        parts = archive.infolist()
        # zipfile never unpacks more than a part declares, so the declared sizes can be trusted.
        unpacked = sum(part.file_size for part in parts)
        if unpacked > LARGEST or (unpacked > 1 << 26 and unpacked > PACKED_AT_MOST * size):
            raise InputError.single(
                name,
                f"the workbook would unpack to {unpacked:,} bytes",
                "Export it as CSV.",
            )
        if any(part.flag_bits & 1 for part in parts):
            raise InputError.single(name, "the file has a password", "Save it without one.")
        return any(
            _has_formula(archive, part)
            for part in parts
            if part.filename.startswith("xl/worksheets/") and part.filename.endswith(".xml")
        )


def _has_formula(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    tail = b""
    with archive.open(part) as xml:
        while block := xml.read(1 << 20):
            if _FORMULA.search(tail + block):
                return True
            tail = block[-64:]
    return False


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


def _quietly(rows: Iterator[Cells]) -> Iterator[Cells]:
    # openpyxl warns of what it does not support (validation, formatting), to nobody's use. The
    # filter is the whole process's: it must not stay set while a consumer works on a row.
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            batch = list(islice(rows, BATCH))
        if not batch:
            return
        yield from batch


def _rows(
    sheet: Iterator[tuple[Cells, Cells]],
    name: str,
    columns: Sequence[Column],
    problems: Problems,
    kept_aside: list[str],
    marks: set[str],
) -> Iterator[Row]:
    layout = None
    for number, (cells, entered) in enumerate(sheet, 1):
        if number > LAST_ROW:
            raise InputError.single(
                name, f"there are rows beyond {LAST_ROW:,}", "Export the sheet as CSV."
            )
        texts = [_text(cell.value) for cell in cells]
        if not any(text.strip() for text in texts) and not any(map(_is_uncomputed, cells, entered)):
            continue
        if layout is None:
            layout = lay_out(texts, columns, name, number)
            kept_aside.extend(other for _, other in layout.others)
            marks.update(layout.marks)
            continue
        if layout.is_defused:
            texts = [restored(text) for text in texts]
        sound = True
        for position, column in zip(layout.wanted, columns, strict=True):
            if position is not None and position < len(cells):
                reason = _fault(cells[position], entered[position], texts[position])
                if reason:
                    sound = False
                    problems.add(number, column.key, *reason)
        if sound:
            yield (
                number,
                _picked(texts, layout.wanted),
                _picked(texts, [i for i, _ in layout.others]),
            )
    if layout is None:
        raise empty_file(name)


def _is_uncomputed(cell: Any, entered: Any) -> bool:
    # A formula whose value is the empty string is stored with the type "str" and no value.
    return entered.data_type == "f" and cell.value is None and cell.data_type != "str"


def _fault(cell: Any, entered: Any, text: str) -> tuple[str, str] | None:
    if _is_uncomputed(cell, entered):
        return (
            "the cell holds a formula without a stored value",
            "Open and save the workbook in a spreadsheet, or paste the values.",
        )
    if cell.data_type == "e":
        return f"the cell holds the error {text}", "Mend the formula, or type the value."
    if "\0" in text:
        return "there is a NUL character, which no text holds", "Remove it."
    return None


def _picked(texts: list[str], positions: Sequence[int | None]) -> tuple[str, ...]:
    width = len(texts)
    return tuple("" if i is None or i >= width else texts[i] for i in positions)


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
