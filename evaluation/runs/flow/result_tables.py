"""Declare result tables, from which files, storage, REST API and pages are derived.

    ITEMS = StudyTable("items", ItemRow, MaqaStudy.items, "items.csv")

`evaluation.runs.files.metrics` writes such tables as CSV files, `evaluation.runs.steps.findings`
stores and reads them with a run, and `evaluation.runs.reports.result_tables` gives them to
downloads, to the REST API and to pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Generic, TypeVar

RowT = TypeVar("RowT")
StudyT = TypeVar("StudyT")


@dataclass(frozen=True, eq=False)
class ResultTable(Generic[RowT]):
    """Declaration of a result table: name, row type, file name, help on its columns.

    Attributes
    ----------
    name : in a run: of the stored rows, of the download and in addresses.
    row : a named tuple or a dataclass; its fields are the columns, with their types.
    file : the CSV file that commands write; "" if only runs have the table.
    help : what a column holds, with its unit or range, where `evaluation.core.messages.columns`
        does not say it for all tables.
    """

    name: str
    row: type[RowT]
    file: str = ""
    help: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the column names, in the order of the row type's fields."""
        row: Any = self.row
        if is_dataclass(row):
            return tuple(one.name for one in fields(row))
        return tuple(row._fields)

    def cells(self, rows: Iterable[RowT]) -> Iterable[Sequence[object]]:
        """Return the rows as sequences of cells, in the order of the columns."""
        found: Iterable[Any] = rows
        if is_dataclass(self.row):
            names = self.columns
            return ([getattr(row, name) for name in names] for row in found)
        return found


@dataclass(frozen=True, eq=False)
class StudyTable(Generic[StudyT, RowT], ResultTable[RowT]):
    """A result table with the function that extracts its rows from a study's result.

    Attributes
    ----------
    rows : returns the rows of a study.
    """

    rows: Callable[[StudyT], Iterable[RowT]] = lambda _: ()


def collect_column_help(tables: Iterable[ResultTable[Any]]) -> dict[str, str]:
    """Return the help of all columns by ``table.column``, such as "items.f1"."""
    return {f"{table.name}.{name}": text for table in tables for name, text in table.help.items()}


def list_file_names(tables: Iterable[ResultTable[Any]]) -> Iterator[str]:
    """Yield the CSV file names of the tables that have one."""
    return (table.file for table in tables if table.file)
