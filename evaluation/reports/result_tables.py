"""Declared result tables of a run, as downloads, the REST API and pages read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from evaluation.flow.result_tables import ResultTable
from evaluation.models import Run
from evaluation.reports.spreadsheet import Table
from evaluation.steps.findings import read_table


def readers_of(tables: Iterable[ResultTable[Any]]) -> dict[str, Callable[[Run], Table]]:
    """Return for each table, by its name, what reads it from a run that is done."""
    return {table.name: _reader_of(table) for table in tables}


def _reader_of(table: ResultTable[Any]) -> Callable[[Run], Table]:
    def read(run: Run) -> Table:
        return Table(table.columns, table.cells(read_table(run, table)))

    return read
