"""Lists that are searched, filtered and sorted by the words of their address.

What a list may be asked for is declared once, as a django-filter `FilterSet`: pages make a form of
it, the API its parameters. The rows still come in pages behind a cursor (`Keyset`): each order has
one of its own, so that a page costs the same wherever it is.
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
AFTER = "after"

if TYPE_CHECKING:
    Fields = forms.Form
else:
    Fields = forms.Form


@dataclass(frozen=True)
class Order:
    """A way to sort a list.

    Attributes
    ----------
    keyset : the order itself.
    label : in words, for a form.
    annotate : adds the values that the order needs and rows do not have by themselves.
    """

    keyset: Keyset
    label: str
    annotate: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Head:
    """The head of a column: its words, and where a click on it leads ("" where it sorts nothing).

    `sorted` is how the list is sorted by it now: "ascending", "descending" or "".
    """

    label: str
    link: str = ""
    sorted: str = ""
    number: bool = False
    more: bool = False


@dataclass(frozen=True)
class Column:
    """A column of a table: `up` and `down` name the orders that a click on its head asks for.

    `number` columns stand at the right, `more` ones only where there is room.
    """

    label: str
    up: str = ""
    down: str = ""
    number: bool = False
    more: bool = False


def both_ways(
    name: str,
    falling: str = "",
    rising: str = "",
    *,
    by: str = "",
    text: bool = False,
    may_be_empty: bool = False,
    annotate: Callable[[Any], Any] | None = None,
) -> dict[str, Order]:
    """Return the orders of a list by one value, for `ORDERS`: "-name" falling and "name" rising.

    One without a label is left out. `by` is the look-up of the value, `name` unless it is said;
    `text` values are texts or times, those that `may_be_empty` come last where they are. Rows that
    tie are told apart by their public id.
    """
    field = by or name
    made = {}
    for sign, label in (("-", falling), ("", rising)):
        if label:
            keyset = Keyset(
                f"by{sign}{name}",
                (f"{sign}{field}", "public_id"),
                empty_last=may_be_empty,
                texts=(field,) if text else (),
            )
            made[f"{sign}{name}"] = Order(keyset, label, annotate)
    return made


AGE: Mapping[str, Order] = {
    "-new": Order(Keyset("newest", ("-pk",)), "Newest first"),
    "new": Order(Keyset("oldest", ("pk",)), "Oldest first"),
}
"""The orders that most lists begin with."""


class SearchFilter(django_filters.CharFilter):  # type: ignore[misc]
    """The search of a list: a part of any of some texts, whatever its case."""

    def __init__(self, *fields: str, label: str) -> None:
        super().__init__(label=label, max_length=255)
        self.fields = fields

    def filter(self, qs: QuerySet[Any, Any], value: str) -> QuerySet[Any, Any]:
        """Return the rows in which one of the texts has it."""
        if not value:
            return qs
        found = Q()
        for field in self.fields:
            found |= Q(**{f"{field}__icontains": value})
        return qs.filter(found)


class FlagField(forms.NullBooleanField):
    """Yes, no, or not asked; anything else is refused."""

    widget = forms.Select

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override]
        """Return the answer; raises ValidationError."""
        known = {"": None, None: None, "true": True, "false": False, True: True, False: False}
        try:
            return known[value]
        except (KeyError, TypeError):
            raise forms.ValidationError("write true or false") from None

    def validate(self, value: Any) -> None:
        """Nothing more is asked of it."""


class FlagFilter(django_filters.BooleanFilter):  # type: ignore[misc]
    """A switch of a list: yes, no, or not asked."""

    field_class = FlagField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        choices = [("", "Any"), ("true", "Yes"), ("false", "No")]
        super().__init__(*args, widget=forms.Select(choices=choices), **kwargs)


class FilterForm(Fields):
    """The form of a list: what is empty does not filter."""

    use_required_attribute = False


class ListFilter(django_filters.FilterSet):  # type: ignore[misc]
    """What a list may be asked for; a subclass declares filters, `ORDERS` and `COLUMNS`.

    The first of `ORDERS` is that of a list that nobody asked to be sorted.
    """

    ORDERS: ClassVar[Mapping[str, Order]] = {}
    COLUMNS: ClassVar[tuple[Column, ...]] = ()

    class Meta:
        """The form that pages show."""

        form = FilterForm

    @property
    def sort(self) -> str:
        """The name of the order that is asked for; raises `QueryError` for an unknown one."""
        asked = (self.data or {}).get(SORT) or next(iter(self.ORDERS))
        if asked not in self.ORDERS:
            raise QueryError(SORT, f"write one of {', '.join(self.ORDERS)}")
        return str(asked)

    @property
    def is_active(self) -> bool:
        """Whether anything but the order is asked for."""
        return any((self.data or {}).get(name) for name in self.base_filters)

    @property
    def n_active(self) -> int:
        """How many filters are set."""
        return sum(bool((self.data or {}).get(name)) for name in self.base_filters)

    def found(self) -> QuerySet[Any, Any]:
        """Return the rows that pass; raises `QueryError` that names the first bad value."""
        if not self.is_valid():
            name, reasons = next(iter(self.errors.items()))
            raise QueryError(name, " ".join(map(str, reasons)))
        rows: QuerySet[Any, Any] = self.qs
        return rows

    def in_order(self, rows: QuerySet[Any, Any]) -> tuple[QuerySet[Any, Any], Keyset]:
        """Return rows with the values of the order that is asked for, and that order."""
        order = self.ORDERS[self.sort]
        return (order.annotate(rows) if order.annotate else rows), order.keyset

    def page(
        self,
        request: HttpRequest,
        size: int = PAGE,
        add: Callable[[Any], Any] = lambda rows: rows,
    ) -> Page[Any]:
        """Return the page that `after` in the address names, with the length of the list.

        `add` gives rows the values that a list shows; they are not counted with them. A value that
        will not do finds nothing, and stands with its reason in the form.
        """
        if not self.is_valid():
            return Page([], count=0)
        rows = self.found()
        ordered, keyset = self.in_order(rows)
        page = keyset.take(add(ordered), request.GET.get(AFTER, ""), size)
        return replace(page, count=rows.count())

    def listing(
        self,
        request: HttpRequest,
        size: int = PAGE,
        add: Callable[[Any], Any] = lambda rows: rows,
    ) -> dict[str, Any]:
        """Return what the template of a list knows: the page that is asked for, form and heads."""
        page = self.page(request, size, add)
        return {"page": page, "asked": self, "heads": self.heads(request)}

    def heads(self, request: HttpRequest) -> list[Head]:
        """Return the heads of the columns; a click on the one that sorts turns the order round."""
        sort = self.sort
        made = []
        for column in self.COLUMNS:
            first = column.up or column.down
            if not first:
                made.append(Head(column.label, number=column.number, more=column.more))
                continue
            wanted, now = first, ""
            if sort in (column.up, column.down):
                now = "ascending" if sort == column.up else "descending"
                wanted = {column.up: column.down, column.down: column.up}[sort] or first
            query = request.GET.copy()
            query.pop(AFTER, None)
            query[SORT] = wanted
            made.append(
                Head(column.label, f"?{query.urlencode()}", now, column.number, column.more)
            )
        return made

    def hidden(self) -> dict[str, str]:
        """Return what a form that is sent has to keep: the order, where one was asked for."""
        asked = (self.data or {}).get(SORT)
        return {SORT: asked} if asked else {}
