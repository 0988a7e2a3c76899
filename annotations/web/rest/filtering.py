"""Lists of the REST API, filtered and sorted as a `ListFilter` declares."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from annotations.web.filtering import SORT, ListFilter
from annotations.web.paging import Page
from annotations.web.rest.paging import read_cursor, read_limit


def build_sort_parameter(list_filter: type[ListFilter]) -> OpenApiParameter:
    """Return the OpenAPI description of a list's parameter for the sort order."""
    return OpenApiParameter(
        SORT,
        str,
        enum=list(list_filter.ORDERS),
        default=next(iter(list_filter.ORDERS)),
        description="The order; a minus before the falling ones.",
    )


def load_filtered_page(request: Request, list_filter: ListFilter) -> Page[Any]:
    """Return the requested page of a filtered list; raise `QueryError` if invalid."""
    rows, order = list_filter.apply_order(list_filter.filter_rows())
    return order.load_page(rows, read_cursor(request), read_limit(request))
