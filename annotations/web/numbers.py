"""Counts from several tables in one SQL statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import CharField, Count, F, IntegerField, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

Numbers = tuple[int, ...]
"""The integers of one row."""


@dataclass(frozen=True)
class TableCounts:
    """Aggregates over the rows of one table, in groups if `by` names columns.

    Attributes
    ----------
    rows : the rows of the table.
    numbers : integer aggregates over them, in the order of the result.
    by : integer columns that group the rows; they come first in the result.
    """

    rows: QuerySet[Any, Any]
    numbers: tuple[Any, ...]
    by: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Number of values in a result row."""
        return len(self.by) + len(self.numbers)

    def select_padded_rows(self, name: str, width: int) -> QuerySet[Any, Any]:
        """Return the result rows, each with `name` in front and padded with 0 to `width` values.

        All parts of a union need the same number of columns.
        """
        groups = {f"number_{index}": F(column) for index, column in enumerate(self.by)}
        grouped = self.rows.order_by().annotate(part=Value(name, CharField()), **groups)
        padded = chain(self.numbers, (Value(0) for _ in range(width - self.width)))
        annotations = {
            f"number_{index}": number for index, number in enumerate(padded, len(self.by))
        }
        columns = [f"number_{index}" for index in range(width)]
        return grouped.values("part", *groups).annotate(**annotations).values_list("part", *columns)


def build_group_count(rows: QuerySet[Any, Any], column: str) -> Coalesce:
    """Return an SQL expression for the number of `rows` with the same value of `column`."""
    counts = rows.order_by().values(column).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counts, output_field=IntegerField()), 0)


def load_table_counts(parts: Mapping[str, TableCounts]) -> dict[str, list[Numbers]]:
    """Return the result rows of each table's counts, by part name, from one SQL statement.

    A part without grouping has one row.
    """
    width = max(part.width for part in parts.values())
    first, *others = (part.select_padded_rows(name, width) for name, part in parts.items())
    result: dict[str, list[Numbers]] = {name: [] for name in parts}
    # `all`, because equal rows of one part must not be merged.
    for name, *numbers in first.union(*others, all=True):
        result[name].append(tuple(numbers[: parts[name].width]))
    for name, part in parts.items():
        if not result[name] and not part.by:  # Django sends no query for an empty queryset
            result[name] = [(0,) * part.width]
    return result
