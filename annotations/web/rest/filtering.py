"""Lists of the API that are filtered and sorted by what their `ListFilter` declares."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from annotations.web.filtering import SORT, ListFilter
from annotations.web.paging import Page
from annotations.web.rest.paging import cursor_of, limit_of


def sort_parameter(of: type[ListFilter]) -> OpenApiParameter:
    """Return the parameter of the order, for the schema."""
    return OpenApiParameter(
        SORT,
        str,
        enum=list(of.ORDERS),
        default=next(iter(of.ORDERS)),
        description="The order; a minus before the falling ones.",
    )


def filtered_page(request: Request, asked: ListFilter) -> Page[Any]:
    """Return the page of the list that is asked for; raises `QueryError`."""
    rows, order = asked.in_order(asked.found())
    return order.take(rows, cursor_of(request), limit_of(request))
