"""What experts' grades tell of each other, of questions, workers and models."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.rest.serializers import serializer_of
from evaluation.api.done import DoneRunViewSet
from evaluation.flow.experts.findings import ExpertFindings
from evaluation.reports.experts import experts_report
from evaluation.words.experts import LEVELS

AboutFindings = serializer_of(ExpertFindings, without=("panel",))


class ExpertFindingsSerializer(AboutFindings):  # type: ignore[misc, valid-type]
    """Agreement with intervals, difficulty by question, correlations, mean grades."""

    n_by_two = serializers.IntegerField(source="panel.n_by_two")
    n_missing = serializers.IntegerField(source="panel.n_missing")
    said = serializers.SerializerMethodField(help_text="What the level means for who reads it.")

    def get_said(self, found: ExpertFindings) -> str:
        """Return the level in words."""
        return LEVELS[found.level]


@extend_schema(tags=["results"])
class ExpertsViewSet(DoneRunViewSet):
    """What experts say of a grading."""

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
        """Return the report."""
        return Response(
            ExpertFindingsSerializer(experts_report(self.done(request, run_id)).found).data
        )
