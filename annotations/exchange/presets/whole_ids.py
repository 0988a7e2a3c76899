"""Read ids that a spreadsheet or pandas stored as decimals, such as 101.0 for 101."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

_DECIMAL = re.compile(r"(0|[1-9]\d{0,14})[.,]0")

Cells = Sequence[str]


class WholeIds:
    """Reads the ids of columns in which each id is a whole number with “.0” without that ending.

    `first` are the first rows of a file and `others` reads all of them once more, which is done
    only if the first ones are such ids. `columns` are the positions of the columns of ids, by name.
    Rows that `is_skipped` hold no ids.
    """

    def __init__(
        self,
        columns: dict[str, int],
        first: Iterable[Cells],
        others: Callable[[], Iterable[Cells]],
        is_skipped: Callable[[Cells], bool] = lambda cells: False,
    ) -> None:
        self._names = {position: name for name, position in columns.items()}
        self._read: dict[int, dict[str, str]] = {}
        decimal = self._select(self._names, first, is_skipped)
        if decimal:
            decimal = self._select(decimal, others(), is_skipped)
        self._read = {position: {} for position in decimal}

    @staticmethod
    def _select(
        positions: Iterable[int], rows: Iterable[Cells], is_skipped: Callable[[Cells], bool]
    ) -> list[int]:
        """Return the positions at which there is an id in some row, and no other id in any."""
        left, filled = set(positions), set[int]()
        for cells in rows:
            if not left:
                break
            if is_skipped(cells):
                continue
            for position in list(left):
                if cell := cells[position].strip():
                    filled.add(position)
                    if not _DECIMAL.fullmatch(cell):
                        left.discard(position)
        return sorted(left & filled)

    def read(self, cells: Cells, position: int) -> str:
        """Return the id in a cell of a row, without “.0” if its column holds such ids."""
        cell, typed = cells[position], cells[position].strip()
        if position not in self._read or not _DECIMAL.fullmatch(typed):
            return cell
        return self._read[position].setdefault(typed, typed[:-2])

    @property
    def notes(self) -> list[str]:
        """Return a sentence for each column of ids without “.0”, complete when all were read."""
        sentences = []
        for position, known in self._read.items():
            if known:
                typed, whole = next(iter(known.items()))
                sentences.append(
                    f"Ids of {self._names[position]} that were stored as decimals: {len(known):,}, "
                    f"such as {typed}, read as {whole}"
                )
        return sentences
