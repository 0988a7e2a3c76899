"""Cells of CSV files that people open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

# A cell that begins so is run as a formula by one spreadsheet or another (the last three are the
# full-width forms of the first).
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
BOM = "\ufeff"


def defused(cell: object) -> object:
    """Return the cell, with an apostrophe before a text that would be taken for a formula.

    Numbers stay numbers, and None becomes an empty cell.
    """
    if cell is None:
        return ""
    if isinstance(cell, str) and cell.lstrip(" ").startswith(_STARTS):
        return f"'{cell}"
    return cell


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, line: str) -> str:
        """Return the line."""
        return line


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a CSV file line by line, marked as UTF-8 for spreadsheets; texts are defused."""
    writer = csv.writer(_Echo())
    yield BOM + writer.writerow(header)
    for row in rows:
        yield writer.writerow([defused(cell) for cell in row])
