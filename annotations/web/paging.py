"""Long lists, a page at a time.

A page begins after a row, not after a number of rows: it costs the same wherever it is, and rows
that are added meanwhile shift nothing. Where it begins is told by an opaque cursor.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import F, Model, OrderBy, Q, QuerySet

from annotations.web.query import QueryError

T = TypeVar("T")

PAGE = 50


class BadCursorError(QueryError):
    """A cursor that no page handed out."""

    def __init__(self) -> None:
        super().__init__(
            "cursor", "use the address in `next` of the page before, as it is", "bad-cursor"
        )


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows of a list.

    Attributes
    ----------
    after : the cursor this page was asked for, "" for the first page.
    next : the cursor of the next page, None on the last one.
    count : how many rows the whole list has; None where nobody counted.
    """

    rows: list[T]
    after: str = ""
    next: str | None = None
    count: int | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def written(name: str, *place: Any) -> str:
    """Return the cursor that stands for a place in the list of that name."""
    raw = json.dumps([name, *place], default=str).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def read(name: str, cursor: str, n: int = 1) -> list[Any]:
    """Return the `n` values of a place: texts, numbers or None.

    Raises `BadCursorError` for a cursor that no page of that list handed out.
    """
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        raise BadCursorError from None
    if not isinstance(place, list) or place[:1] != [name] or len(place) != n + 1:
        raise BadCursorError
    for value in place[1:]:
        finite = not isinstance(value, float) or math.isfinite(value)
        storable = not isinstance(value, str) or "\0" not in value
        if not (finite and storable and isinstance(value, str | int | float | None)):
            raise BadCursorError
    return place[1:]


@dataclass(frozen=True)
class Keyset:
    """An order of rows by some of their values, a minus before the falling ones.

    The last value tells all rows apart. Rows are objects, or dicts (of `QuerySet.values`). With
    `empty_last` the first value may be null, and rows without it come last; no other may. `texts`
    are the values that are texts or times instead of numbers. A cursor holds the values; instead
    of "pk", which would count the rows, it holds the public id.
    """

    name: str
    fields: tuple[str, ...]
    empty_last: bool = False
    texts: tuple[str, ...] = ()

    def columns(self) -> list[OrderBy | str]:
        """Return what the rows are ordered by."""
        if not self.empty_last:
            return list(self.fields)
        column = F(self.fields[0].removeprefix("-"))
        falls = self.fields[0].startswith("-")
        first = column.desc(nulls_last=True) if falls else column.asc(nulls_last=True)
        return [first, *self.fields[1:]]

    def take(
        self,
        rows: QuerySet[Any, Any],
        after: str = "",
        size: int = PAGE,
        make: Callable[[Any], Any] = lambda row: row,
    ) -> Page[Any]:
        """Return the rows after a cursor, each through `make`, by one query.

        Raises `BadCursorError`.
        """
        ordered = rows.order_by(*self.columns())
        if after:
            place = read(self.name, after, len(self.fields))
            try:
                ordered = ordered.filter(self._behind(rows.model, place))
            except (ValidationError, ValueError, OverflowError):
                raise BadCursorError from None
        found = list(ordered[: size + 1])
        more = len(found) > size
        found = found[:size]
        cursor = written(self.name, *self._place(found[-1])) if more else None
        return Page([make(row) for row in found], after, cursor)

    def _place(self, row: Any) -> list[Any]:
        names = [field.removeprefix("-") for field in self.fields]
        return [_value(row, "public_id" if name == "pk" else name) for name in names]

    def _behind(self, model: type[Model], place: list[Any]) -> Q:
        """Return the condition on rows that tie on the first values and come later by the next."""
        behind, tied = Q(), Q()
        for at, (field, value) in enumerate(zip(self.fields, place, strict=True)):
            name = field.removeprefix("-")
            may_be_empty = self.empty_last and at == 0
            if value is None:
                if not may_be_empty:
                    raise BadCursorError
                tied &= Q(**{f"{name}__isnull": True})
                continue
            is_id = name.endswith(("pk", "public_id"))
            if isinstance(value, str) != (is_id or name in self.texts):
                raise BadCursorError
            reached = UUID(value) if is_id else value
            if name == "pk":
                reached = model._base_manager.filter(public_id=reached).values("pk")
            later = Q(**{f"{name}__{'lt' if field.startswith('-') else 'gt'}": reached})
            if may_be_empty:
                later |= Q(**{f"{name}__isnull": True})
            behind |= tied & later
            tied &= Q(**{name: reached})
        return behind


def _value(row: Any, path: str) -> Any:
    if isinstance(row, dict):
        return row[path]
    for name in path.split("__"):
        row = getattr(row, name)
    return row


NEWEST = Keyset("newest", ("-public_id",))
OLDEST = Keyset("oldest", ("public_id",))
POSITION = Keyset("position", ("position", "public_id"))
