"""Base of the web pages, downloads and REST views that only gradings have."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from annotations.web.query import parse_number
from evaluation.grading.summary import AqerSummary
from evaluation.models import Alarm, Run
from evaluation.runs.rest.views import FinishedRunViewSet
from evaluation.runs.result_pages import Context, View, make_results_file, make_results_page


def grading_page(template: str) -> Callable[[Callable[..., Context]], View]:
    """Return a decorator for views of a grading's result pages; 404 for other run types."""
    return make_results_page(template, AqerSummary)


def grading_file(build: View) -> View:
    """Return a view that sends a file built from a grading; 404 for other run types."""
    return make_results_file(build, AqerSummary)


OF_ALARM = OpenApiParameter(
    "alarm",
    {"type": "integer", "minimum": 0},
    description="Only those that the alarm of this `place` names.",
)


class GradingViewSet(FinishedRunViewSet):
    """Base of API views of a finished grading: 409 in other states, 404 for other types."""

    stored = AqerSummary


def read_alarm_key(request: Request, run: Run) -> int | None:
    """Return the primary key of the alarm in the query parameter `alarm`; None without one.

    Raises `QueryError` if it is no number, Http404 if no alarm has it.
    """
    what = "write the `place` of an alarm of this run"
    place = parse_number(request.query_params, "alarm", 0, 99_999_999, what, blank=True)
    if place is None:
        return None
    key = Alarm.objects.filter(run=run, place=place).values_list("pk", flat=True).first()
    if key is None:
        raise Http404
    return key
