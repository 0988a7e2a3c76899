"""REST API for blind judging: requesters assign experts, experts judge texts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import QuestionSet, rights
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import RefusedError, get_user_id, get_visible_or_404, select_visible
from evaluation.models import Run
from evaluation.runs import judging as door
from evaluation.runs.judging import Choice, Judging, Part
from evaluation.runs.judging.declaration import MOST_DRAWN, MOST_SEED, ExpertProgress
from evaluation.runs.judging.tasks import load_inbox
from evaluation.runs.reports.judging import JudgingReport, build_judging_report
from evaluation.runs.rest.views import FinishedRunViewSet, find_expert_keys
from evaluation.runs.run_types import RunSummary, UnknownKindError, find_judging

AboutJudging = build_serializer(JudgingReport, without=("judging", "experts", "others"))
NAME = OpenApiParameter(
    "name", str, OpenApiParameter.PATH, description="What is judged, such as same-meaning."
)


class ScaleSerializer(serializers.Serializer[Any]):
    """Judgement scale: its choices and instructions."""

    name = serializers.CharField()
    title = serializers.CharField()
    words = serializers.CharField(help_text="What an expert should know before beginning.")
    question = serializers.CharField()
    choices = build_serializer(Choice)(many=True)


class JudgingReportSerializer(AboutJudging):  # type: ignore[misc, valid-type]
    """State of a run's judging: sample, experts, progress and agreement."""

    scale = ScaleSerializer(source="judging")
    experts = build_serializer(ExpertProgress, "is_done", without=("user",))(many=True)


class AskExpertsSerializer(StrictSerializer):
    """Request body to draw a sample and assign experts: size, seed and experts."""

    count = serializers.IntegerField(
        min_value=1,
        max_value=MOST_DRAWN,
        help_text="How many of all are drawn at random; a larger number keeps those drawn before.",
    )
    seed = serializers.IntegerField(
        min_value=0,
        max_value=MOST_SEED,
        default=0,
        help_text="Of the draw; it counts the first time only.",
    )
    experts = serializers.ListField(
        child=serializers.CharField(),
        allow_empty=False,
        max_length=100,
        help_text="User names of experts who share the question set, or your own.",
    )


class ToJudgeSerializer(serializers.Serializer[Any]):
    """Progress of an expert's judging tasks on one scale."""

    scale = ScaleSerializer(source="judging")
    total = serializers.IntegerField(source="progress.total")
    done = serializers.IntegerField(source="progress.done")
    next = serializers.UUIDField(
        source="progress.next", allow_null=True, help_text="The first one that is not judged yet."
    )


class ToJudgeListSerializer(serializers.Serializer[Any]):
    """An expert's open and finished judging tasks in a question set, by scale."""

    results = ToJudgeSerializer(many=True)


class TaskSerializer(serializers.Serializer[Any]):
    """A judging task: the text to judge, and the context an expert may see."""

    scale = ScaleSerializer()
    number = serializers.IntegerField(source="task.number")
    total = serializers.IntegerField(source="task.total")
    done = serializers.IntegerField(source="task.done")
    parts = build_serializer(Part)(many=True, source="task.parts")
    choice = serializers.CharField(allow_null=True, help_text="What you chose; null for nothing.")


class JudgementSerializer(StrictSerializer):
    """Request body with a judgement: the code of a choice of the scale."""

    choice = serializers.CharField(max_length=40)


class JudgedSerializer(serializers.Serializer[Any]):
    """Response to a judgement: the saved choice, and the next task."""

    choice = serializers.CharField()
    next = serializers.UUIDField(allow_null=True, help_text="Null where everything is judged.")


@extend_schema(tags=["results"], parameters=[NAME])
class RunJudgingViewSet(FinishedRunViewSet):
    """Endpoints of a run's sample for experts to judge, and of the experts assigned."""

    @extend_schema(
        operation_id="results_judging",
        summary="Read experts' grades of a run and their agreement",
        description="Agreement with each other and with programs: kappa and rank correlation with "
        "95% intervals. The judgements themselves are the table of the same name.",
        responses=JudgingReportSerializer,
    )
    def judging(self, request: Request, run_id: Any, name: str) -> Response:
        """Return the state of one judging of a run: sample, experts, agreement."""
        run, judging = self._find_judging(request, run_id, name)
        return Response(JudgingReportSerializer(build_judging_report(run, judging)).data)

    @extend_schema(
        operation_id="results_judging_ask",
        summary="Ask experts to judge a random sample of a run",
        description="They judge blindly, each in an order of their own. What was asked before "
        "stays as it is, so that the same request twice changes nothing.",
        request=AskExpertsSerializer,
        responses=JudgingReportSerializer,
    )
    def ask(self, request: Request, run_id: Any, name: str) -> Response:
        """Draw the sample, assign the experts, and return the state of the judging."""
        run, judging = self._find_judging(request, run_id, name)
        if not rights(request.user, run.version.question_set).edit:
            raise RefusedError("change")
        data = self.validate_body(AskExpertsSerializer).validated_data
        experts = find_expert_keys(request, run, data["experts"])
        drawn = door.draw_sample(run, judging, data["count"], data["seed"])
        if not drawn:
            raise ApiProblem("conflict", f"This run has no {judging.many} to judge.")
        for expert in experts:
            door.request_judgements(drawn, expert)
        return Response(JudgingReportSerializer(build_judging_report(run, judging)).data)

    def _find_judging(self, request: Request, run_id: Any, name: str) -> tuple[Run, Judging]:
        """Return the finished run and its judging with this name. Raises Http404."""
        run = self.get_finished_run(request, run_id, summary=RunSummary)
        for judging in self.get_kind(run).judging:
            if judging.name == name:
                return run, judging
        raise Http404("the kind has nothing of that name judged")


