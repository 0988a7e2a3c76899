"""Problems without an answer: what the requester sees of the writing, and decides."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import writing as rules
from annotations.models import (
    Category,
    ProblemVote,
    QuestionSet,
    WritingEvent,
    WritingMember,
    WritingProject,
    WrittenProblem,
)
from annotations.web.paging import NEWEST
from annotations.web.query import QueryError
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer, StrictSerializer
from annotations.web.rest.paging import page_body, page_of
from annotations.web.rest.problems import ApiProblem, Fault, bad_field
from annotations.web.scope import answered_set, editable, manageable, user_id, visible

STATES = WrittenProblem.State


def refused(error: rules.WritingError) -> ApiProblem:
    """Return what the rules refuse as a problem: of a value, or of how things stand."""
    if error.field:
        pointer = f"#/{error.field}"
        return ApiProblem("invalid", str(error), [Fault(str(error), pointer=pointer)])
    return ApiProblem("conflict", str(error))


class StateCountSerializer(serializers.Serializer[Any]):
    """How many problems are in a state."""

    state = serializers.ChoiceField(choices=STATES.choices)
    n = serializers.IntegerField()


class CategoryCountSerializer(serializers.Serializer[Any]):
    """How many accepted problems have no answer for a reason."""

    category = serializers.IntegerField(help_text="1 to 5, as in UMWP.")
    words = serializers.CharField()
    n = serializers.IntegerField()


class WritingPersonSerializer(serializers.ModelSerializer[WritingMember]):
    """Somebody who writes or checks."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = WritingMember
        fields = ("id", "username", "role", "created_at", "pending")
        read_only_fields = fields


class InvitationSerializer(StrictSerializer):
    """Whom to invite, by the whole user name, and as what."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=WritingMember.Role.choices)


class WritingSerializer(StrictModelSerializer):
    """The writing of problems without an answer to the questions of a version."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    version = serializers.IntegerField(source="version.number", read_only=True)
    instructions = serializers.CharField(
        required=False, allow_blank=True, max_length=20_000, help_text="Shown to all who take part."
    )
    per_original = serializers.IntegerField(
        required=False, min_value=1, max_value=5, help_text="Problems for each question."
    )
    votes_needed = serializers.IntegerField(
        required=False, min_value=1, max_value=9, help_text="Validators for each problem."
    )
    is_open = serializers.BooleanField(
        required=False, help_text="Whether anything is written and checked at the moment."
    )
    wanted = serializers.IntegerField(read_only=True)
    states = StateCountSerializer(many=True, read_only=True)
    categories = CategoryCountSerializer(many=True, read_only=True)

    class Meta:
        """The fields, in their order."""

        model = WritingProject
        fields = (
            *("id", "version", "instructions", "per_original", "votes_needed", "is_open"),
            *("wanted", "states", "categories", "created_at"),
        )
        read_only_fields = ("created_at",)


class WrittenProblemRowSerializer(serializers.ModelSerializer[WrittenProblem]):
    """A problem that somebody writes, in a list."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    problem = serializers.CharField(source="external_id", read_only=True, help_text="Id in files.")
    author = serializers.CharField(source="author.username", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = WrittenProblem
        fields = ("id", "problem", "text", "category", "state", "revision", "author", "updated_at")
        read_only_fields = fields


class ProblemVoteSerializer(serializers.ModelSerializer[ProblemVote]):
    """What a validator says of a revision."""

    validator = serializers.CharField(source="validator.username", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = ProblemVote
        fields = ("validator", "revision", "answerable", "category", "note", "updated_at")
        read_only_fields = fields


class WritingEventSerializer(serializers.ModelSerializer[WritingEvent]):
    """What happened to a problem, with its words as they then were."""

    by = serializers.CharField(source="by.username", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = WritingEvent
        fields = ("kind", "by", "revision", "text", "category", "note", "created_at")
        read_only_fields = fields


class WrittenProblemSerializer(serializers.ModelSerializer[WrittenProblem]):
    """A problem with its question, what validators say, and what happened, newest first."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    problem = serializers.CharField(source="external_id", read_only=True, help_text="Id in files.")
    author = serializers.CharField(source="author.username", read_only=True)
    original = serializers.CharField(source="original.text", read_only=True)
    votes = ProblemVoteSerializer(many=True, read_only=True)
    events = WritingEventSerializer(many=True, read_only=True)

    class Meta:
        """The fields, in their order."""

        model = WrittenProblem
        fields = (
            *("id", "problem", "original", "text", "category", "state", "revision", "author"),
            *("updated_at", "votes", "events"),
        )
        read_only_fields = fields


