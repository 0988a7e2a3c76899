"""REST API for prompts, whose versions never change."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_page_body
from annotations.web.rest.problems import ApiProblem, Fault, build_field_problem
from annotations.web.scope import (
    get_editable,
    get_user_id,
    get_visible_or_404,
    require_requester,
    select_visible,
)
from evaluation.models import Prompt as StoredPrompt
from evaluation.models import PromptVersion
from evaluation.runs.flow.asking.plan import SYSTEM, TEMPLATES, Prompt, TemplateError
from evaluation.runs.reports.lists import PromptFilter
from evaluation.runs.steps.asking.registration import LONGEST_TEXT, create_prompt, edit_prompt

NAME_TAKEN = "You have a prompt of this name."


class PromptTextSerializer(StrictSerializer):
    """Text of a prompt: system text and template.

    The template is text with `{question}`, `{choices}`, `{category}`, `{language}` and, with the
    strategy passage, `{passage}` and `{title}`; a brace itself is written twice.
    """

    strategy = serializers.ChoiceField(choices=list(TEMPLATES))
    system = serializers.CharField(
        default=SYSTEM,
        allow_blank=True,
        trim_whitespace=False,
        max_length=LONGEST_TEXT,
        help_text="The system message; empty for none.",
    )
    template = serializers.CharField(trim_whitespace=False, max_length=LONGEST_TEXT)

    def build_prompt(self) -> Prompt:
        """Return the prompt; raise `ApiProblem` at the template field if it is invalid."""
        values = self.validated_data
        try:
            return Prompt(values["strategy"], values["template"], values["system"])
        except TemplateError as error:
            raise build_field_problem(
                "template", str(error).replace("--strategy ", "strategy ")
            ) from None


class NewPromptSerializer(PromptTextSerializer):
    """Request body of a new prompt: its name and first version."""

    name = serializers.CharField(max_length=200)


class PromptVersionSerializer(serializers.ModelSerializer[PromptVersion]):
    """A version of a prompt; runs of type ask take its `id` as option `prompt`."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    author = serializers.CharField(source="author.username", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = PromptVersion
        fields = ("id", "number", "strategy", "system", "template", "hash", "author", "created_at")
        read_only_fields = fields


class PromptRowSerializer(serializers.ModelSerializer[StoredPrompt]):
    """A prompt as a list row."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = StoredPrompt
        fields = ("id", "name", "created_at")
        read_only_fields = fields


class PromptSerializer(PromptRowSerializer):
    """A prompt with all its versions, oldest first."""

    versions = PromptVersionSerializer(many=True, read_only=True)

    class Meta:
        """The fields, in their order."""

        model = StoredPrompt
        fields = ("id", "name", "versions", "created_at")
        read_only_fields = fields


@extend_schema_view(
    list=extend_schema(
        summary="List prompts, newest first",
        description="Runs also take the two built-in prompts by their names: `closed` and "
        "`passage`.",
        filters=True,
        parameters=[build_sort_parameter(PromptFilter)],
        responses=PromptRowSerializer(many=True),
    ),
    create=extend_schema(
        summary="Make a prompt",
        request=NewPromptSerializer,
        responses={201: PromptSerializer},
    ),
    retrieve=extend_schema(summary="Read a prompt", responses=PromptSerializer),
    versions=extend_schema(
        summary="Change a prompt: keep another version of it",
        description="The versions before stay as they are. A text that the latest version has "
        "already makes none.",
        request=PromptTextSerializer,
        responses={201: PromptVersionSerializer},
    ),
)
@extend_schema(tags=["language models"])
class PromptViewSet(ApiViewSet):
    """Endpoints of prompts: system texts and templates for asking language models."""

    queryset = StoredPrompt.objects.all()
    lookup_url_kwarg = "prompt_id"
    serializer_class = PromptSerializer
    filter_backends = (DjangoFilterBackend,)  # for the schema: rows are filtered by `filtered_page`
    filterset_class = PromptFilter

    def list(self, request: Request) -> Response:
        """List the prompts that the user may see."""
        rows = select_visible(request, StoredPrompt.objects.all())
        page = load_filtered_page(request, PromptFilter(request.query_params, rows))
        body = PromptRowSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @make_repeatable
    def create(self, request: Request) -> Response:
        """Create a prompt owned by the user."""
        owner = require_requester(request)
        serializer = self.validate_body(NewPromptSerializer)
        try:
            made = create_prompt(
                owner, serializer.validated_data["name"], serializer.build_prompt()
            )
        except IntegrityError:
            raise ApiProblem("conflict", NAME_TAKEN, [Fault(NAME_TAKEN, "#/name")]) from None
        return Response(
            PromptSerializer(made.prompt).data,
            status.HTTP_201_CREATED,
            headers={"Location": self.reverse_action("detail", args=[made.prompt.public_id])},
        )

    def retrieve(self, request: Request, prompt_id: Any) -> Response:
        """Return a prompt with all its versions."""
        rows = StoredPrompt.objects.prefetch_related("versions__author")
        return Response(PromptSerializer(get_visible_or_404(request, rows, prompt_id)).data)

    @action(detail=True, methods=["post"])
    def versions(self, request: Request, prompt_id: Any) -> Response:
        """Add a version to a prompt."""
        stored = get_editable(request, StoredPrompt.objects.all(), prompt_id)
        made = edit_prompt(
            stored, get_user_id(request), self.validate_body(PromptTextSerializer).build_prompt()
        )
        return Response(PromptVersionSerializer(made).data, status.HTTP_201_CREATED)
