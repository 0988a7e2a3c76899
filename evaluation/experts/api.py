"""REST API of the expert check and of its findings."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import rights
from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.renamed_keys import rename_keys
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import RefusedError
from evaluation.experts.messages import LEVELS
from evaluation.experts.report import (
    AuditReport,
    IntervalForecast,
    build_audit_report,
    build_experts_report,
)
from evaluation.experts.run import ExpertFindings
from evaluation.grading.results.pages import GradingViewSet
from evaluation.models import Audit, Run
from evaluation.runs.judging.audit import (
    COUNT,
    MOST,
    PRESETS,
    CannotDrawError,
    draw_audit_sample,
    load_drawable_answers,
    request_audit_grades,
    withdraw_requests,
)
from evaluation.runs.judging.declaration import MOST_SEED, ExpertProgress
from evaluation.runs.judging.tasks import CannotSettleError, ask_expert_to_settle
from evaluation.runs.reports.judging import JudgedAnswer
from evaluation.runs.rest.views import find_expert_keys
from evaluation.trust.api import FactSerializer
from evaluation.trust.report.report import build_experts_fact

AboutAudit = build_serializer(
    AuditReport, without=("experts", "of_set", "others", "check", "differ", "foreseen", "parties")
)


class DifferingAnswerSerializer(
    build_serializer(  # type: ignore[misc]
        JudgedAnswer, "grade", without=("key", "grades", "given_at", "judged_at", "settled_by")
    )
):
    """An answer whose expert grade and score differ."""


class AuditSerializer(AboutAudit):  # type: ignore[misc, valid-type]
    """Expert check of a run: the sample, the experts assigned, and the agreement."""

    fact = FactSerializer()
    experts = build_serializer(ExpertProgress, "is_done", without=("user",))(many=True)
    differ = DifferingAnswerSerializer(many=True)
    foreseen = build_serializer(IntervalForecast, "half")(many=True)


class AskForAuditSerializer(StrictSerializer):
    """Request body to draw a sample: number of answers, sampling method and experts."""

    count = serializers.IntegerField(
        min_value=1,
        max_value=MOST,
        default=COUNT,
        help_text="How many; a larger number keeps those drawn before.",
    )
    preset = serializers.ChoiceField(
        choices=PRESETS,
        required=False,
        help_text="As many as published protocols: `tenth` of all answers, or `200`; in place of "
        "`count`.",
    )
    design = serializers.ChoiceField(
        choices=Audit.Design.choices,
        default=Audit.Design.QUESTION,
        help_text="It counts the first time only, as `with_models` and `seed`.",
    )
    with_models = serializers.BooleanField(
        default=False, help_text="Whether every fourth answer is a model's."
    )
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, default=0)
    step = serializers.FloatField(
        min_value=0,
        max_value=5,
        required=False,
        help_text="Experts disagree on an answer where two grades are further apart (1 at first); "
        "it counts each time it is given.",
    )
    experts = serializers.ListField(
        child=serializers.CharField(),
        allow_empty=False,
        max_length=100,
        help_text="User names of experts who share the question set, or your own.",
    )


class SettleSerializer(StrictSerializer):
    """Request body to assign an expert who settles disagreements."""

    expert = serializers.CharField(
        help_text="The name of an expert of the set, or your own, who graded none of it."
    )


class TakeBackSerializer(StrictSerializer):
    """Request body to withdraw the assignment of an expert."""

    expert = serializers.CharField(help_text="The name of an expert who was asked.")


@extend_schema(tags=["results"])
class AuditViewSet(GradingViewSet):
    """Expert grades on a sample of a run's answers, and their agreement with the scores."""

    @extend_schema(
        operation_id="results_audit",
        summary="Read whether experts agree with the scores",
        description="Correlations of experts' grades with the scores of a random sample of the "
        "answers, with 95% intervals over questions, weighted back to all answers; how far experts "
        "agree with each other; and what samples of some sizes would show. Where this run has no "
        "judged sample, that of another run over the same version, named in `drawn_for`.",
        responses=AuditSerializer,
    )
    def audit(self, request: Request, run_id: Any) -> Response:
        """Return the expert check of a run."""
        return _respond(self.get_finished_run(request, run_id))

    @extend_schema(
        operation_id="results_audit_ask",
        summary="Ask experts to grade a random sample of the answers",
        description="They grade blindly, each in an order of their own. What was asked before "
        "stays as it is, so that the same request twice changes nothing.",
        request=AskForAuditSerializer,
        responses=AuditSerializer,
    )
    def ask(self, request: Request, run_id: Any) -> Response:
        """Draw a sample, assign the experts, and return the expert check."""
        run = self._changed(request, run_id)
        data = self.checked(AskForAuditSerializer).validated_data
        experts = find_expert_keys(request, run, data.pop("experts"))
        if preset := data.pop("preset", None):
            if "count" in request.data:
                raise build_field_problem("preset", "Give a count or a preset, not both.")
            data["count"] = load_drawable_answers(run).compute_sample_size(
                preset, data["with_models"]
            )
        try:
            drawn = draw_audit_sample(run, **data)
        except CannotDrawError as error:
            raise ApiProblem("conflict", str(error)) from error
        for expert in experts:
            request_audit_grades(drawn, expert)
        return _respond(run)

    @extend_schema(
        operation_id="results_audit_settle",
        summary="Ask a third expert to settle what experts disagree on",
        description="Answers whose grades are more than the sample's step apart, and that have "
        "no third expert yet. The third sees both grades and not who gave which; their grade "
        "counts in place of the others' mean.",
        request=SettleSerializer,
        responses=AuditSerializer,
    )
    def settle(self, request: Request, run_id: Any) -> Response:
        """Assign an expert to settle disagreements, and return the expert check."""
        run = self._changed(request, run_id)
        name = self.checked(SettleSerializer).validated_data["expert"]
        (expert,) = find_expert_keys(request, run, [name], "expert")
        audit = Audit.objects.filter(run=run).first()
        try:
            if audit is None:
                raise CannotSettleError("No answer of this run was drawn yet.")
            ask_expert_to_settle(audit, expert)
        except CannotSettleError as error:
            raise ApiProblem("conflict", str(error)) from error
        return _respond(run)

    @extend_schema(
        operation_id="results_audit_take_back",
        summary="Ask an expert no longer about what is not graded yet",
        request=TakeBackSerializer,
        responses=AuditSerializer,
    )
    def take_back(self, request: Request, run_id: Any) -> Response:
        """Withdraw an expert's assignment, and return the expert check."""
        run = self._changed(request, run_id)
        name = self.checked(TakeBackSerializer).validated_data["expert"]
        users = {expert.name: expert.user for expert in build_audit_report(run).experts}
        if name not in users:
            raise build_field_problem("expert", "No expert of this name is asked about this run.")
        withdraw_requests(Audit.objects.get(run=run), users[name])
        return _respond(run)

    def _changed(self, request: Request, run_id: Any) -> Run:
        run = self.get_finished_run(request, run_id)
        if not rights(request.user, run.version.question_set).edit:
            raise RefusedError("change")
        return run


