"""Pages of long lists: a page begins after a row, not after a number of rows.

Such a page costs the same wherever it is, and rows that are added meanwhile shift nothing.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import F, Q, QuerySet

T = TypeVar("T")

PAGE = 50


class BadCursorError(ValueError):
    """A cursor that no page handed out."""


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows of a list.

    Attributes
    ----------
    after : the cursor this page was asked for, "" for the first page.
    next : the cursor of the next page, None on the last one.
    """

    rows: list[T]
    after: str = ""
    next: str | None = None


@dataclass(frozen=True)
class Order:
    """By a number, rows without one last; rows that tie by a column with a public id.

    `field` and `tie` name values of the rows, which are dicts (of `QuerySet.values`).
    """

    field: str
    tie: str
    descending: bool = True

    def take(
        self,
        rows: QuerySet[Any, Any],
        make: Callable[[Any], T],
        after: str = "",
        size: int = PAGE,
    ) -> Page[T]:
        """Return the rows after a cursor, each through `make`, by one query.

        Raises `BadCursorError` for a cursor that cannot be read.
        """
        column = F(self.field)
        ordered = rows.order_by(
            column.desc(nulls_last=True) if self.descending else column.asc(nulls_last=True),
            self.tie,
        )
        if after:
            ordered = ordered.filter(self._behind(after))
        found = list(ordered[: size + 1])
        more = len(found) > size
        found = found[:size]
        return Page([make(row) for row in found], after, self._cursor(found[-1]) if more else None)

    def _cursor(self, row: dict[str, Any]) -> str:
        value = row[self.field]
        return f"{'' if value is None else repr(value)}_{row[self.tie].hex}"

    def _behind(self, cursor: str) -> Q:
        number, _, name = cursor.rpartition("_")
        try:
            tie = uuid.UUID(hex=name)
            value = float(number) if number else None
        except ValueError:
            raise BadCursorError(cursor) from None
        if value is not None and not math.isfinite(value):
            raise BadCursorError(cursor)
        later = Q(**{f"{self.tie}__gt": tie})
        unknown = Q(**{f"{self.field}__isnull": True})
        if value is None:
            return unknown & later
        beyond = Q(**{f"{self.field}__{'lt' if self.descending else 'gt'}": value})
        return beyond | (Q(**{self.field: value}) & later) | unknown
