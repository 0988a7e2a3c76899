"""Long lists as the API sends them: behind opaque cursors, with the address of the next page."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from annotations.web.paging import PAGE as LIMIT
from annotations.web.paging import BadCursorError, Keyset, Page, read, written
from annotations.web.query import number

MOST = 200
"""Rows of a page, at most."""


def limit_of(request: Request) -> int:
    """Return how many rows are wanted; raises `QueryError` for anything but 1 to 200."""
    asked = number(request.query_params, "limit", 1, MOST)
    return LIMIT if asked is None else asked


def cursor_of(request: Request) -> str:
    """Return the cursor that is asked for; "" for the first page."""
    return request.query_params.get("cursor", "")


def page_of(request: Request, rows: QuerySet[Any, Any], order: Keyset) -> Page[Any]:
    """Return the page that is asked for; raises `QueryError`."""
    return order.take(rows, cursor_of(request), limit_of(request))


def page_body(request: Request, rows: Any, cursor: str | None) -> dict[str, Any]:
    """Return a page as it is sent: its rows, and the address of the next one or None."""
    following = None
    if cursor is not None:
        following = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
    return {"next": following, "results": rows}


def start_of(request: Request, name: str) -> int:
    """Return from which row on a list is wanted that is at hand as a whole; raises `QueryError`."""
    cursor = cursor_of(request)
    (start,) = read(name, cursor) if cursor else (0,)
    if not isinstance(start, int) or not 0 <= start < 10**9:
        raise BadCursorError
    return start


def slice_body(request: Request, name: str, rows: Any, start: int, total: int) -> dict[str, Any]:
    """Return a page of such a list as it is sent: its rows from `start` on."""
    following = start + limit_of(request)
    return page_body(request, rows, written(name, following) if following < total else None)


class KeysetPagination(BasePagination):
    """What the schema says about lists; the pages themselves are taken by `Keyset`."""

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the form of `page_body`."""
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {
                "next": {
                    "type": ["string", "null"],
                    "format": "uri",
                    "description": "Address of the next page; null on the last one.",
                },
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return `limit` and `cursor`."""
        return [
            {
                "name": "limit",
                "in": "query",
                "description": "Rows of a page.",
                "schema": {"type": "integer", "minimum": 1, "maximum": MOST, "default": LIMIT},
            },
            {
                "name": "cursor",
                "in": "query",
                "description": "Where the page begins: taken from `next`, as it is.",
                "schema": {"type": "string"},
            },
        ]
