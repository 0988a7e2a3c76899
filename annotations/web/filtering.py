"""Lists of rows that are searched, filtered and sorted by the query of the URL.

The filters of a list are declared once, as a django-filter `FilterSet`: pages build a form from
it, the REST API its parameters. The rows come in pages behind a cursor (`Keyset`). Each order has
its own keyset, so every page costs the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.query import QueryError

SORT = "sort"
"""The parameter of the order."""
AFTER = "after"
"""The parameter of the cursor."""

if TYPE_CHECKING:
    Fields = forms.Form
else:
    Fields = forms.Form


@dataclass(frozen=True)
class Order:
    """Sort order that a list offers, with its label.

    Attributes
    ----------
    keyset : the order itself.
    label : its name in forms.
    annotate : adds values that the order needs and the rows lack.
    """

    keyset: Keyset
    label: str
    annotate: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class ColumnHeader:
    """Header of a table column: label and sorting link ("" if it cannot be sorted).

    `sorted` is the list's current order by it: "ascending", "descending" or "".
    """

    label: str
    link: str = ""
    sorted: str = ""
    number: bool = False
    more: bool = False


@dataclass(frozen=True)
class Column:
    """Column of a table; `up` and `down` are the sort orders of its header's link.

    `number` columns are aligned right, `more` columns are hidden on narrow screens.
    """

    label: str
    up: str = ""
    down: str = ""
    number: bool = False
    more: bool = False


def build_orders(
    name: str,
    falling: str = "",
    rising: str = "",
    *,
    by: str = "",
    text: bool = False,
    may_be_empty: bool = False,
    annotate: Callable[[Any], Any] | None = None,
) -> dict[str, Order]:
    """Return the descending ("-name") and the ascending ("name") sort order by one value, by name.

    An order without a label is left out. `by` is the look-up of the value, by default `name`.
    `text` values are texts or times; if they `may_be_empty`, empty ones come last. Ties are ordered
    by public id.
    """
    field = by or name
    orders = {}
    for sign, label in (("-", falling), ("", rising)):
        if label:
            # The name is in each cursor, so a cursor of one order is refused by another.
            keyset = Keyset(
                f"by{sign}{name}",
                (f"{sign}{field}", "public_id"),
                empty_last=may_be_empty,
                texts=(field,) if text else (),
            )
            orders[f"{sign}{name}"] = Order(keyset, label, annotate)
    return orders


AGE: Mapping[str, Order] = {
    "-new": Order(Keyset("newest", ("-pk",)), "Newest first"),
    "new": Order(Keyset("oldest", ("pk",)), "Oldest first"),
}
"""The first orders of most lists."""


class SearchFilter(django_filters.CharFilter):  # type: ignore[misc]
    """Filter for rows that contain a text in any of several fields, ignoring case."""

    def __init__(self, *fields: str, label: str) -> None:
        super().__init__(label=label, max_length=255)
        self.fields = fields

    def filter(self, qs: QuerySet[Any, Any], value: str) -> QuerySet[Any, Any]:
        """Return the rows in which one of the fields contains the text."""
        if not value:
            return qs
        condition = Q()
        for field in self.fields:
            condition |= Q(**{f"{field}__icontains": value})
        return qs.filter(condition)


class FlagField(forms.NullBooleanField):
    """Form field with the values yes, no and not set; any other value is invalid."""

    widget = forms.Select

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override]
        """Return True, False, or None if empty; raise `ValidationError` for other values."""
        # Django's own field takes any other text for "not set", and a typo would filter nothing.
        values = {"": None, None: None, "true": True, "false": False, True: True, False: False}
        try:
            return values[value]
        except (KeyError, TypeError):
            raise forms.ValidationError("write true or false") from None

    def validate(self, value: Any) -> None:
        """Accept every value, because False and None are valid."""


class FlagFilter(django_filters.BooleanFilter):  # type: ignore[misc]
    """Filter with the values yes, no and not set."""

    field_class = FlagField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        choices = [("", "Any"), ("true", "Yes"), ("false", "No")]
        super().__init__(*args, widget=forms.Select(choices=choices), **kwargs)


class FilterForm(Fields):
    """Form of a list's filters; empty fields do not filter."""

    use_required_attribute = False


class ListFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Base class of list filters; a subclass declares filters, `ORDERS` and `COLUMNS`.

    The first of `ORDERS` is the default.
    """

    ORDERS: ClassVar[Mapping[str, Order]] = {}
    COLUMNS: ClassVar[tuple[Column, ...]] = ()

    class Meta:
        """Form class for the filters."""

        form = FilterForm

    @property
    def sort(self) -> str:
        """Name of the requested sort order; raise `QueryError` if it is unknown."""
        name = (self.data or {}).get(SORT) or next(iter(self.ORDERS))
        if name not in self.ORDERS:
            raise QueryError(SORT, f"write one of {', '.join(self.ORDERS)}")
        return str(name)

    @property
    def is_active(self) -> bool:
        """Whether any filter is set."""
        return any((self.data or {}).get(name) for name in self.base_filters)

    @property
    def n_active(self) -> int:
        """Number of filters that are set."""
        return sum(bool((self.data or {}).get(name)) for name in self.base_filters)

    def filter_rows(self) -> QuerySet[Any, Any]:
        """Return the rows that pass all filters; raise `QueryError` for invalid parameters."""
        if not self.is_valid():
            name, reasons = next(iter(self.errors.items()))
            raise QueryError(name, " ".join(map(str, reasons)))
        rows: QuerySet[Any, Any] = self.qs
        return rows

    def apply_order(self, rows: QuerySet[Any, Any]) -> tuple[QuerySet[Any, Any], Keyset]:
        """Return (rows annotated with the sort values, keyset of the requested order)."""
        order = self.ORDERS[self.sort]
        return (order.annotate(rows) if order.annotate else rows), order.keyset

    def load_page(
        self,
        request: HttpRequest,
        size: int = PAGE,
        add: Callable[[Any], Any] = lambda rows: rows,
    ) -> Page[Any]:
        """Return the requested page of the filtered rows, with the length of the whole list.

        `add` annotates rows with values to show; they are not part of the counting query. With an
        invalid parameter the page is empty, and the form shows the reason.
        """
        if not self.is_valid():
            return Page([], count=0)
        rows = self.filter_rows()
        ordered, keyset = self.apply_order(rows)
        page = keyset.load_page(add(ordered), request.GET.get(AFTER, ""), size)
        return replace(page, count=self.count_rows(rows))

    def count_rows(self, rows: QuerySet[Any, Any]) -> int:
        """Return the number of filtered rows, by a query that a subclass may avoid."""
        return rows.count()

    def build_list_context(
        self,
        request: HttpRequest,
        size: int = PAGE,
        add: Callable[[Any], Any] = lambda rows: rows,
    ) -> dict[str, Any]:
        """Return the template context of a list: page of rows, filters and column headers."""
        page = self.load_page(request, size, add)
        return {"page": page, "asked": self, "heads": self.build_headers(request)}

    def build_headers(self, request: HttpRequest) -> list[ColumnHeader]:
        """Return the column headers; the current order's header links to the reverse order."""
        sort = self.sort
        heads = []
        for column in self.COLUMNS:
            first = column.up or column.down
            if not first:
                heads.append(ColumnHeader(column.label, number=column.number, more=column.more))
                continue
            next_sort, direction = first, ""
            if sort in (column.up, column.down):
                direction = "ascending" if sort == column.up else "descending"
                next_sort = {column.up: column.down, column.down: column.up}[sort] or first
            query = request.GET.copy()
            # A cursor holds values of the present order, and no other order can read it.
            query.pop(AFTER, None)
            query[SORT] = next_sort
            heads.append(
                ColumnHeader(
                    column.label, f"?{query.urlencode()}", direction, column.number, column.more
                )
            )
        return heads
