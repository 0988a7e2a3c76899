"""Removes cells that hold nothing from the sheets of a workbook before it is read.

A spreadsheet stores a cell that has a format and no value, often a whole column of them. Reading
one takes as long as reading a value; here regular expressions remove them, block by block.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from annotations.exchange.reading.sheet_parts import blocks, count

MANY = 10_000
"""Blank cells and rows that are worth a copy of the workbook."""

_PREFIX = rb"(?:[^<>\s/:]+:)?"
_ATTRIBUTES = rb'(?:\s+(?!t=)[A-Za-z:]+="[^"<>]*")+\s*'
BLANK_CELL = re.compile(rb"<%bc%b(?:/>|></%bc>)" % (_PREFIX, _ATTRIBUTES, _PREFIX))
"""A cell without a value. One with a type is left: an error without a value is reported."""
_BLANK_ROW = re.compile(rb"<%brow%b(?:/>|>\s{0,100}</%brow>)" % (_PREFIX, _ATTRIBUTES, _PREFIX))
_UNPLACED = re.compile(rb"<%b(?:c|row)(?=[\s/>])(?![^<>]*\sr=)[^<>]*>|<!\[CDATA\[" % _PREFIX)
"""A cell or row that only its neighbours place, or text that may look like a cell."""
_OPEN_ROW = re.compile(rb"<%brow(?:\s[^<>]*)?>\s{0,100}\Z" % _PREFIX)


@contextmanager
def without_blank_cells(handle: BinaryIO) -> Iterator[BinaryIO]:
    """Yield the workbook, or a copy without its blank cells where it has more than 10,000.

    Cells and rows keep their places, because sheets in which not every one says its own are copied
    as they are.
    """
    with zipfile.ZipFile(handle) as archive:
        sheets = [part for part in archive.infolist() if part.filename.startswith("xl/worksheets/")]
        if sum(count(archive, part, BLANK_CELL, MANY + 1) for part in sheets) <= MANY:
            yield handle
            return
        with tempfile.TemporaryFile() as copy:
            with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as written:
                for part in archive.infolist():
                    is_placed = part in sheets and not count(archive, part, _UNPLACED, 1)
                    parts = _filled(archive, part) if is_placed else blocks(archive, part)
                    with written.open(part.filename, "w", force_zip64=True) as out:
                        for block in parts:
                            out.write(block)
            yield cast("BinaryIO", copy)


def _filled(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield a sheet without its blank cells, and without the rows of which nothing is left."""
    begun = before = b""
    for block in blocks(archive, part):
        text = begun + block
        # A tag that is not complete yet waits for what follows.
        cut = text.rfind(b"<", max(0, len(text) - 4_096))
        cut = len(text) if cut < 0 else cut
        text, begun = BLANK_CELL.sub(b"", text[:cut]), text[cut:]
        text = _BLANK_ROW.sub(b"", before + text)
        held = _OPEN_ROW.search(text, max(0, len(text) - 4_096))
        at = len(text) if held is None else held.start()
        yield text[:at]
        before = text[at:]
    yield _BLANK_ROW.sub(b"", before + BLANK_CELL.sub(b"", begun))
