"""Write tables as CSV, TSV, JSON Lines or XLSX, in pieces, without holding a whole file.

CSV, TSV and XLSX are defused, and marked so by their last column (see `defusing`); JSON Lines is
raw. Reading such a file returns every text exactly.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotations.exchange.defusing import MARK, defuse_cell, defuse_text
from annotations.exchange.problems import InputError
from annotations.exchange.writing.folder import OutputFolder
from annotations.exchange.writing.sheet import write_xlsx

PIECE = 1 << 16
"""Characters that are collected before a piece is yielded."""

BOM = "\ufeff"
LONGEST_CELL = csv.field_size_limit()
"""Most characters in a cell that Python's CSV reader accepts."""

Rows = Iterable[Sequence[object]]


@dataclass(frozen=True)
class Table:
    """A table to write: column names, and rows that are iterated while they are written."""

    header: tuple[str, ...]
    rows: Rows


def write_csv(header: Sequence[str], rows: Rows) -> Iterator[bytes]:
    """Yield the bytes of a table as CSV in UTF-8 with a byte order mark, lines ending in CR LF."""
    return _write_delimited(header, rows, ",")


def write_tsv(header: Sequence[str], rows: Rows) -> Iterator[bytes]:
    """Yield the bytes of a table as TSV in UTF-8 with a byte order mark, lines ending in CR LF."""
    return _write_delimited(header, rows, "\t")


def write_panel_csv(header: Sequence[str], rows: Rows) -> Iterator[bytes]:
    """Yield the bytes of a table as CSV for a panel, its texts safe against formulas."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([defuse_cell(cell) for cell in row])
        if buffer.tell() >= PIECE:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def write_lines(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield each text as a line in UTF-8, made safe against spreadsheet formulas."""
    for line in lines:
        yield f"{defuse_text(line)}\n".encode()


def write_jsonl(header: Sequence[str], rows: Rows) -> Iterator[bytes]:
    """Yield the bytes of a table as JSON Lines in UTF-8, one object per row, texts unchanged."""
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
    piece, size = [], 0
    for row in rows:
        line = encode(dict(zip(header, row, strict=True)))
        # The escape may also be two characters of a text: the check of the cells decides.
        if "\\u0000" in line:
            _refuse_nul_character(header, row)
        piece.append(line)
        size += len(line)
        if size >= PIECE:
            yield ("\n".join(piece) + "\n").encode()
            piece, size = [], 0
    if piece:
        yield ("\n".join(piece) + "\n").encode()


def _write_delimited(header: Sequence[str], rows: Rows, delimiter: str) -> Iterator[bytes]:
    """Yield the bytes of a table as CSV or TSV; `InputError` for a cell that cannot be written."""
    buffer = io.StringIO(newline="")
    # With this line end csv quotes \r and \n alike, so that both come back as they were.
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\r\n")
    buffer.write(BOM)
    writer.writerow([*(defuse_cell(name) for name in header), MARK])
    for row in rows:
        cells = [defuse_cell(cell) for cell in row]
        for cell in cells:
            if isinstance(cell, str) and (len(cell) > LONGEST_CELL or "\0" in cell):
                _refuse_nul_character(header, row)
                _refuse_long_text(header, row, LONGEST_CELL)
        # The last cell is that of the mark's column, which only its heading fills.
        writer.writerow([*cells, ""])
        if buffer.tell() >= PIECE:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def _write_xlsx(header: Sequence[str], rows: Rows) -> Iterator[bytes]:
    """Yield the bytes of a table as a workbook, its texts safe against spreadsheet formulas."""
    return write_xlsx(build_sheet_rows(header, rows))


def build_sheet_rows(header: Sequence[str], rows: Rows) -> Iterator[Sequence[object]]:
    """Yield the header and the rows of a sheet, their texts safe against formulas."""
    yield [*(defuse_cell(name) for name in header), MARK]
    for row in rows:
        texts = [cell for cell in row if isinstance(cell, str)]
        # XML has no NUL, not even as an escape.
        if any("\0" in text for text in texts):
            _refuse_nul_character(header, row)
        yield [*(defuse_cell(cell) for cell in row), ""]


FORMATS: dict[str, Callable[[Sequence[str], Rows], Iterator[bytes]]] = {
    "csv": write_csv,
    "tsv": write_tsv,
    "jsonl": write_jsonl,
    "xlsx": _write_xlsx,
}
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "zip": "application/zip",
    "txt": "text/plain; charset=utf-8",
}


def find_format(path: Path, given: str | None = None) -> str:
    """Return the format `given` by name, or else that of the file name's ending.

    Raises `InputError` for an ending that is none of them.
    """
    kind = given or path.suffix.lower().lstrip(".")
    kind = {"ndjson": "jsonl"}.get(kind, kind)
    if kind not in FORMATS:
        raise InputError.from_code(
            path.name,
            "ending_not_writable",
            ending=path.suffix or "(none)",
            endings=", ".join("." + name for name in FORMATS),
        )
    return kind


def write_table(path: Path, kind: str, header: Sequence[str], rows: Rows) -> int:
    """Write a table to a file that appears complete or not at all; return its size in bytes.

    Raises `InputError` if the folder cannot be written to, or the format cannot hold a cell.
    """
    return write_chunks(path, FORMATS[kind](header, rows))


def write_chunks(path: Path, chunks: Iterable[bytes]) -> int:
    """Write bytes to a file that appears complete or not at all; return its size in bytes."""
    size = 0
    with OutputFolder(path.parent) as folder:
        try:
            file = folder.open(path.name)
        except ValueError as error:
            raise InputError.from_code(str(path), "file_name_unusable", error=str(error)) from error
        for chunk in chunks:
            file.write(chunk)
            size += len(chunk)
    return size


def _refuse_nul_character(header: Sequence[str], row: Sequence[object]) -> None:
    """Raise `InputError`, naming the cell, if a text of the row contains a NUL character."""
    for name, cell in zip(header, row, strict=True):
        if isinstance(cell, str) and "\0" in cell:
            raise InputError.from_code(
                "export", "nul_in_export", name=name, place=_describe_row(header, row)
            )


def _refuse_long_text(header: Sequence[str], row: Sequence[object], longest: int) -> None:
    """Raise `InputError`, naming the cell, if a text of the row is too long for the format."""
    for name, cell in zip(header, row, strict=True):
        if isinstance(cell, str) and len(cell) >= longest:
            raise InputError.from_code(
                "export",
                "export_cell_long",
                name=name,
                place=_describe_row(header, row),
                size=len(cell),
                most=longest,
            )


def _describe_row(header: Sequence[str], row: Sequence[object]) -> str:
    """Return the names and values of a row's first two cells, which identify it in messages."""
    return ", ".join(
        f"{name} {str(cell)[:60]}" for name, cell in list(zip(header, row, strict=True))[:2] if cell
    )
