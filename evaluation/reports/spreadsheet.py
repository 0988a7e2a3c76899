"""Tables that people open in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Column names, and rows that are read as they are written."""

    header: tuple[str, ...]
    rows: Iterable[Sequence[object]]