class InboxRowSerializer(ToJudgeSerializer):
    """Progress of an expert's judging tasks in one set on one scale."""

    question_set = serializers.UUIDField(source="question_set.public_id")
    name = serializers.CharField(source="question_set.name", help_text="Of the set.")


class InboxSerializer(serializers.Serializer[Any]):
    """All judging tasks of an expert, unfinished ones first."""

    results = InboxRowSerializer(many=True)


@extend_schema(tags=["answers"])
class JudgingViewSet(ApiViewSet):
    """Endpoints of the requesting expert's judging tasks."""

    queryset = QuestionSet.objects.all()
    lookup_url_kwarg = "set_id"

    @extend_schema(
        operation_id="judging_inbox",
        summary="List what you are asked to judge, of all sets",
        responses=InboxSerializer,
    )
    def inbox(self, request: Request) -> Response:
        """Return the expert's judging tasks of all sets, by set and scale."""
        sets = select_visible(request, QuestionSet.objects.all())
        rows = []
        for entry in load_inbox(sets, get_user_id(request)):
            try:
                judging = find_judging(entry.declared)
            except UnknownKindError:
                continue
            row = {
                "question_set": entry.question_set,
                "judging": judging,
                "progress": entry.progress,
            }
            rows.append(row)
        return Response(InboxSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="judging_list",
        summary="List what you are asked to judge",
        responses=ToJudgeListSerializer,
    )
    def queues(self, request: Request, set_id: Any) -> Response:
        """Return the expert's judging tasks in a set, by scale."""
        question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
        rows = []
        for queue in door.load_judging_queues(question_set, get_user_id(request)):
            try:
                rows.append({"judging": find_judging(queue.declared), "progress": queue.progress})
            except UnknownKindError:
                continue
        return Response(ToJudgeListSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="judging_read",
        summary="Read one thing that you are asked to judge",
        description="Its texts, without any hint at their authors.",
        responses=TaskSerializer,
    )
    def task(self, request: Request, set_id: Any, task_id: UUID) -> Response:
        """Return a judging task with its texts and the expert's choice."""
        _, judging, task = self._find_task(request, set_id, task_id)
        code = judging.find_code(task.grade, task.label)
        return Response(
            TaskSerializer({"task": task, "scale": judging, "choice": code or None}).data
        )

    @extend_schema(
        operation_id="judging_judge",
        summary="Grade it, or correct your grade",
        request=JudgementSerializer,
        responses=JudgedSerializer,
    )
    def judge(self, request: Request, set_id: Any, task_id: UUID) -> Response:
        """Save a judgement; repeating the same one has no effect."""
        question_set, judging, _ = self._find_task(request, set_id, task_id)
        choice = judging.find_choice(
            self.validate_body(JudgementSerializer).validated_data["choice"]
        )
        if choice is None:
            codes = ", ".join(choice.code for choice in judging.choices)
            raise build_field_problem("choice", f"Choose one of: {codes}.")
        try:
            following = door.store_judgement(question_set, get_user_id(request), task_id, choice)
        except door.NotAskedError:
            raise Http404 from None
        return Response(JudgedSerializer({"choice": choice.code, "next": following}).data)

    @extend_schema(
        operation_id="judging_undo",
        summary="Withdraw your grade",
        description="The item is open for judgement again. Without a judgement, nothing changes.",
        responses={204: None},
    )
    def undo(self, request: Request, set_id: Any, task_id: UUID) -> Response:
        """Delete the expert's judgement, so that the task is open again."""
        question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
        try:
            door.delete_judgement(question_set, get_user_id(request), task_id)
        except door.NotAskedError:
            raise Http404 from None
        return Response(status=204)

    def _find_task(
        self, request: Request, set_id: Any, task_id: UUID
    ) -> tuple[QuestionSet, Judging, door.JudgingTask]:
        """Return the set, the judging and the task that a request names. Raises Http404."""
        question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
        task = door.load_judging_task(question_set, get_user_id(request), task_id)
        if task is None:
            raise Http404
        try:
            return question_set, find_judging(task.declared), task
        except UnknownKindError as error:
            raise Http404(str(error)) from error
