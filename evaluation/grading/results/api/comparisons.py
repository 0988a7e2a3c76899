"""REST API views of comparisons: models of a run pair by pair, and a run with another run."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.query import parse_choice, parse_public_id
from annotations.web.rest.paging import build_slice_body, read_limit, read_start
from annotations.web.rest.serializers import build_serializer
from evaluation.core.estimates import CORRECTED_BY, HOLM
from evaluation.grading.results.report.against import AgainstReport, build_against_report
from evaluation.grading.results.report.comparisons import (
    PAIRS_SHOWN,
    ComparisonsReport,
    ModelPair,
    PairReport,
    build_comparisons_report,
    build_pair_report,
)
from evaluation.grading.results.report.movers import WorkerChange
from evaluation.grading.results.rest import GradingViewSet
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.runs.rest.finished_runs import CURSOR, LIMIT, PageSerializer

ModelPairSerializer = build_serializer(ModelPair, "better", "why")
AboutComparisons = build_serializer(ComparisonsReport, without=("pairs",))
AboutPair = build_serializer(PairReport, without=("pair",))
AboutAgainst = build_serializer(AgainstReport, without=("workers",))
WorkerChangeSerializer = build_serializer(WorkerChange)


class ComparisonsReportSerializer(AboutComparisons):  # type: ignore[misc, valid-type]
    """Pairs of models compared in a run, greatest score difference first."""

    pairs = ModelPairSerializer(many=True)


class PairReportSerializer(AboutPair):  # type: ignore[misc, valid-type]
    """Two models, and the questions with the largest differences in both directions."""

    pair = ModelPairSerializer()


class WorkerChangesSerializer(PageSerializer):
    """A page of the workers of both runs, largest change first."""

    results = WorkerChangeSerializer(many=True)


class AgainstReportSerializer(AboutAgainst):  # type: ignore[misc, valid-type]
    """Comparison of two runs of a question set, the earlier one first."""

    workers = WorkerChangesSerializer()


@extend_schema(tags=["results"])
class ComparisonViewSet(GradingViewSet):
    """API endpoints that compare language models of a run, or two runs."""

    @extend_schema(
        operation_id="results_comparisons",
        summary="Compare the language models pair by pair",
        description="Mean difference on common questions with its 95% interval, and p after "
        "Holm's correction for all pairs; `better` names the model that is better by more than "
        f"chance. With `model` its pairs, itself first. Without it all pairs, or, of more than "
        f"{PAIRS_SHOWN}, those with the best model, which `of` then names.",
        parameters=[
            OpenApiParameter("model", UUID, description="The id of a language model."),
            OpenApiParameter(
                "correction",
                str,
                enum=list(CORRECTED_BY),
                default=HOLM,
                description="Of p for the number of pairs, in place of Holm's.",
            ),
        ],
        responses=ComparisonsReportSerializer,
    )
    def comparisons(self, request: Request, run_id: Any) -> Response:
        """Return the pairs of models with their score differences, intervals and p."""
        run = self.done(request, run_id)
        correction: Any = parse_choice(request.query_params, "correction", CORRECTED_BY, HOLM)
        report = build_comparisons_report(
            run, parse_public_id(request.query_params, "model"), correction
        )
        if report is None:
            raise Http404
        pairs = ModelPairSerializer(report.pairs, many=True).data
        return Response({**AboutComparisons(report).data, "pairs": pairs})

    @extend_schema(
        operation_id="results_comparison",
        summary="Read where two language models differ",
        description="The questions on which either is better by most, with both answers.",
        responses=PairReportSerializer,
    )
    def comparison(self, request: Request, run_id: Any, first: UUID, second: UUID) -> Response:
        """Return a pair of models and the questions on which they differ most."""
        report = build_pair_report(self.done(request, run_id), first, second)
        if report is None:
            raise Http404
        pair = ModelPairSerializer(report.pair).data
        return Response({**AboutPair(report).data, "pair": pair})

    @extend_schema(
        operation_id="results_against",
        summary="Compare a run with another one of its question set",
        description="What changed (answers, parameters, embedding) and what came of it; the "
        "earlier run stands first, whichever is named first. Both must be done.",
        parameters=[CURSOR, LIMIT],
        responses=AgainstReportSerializer,
    )
    def against(self, request: Request, run_id: Any, other_id: UUID) -> Response:
        """Return the comparison of two runs, with a page of the workers of both."""
        run = self.done(request, run_id)
        of_set = Run.objects.filter(version__question_set=run.version.question_set_id, kind=GRADING)
        other = self.done(request, other_id, of_set.exclude(pk=run.pk))
        start, limit = read_start(request, "moved"), read_limit(request)
        report = build_against_report(run, other)
        rows = WorkerChangeSerializer(report.workers[start : start + limit], many=True).data
        workers = build_slice_body(request, "moved", rows, start, len(report.workers))
        return Response({**AboutAgainst(report).data, "workers": workers})
