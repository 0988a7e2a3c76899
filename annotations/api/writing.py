"""REST endpoints for the requester of a writing project, which produces unanswerable problems."""

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
    get_editable,
    get_manageable,
    get_set_with_answers,
    get_user_id,
    select_visible,
)

STATES = WrittenProblem.State


def convert_writing_error(error: rules.WritingError) -> ApiProblem:
    """Return a refused action as an API problem: "invalid" if a field is wrong, else "conflict"."""
    if error.field:
        pointer = f"#/{error.field}"
        return ApiProblem("invalid", str(error), [Fault(str(error), pointer=pointer)])
    return ApiProblem("conflict", str(error))


class StateCountSerializer(serializers.Serializer[Any]):
    """Number of a project's problems in one state."""

    state = serializers.ChoiceField(choices=STATES.choices)
    n = serializers.IntegerField()


class CategoryCountSerializer(serializers.Serializer[Any]):
    """Number of accepted problems in one category of reasons for having no answer."""

    category = serializers.IntegerField(help_text="1 to 5, as in UMWP.")
    words = serializers.CharField()
    n = serializers.IntegerField()


class WritingMemberSerializer(serializers.ModelSerializer[WritingMember]):
    """Member of a writing project: a writer or a validator."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = WritingMember
        fields = ("id", "username", "role", "created_at", "pending")
        read_only_fields = fields


class InvitationSerializer(StrictSerializer):
    """Exact user name of a person to invite, and the role offered."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=WritingMember.Role.choices)


class WritingProjectSerializer(StrictModelSerializer):
    """Settings and progress of a project in which users write unanswerable problems."""

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
        """Model of the serializer, and its JSON fields in order."""

        model = WritingProject
        fields = (
            *("id", "version", "instructions", "per_original", "votes_needed", "is_open"),
            *("wanted", "states", "categories", "created_at"),
        )
        read_only_fields = ("created_at",)


class WrittenProblemRowSerializer(serializers.ModelSerializer[WrittenProblem]):
    """Written problem as a list item, with its author and state."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    problem = serializers.CharField(source="external_id", read_only=True, help_text="Id in files.")
    author = serializers.CharField(source="author.username", read_only=True)

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = WrittenProblem
        fields = ("id", "problem", "text", "category", "state", "revision", "author", "updated_at")
        read_only_fields = fields


class ProblemVoteSerializer(serializers.ModelSerializer[ProblemVote]):
    """Vote of a validator on one revision of a problem."""

    validator = serializers.CharField(source="validator.username", read_only=True)

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = ProblemVote
        fields = ("validator", "revision", "answerable", "category", "note", "updated_at")
        read_only_fields = fields


class WritingEventSerializer(serializers.ModelSerializer[WritingEvent]):
    """Event in the history of a problem, with the text that the problem had then."""

    by = serializers.CharField(source="by.username", read_only=True)

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = WritingEvent
        fields = ("kind", "by", "revision", "text", "category", "note", "created_at")
        read_only_fields = fields


class WrittenProblemSerializer(serializers.ModelSerializer[WrittenProblem]):
    """Written problem with its original question, the votes, and its events, newest first."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    problem = serializers.CharField(source="external_id", read_only=True, help_text="Id in files.")
    author = serializers.CharField(source="author.username", read_only=True)
    original = serializers.CharField(source="original.text", read_only=True)
    votes = ProblemVoteSerializer(many=True, read_only=True)
    events = WritingEventSerializer(many=True, read_only=True)

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = WrittenProblem
        fields = (
            *("id", "problem", "original", "text", "category", "state", "revision", "author"),
            *("updated_at", "votes", "events"),
        )
        read_only_fields = fields


class ProblemDecisionSerializer(StrictSerializer):
    """Decision of the requester: return a problem to its author, or drop it."""

    state = serializers.ChoiceField(choices=[STATES.RETURNED.value, STATES.DROPPED.value])
    note = serializers.CharField(max_length=2_000, help_text="Why, for its author.")


