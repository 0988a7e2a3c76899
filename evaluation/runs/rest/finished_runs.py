"""Serve the results of finished runs, with long lists split into pages."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from annotations.exchange.writing.formats import FORMATS
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.problems import ApiProblem
from annotations.web.scope import get_visible_or_404
from evaluation.models import Run
from evaluation.runs.run_types import Kind, RunSummary, UnknownKindError, get_run_kind

CURSOR = OpenApiParameter("cursor", str, description="From `next` of the page before.")
LIMIT = OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50})
FORMAT = OpenApiParameter("format", str, enum=list(FORMATS), default="jsonl")


class PageSerializer(serializers.Serializer[Any]):
    """One page of a list inside a report, with the URL of the next page."""

    next = serializers.URLField(allow_null=True, help_text="Address of the next page.")


class DoneRunViewSet(ApiViewSet):
    """Base of the endpoints on a finished run; responds 409 for an unfinished run."""

    queryset = Run.objects.all()
    lookup_url_kwarg = "run_id"
    stored: type[RunSummary] = RunSummary

    def done(
        self,
        request: Request,
        run_id: Any,
        among: Any = None,
        summary: type[RunSummary] | None = None,
    ) -> Run:
        """Return the finished run if visible to the user. Raises Http404 and `ApiProblem`.

        One whose kind stores another `summary`, by default `stored`, does not exist. Raises Http404
        and `ApiProblem`.
        """
        runs = Run.objects.all() if among is None else among
        run = get_visible_or_404(request, runs.select_related("version__question_set"), run_id)
        if not self.kind_of(run).stores(summary or self.stored):
            raise Http404("no run of this kind has that")
        if run.state == Run.State.DONE:
            return run
        headers = {} if run.is_finished else {"Retry-After": str(SECONDS_BETWEEN_LOOKS)}
        raise ApiProblem("no-results", f"The run is {run.state}.", headers=headers, state=run.state)

    def kind_of(self, run: Run) -> Kind:
        """Return the run type of a run. Raises Http404 for an unknown type."""
        try:
            return get_run_kind(run)
        except UnknownKindError as error:
            raise Http404(str(error)) from error


SECONDS_BETWEEN_LOOKS = 2
