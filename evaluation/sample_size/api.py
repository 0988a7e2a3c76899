"""REST API of the answer plan of a graded run: how many more answers to buy, at what cost."""

from __future__ import annotations

from typing import Any

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.writing.formats import CONTENT_TYPES, FORMATS
from annotations.web.downloads import build_download_response
from annotations.web.query import parse_choice
from annotations.web.rest.negotiation import FileNegotiation
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.rest.serializers import build_serializer
from evaluation.core.options import API
from evaluation.grading.results.pages import GradingViewSet
from evaluation.runs.rest.runs import build_options_serializer
from evaluation.runs.rest.views import FORMAT
from evaluation.sample_size.report import PLAN_TABLES, build_run_plan
from evaluation.sample_size.run.plan import MoneyPlan
from evaluation.sample_size.run.trial import PlanTargets

WishesSerializer = build_options_serializer(
    PlanTargets,
    "PlanWishesSerializer",
    "What a plan is to reach. What is left out has its default.",
)


AboutPlan = build_serializer(MoneyPlan, "is_reached")


@add_renamed_keys(said="messages")
class MoneyPlanSerializer(AboutPlan):  # type: ignore[misc, valid-type]
    """Totals of an answer plan: what to buy, its cost, and expected widths and consensus."""

    said = serializers.ListField(
        child=serializers.CharField(), help_text="The plan in sentences, most important first."
    )


@extend_schema(tags=["results"])
class PlanViewSet(GradingViewSet):
    """API endpoints for the answer plan of a graded run, and its tables as files."""

    content_negotiation_class = FileNegotiation

    @extend_schema(
        operation_id="results_plan",
        summary="Read how many more answers to buy, to which questions, at what cost",
        description="A forecast from the run's own answers: it takes for granted that new answers "
        "scatter as the old ones do, and that people err independently.",
        parameters=[WishesSerializer],
        responses=MoneyPlanSerializer,
    )
    def plan(self, request: Request, run_id: Any) -> Response:
        """Return the totals and messages of the answer plan, without its tables."""
        run = self.get_finished_run(request, run_id)
        plan_with_rows = build_run_plan(
            run, self._validate_plan_targets(request, dict(request.query_params.items()))
        )
        messages = API.format_messages(plan_with_rows.messages)
        plan = AboutPlan(plan_with_rows.plan).data
        return Response({**plan, "messages": messages, "said": messages})

    @extend_schema(
        operation_id="results_plan_file",
        summary="Take away a plan's questions or workers",
        description="Each question with its answers now, how many more are wanted and what they "
        "cost; or each worker with the width of the interval now and then.",
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH, enum=list(PLAN_TABLES)),
            FORMAT,
            WishesSerializer,
        ],
        responses={
            (200, kind.partition(";")[0]): {"type": "string", "format": "binary"}
            for kind in map(CONTENT_TYPES.__getitem__, FORMATS)
        },
    )
    def plan_file(self, request: Request, run_id: Any, name: str) -> StreamingHttpResponse:
        """Send all rows of one table of the answer plan as a file."""
        run = self.get_finished_run(request, run_id)
        if name not in PLAN_TABLES:
            raise Http404
        values = dict(request.query_params.items())
        form = parse_choice(request.query_params, "format", FORMATS, "jsonl")
        values.pop("format", None)
        table = PLAN_TABLES[name](build_run_plan(run, self._validate_plan_targets(request, values)))
        chunks = FORMATS[form](table.header, table.rows)
        return build_download_response(
            chunks, f"crowdgrade-plan-{name}-{run.public_id.hex[-8:]}", form
        )

    def _validate_plan_targets(self, request: Request, values: dict[str, Any]) -> PlanTargets:
        """Return a plan's targets from the query string; raise `ValidationError` if invalid."""
        serializer = WishesSerializer(data=values, context={"request": request})
        serializer.is_valid(raise_exception=True)
        return PlanTargets(**serializer.validated_data)
