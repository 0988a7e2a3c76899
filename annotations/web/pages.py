"""One page of a long list with the list's length, and breadcrumbs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from annotations.models import QuestionSet
from annotations.web.paging import PAGE, Keyset, Page

Breadcrumbs = list[tuple[str, str]]

NEWEST_FIRST = Keyset("newest", ("-pk",))
AS_ADDED = Keyset("oldest", ("pk",))
IN_ORDER = Keyset("position", ("position", "pk"))


def load_page(
    request: HttpRequest,
    rows: QuerySet[Any, Any],
    order: Keyset,
    size: int = PAGE,
    count: int | None = None,
) -> Page[Any]:
    """Return the page of rows after the URL's cursor, with the length of the whole list.

    Pass `count` if the length is known.
    """
    page = order.load_page(rows, request.GET.get("after", ""), size)
    return replace(page, count=rows.count() if count is None else count)


def build_breadcrumbs(question_set: QuestionSet) -> Breadcrumbs:
    """Return the breadcrumb links (list of question sets, question set) for pages below a set."""
    return [
        ("Question sets", reverse("admin:question-sets")),
        (question_set.name, reverse("admin:question-set", args=[question_set.public_id])),
    ]
