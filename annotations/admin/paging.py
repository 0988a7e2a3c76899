"""Long lists, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

PER_PAGE = 50


def page_of(
    request: HttpRequest,
    rows: QuerySet[Any, Any] | Sequence[Any],
    per_page: int = PER_PAGE,
    parameter: str = "page",
) -> Page[Any]:
    """Return the page that the address asks for; the nearest one if there is no such page."""
    return Paginator(rows, per_page).get_page(request.GET.get(parameter))
