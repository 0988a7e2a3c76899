"""Recognise rows of a table that hold no answers: empty ones, totals and notes below the table."""

from __future__ import annotations

from collections.abc import Sequence

from annotations.exchange.ids import is_blank
from annotations.exchange.presets.cells import is_number

NO_WORKER = "rows without a worker and without an answer"
TOTALS = "rows of totals"
NOTES = "rows with only a note in the column of the workers"
TOTAL_NAMES = ("total", "totals", "grand total", "sum", "average", "summe", "gesamt", "итого")
"""Words in the worker column that mark a row of totals below the table."""


def find_stray_row_reason(
    worker: str, texts: Sequence[str], others: Sequence[str], *, are_codes: bool
) -> str:
    """Return why a row has no worker's answers, as a plural noun for a count; "" if it has.

    `texts` are its answers and `others` all its cells but the worker's. If the ids of the workers
    `are_codes` without spaces, a text of several words alone in its row is a note.
    """
    if not worker:
        return "" if any(not is_blank(text) for text in texts) else NO_WORKER
    filled = [cell.strip() for cell in others if not is_blank(cell)]
    if worker.strip(" :.").casefold() in TOTAL_NAMES and all(map(is_number, filled)):
        return TOTALS
    return NOTES if are_codes and not filled and len(worker.split()) > 1 else ""


def are_ids_without_spaces(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Return whether the ids at `place` have no spaces, in rows that also hold other cells."""
    ids = [
        cells[place]
        for cells in rows
        if not all(map(is_blank, (*cells[:place], *cells[place + 1 :])))
    ]
    return len(ids) > 1 and all(len(name.split()) <= 1 for name in ids)
