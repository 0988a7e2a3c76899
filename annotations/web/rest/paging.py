"""Long lists in the REST API: cursors, and the URL of the next page."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from annotations.web.paging import PAGE as LIMIT
from annotations.web.paging import BadCursorError, Keyset, Page, decode_cursor, encode_cursor
from annotations.web.query import parse_number

MOST = 200
"""Most rows of a page."""


def read_limit(request: Request) -> int:
    """Return the requested number of rows per page; raise `QueryError` unless 1 to 200."""
    limit = parse_number(request.query_params, "limit", 1, MOST)
    return LIMIT if limit is None else limit


def read_cursor(request: Request) -> str:
    """Return the cursor of the requested page; "" for the first page."""
    return request.query_params.get("cursor", "")


def load_page(request: Request, rows: QuerySet[Any, Any], order: Keyset) -> Page[Any]:
    """Return the requested page of rows; raise `QueryError` for invalid parameters."""
    return order.load_page(rows, read_cursor(request), read_limit(request))


def build_page_body(request: Request, rows: Any, cursor: str | None) -> dict[str, Any]:
    """Return the response body of a page: rows, and the next page's URL (or None)."""
    next_url = None
    if cursor is not None:
        next_url = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
    return {"next": next_url, "results": rows}


def read_start_index(request: Request, name: str) -> int:
    """Return the requested start index in a list in memory; raise `QueryError` if invalid."""
    cursor = read_cursor(request)
    (start,) = decode_cursor(name, cursor) if cursor else (0,)
    if not isinstance(start, int) or not 0 <= start < 10**9:
        raise BadCursorError
    return start


def build_slice_body(
    request: Request, name: str, rows: Any, start: int, total: int
) -> dict[str, Any]:
    """Return the response body of a page of a list in memory, with the next page's URL."""
    next_start = start + read_limit(request)
    return build_page_body(
        request, rows, encode_cursor(name, next_start) if next_start < total else None
    )


class KeysetPagination(BasePagination):
    """Description of paged lists for the OpenAPI schema; `Keyset` loads the pages."""

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the OpenAPI schema of a page's response body."""
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
        """Return the OpenAPI description of the parameters `limit` and `cursor`."""
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