class AcceptedProblemSerializer(serializers.Serializer[Any]):
    """Record in UMWP format: an answerable question, or an accepted problem without answer."""

    id = serializers.JSONField(help_text="A number where the id is one, else a text.")
    question = serializers.CharField()
    answer = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    answerable = serializers.BooleanField()
    category = serializers.IntegerField(allow_null=True)
    relevant_ids = serializers.ListField(child=serializers.JSONField(), allow_null=True)
    source: Any = serializers.CharField(allow_blank=True)


class AcceptedProblemsSerializer(serializers.Serializer[Any]):
    """Accepted problems and the original questions they were written from."""

    problems = AcceptedProblemSerializer(many=True)


@extend_schema(tags=["writing"])
class WritingProjectViewSet(ApiViewSet):
    """API endpoints of a writing project for users who see the answers of its question set."""

    queryset = WritingProject.objects.all()
    lookup_url_kwarg = "set_id"
    serializer_class = WritingProjectSerializer

    @extend_schema(
        operation_id="writing_retrieve",
        summary="Read how far the writing is",
        responses=WritingProjectSerializer,
    )
    def retrieve(self, request: Request, set_id: Any) -> Response:
        """Return the settings and progress of the writing project."""
        return Response(_serialize_project(self._load_project(set_id)))

    @extend_schema(
        operation_id="writing_create",
        summary="Begin the writing for the latest version",
        description="Again changes nothing. 409 while the version is a draft, or no question of "
        "it is marked as answerable.",
        request=None,
        responses={201: WritingProjectSerializer},
    )
    def create(self, request: Request, set_id: Any) -> Response:
        """Start the writing project of the latest version, which must be published."""
        question_set = self._load_editable_set(set_id)
        latest = question_set.latest_version()
        try:
            if latest is None:
                raise rules.WritingError("no_originals")
            project = rules.start_project(latest)
        except rules.WritingError as error:
            raise convert_writing_error(error) from None
        return Response(_serialize_project(project), status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="writing_partial_update",
        summary="Change how much is wanted; close it, or open it again",
    )
    def partial_update(self, request: Request, set_id: Any) -> Response:
        """Change the settings of the writing project; close or reopen it."""
        self._load_editable_set(set_id)
        project = self._load_project(set_id)
        values = self.validate_body(WritingProjectSerializer, partial=True).validated_data
        is_open = values.pop("is_open", None)
        for name, value in values.items():
            setattr(project, name, value)
        project.save()
        if is_open is not None:
            rules.set_project_open(project, is_open)
        return Response(_serialize_project(project))

    @extend_schema(
        operation_id="writing_problems",
        summary="List the problems that people write, newest first",
        parameters=[OpenApiParameter("state", str, enum=STATES.values)],
        responses=WrittenProblemRowSerializer(many=True),
    )
    def list_problems(self, request: Request, set_id: Any) -> Response:
        """List the written problems, newest first; `state` in the query restricts them."""
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
        """Return a written problem with its votes and history."""
        return Response(self._serialize_problem(set_id, problem_id))

    @extend_schema(
        operation_id="writing_decide",
        summary="Send a problem back, or leave it out",
        request=ProblemDecisionSerializer,
        responses=WrittenProblemSerializer,
    )
    def decide(self, request: Request, set_id: Any, problem_id: Any) -> Response:
        """Return a problem to its author or drop it, regardless of the validators' votes."""
        self._load_editable_set(set_id)
        project = self._load_project(set_id)
        problem = get_object_or_404(self._select_problems(project), public_id=problem_id)
        values = self.validate_body(ProblemDecisionSerializer).validated_data
        decide = (
            rules.discard_problem if values["state"] == STATES.DROPPED else rules.return_problem
        )
        try:
            decide(problem, get_user_id(request), values["note"])
        except rules.WritingError as error:
            raise convert_writing_error(error) from None
        return Response(self._serialize_problem(set_id, problem_id))

    @extend_schema(
        operation_id="writing_people",
        summary="List who writes and who checks",
        responses=WritingMemberSerializer(many=True),
    )
    def list_members(self, request: Request, set_id: Any) -> Response:
        """List the writers and validators of the project."""
        rows = self._load_managed_project(set_id).members.select_related("user")
        page = load_page(request, rows, NEWEST)
        body = WritingMemberSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="writing_invite",
        summary="Invite a user to write or to check",
        description="Who wrote cannot check, nor the other way round; a validator must not see "
        "the set's votes by another role. An account that has never signed in is `pending`: it "
        "takes part once that person signed in on the site and accepted.",
        request=InvitationSerializer,
        responses={201: WritingMemberSerializer},
    )
    def invite(self, request: Request, set_id: Any) -> Response:
        """Invite a user as writer or validator, by the exact user name."""
        project = self._load_managed_project(set_id)
        values = self.validate_body(InvitationSerializer).validated_data
        # NFKC, as Django stores user names.
        name = User.normalize_username(values["username"])
        person = User.objects.filter(is_active=True, username=name).first()
        if person is None:
            raise build_field_problem("username", f"There is no account with the name “{name}”.")
        if reason := rules.find_invitation_error(project, person, values["role"]):
            raise ApiProblem("conflict", reason, [Fault(reason, pointer="#/username")])
        member = rules.invite_user(project, person, values["role"])
        return Response(WritingMemberSerializer(member).data, status.HTTP_201_CREATED)

    @extend_schema(operation_id="writing_remove", summary="End a user's participation")
    def remove(self, request: Request, set_id: Any, member_id: Any) -> Response:
        """Remove a member from the project; their problems and votes stay."""
        get_object_or_404(
            self._load_managed_project(set_id).members.all(), public_id=member_id
        ).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="writing_accepted",
        summary="Read what was accepted, as pairs of UMWP",
        responses=AcceptedProblemsSerializer,
    )
    def list_accepted(self, request: Request, set_id: Any) -> Response:
        """Return the accepted problems and their originals in UMWP format."""
        return Response(
            {"problems": list(rules.export_accepted_problems(self._load_project(set_id)))}
        )

    def _load_project(self, set_id: Any) -> WritingProject:
        """Return the writing project of the newest version that has one; else raise Http404."""
        question_set = get_set_with_answers(self.request, set_id)
        rows = select_visible(self.request, WritingProject.objects.all())
        rows = rows.filter(version__question_set=question_set).select_related("version")
        project = rows.order_by("-version__number").first()
        if project is None:
            raise Http404
        return project

    def _load_editable_set(self, set_id: Any) -> QuestionSet:
        """Return a question set that the user may change; raise Http404 or 403 otherwise."""
        get_set_with_answers(self.request, set_id)
        return get_editable(self.request, QuestionSet.objects.all(), set_id)

    def _load_managed_project(self, set_id: Any) -> WritingProject:
        """Return the writing project of a set that the user manages; else Http404 or 403."""
        get_set_with_answers(self.request, set_id)
        get_manageable(self.request, QuestionSet.objects.all(), set_id)
        return self._load_project(set_id)

    def _select_problems(self, project: WritingProject) -> Any:
        """Return a queryset of the project's problems that the user may see."""
        rows = select_visible(self.request, WrittenProblem.objects.all()).filter(project=project)
        return rows.select_related("original", "author")

    def _serialize_problem(self, set_id: Any, problem_id: Any) -> Any:
        """Return a written problem with votes and history as JSON data."""
        rows = self._select_problems(self._load_project(set_id)).prefetch_related(
            "votes__validator", "events__by"
        )
        return WrittenProblemSerializer(get_object_or_404(rows, public_id=problem_id)).data


def _serialize_project(project: WritingProject) -> Any:
    """Return a writing project with its progress as JSON data."""
    overview = rules.summarize_project(project)
    annotated: Any = project
    annotated.is_open = project.closed_at is None
    annotated.wanted = overview.slots.wanted
    annotated.states = [{"state": state, "n": n} for state, _, n in overview.states]
    annotated.categories = [
        {"category": category, "words": Category(category).label, "n": n}
        for category, _, n in overview.categories
    ]
    return WritingProjectSerializer(annotated).data
