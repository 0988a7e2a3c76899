"""REST resource: a writing project (problems without an answer) for the requester."""

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
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.problems import ApiProblem, Fault, build_field_problem
from annotations.web.scope import (
    get_answered_set,
    get_editable,
    get_manageable,
    get_user_id,
    select_visible,
)

STATES = WrittenProblem.State


def convert_error(error: rules.WritingError) -> ApiProblem:
    """Return the API problem of a refusal: invalid with its field, else a conflict."""
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
        return Response(_serialize_project(self._load_project(set_id)))

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
        question_set = self._load_editable_set(set_id)
        latest = question_set.latest_version()
        try:
            if latest is None:
                raise rules.WritingError("no_originals")
            project = rules.start(latest)
        except rules.WritingError as error:
            raise convert_error(error) from None
        return Response(_serialize_project(project), status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="writing_partial_update",
        summary="Change how much is wanted; close it, or open it again",
    )
    def partial_update(self, request: Request, set_id: Any) -> Response:
        """Change it."""
        self._load_editable_set(set_id)
        project = self._load_project(set_id)
        values = self.checked(WritingSerializer, partial=True).validated_data
        is_open = values.pop("is_open", None)
        for name, value in values.items():
            setattr(project, name, value)
        project.save()
        if is_open is not None:
            rules.set_open(project, is_open)
        return Response(_serialize_project(project))

    @extend_schema(
        operation_id="writing_problems",
        summary="List the problems that people write, newest first",
        parameters=[OpenApiParameter("state", str, enum=STATES.values)],
        responses=WrittenProblemRowSerializer(many=True),
    )
    def list_problems(self, request: Request, set_id: Any) -> Response:
        """List them."""
        rows = self._select_problems(self._load_project(set_id))
        state = request.query_params.get("state")
        if state is not None:
            if state not in STATES.values:
                raise QueryError("state", f"write one of {', '.join(STATES.values)}")
            rows = rows.filter(state=state)
        page = load_page(request, rows, NEWEST)
        body = WrittenProblemRowSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="writing_problem",
        summary="Read a problem with its votes and history",
        responses=WrittenProblemSerializer,
    )
    def read_problem(self, request: Request, set_id: Any, problem_id: Any) -> Response:
        """Read one."""
        return Response(self._serialize_problem(set_id, problem_id))

    @extend_schema(
        operation_id="writing_decide",
        summary="Send a problem back, or leave it out",
        request=DecisionOnProblemSerializer,
        responses=WrittenProblemSerializer,
    )
    def decide(self, request: Request, set_id: Any, problem_id: Any) -> Response:
        """Decide otherwise than the validators did, or before them."""
        self._load_editable_set(set_id)
        project = self._load_project(set_id)
        problem = get_object_or_404(self._select_problems(project), public_id=problem_id)
        values = self.checked(DecisionOnProblemSerializer).validated_data
        decide = rules.drop if values["state"] == STATES.DROPPED else rules.send_back
        try:
            decide(problem, get_user_id(request), values["note"])
        except rules.WritingError as error:
            raise convert_error(error) from None
        return Response(self._serialize_problem(set_id, problem_id))

    @extend_schema(
        operation_id="writing_people",
        summary="List who writes and who checks",
        responses=WritingPersonSerializer(many=True),
    )
    def list_members(self, request: Request, set_id: Any) -> Response:
        """List them."""
        rows = self._load_managed_project(set_id).members.select_related("user")
        page = load_page(request, rows, NEWEST)
        body = WritingPersonSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

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
        project = self._load_managed_project(set_id)
        values = self.checked(InvitationSerializer).validated_data
        # NFKC, as Django stores user names.
        name = User.normalize_username(values["username"])
        person = User.objects.filter(is_active=True, username=name).first()
        if person is None:
            raise build_field_problem("username", f"There is no account called “{name}”.")
        if reason := rules.find_invitation_error(project, person, values["role"]):
            raise ApiProblem("conflict", reason, [Fault(reason, pointer="#/username")])
        member = rules.invite(project, person, values["role"])
        return Response(WritingPersonSerializer(member).data, status.HTTP_201_CREATED)

    @extend_schema(operation_id="writing_remove", summary="Let somebody take part no longer")
    def remove(self, request: Request, set_id: Any, member_id: Any) -> Response:
        """What they did stays."""
        get_object_or_404(
            self._load_managed_project(set_id).members.all(), public_id=member_id
        ).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="writing_accepted",
        summary="Read what was accepted, as pairs of UMWP",
        responses=AcceptedSerializer,
    )
    def list_accepted(self, request: Request, set_id: Any) -> Response:
        """Read it."""
        return Response({"problems": list(rules.export_accepted(self._load_project(set_id)))})

    def _load_project(self, set_id: Any) -> WritingProject:
        """Return the writing project of the newest version that has one; else Http404."""
        question_set = get_answered_set(self.request, set_id)
        rows = select_visible(self.request, WritingProject.objects.all())
        rows = rows.filter(version__question_set=question_set).select_related("version")
        project = rows.order_by("-version__number").first()
        if project is None:
            raise Http404
        return project

    def _load_editable_set(self, set_id: Any) -> QuestionSet:
        """Return a set that the user may change; else Http404 or 403."""
        get_answered_set(self.request, set_id)
        return get_editable(self.request, QuestionSet.objects.all(), set_id)

    def _load_managed_project(self, set_id: Any) -> WritingProject:
        """Return the writing project of a set that the user manages; else Http404 or 403."""
        get_answered_set(self.request, set_id)
        get_manageable(self.request, QuestionSet.objects.all(), set_id)
        return self._load_project(set_id)

    def _select_problems(self, project: WritingProject) -> Any:
        """Return the project's problems that the user may see."""
        rows = select_visible(self.request, WrittenProblem.objects.all()).filter(project=project)
        return rows.select_related("original", "author")

    def _serialize_problem(self, set_id: Any, problem_id: Any) -> Any:
        """Return the JSON of a problem with votes and history."""
        rows = self._select_problems(self._load_project(set_id)).prefetch_related(
            "votes__validator", "events__by"
        )
        return WrittenProblemSerializer(get_object_or_404(rows, public_id=problem_id)).data


def _serialize_project(project: WritingProject) -> Any:
    """Return the JSON of a project with its progress."""
    overview = rules.summarize_project(project)
    annotated: Any = project
    annotated.is_open = project.closed_at is None
    annotated.wanted = overview.slots.wanted
    annotated.states = [{"state": state, "n": n} for state, _, n in overview.states]
    annotated.categories = [
        {"category": category, "words": Category(category).label, "n": n}
        for category, _, n in overview.categories
    ]
    return WritingSerializer(annotated).data
