"""Long lists, a page at a time.

A page begins after a row, not after a number of rows: it costs the same wherever it is, and rows
that are added meanwhile shift nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.urls import reverse

from annotations.models import QuestionSet

PER_PAGE = 50
NEWEST_FIRST = ("-pk",)
IN_ORDER = ("position", "pk")
Breadcrumbs = list[tuple[str, str]]


@dataclass(frozen=True)
class Page:
    """Some rows of a list.

    Attributes
    ----------
    object_list : the rows. count : how many the whole list has.
    after : public id of the row before the first, "" on the first page.
    next : public id of the last row, "" on the last page.
    """

    object_list: list[Any]
    count: int
    after: str = ""
    next: str = ""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.object_list)

    def __len__(self) -> int:
        return len(self.object_list)


def page_of(
    request: HttpRequest,
    rows: QuerySet[Any, Any],
    order: Sequence[str],
    per_page: int = PER_PAGE,
    parameter: str = "after",
) -> Page:
    """Return the page after the row that the address names; 404 if the list has no such row.

    `order` names columns that are never null and in the end tell all rows apart, "-" for falling.
    The rows are objects, or dicts that have their `public_id`.
    """
    after = request.GET.get(parameter, "")
    ordered = rows.order_by(*order)
    wanted = ordered.filter(_behind(rows, order, after)) if after else ordered
    found = list(wanted[: per_page + 1])
    more = len(found) > per_page
    found = found[:per_page]
    return Page(found, rows.count(), after, _public_id(found[-1]) if more else "")


def _behind(rows: QuerySet[Any, Any], order: Sequence[str], after: str) -> Q:
    columns = [name.lstrip("-") for name in order]
    try:
        last = rows.model._default_manager.filter(public_id=UUID(after)).values_list(*columns).get()
    except (ValueError, rows.model.DoesNotExist):
        raise Http404("no such page of the list") from None
    # Rows that tie on the first columns and come later by the next one.
    cases = []
    for at, name in enumerate(order):
        ties = dict(zip(columns[:at], last[:at], strict=True))
        later = "lt" if name.startswith("-") else "gt"
        cases.append(Q(**ties, **{f"{columns[at]}__{later}": last[at]}))
    return reduce(or_, cases)


def _public_id(row: Any) -> str:
    return str(row["public_id"] if isinstance(row, dict) else row.public_id)


def breadcrumbs(question_set: QuestionSet) -> Breadcrumbs:
    """Return the way to a set's page."""
    return [
        ("Question sets", reverse("admin:question-sets")),
        (question_set.name, reverse("admin:question-set", args=[question_set.public_id])),
    ]