def _respond(run: Run) -> Response:
    report = build_audit_report(run)
    fact = build_experts_fact(report.check)
    return Response({**AuditSerializer({**_fields(report), "fact": fact}).data})


def _fields(report: AuditReport) -> dict[str, Any]:
    return {name: getattr(report, name) for name in report.__dataclass_fields__}


AboutFindings = build_serializer(ExpertFindings, without=("panel",))


@rename_keys(said="message")
class ExpertFindingsSerializer(AboutFindings):  # type: ignore[misc, valid-type]
    """Agreement with intervals, difficulty by question, correlations, mean grades."""

    n_by_two = serializers.IntegerField(source="panel.n_by_two")
    n_missing = serializers.IntegerField(source="panel.n_missing")
    said = serializers.SerializerMethodField(help_text="What the level means for who reads it.")

    def get_said(self, findings: ExpertFindings) -> str:
        """Return the level of agreement between experts, in words."""
        return LEVELS[findings.level]


@extend_schema(tags=["results"])
class ExpertsViewSet(GradingViewSet):
    """Findings from the experts' grades of a run's answers."""

    @extend_schema(
        operation_id="results_experts",
        summary="Read the results of experts' grades",
        description="How far experts agree (weighted kappa, intraclass correlation, "
        "Krippendorff's alpha, with 95% intervals over questions), how hard each question is by "
        "their grades, how scores correlate with them, and the mean grade of each worker and "
        "model out of the grades of some answers and the scores of all (prediction-powered).",
        responses=ExpertFindingsSerializer,
    )
    def experts(self, request: Request, run_id: Any) -> Response:
        """Return the expert findings of a run."""
        return Response(
            ExpertFindingsSerializer(
                build_experts_report(self.get_finished_run(request, run_id)).findings
            ).data
        )
