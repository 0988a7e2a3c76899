"""Long lists, a page at a time: the next page begins after a row, behind an opaque cursor."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from annotations.web.rest.problems import ApiProblem, bad_parameter

M = TypeVar("M", bound=Model)

LIMIT = 50
MOST = 200
"""Rows of a page: unless told, and at most."""


def limit_of(request: Request) -> int:
    """Return how many rows are wanted; raises `ApiProblem` for anything but 1 to 200."""
    text = request.query_params.get("limit", str(LIMIT))
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and 1 <= int(text) <= MOST):
        raise bad_parameter("limit", f"write a whole number from 1 to {MOST}")
    return int(text)


def written(order: str, place: list[str]) -> str:
    """Return the cursor that stands for a place in an order."""
    raw = json.dumps([order, *place]).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def cursor_of(request: Request, order: str) -> list[str]:
    """Return the place of the request's cursor; empty for the first page.

    Raises `ApiProblem` for a cursor that no page of this order handed out.
    """
    text = request.query_params.get("cursor", "")
    if not text:
        return []
    try:
        place = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        raise bad_cursor() from None
    if not isinstance(place, list) or not all(isinstance(value, str) for value in place):
        raise bad_cursor()
    if place[:1] != [order]:
        raise bad_cursor()
    return place[1:]


def bad_cursor() -> ApiProblem:
    """Return the problem of a cursor that no page handed out."""
    return bad_parameter(
        "cursor", "use the address in `next` of the page before, as it is", "bad-cursor"
    )


def page_body(request: Request, rows: Any, cursor: str | None) -> dict[str, Any]:
    """Return a page as it is sent: its rows, and the address of the next one or None."""
    following = None
    if cursor is not None:
        following = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
    return {"next": following, "results": rows}


@dataclass(frozen=True)
class Keyset:
    """An order of rows by some of their fields; the last field is unique, none is null.

    A minus before the first field turns the whole order round.
    """

    name: str
    fields: tuple[str, ...]

    def take(self, rows: QuerySet[M, M], request: Request) -> tuple[list[M], str | None]:
        """Return the page that is asked for and the cursor of the next one, by one query."""
        descending = self.fields[0].startswith("-")
        fields = [field.removeprefix("-") for field in self.fields]
        place, limit = cursor_of(request, self.name), limit_of(request)
        if place:
            rows = rows.filter(self._behind(rows.model, fields, place, descending))
        order = [f"-{field}" for field in fields] if descending else fields
        found = list(rows.order_by(*order)[: limit + 1])
        if len(found) <= limit:
            return found, None
        found = found[:limit]
        return found, written(self.name, [str(getattr(found[-1], field)) for field in fields])

    @staticmethod
    def _behind(model: type[Model], fields: list[str], place: list[str], descending: bool) -> Q:
        if len(place) != len(fields):
            raise bad_cursor()
        try:
            values = [
                model._meta.get_field(field).to_python(value)  # type: ignore[union-attr]
                for field, value in zip(fields, place, strict=True)
            ]
        except ValidationError:
            raise bad_cursor() from None
        beyond, level = Q(), Q()
        for field, value in zip(fields, values, strict=True):
            beyond |= level & Q(**{f"{field}__{'lt' if descending else 'gt'}": value})
            level &= Q(**{field: value})
        return beyond


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


NEWEST = Keyset("newest", ("-public_id",))
OLDEST = Keyset("oldest", ("public_id",))
POSITION = Keyset("position", ("position", "public_id"))
