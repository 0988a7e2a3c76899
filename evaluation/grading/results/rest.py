"""What REST views of a grading share."""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from annotations.web.query import parse_number
from evaluation.grading.summary import AqerSummary
from evaluation.models import Alarm, Run
from evaluation.rest.done_runs import DoneRunViewSet

OF_ALARM = OpenApiParameter(
    "alarm",
    {"type": "integer", "minimum": 0},
    description="Only those that the alarm of this `place` names.",
)


class GradingViewSet(DoneRunViewSet):
    """Something about a grading that is done; 409 for any other state, 404 for another type."""

    stored = AqerSummary


def alarm_in(request: Request, run: Run) -> int | None:
    """Return the key of the alarm that the address names; None if it names none.

    Raises `QueryError` for what is no place, Http404 for one without an alarm.
    """
    what = "write the `place` of an alarm of this run"
    place = parse_number(request.query_params, "alarm", 0, 99_999_999, what, blank=True)
    if place is None:
        return None
    key = Alarm.objects.filter(run=run, place=place).values_list("pk", flat=True).first()
    if key is None:
        raise Http404
    return key
