"""REST API for the trust report, the decision summary and the planner of a run."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.rest.renamed_keys import rename_keys
from annotations.web.rest.serializers import build_serializer
from evaluation.grading.alarms.report import Mark
from evaluation.grading.results.api.alarms import CheckSerializer
from evaluation.grading.results.api.results import ModelRowSerializer
from evaluation.grading.results.pages import GradingViewSet
from evaluation.runs.reports.planner import PlannerReport, build_planner_report
from evaluation.trust.report import Fact, TrustReport, build_trust_report
from evaluation.trust.report.decision import Decision, Person, Step, build_decision

FactSerializer = build_serializer(
    Fact,
    *("title", "said", "meaning", "todo", "word", "result", "needed"),
    without=("case", "values", "warning"),
)
AboutTrust = build_serializer(TrustReport, without=("facts", "checks"))
# The curve is there for the picture; the table holds as much in fewer rows.
PlannerReportSerializer = build_serializer(PlannerReport, without=("curve",))


class TrustReportSerializer(AboutTrust):  # type: ignore[misc, valid-type]
    """Trust report of a run: facts for and against its grades, worst first, and alarm checks."""

    facts = FactSerializer(many=True)
    checks = CheckSerializer(many=True)


AboutPerson = build_serializer(Person, without=("marks",))


class PersonSerializer(AboutPerson):  # type: ignore[misc, valid-type]
    """A worker, with the alarms that name the worker."""

    marks = build_serializer(Mark, "word", "words")(many=True)


AboutDecision = build_serializer(Decision, without=("trust", "best", "look_at", "models", "step"))


@rename_keys(best_said="best_message", look_said="review_message", models_said="models_message")
class DecisionSerializer(AboutDecision):  # type: ignore[misc, valid-type]
    """Decision summary: trust in the run, best workers, workers to review, best model."""

    trust = build_serializer(TrustReport, without=("about", "facts", "checks"))()
    concerns = FactSerializer(many=True)
    not_enough_data = FactSerializer(many=True)
    checks = CheckSerializer(many=True)
    experts = FactSerializer()
    best = PersonSerializer(many=True)
    look_at = PersonSerializer(many=True)
    models = ModelRowSerializer(many=True)
    step = serializers.ChoiceField(choices=list(Step))


@extend_schema(tags=["results"])
class TrustViewSet(GradingViewSet):
    """Trust report, decision summary and study plan of a run."""

    @extend_schema(
        operation_id="results_decision",
        summary="Read what to decide: people, models, the next step",
        description="The best workers without those named by an alarm, workers to review with "
        "the reasons, the best model or that models cannot be distinguished, evidence against "
        "the grades, and what to do next.",
        responses=DecisionSerializer,
    )
    def decision(self, request: Request, run_id: Any) -> Response:
        """Return the decision summary: trust, best workers, workers to review, next step."""
        return Response(
            DecisionSerializer(build_decision(self.get_finished_run(request, run_id))).data
        )

    @extend_schema(
        operation_id="results_trust",
        summary="Read all checks of the grades",
        description="Checks in words, worst first: what is so in this run, what it means, what to "
        "do. `result` is `good`, `problem`, `not_enough_data` (with the number `needed`) or "
        "`not_applicable`. `checks` are those for alarms, one by one, with the same four results. "
        "No check can prove a grade right.",
        responses=TrustReportSerializer,
    )
    def trust(self, request: Request, run_id: Any) -> Response:
        """Return the trust verdict of a run and the facts behind it."""
        report = build_trust_report(self.get_finished_run(request, run_id))
        facts = FactSerializer(report.facts, many=True).data
        checks = CheckSerializer(report.checks, many=True).data
        return Response({**AboutTrust(report).data, "facts": facts, "checks": checks})

    @extend_schema(
        operation_id="results_planner",
        summary="Read what more answers a question would buy",
        description="The published bounds with the run's own numbers; `similarity` is null, with "
        "a `reason`, where they do not hold.",
        responses=PlannerReportSerializer,
    )
    def planner(self, request: Request, run_id: Any) -> Response:
        """Return the plan: how many workers and answers a next study needs."""
        return Response(
            PlannerReportSerializer(
                build_planner_report(self.get_finished_run(request, run_id))
            ).data
        )