class DecisionOnProblemSerializer(StrictSerializer):
    """What the requester decides: to send a problem back to its author, or to leave it out."""

    state = serializers.ChoiceField(choices=[STATES.RETURNED.value, STATES.DROPPED.value])
    note = serializers.CharField(max_length=2_000, help_text="Why, for its author.")


class AcceptedProblemSerializer(serializers.Serializer[Any]):
    """A problem of UMWP: a question that has an answer, or an accepted problem that has none."""

    id = serializers.JSONField(help_text="A number where the id is one, else a text.")
    question = serializers.CharField()
    answer = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    answerable = serializers.BooleanField()
    category = serializers.IntegerField(allow_null=True)
    relevant_ids = serializers.ListField(child=serializers.JSONField(), allow_null=True)
    source: Any = serializers.CharField(allow_blank=True)


class AcceptedSerializer(serializers.Serializer[Any]):
    """What was accepted, with the questions that it was made of."""

    problems = AcceptedProblemSerializer(many=True)


@extend_schema(tags=["writing"])
class WritingViewSet(ApiViewSet):
    """Problems without an answer, for who owns the set, edits it or looks at it."""

    queryset = WritingProject.objects.all()
    lookup_url_kwarg = "set_id"
    serializer_class = WritingSerializer

    @extend_schema(
        operation_id="writing_retrieve",
        summary="Read how far the writing is",
        responses=WritingSerializer,
    )
    def retrieve(self, request: Request, set_id: Any) -> Response:
        """Read it."""
        return Response(_told(self._project(set_id)))

    @extend_schema(
        operation_id="writing_create",
        summary="Begin the writing for the latest version",
        description="Again changes nothing. 409 while the version is a draft, or no question of "
        "it is marked as answerable.",
        request=None,
        responses={201: WritingSerializer},
    )
    def create(self, request: Request, set_id: Any) -> Response:
        """Begin it."""
        question_set = self._editable(set_id)
        latest = question_set.latest_version()
        try:
            if latest is None:
                raise rules.WritingError("no_originals")
            project = rules.start(latest)
        except rules.WritingError as error:
            raise refused(error) from None
        return Response(_told(project), status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="writing_partial_update",
        summary="Change how much is wanted; close it, or open it again",
    )
    def partial_update(self, request: Request, set_id: Any) -> Response:
        """Change it."""
        self._editable(set_id)
        project = self._project(set_id)
        values = self.checked(WritingSerializer, partial=True).validated_data
        is_open = values.pop("is_open", None)
        for name, value in values.items():
            setattr(project, name, value)
        project.save()
        if is_open is not None:
            rules.set_open(project, is_open)
        return Response(_told(project))

    @extend_schema(
        operation_id="writing_problems",
        summary="List the problems that people write, newest first",
        parameters=[OpenApiParameter("state", str, enum=STATES.values)],
        responses=WrittenProblemRowSerializer(many=True),
    )
    def problems(self, request: Request, set_id: Any) -> Response:
        """List them."""
        rows = self._problems(self._project(set_id))
        state = request.query_params.get("state")
        if state is not None:
            if state not in STATES.values:
                raise QueryError("state", f"write one of {', '.join(STATES.values)}")
            rows = rows.filter(state=state)
        page = page_of(request, rows, NEWEST)
        body = WrittenProblemRowSerializer(page.rows, many=True).data
        return Response(page_body(request, body, page.next))

    @extend_schema(
        operation_id="writing_problem",
        summary="Read a problem with its votes and history",
        responses=WrittenProblemSerializer,
    )
    def problem(self, request: Request, set_id: Any, problem_id: Any) -> Response:
        """Read one."""
        return Response(self._problem(set_id, problem_id))

    @extend_schema(
        operation_id="writing_decide",
        summary="Send a problem back, or leave it out",
        request=DecisionOnProblemSerializer,
        responses=WrittenProblemSerializer,
    )
    def decide(self, request: Request, set_id: Any, problem_id: Any) -> Response:
        """Decide otherwise than the validators did, or before them."""
        self._editable(set_id)
        project = self._project(set_id)
        shown = get_object_or_404(self._problems(project), public_id=problem_id)
        values = self.checked(DecisionOnProblemSerializer).validated_data
        act = rules.drop if values["state"] == STATES.DROPPED else rules.send_back
        try:
            act(shown, user_id(request), values["note"])
        except rules.WritingError as error:
            raise refused(error) from None
        return Response(self._problem(set_id, problem_id))

    @extend_schema(
        operation_id="writing_people",
        summary="List who writes and who checks",
        responses=WritingPersonSerializer(many=True),
    )
    def people(self, request: Request, set_id: Any) -> Response:
        """List them."""
        rows = self._managed(set_id).members.select_related("user")
        page = page_of(request, rows, NEWEST)
        body = WritingPersonSerializer(page.rows, many=True).data
        return Response(page_body(request, body, page.next))

    @extend_schema(
        operation_id="writing_invite",
        summary="Invite somebody to write or to check",
        description="Who wrote cannot check, nor the other way round; a validator must not see "
        "the set's votes by another role. An account that has never signed in is `pending`: it "
        "takes part once that person signed in on the site and accepted.",
        request=InvitationSerializer,
        responses={201: WritingPersonSerializer},
    )
    def invite(self, request: Request, set_id: Any) -> Response:
        """Invite one by the whole name."""
        project = self._managed(set_id)
        values = self.checked(InvitationSerializer).validated_data
        name = User.normalize_username(values["username"])
        person = User.objects.filter(is_active=True, username=name).first()
        if person is None:
            raise bad_field("username", f"There is no account called “{name}”.")
        if reason := rules.why_not(project, person, values["role"]):
            raise ApiProblem("conflict", reason, [Fault(reason, pointer="#/username")])
        member = rules.invite(project, person, values["role"])
        return Response(WritingPersonSerializer(member).data, status.HTTP_201_CREATED)

    @extend_schema(operation_id="writing_remove", summary="Let somebody take part no longer")
    def remove(self, request: Request, set_id: Any, member_id: Any) -> Response:
        """What they did stays."""
        get_object_or_404(self._managed(set_id).members.all(), public_id=member_id).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="writing_accepted",
        summary="Read what was accepted, as pairs of UMWP",
        responses=AcceptedSerializer,
    )
    def accepted(self, request: Request, set_id: Any) -> Response:
        """Read it."""
        return Response({"problems": list(rules.accepted(self._project(set_id)))})

    def _project(self, set_id: Any) -> WritingProject:
        question_set = answered_set(self.request, set_id)
        rows = visible(self.request, WritingProject.objects.all())
        found = rows.filter(version__question_set=question_set).select_related("version")
        project = found.order_by("-version__number").first()
        if project is None:
            raise Http404
        return project

    def _editable(self, set_id: Any) -> QuestionSet:
        answered_set(self.request, set_id)
        return editable(self.request, QuestionSet.objects.all(), set_id)

    def _managed(self, set_id: Any) -> WritingProject:
        answered_set(self.request, set_id)
        manageable(self.request, QuestionSet.objects.all(), set_id)
        return self._project(set_id)

    def _problems(self, project: WritingProject) -> Any:
        rows = visible(self.request, WrittenProblem.objects.all()).filter(project=project)
        return rows.select_related("original", "author")

    def _problem(self, set_id: Any, problem_id: Any) -> Any:
        rows = self._problems(self._project(set_id)).prefetch_related(
            "votes__validator", "events__by"
        )
        return WrittenProblemSerializer(get_object_or_404(rows, public_id=problem_id)).data


def _told(project: WritingProject) -> Any:
    """Return a project as it is sent, with how far it is."""
    overview = rules.overview(project)
    told: Any = project
    told.is_open = project.closed_at is None
    told.wanted = overview.slots.wanted
    told.states = [{"state": state, "n": n} for state, _, n in overview.states]
    told.categories = [
        {"category": category, "words": Category(category).label, "n": n}
        for category, _, n in overview.categories
    ]
    return WritingSerializer(told).data
