"""What the results of a run share: the run must be done, and lists in reports come in pages."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from annotations.web.query import number
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.problems import ApiProblem
from annotations.web.scope import visible_or_404
from evaluation.api.runs import SECONDS_BETWEEN_LOOKS
from evaluation.flow.aqer_summary import AqerSummary
from evaluation.kinds import Kind, RunSummary, UnknownKindError, kind_of
from evaluation.models import Alarm, Run

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

    def done(
        self,
        request: Request,
        run_id: Any,
        among: Any = None,
        summary: type[RunSummary] = AqerSummary,
    ) -> Run:
        """Return the run, which must be visible and done; `among` narrows where it is looked for.

        One whose kind stores another `summary` does not exist. Raises Http404 and `ApiProblem`.
        """
        runs = Run.objects.all() if among is None else among
        run = visible_or_404(request, runs.select_related("version__question_set"), run_id)
        if not self.kind_of(run).stores(summary):
            raise Http404("no run of this kind has that")
        if run.state == Run.State.DONE:
            return run
        headers = {} if run.is_finished else {"Retry-After": str(SECONDS_BETWEEN_LOOKS)}
        raise ApiProblem("no-results", f"The run is {run.state}.", headers=headers, state=run.state)

    def kind_of(self, run: Run) -> Kind:
        """Return the kind of a run; Http404 for one that the site does not know (any more)."""
        try:
            return kind_of(run)
        except UnknownKindError as error:
            raise Http404(str(error)) from error


def alarm_in(request: Request, run: Run) -> int | None:
    """Return the key of the alarm that the address names; None if it names none.

    Raises `QueryError` for what is no place, Http404 for one without an alarm.
    """
    what = "write the `place` of an alarm of this run"
    place = number(request.query_params, "alarm", 0, 99_999_999, what, blank=True)
    if place is None:
        return None
    key = Alarm.objects.filter(run=run, place=place).values_list("pk", flat=True).first()
    if key is None:
        raise Http404
    return key
