"""Remove empty cells from the sheets of a workbook, so that it is read faster.

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

from annotations.exchange.reading.sheet_parts import count_matches, read_part_blocks

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
def remove_blank_cells(handle: BinaryIO) -> Iterator[BinaryIO]:
    """Yield the workbook, or a copy without empty cells if it has more than 10,000 of them.

    The other cells keep their addresses: a sheet in which a cell or row has no address of its own
    is copied unchanged.
    """
    with zipfile.ZipFile(handle) as archive:
        sheets = [part for part in archive.infolist() if part.filename.startswith("xl/worksheets/")]
        if sum(count_matches(archive, part, BLANK_CELL, MANY + 1) for part in sheets) <= MANY:
            yield handle
            return
        with tempfile.TemporaryFile() as copy:
            with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new_archive:
                for part in archive.infolist():
                    is_placed = part in sheets and not count_matches(archive, part, _UNPLACED, 1)
                    parts = (
                        _remove_from_sheet(archive, part)
                        if is_placed
                        else read_part_blocks(archive, part)
                    )
                    with new_archive.open(part.filename, "w", force_zip64=True) as out:
                        for block in parts:
                            out.write(block)
            yield cast("BinaryIO", copy)


def _remove_from_sheet(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the XML of a sheet without its empty cells and the rows that become empty."""
    open_tag = open_row = b""
    for block in read_part_blocks(archive, part):
        text = open_tag + block
        # A block may end inside a tag: the unfinished tag is joined to the next block.
        tag_start = text.rfind(b"<", max(0, len(text) - 4_096))
        tag_start = len(text) if tag_start < 0 else tag_start
        text, open_tag = BLANK_CELL.sub(b"", text[:tag_start]), text[tag_start:]
        text = _BLANK_ROW.sub(b"", open_row + text)
        # The last row may have no cell so far: whether it is empty, the next block shows.
        open_row_match = _OPEN_ROW.search(text, max(0, len(text) - 4_096))
        row_start = len(text) if open_row_match is None else open_row_match.start()
        yield text[:row_start]
        open_row = text[row_start:]
    yield _BLANK_ROW.sub(b"", open_row + BLANK_CELL.sub(b"", open_tag))
