"""REST API of the expert findings: agreement, question difficulty, workers and models."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.rest.renamed_keys import rename_keys
from annotations.web.rest.serializers import build_serializer
from evaluation.experts.messages import LEVELS
from evaluation.experts.report.experts import experts_report
from evaluation.experts.run import ExpertFindings
from evaluation.grading.results.rest import GradingViewSet

AboutFindings = build_serializer(ExpertFindings, without=("panel",))


@rename_keys(said="message")
class ExpertFindingsSerializer(AboutFindings):  # type: ignore[misc, valid-type]
    """Agreement with intervals, difficulty by question, correlations, mean grades."""

    n_by_two = serializers.IntegerField(source="panel.n_by_two")
    n_missing = serializers.IntegerField(source="panel.n_missing")
    said = serializers.SerializerMethodField(help_text="What the level means for who reads it.")

    def get_said(self, found: ExpertFindings) -> str:
        """Return the level of agreement between experts, in words."""
        return LEVELS[found.level]


@extend_schema(tags=["results"])
class ExpertsViewSet(GradingViewSet):
    """Findings from the experts' grades of a run's answers."""

    @extend_schema(
        operation_id="results_experts",
        summary="Read what experts' grades say",
        description="How far experts agree (weighted kappa, intraclass correlation, "
        "Krippendorff's alpha, with 95% intervals over questions), how hard each question is by "
        "their grades, how scores correlate with them, and the mean grade of each worker and "
        "model out of the grades of some answers and the scores of all (prediction-powered).",
        responses=ExpertFindingsSerializer,
    )
    def experts(self, request: Request, run_id: Any) -> Response:
        """Return the expert findings of a run."""
        return Response(
            ExpertFindingsSerializer(experts_report(self.done(request, run_id)).found).data
        )
