"""Long lists that are loaded one page at a time, by cursors.

A page begins after a row, not after a number of rows. Every page therefore costs the same, and
rows added meanwhile shift nothing. An opaque cursor states where it begins.
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
"""Rows of a page by default."""


class BadCursorError(QueryError):
    """Error: the cursor in the URL was not issued for this list."""

    def __init__(self) -> None:
        super().__init__(
            "cursor", "use the address in `next` of the page before, as it is", "bad-cursor"
        )


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list: its rows, and the cursor of the next page.

    Attributes
    ----------
    after : the cursor of this page, "" for the first one.
    next : the cursor of the next page, None on the last one.
    count : the number of rows of the whole list; None if not counted.
    """

    rows: list[T]
    after: str = ""
    next: str | None = None
    count: int | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def encode_cursor(name: str, *values: Any) -> str:
    """Return a cursor: the list's name and a row's sort values, encoded."""
    raw = json.dumps([name, *values], default=str).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decode_cursor(name: str, cursor: str, n: int = 1) -> list[Any]:
    """Return the `n` sort values of a cursor; raise `BadCursorError` if it is invalid.

    Raises `BadCursorError` for a cursor of another list, or of none.
    """
    try:
        # With the padding that `encode_cursor` leaves out.
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        raise BadCursorError from None
    if not isinstance(values, list) or values[:1] != [name] or len(values) != n + 1:
        raise BadCursorError
    for value in values[1:]:
        # json accepts NaN, Infinity and "\\0", which databases refuse.
        finite = not isinstance(value, float) or math.isfinite(value)
        storable = not isinstance(value, str) or "\0" not in value
        if not (finite and storable and isinstance(value, str | int | float | None)):
            raise BadCursorError
    return values[1:]


@dataclass(frozen=True)
class Keyset:
    """Sort order of rows by fields ("-" for descending), from which cursors are built.

    The last value is unique. Rows are objects, or dicts (of `QuerySet.values`). With `empty_last`,
    the first value may be null, and these rows come last; the others may not. `texts` are the
    values that are texts or times, not numbers. A cursor holds the values; in place of "pk", which
    would reveal the number of rows, it holds the public id.
    """

    name: str
    fields: tuple[str, ...]
    empty_last: bool = False
    texts: tuple[str, ...] = ()

    def build_order_by(self) -> list[OrderBy | str]:
        """Return the arguments for a queryset's `order_by`."""
        if not self.empty_last:
            return list(self.fields)
        column = F(self.fields[0].removeprefix("-"))
        falls = self.fields[0].startswith("-")
        first = column.desc(nulls_last=True) if falls else column.asc(nulls_last=True)
        return [first, *self.fields[1:]]

    def load_page(
        self,
        rows: QuerySet[Any, Any],
        after: str = "",
        size: int = PAGE,
        make: Callable[[Any], Any] = lambda row: row,
    ) -> Page[Any]:
        """Return the page of rows after a cursor, each converted by `make`, by one query.

        Raises `BadCursorError` for a cursor of another list.
        """
        ordered = rows.order_by(*self.build_order_by())
        if after:
            values = decode_cursor(self.name, after, len(self.fields))
            try:
                ordered = ordered.filter(self._build_later_condition(rows.model, values))
            except (ValidationError, ValueError, OverflowError):
                raise BadCursorError from None
        # One row more than the page tells whether another page follows.
        page_rows = list(ordered[: size + 1])
        has_more = len(page_rows) > size
        page_rows = page_rows[:size]
        cursor = encode_cursor(self.name, *self._read_values(page_rows[-1])) if has_more else None
        return Page([make(row) for row in page_rows], after, cursor)

    def cut_first_page(self, page: Page[Any], size: int) -> Page[Any]:
        """Return the first `size` rows of a loaded page as a page of its own."""
        if len(page.rows) <= size:
            return page
        rows = page.rows[:size]
        return Page(rows, page.after, encode_cursor(self.name, *self._read_values(rows[-1])))

    def build_cursor(self, *values: Any) -> str:
        """Return the cursor of the page that follows a row with these sort values."""
        return encode_cursor(self.name, *values)

    def _read_values(self, row: Any) -> list[Any]:
        """Return the sort values of a row for a cursor, with the public id in place of the key."""
        names = [field.removeprefix("-") for field in self.fields]
        return [_get_value(row, "public_id" if name == "pk" else name) for name in names]

    def _build_later_condition(self, model: type[Model], values: list[Any]) -> Q:
        """Return the condition for rows that come after these sort values.

        Such a row equals the first k values, for some k, and comes later by the next one.
        """
        condition, tied = Q(), Q()
        for index, (field, value) in enumerate(zip(self.fields, values, strict=True)):
            name = field.removeprefix("-")
            may_be_empty = self.empty_last and index == 0
            if value is None:
                if not may_be_empty:
                    raise BadCursorError
                tied &= Q(**{f"{name}__isnull": True})
                continue
            is_id = name.endswith(("pk", "public_id"))
            if isinstance(value, str) != (is_id or name in self.texts):
                raise BadCursorError
            last_value = UUID(value) if is_id else value
            if name == "pk":
                # A subquery: the cursor has the public id in place of the key, and the page
                # stays one query.
                last_value = model._base_manager.filter(public_id=last_value).values("pk")
            later = Q(**{f"{name}__{'lt' if field.startswith('-') else 'gt'}": last_value})
            if may_be_empty:
                later |= Q(**{f"{name}__isnull": True})
            condition |= tied & later
            tied &= Q(**{name: last_value})
        return condition


def _get_value(row: Any, path: str) -> Any:
    """Return the value of a row at a path such as "version__number"."""
    if isinstance(row, dict):
        return row[path]
    for name in path.split("__"):
        row = getattr(row, name)
    return row


NEWEST = Keyset("newest", ("-public_id",))
OLDEST = Keyset("oldest", ("public_id",))
POSITION = Keyset("position", ("position", "public_id"))
