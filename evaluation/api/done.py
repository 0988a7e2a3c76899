"""What the results of a run share: the run must be done, and lists in reports come in pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.paging import bad_cursor, cursor_of, limit_of, page_body, written
from annotations.web.rest.problems import ApiProblem, bad_parameter
from annotations.web.scope import visible_or_404
from evaluation.api.runs import SECONDS_BETWEEN_LOOKS
from evaluation.models import Alarm, Run
from evaluation.reports import BadCursorError, Page

T = TypeVar("T")
CURSOR = OpenApiParameter("cursor", str, description="From `next` of the page before.")
LIMIT = OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50})
OF_ALARM = OpenApiParameter(
    "alarm",
    {"type": "integer", "minimum": 0},
    description="Only those that the alarm of this `place` names.",
)


class PageSerializer(serializers.Serializer[Any]):
    """A page of a list inside of a report."""

    next = serializers.URLField(allow_null=True, help_text="Address of the next page.")


class DoneRunViewSet(ApiViewSet):
    """Something about a run that is done; 409 for any other."""

    queryset = Run.objects.all()
    lookup_url_kwarg = "run_id"

    def done(self, request: Request, run_id: Any, among: Any = None) -> Run:
        """Return the run, which must be visible and done; `among` narrows where it is looked for.

        Raises Http404 and `ApiProblem`.
        """
        runs = Run.objects.all() if among is None else among
        run = visible_or_404(request, runs.select_related("version__question_set"), run_id)
        if run.state == Run.State.DONE:
            return run
        headers = {} if run.is_finished else {"Retry-After": str(SECONDS_BETWEEN_LOOKS)}
        raise ApiProblem("no-results", f"The run is {run.state}.", headers=headers, state=run.state)


def alarm_in(request: Request, run: Run) -> int | None:
    """Return the key of the alarm that the address names; None if it names none.

    Raises `ApiProblem` for what is no place, Http404 for one without an alarm.
    """
    text = request.query_params.get("alarm", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise bad_parameter("alarm", "write the `place` of an alarm of this run")
    key = Alarm.objects.filter(run=run, place=int(text)).values_list("pk", flat=True).first()
    if key is None:
        raise Http404
    return key


def paged(
    request: Request, order: str, read: Callable[[str, int], Page[T]]
) -> tuple[Page[T], str | None]:
    """Return the page that is asked for and the cursor of the next one."""
    place = cursor_of(request, order)
    try:
        page = read(place[0] if place else "", limit_of(request))
    except BadCursorError:
        raise bad_cursor() from None
    return page, cursor_behind(order, page)


def paged_report(request: Request, order: str, read: Callable[[str, int], Any]) -> tuple[Any, Any]:
    """Return a report with a page of answers and the cursor of the next one; Http404 for None."""
    place = cursor_of(request, order)
    try:
        report = read(place[0] if place else "", limit_of(request))
    except BadCursorError:
        raise bad_cursor() from None
    if report is None:
        raise Http404
    return report, cursor_behind(order, report.answers)


def cursor_behind(order: str, page: Page[Any]) -> str | None:
    """Return the cursor of the page after this one; None on the last one."""
    return None if page.next is None else written(order, [page.next])


def number_in(request: Request, order: str) -> int:
    """Return the number at which the request's cursor of an order stands; 0 without a cursor."""
    place = cursor_of(request, order)
    text = place[0] if place else "0"
    if len(place) > 1 or not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise bad_cursor()
    return int(text)


def slice_body(request: Request, order: str, rows: Any, start: int, total: int) -> dict[str, Any]:
    """Return a page of a list that is at hand as a whole: its rows from `start` on."""
    following = start + limit_of(request)
    cursor = written(order, [str(following)]) if following < total else None
    return page_body(request, rows, cursor)
