"""Fill cells that a workbook merged downwards, which it stores with a value in the first row only.

A worker's id that spans the rows of the worker's answers is the id of each of them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotations.exchange.reading.sheet_parts import read_part_blocks

MOST = 100_000
"""Merged areas of a sheet that are filled; a sheet with more is read as it is."""
_AREA = re.compile(
    rb'<(?:[^<>\s/:]+:)?mergeCell\s+ref="([A-Z]{1,3})([0-9]{1,7}):[A-Z]{1,3}([0-9]{1,7})"'
)
_OVERLAP = 64
"""Bytes of a block that are searched again with the next one: an area may be cut in two."""


@dataclass(frozen=True, slots=True)
class MergedArea:
    """Merged cells of one column: its position from 0, the first and last row from 1."""

    column: int
    first: int
    last: int


def find_merged_areas(archive: zipfile.ZipFile, part: str) -> list[MergedArea]:
    """Return the merged areas of several rows in a sheet, in the order of their rows.

    Of an area of several columns only the first column is returned. [] without any and with more
    than 100,000.
    """
    areas: dict[MergedArea, None] = {}
    tail = b""
    for block in read_part_blocks(archive, archive.getinfo(part)):
        for letters, first, last in _AREA.findall(tail + block):
            if int(first) < int(last):
                areas[MergedArea(_parse_column_letters(letters), int(first), int(last))] = None
        if len(areas) > MOST:
            return []
        tail = block[-_OVERLAP:]
    return sorted(areas, key=lambda area: area.first)


def _parse_column_letters(letters: bytes) -> int:
    """Return the position of a column from 0 by its letters, such as 26 for AA."""
    position = 0
    for letter in letters:
        position = 26 * position + letter - ord("A") + 1
    return position - 1


class MergedCellFiller:
    """Filler of the merged cells in a sheet's rows; the rows must come in their order."""

    def __init__(self, areas: Iterable[MergedArea]) -> None:
        self._waiting = list(areas)[::-1]
        self._open: list[tuple[MergedArea, str]] = []

    def fill_row(self, number: int, texts: list[str], blank: Sequence[int] = ()) -> None:
        """Fill the empty cells of a row with the values of the merged areas that cover them.

        `blank` are positions that look empty and are not, such as formulas without a value.
        """
        self._open = [(area, text) for area, text in self._open if area.last >= number]
        for area, text in self._open:
            if area.column < len(texts) and area.column not in blank:
                texts[area.column] = texts[area.column] or text
        while self._waiting and self._waiting[-1].first <= number:
            area = self._waiting.pop()
            # A row that was skipped as empty has no value for the rows below it.
            if area.first == number and area.column < len(texts):
                self._open.append((area, texts[area.column]))
