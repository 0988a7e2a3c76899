"""Numbers that do not exist: an empty cell in a table, and here the reason."""

from __future__ import annotations

import math
from typing import Any

# Rows named for one reason; the others are only counted.
NAMED = 1000


class Undefined:
    """Collects, for each file and column, why cells are empty and which."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], tuple[list[Any], list[int]]] = {}

    def value(self, number: float, file: str, column: str, row: object, reason: str) -> Any:
        """Return the number, or None where it is NaN, noting the reason."""
        if not math.isnan(number):
            return float(number)
        self.note(file, column, row, reason)
        return None

    def note(self, file: str, column: str, row: object, reason: str) -> None:
        """Note that a cell is empty; `row` names it, as its key columns do."""
        rows, count = self._found.setdefault((file, column, reason), ([], [0]))
        count[0] += 1
        if len(rows) < NAMED:
            rows.append(row)

    def as_list(self) -> list[dict[str, Any]]:
        """Return one entry for each file, column and reason: count, and up to 1,000 rows."""
        return [
            {"file": file, "column": column, "reason": reason, "count": count[0], "rows": rows}
            for (file, column, reason), (rows, count) in self._found.items()
        ]
