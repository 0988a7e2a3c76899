"""Rows of XLSX workbooks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from annotations.exchange.defusing import restored
from annotations.exchange.header import Column, Layout, Row, lay_out, named_corner
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.decoding import OLE, ZIP, empty_file
from annotations.exchange.reading.source import Source
from annotations.exchange.reading.unpacking import (
    Part,
    Sheet,
    SheetRow,
    TooMuchError,
    unpacked,
)

LARGEST = 1 << 30
"""Bytes a workbook may have when unpacked."""

PACKED_AT_MOST = 200
"""How many times smaller than its content a workbook of more than 64 MiB may be."""

UNPACKED_HERE = 1 << 17
"""Up to so many bytes a workbook is unpacked in this process: the worst one takes a second."""

AT_ONCE = 4
"""Workbooks that a site unpacks at the same time, so that they never take all its threads."""

SECONDS_TO_WAIT = 10.0
"""How long a workbook waits for its turn."""

WHOLE = Part()
_turns = threading.BoundedSemaphore(AT_ONCE)
_ROOT = Path(__file__).resolve().parents[3]


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
    seconds, memory = limits(handle.seek(0, 2))
    written = json.dumps([part.sheet, part.header_row, part.first_rows])
    with _turn(name), _on_disk(handle) as file:
        process = subprocess.Popen(
            [sys.executable, "-m", unpacked.__module__, str(seconds), str(memory), written],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Libraries for arrays, which openpyxl loads, reserve memory for each of their threads.
            env={"PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1", **_places()},
        )
        assert process.stdout is not None
        try:
            ended: Any = None
            for line in process.stdout:
                found = json.loads(line)
                if isinstance(found, dict):
                    ended = found
                elif len(found) == 2:
                    yield Sheet(*found)
                else:
                    yield SheetRow(*found)
        finally:
            process.kill()
            process.stdout.close()
            process.wait()
        if ended is None:
            # -9 and -24 are the kernel's answer to too much time; else the workbook broke it.
            if process.returncode in (-9, -24):
                raise TooMuchError(f"it takes more than {seconds} s")
            raise ValueError("the workbook is damaged")
        if ended:
            raise TooMuchError(ended["too_much"])


def limits(size: int) -> tuple[int, int]:
    """Seconds of processor time and bytes of memory for a workbook of so many bytes.

    Several times what real ones take on a slow machine: a person pays for time by the length of
    the upload.
    """
    return 20 + size // 50_000, (1536 << 20) + 10 * size


def share_turns(processes: int) -> None:
    """Leave to this process its share of `AT_ONCE`, one at least: so many processes serve a site.

    To be called before it reads its first workbook.
    """
    global _turns  # noqa: PLW0603, a bound of this process, as the semaphore is
    _turns = threading.BoundedSemaphore(max(1, AT_ONCE // processes))


@contextmanager
def _turn(name: str) -> Iterator[None]:
    if not _turns.acquire(timeout=SECONDS_TO_WAIT):
        raise InputError.from_code(name, "workbooks_busy")
    try:
        yield
    finally:
        _turns.release()


@contextmanager
def _on_disk(handle: BinaryIO) -> Iterator[IO[bytes]]:
    """The bytes as a file that another process can open, at its beginning."""
    with tempfile.TemporaryFile() as file:
        handle.seek(0)
        shutil.copyfileobj(handle, file)
        file.seek(0)
        yield file


def _places() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


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
