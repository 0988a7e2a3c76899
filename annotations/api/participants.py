"""REST endpoints of writing projects for their writers and validators; other users get 404."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import writing as rules
from annotations.api.writing import convert_writing_error
from annotations.models import WritingMember, WritingProject, WrittenProblem
from annotations.web.paging import NEWEST
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.scope import RefusedError, get_user_id

WRITER, VALIDATOR = WritingMember.Role.WRITER, WritingMember.Role.VALIDATOR


class WritingMembershipSerializer(serializers.ModelSerializer[WritingMember]):
    """Writing project with the user's role in it; `id` is part of the URLs of its resources."""

    id = serializers.UUIDField(source="project.public_id", read_only=True)
    name = serializers.CharField(source="project.version.question_set.name", read_only=True)
    instructions = serializers.CharField(source="project.instructions", read_only=True)
    is_open = serializers.SerializerMethodField()

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = WritingMember
        fields = ("id", "name", "role", "instructions", "is_open")
        read_only_fields = fields

    def get_is_open(self, member: WritingMember) -> bool:
        """Return whether the project accepts problems and votes at the moment."""
        return member.project.closed_at is None


class AnonymousVoteSerializer(serializers.Serializer[Any]):
    """Anonymous vote of one validator on a problem that was returned to its author."""

    answerable = serializers.BooleanField()
    category = serializers.CharField(allow_blank=True)
    note = serializers.CharField(allow_blank=True)


class OwnProblemSerializer(serializers.ModelSerializer[WrittenProblem]):
    """Problem written by the user; if it was returned, with the reasons."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    problem = serializers.CharField(source="external_id", read_only=True, help_text="Id in files.")
    original = serializers.CharField(source="original.text", read_only=True)
    note = serializers.SerializerMethodField(help_text="The requester's, if it was sent back.")
    words = serializers.SerializerMethodField()

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = WrittenProblem
        fields = (
            *("id", "problem", "original", "text", "category", "state", "revision"),
            *("note", "words", "updated_at"),
        )
        read_only_fields = fields

    def get_note(self, problem: WrittenProblem) -> str:
        """Return the requester's note on a returned problem; "" if there is none."""
        return rules.find_return_note(problem) if problem.state == problem.State.RETURNED else ""

    @extend_schema_field(AnonymousVoteSerializer(many=True))
    def get_words(self, problem: WrittenProblem) -> Any:
        """Return the anonymous votes of the validators on a returned problem; else []."""
        if problem.state != problem.State.RETURNED:
            return []
        return AnonymousVoteSerializer(rules.list_anonymous_votes(problem), many=True).data


class ProblemDraftSerializer(StrictSerializer):
    """Text and category of a problem; `hand_in` submits it to the validators."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=5_000)
    category = serializers.IntegerField(
        min_value=1, max_value=5, allow_null=True, default=None, help_text="As in UMWP."
    )
    hand_in = serializers.BooleanField(default=False)


class CheckTaskSerializer(serializers.Serializer[Any]):
    """Problem that the user is to check, with the user's vote; null before the vote."""

    id = serializers.UUIDField()
    text = serializers.CharField()
    answerable = serializers.BooleanField(allow_null=True)
    category = serializers.IntegerField(allow_null=True)
    note = serializers.CharField(allow_blank=True)


@add_renamed_keys(said="checked")
class CheckTasksSerializer(serializers.Serializer[Any]):
    """Problems that the user is to check, in random order, and those with a changeable vote."""

    open = CheckTaskSerializer(many=True)
    said = CheckTaskSerializer(many=True, source="voted")


class CheckVoteSerializer(StrictSerializer):
    """Vote of a validator: whether a problem has an answer, and if not, why."""

    answerable = serializers.BooleanField()
    category = serializers.IntegerField(min_value=1, max_value=5, allow_null=True, default=None)
    note = serializers.CharField(default="", allow_blank=True, max_length=2_000)


