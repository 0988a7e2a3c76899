"""Read the declared result tables of a run, for downloads, the REST API and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from evaluation.models import Run
from evaluation.runs.flow.result_tables import ResultTable
from evaluation.runs.reports.spreadsheet import Table
from evaluation.runs.steps.findings import read_table


def build_readers(tables: Iterable[ResultTable[Any]]) -> dict[str, Callable[[Run], Table]]:
    """Return, by table name, a function that reads the table from a finished run."""
    return {table.name: _build_reader(table) for table in tables}


def _build_reader(table: ResultTable[Any]) -> Callable[[Run], Table]:
    """Return a function that reads one declared table from a finished run."""

    def read(run: Run) -> Table:
        return Table(table.columns, table.cells(read_table(run, table)))

    return read
