"""What to decide, how far a run can be trusted, and how many answers would make it better."""

from __future__ import annotations

from typing import Any

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.writing.formats import CONTENT_TYPES, FORMATS
from annotations.web.downloads import download
from annotations.web.query import choice
from annotations.web.rest.negotiation import AnyForm
from annotations.web.rest.serializers import serializer_of
from evaluation.api.done import DoneRunViewSet
from evaluation.api.exports import FORMAT
from evaluation.api.option_serializer import serializer_for
from evaluation.api.results import ModelRowSerializer
from evaluation.flow.plan.plan import MoneyPlan
from evaluation.flow.plan.wishes import Wishes
from evaluation.options import API
from evaluation.reports.alarms import Mark
from evaluation.reports.decision import Decision, Person, Step, decision
from evaluation.reports.plan import PLAN_TABLES, plan_of
from evaluation.reports.planner import PlannerReport, planner_report
from evaluation.reports.trust import Fact, TrustReport, trust_report

FactSerializer = serializer_of(
    Fact,
    *("title", "said", "meaning", "todo", "word", "result", "needed"),
    without=("case", "values", "warning"),
)
AboutTrust = serializer_of(TrustReport, without=("facts",))
# The curve is there for the picture; the table holds as much in fewer rows.
PlannerReportSerializer = serializer_of(PlannerReport, without=("curve",))


class TrustReportSerializer(AboutTrust):  # type: ignore[misc, valid-type]
    """What speaks for and against a run, worst first."""

    facts = FactSerializer(many=True)


AboutPerson = serializer_of(Person, without=("marks",))


class PersonSerializer(AboutPerson):  # type: ignore[misc, valid-type]
    """A worker, and what alarms say of this one."""

    marks = serializer_of(Mark, "word", "words")(many=True)


AboutDecision = serializer_of(Decision, without=("trust", "best", "look_at", "models", "step"))


class DecisionSerializer(AboutDecision):  # type: ignore[misc, valid-type]
    """Whether to believe a run, whom to keep, whom to look at, which model is best, what next."""

    trust = serializer_of(TrustReport, without=("about", "facts"))()
    concerns = FactSerializer(many=True)
    not_enough_data = FactSerializer(many=True)
    experts = FactSerializer()
    best = PersonSerializer(many=True)
    look_at = PersonSerializer(many=True)
    models = ModelRowSerializer(many=True)
    step = serializers.ChoiceField(choices=list(Step))


WishesSerializer = serializer_for(
    Wishes, "PlanWishesSerializer", "What a plan is to reach. What is left out has its default."
)
AboutPlan = serializer_of(MoneyPlan, "is_reached")


class MoneyPlanSerializer(AboutPlan):  # type: ignore[misc, valid-type]
    """What to buy, what it costs, and what widths and consensus are expected then."""

    said = serializers.ListField(
        child=serializers.CharField(), help_text="The plan in sentences, most important first."
    )


@extend_schema(tags=["results"])
class TrustViewSet(DoneRunViewSet):
    """What to make of the numbers."""

    @extend_schema(
        operation_id="results_decision",
        summary="Read what to decide: people, models, the next step",
        description="The best people without those whom an alarm names, people to look at with "
        "the reasons, the best model or that models cannot be told apart, what speaks against the "
        "grades, and what to do next.",
        responses=DecisionSerializer,
    )
    def decision(self, request: Request, run_id: Any) -> Response:
        """Return the decision."""
        return Response(DecisionSerializer(decision(self.done(request, run_id))).data)

    @extend_schema(
        operation_id="results_trust",
        summary="Read what speaks for and against the grades",
        description="Checks in words, worst first: what is so in this run, what it means, what to "
        "do. `result` is `good`, `problem`, `not_enough_data` (with the number `needed`) or "
        "`not_applicable`. No check can prove a grade right.",
        responses=TrustReportSerializer,
    )
    def trust(self, request: Request, run_id: Any) -> Response:
        """Return the verdict and its facts."""
        report = trust_report(self.done(request, run_id))
        facts = FactSerializer(report.facts, many=True).data
        return Response({**AboutTrust(report).data, "facts": facts})

    @extend_schema(
        operation_id="results_planner",
        summary="Read what more answers a question would buy",
        description="The published bounds with the run's own numbers; `similarity` is null, with "
        "a `reason`, where they do not hold.",
        responses=PlannerReportSerializer,
    )
    def planner(self, request: Request, run_id: Any) -> Response:
        """Return the plan."""
        return Response(PlannerReportSerializer(planner_report(self.done(request, run_id))).data)


@extend_schema(tags=["results"])
class PlanViewSet(DoneRunViewSet):
    """How many more answers to buy, and what they cost."""

    content_negotiation_class = AnyForm

    @extend_schema(
        operation_id="results_plan",
        summary="Read how many more answers to buy, to which questions, at what cost",
        description="A forecast from the run's own answers: it takes for granted that new answers "
        "scatter as the old ones do, and that people err independently.",
        parameters=[WishesSerializer],
        responses=MoneyPlanSerializer,
    )
    def plan(self, request: Request, run_id: Any) -> Response:
        """Return the plan without its rows."""
        run = self.done(request, run_id)
        found = plan_of(run, self._wishes(request, dict(request.query_params.items())))
        said = API.all_said(found.messages)
        return Response({**AboutPlan(found.plan).data, "said": said})

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
        """Return every row."""
        run = self.done(request, run_id)
        if name not in PLAN_TABLES:
            raise Http404
        asked = dict(request.query_params.items())
        form = choice(request.query_params, "format", FORMATS, "jsonl")
        asked.pop("format", None)
        table = PLAN_TABLES[name](plan_of(run, self._wishes(request, asked)))
        chunks = FORMATS[form](table.header, table.rows)
        return download(chunks, f"crowdgrade-plan-{name}-{run.public_id.hex[-8:]}", form)

    def _wishes(self, request: Request, asked: dict[str, Any]) -> Wishes:
        """Return what the address wants. Raises `ValidationError` at the parameter's name."""
        serializer = WishesSerializer(data=asked, context={"request": request})
        serializer.is_valid(raise_exception=True)
        return Wishes(**serializer.validated_data)