@extend_schema(tags=["writing"])
class WritingMembershipViewSet(ApiViewSet):
    """API endpoints for invited users who write problems or check them."""

    queryset = WritingProject.objects.all()
    lookup_url_kwarg = "project_id"
    serializer_class = WritingMembershipSerializer

    @extend_schema(
        operation_id="taking_part_list",
        summary="List what you write or check",
        responses=WritingMembershipSerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        """List the writing projects of the user, newest first."""
        own = WritingMember.objects.filter_accepted().filter(user=get_user_id(request))
        rows = own.select_related("project__version__question_set")
        page = load_page(request, rows, NEWEST)
        body = WritingMembershipSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="taking_part_problems",
        summary="List the problems that you write, newest first",
        responses=OwnProblemSerializer(many=True),
    )
    def list_problems(self, request: Request, project_id: Any) -> Response:
        """List the problems that the user has written in a project, newest first."""
        page = load_page(request, self._select_own_problems(project_id), NEWEST)
        body = OwnProblemSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="taking_part_take",
        summary="Take the next question",
        description="It is yours to change until you hand it in. 409 once all are taken.",
        request=None,
        responses={201: OwnProblemSerializer},
    )
    def take(self, request: Request, project_id: Any) -> Response:
        """Assign the next free question to the user and return the new problem."""
        member = self._load_member(project_id, WRITER)
        try:
            problem = rules.take_question(member.project, get_user_id(request))
        except rules.WritingError as error:
            raise convert_writing_error(error) from None
        return Response(OwnProblemSerializer(problem).data, status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="taking_part_problem",
        summary="Read a problem that you write",
        responses=OwnProblemSerializer,
    )
    def read_problem(self, request: Request, project_id: Any, own_id: Any) -> Response:
        """Return one of the user's problems."""
        return Response(self._serialize_problem(project_id, own_id))

    @extend_schema(
        operation_id="taking_part_write",
        summary="Write a problem, and hand it in",
        request=ProblemDraftSerializer,
        responses=OwnProblemSerializer,
    )
    def write(self, request: Request, project_id: Any, own_id: Any) -> Response:
        """Save one of the user's problems as a draft, or submit it with `hand_in`."""
        problem = get_object_or_404(self._select_own_problems(project_id), public_id=own_id)
        values = self.validate_body(ProblemDraftSerializer).validated_data
        store = rules.submit_problem if values["hand_in"] else rules.save_problem
        try:
            store(problem, values["text"], values["category"])
        except rules.WritingError as error:
            raise convert_writing_error(error) from None
        return Response(self._serialize_problem(project_id, own_id))

    @extend_schema(
        operation_id="taking_part_give_up", summary="Give a problem up; its question is free again"
    )
    def give_up(self, request: Request, project_id: Any, own_id: Any) -> Response:
        """Withdraw one of the user's problems; its question becomes free for others."""
        try:
            rules.withdraw_problem(
                get_object_or_404(self._select_own_problems(project_id), public_id=own_id)
            )
        except rules.WritingError as error:
            raise convert_writing_error(error) from None
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="taking_part_tasks",
        summary="List the problems that wait for you to check them",
        responses=CheckTasksSerializer,
    )
    def list_tasks(self, request: Request, project_id: Any) -> Response:
        """List the problems that the user is to check, and the votes that may still change."""
        return Response(self._serialize_tasks(self._load_member(project_id, VALIDATOR)))

    @extend_schema(
        operation_id="taking_part_task",
        summary="Read a problem to check",
        responses=CheckTaskSerializer,
    )
    def read_task(self, request: Request, project_id: Any, check_id: Any) -> Response:
        """Return a problem that the user is to check."""
        member = self._load_member(project_id, VALIDATOR)
        task = rules.find_problem_task(member.project, get_user_id(request), check_id)
        if task is None:
            raise Http404
        return Response(CheckTaskSerializer(task).data)

    @extend_schema(
        operation_id="taking_part_vote",
        summary="Vote whether a problem has an answer",
        description="Replaces your earlier vote, until all votes are there.",
        request=CheckVoteSerializer,
        responses=CheckTasksSerializer,
    )
    def vote(self, request: Request, project_id: Any, check_id: Any) -> Response:
        """Store the user's vote on a problem, and return the user's remaining tasks."""
        member = self._load_member(project_id, VALIDATOR)
        if rules.find_problem_task(member.project, get_user_id(request), check_id) is None:
            raise Http404
        values = self.validate_body(CheckVoteSerializer).validated_data
        vote = (values["answerable"], values["category"], values["note"])
        try:
            rules.vote_on_problem(member.project, get_user_id(request), check_id, *vote)
        except rules.WritingError as error:
            raise convert_writing_error(error) from None
        return Response(self._serialize_tasks(member))

    def _load_member(self, project_id: Any, role: str) -> WritingMember:
        """Return the user's membership of a writing project in this role; else raise Http404.

        Raises `RefusedError` for a validator who can see others' votes through another role.
        """
        member = rules.find_membership(self.request.user, project_id)
        if member is None or member.role != role:
            raise Http404
        if role == VALIDATOR and rules.can_see_votes(
            self.request.user, member.project.version.question_set
        ):
            raise RefusedError("blind")
        return member

    def _select_own_problems(self, project_id: Any) -> Any:
        """Return a queryset of the problems that the user has written in a project."""
        member = self._load_member(project_id, WRITER)
        own = member.project.problems.filter(author=get_user_id(self.request))
        return own.select_related("original")

    def _serialize_problem(self, project_id: Any, own_id: Any) -> Any:
        """Return one of the user's problems as JSON data; Http404 for those of others."""
        problem = get_object_or_404(self._select_own_problems(project_id), public_id=own_id)
        return OwnProblemSerializer(problem).data

    def _serialize_tasks(self, member: WritingMember) -> Any:
        """Return a validator's open tasks and changeable votes as JSON data."""
        tasks = rules.list_problem_tasks(member.project, get_user_id(self.request))
        return CheckTasksSerializer(tasks).data
