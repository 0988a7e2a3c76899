"""What a run of a study found, kept with it as tables and read back as the rows that files have.

    keep_rows(turn, "metrics", MetricRow, found.metrics)      in `turn.fenced()`
    for row in kept_rows(run, "metrics", MetricRow): ...      on pages, in tables, over REST

Rows are named tuples or dataclasses of plain values, also nested and with enums. They are kept in
parts, so that neither writing nor reading needs more than a part at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from pydantic import TypeAdapter

from evaluation.models import Run, RunData
from evaluation.steps.checkpoints import Turn

PREFIX = "found:"
# Rows of a part: some hundred kilobytes where they hold replies.
ROWS = 1000
# A part's number has as many digits, so that names are in the order of writing.
DIGITS = 6

Row = TypeVar("Row")


def keep_rows(turn: Turn, table: str, of: type[Row], rows: Iterable[Row]) -> int:
    """Put a table aside for good, in the place of what it was; call it in `fenced`.

    `table` has at most 30 characters. Returns how many rows there are.
    """
    RunData.objects.filter(run_id=turn.run_id, name__startswith=_prefix(table)).delete()
    adapter, left, n = _adapter(of), iter(rows), 0
    # An empty table has one empty part: it is known to be empty.
    for place in range(10**DIGITS):
        part = list(islice(left, ROWS))
        if place and not part:
            break
        data = adapter.dump_python(part, mode="json")
        RunData.objects.create(run_id=turn.run_id, name=_name(table, place), data=data)
        n += len(part)
    return n


def kept_rows(run: Run, table: str, of: type[Row]) -> Iterator[Row]:
    """Yield the rows of a table in the order of writing; none where it was never kept."""
    adapter = _adapter(of)
    parts = RunData.objects.filter(run=run, name__startswith=_prefix(table)).order_by("name")
    for data in parts.values_list("data", flat=True).iterator(chunk_size=1):
        yield from adapter.validate_python(data)


def _prefix(table: str) -> str:
    return f"{PREFIX}{table}:"


def _name(table: str, place: int) -> str:
    return f"{_prefix(table)}{place:0{DIGITS}}"


def _adapter(of: Any) -> TypeAdapter[Any]:
    return TypeAdapter(list[of])
