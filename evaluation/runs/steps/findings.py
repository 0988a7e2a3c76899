"""Store the result tables of a study's run in parts, and read them back as typed rows.

    keep_table(turn, METRICS, found.metrics)      in `turn.fenced()`
    for row in read_table(run, METRICS): ...      on pages, in tables, over REST

Rows are named tuples or dataclasses of plain values, also nested and with enums. They are kept in
parts, so that neither writing nor reading needs more than a part at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Q
from pydantic import TypeAdapter

from evaluation.models import Run, RunData
from evaluation.runs.flow.result_tables import ResultTable
from evaluation.runs.steps.checkpoints import Turn

PREFIX = "found:"
# Rows of a part: some hundred kilobytes where they hold replies.
ROWS = 1000
# A part's number has as many digits, so that names are in the order of writing.
DIGITS = 6

RowT = TypeVar("RowT")


def keep_table(turn: Turn, table: ResultTable[RowT], rows: Iterable[RowT]) -> int:
    """Store the rows of a declared table with the run; return the number of rows."""
    return keep_rows(turn, table.name, table.row, rows)


def read_table(run: Run, table: ResultTable[RowT]) -> Iterator[RowT]:
    """Yield the rows of a declared table that are stored with the run."""
    return read_rows(run, table.name, table.row)


def read_tables(run: Run, tables: Iterable[ResultTable[Any]]) -> dict[str, list[Any]]:
    """Return the stored rows of several declared tables by name, in one query."""
    return read_rows_of_tables(run, {table.name: table.row for table in tables})


def keep_rows(turn: Turn, table: str, row_type: type[RowT], rows: Iterable[RowT]) -> int:
    """Store a table's rows, replacing earlier ones, in `fenced`; return the number of rows.

    `table` has at most 30 characters. Returns how many rows there are.
    """
    RunData.objects.filter(run_id=turn.run_id, name__startswith=_build_prefix(table)).delete()
    adapter, left, n = _build_adapter(row_type), iter(rows), 0
    # An empty table has one empty part: it is known to be empty.
    for place in range(10**DIGITS):
        part = list(islice(left, ROWS))
        if place and not part:
            break
        data = adapter.dump_python(part, mode="json")
        RunData.objects.create(run_id=turn.run_id, name=_build_part_name(table, place), data=data)
        n += len(part)
    return n


def read_rows(run: Run, table: str, row_type: type[RowT]) -> Iterator[RowT]:
    """Yield a table's stored rows in the order of writing; none if it was never stored."""
    adapter = _build_adapter(row_type)
    parts = RunData.objects.filter(run=run, name__startswith=_build_prefix(table)).order_by("name")
    for data in parts.values_list("data", flat=True).iterator(chunk_size=1):
        yield from adapter.validate_python(data)


def read_rows_of_tables(run: Run, tables: Mapping[str, type[Any]]) -> dict[str, list[Any]]:
    """Return the stored rows of several tables by name, in one query."""
    named = Q()
    for table in tables:
        named |= Q(name__startswith=_build_prefix(table))
    rows: dict[str, list[Any]] = {table: [] for table in tables}
    parts = RunData.objects.filter(named, run=run).order_by("name")
    for name, data in parts.values_list("name", "data").iterator(chunk_size=1):
        table = name.removeprefix(PREFIX).rpartition(":")[0]
        rows[table] += _build_adapter(tables[table]).validate_python(data)
    return rows


def _build_prefix(table: str) -> str:
    return f"{PREFIX}{table}:"


def _build_part_name(table: str, place: int) -> str:
    return f"{_build_prefix(table)}{place:0{DIGITS}}"


def _build_adapter(row_type: Any) -> TypeAdapter[Any]:
    return TypeAdapter(list[row_type])
