"""Tables that people open in a spreadsheet, as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotations.exchange.writing.formats import csv_chunks


@dataclass(frozen=True)
class Table:
    """Column names, and rows that are read as they are written."""

    header: tuple[str, ...]
    rows: Iterable[Sequence[object]]


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """Yield a CSV file in pieces: UTF-8, marked as such for spreadsheets; texts are defused.

    The last column is empty and says by its name that they are (`annotations.exchange.defusing`).
    """
    return csv_chunks(header, rows)
