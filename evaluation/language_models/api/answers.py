"""REST API for language models' answers to the questions of a set."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange import read_model_answers
from annotations.models import QuestionSet
from annotations.web.paging import OLDEST
from annotations.web.query import parse_public_id
from annotations.web.rest.bulk import BulkViewSet, VersionOptionsSerializer, read_options
from annotations.web.rest.examples import MODEL_ANSWER_REPORT, MODEL_ANSWER_ROWS
from annotations.web.rest.idempotency import repeatable
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.serializers import Excerpt, annotate_excerpt
from annotations.web.rest.uploads import describe_bulk_upload
from annotations.web.rest.versions import VERSION, select_version
from annotations.web.scope import (
    get_answered_set,
    get_editable,
    get_user_id,
    get_visible_or_404,
    select_visible,
)
from evaluation.models import LLMResponse
from evaluation.runs.imports import import_model_answers


class ModelAnswerRowSerializer(serializers.ModelSerializer[LLMResponse]):
    """A model's answer as a list row, with the beginning of its text."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    model = serializers.CharField(source="model.name")
    model_id = serializers.UUIDField(source="model.public_id")
    question = serializers.CharField(source="question.external_id")
    question_id = serializers.UUIDField(source="question.public_id")
    excerpt = Excerpt()

    class Meta:
        """The fields, in their order."""

        model = LLMResponse
        fields = (
            *("id", "model", "model_id", "question", "question_id", "sample", "excerpt"),
            *("status", "created_at"),
        )
        read_only_fields = fields


class ModelAnswerSerializer(ModelAnswerRowSerializer):
    """A model's answer in full; `extra` holds the additional imported keys."""

    version = serializers.IntegerField(source="question.version.number")
    excerpt = None  # type: ignore[assignment]
    extra = serializers.DictField(child=serializers.CharField())

    class Meta:
        """The fields, in their order."""

        model = LLMResponse
        fields = (
            *("id", "version", "model", "model_id", "question", "question_id", "sample"),
            *("prompt", "text", "status", "finish_reason", "extra", "created_at"),
        )
        read_only_fields = fields


class ModelAnswerOptionsSerializer(VersionOptionsSerializer):
    """Import options: target version, and how to read the answers."""

    keep_thinking = serializers.BooleanField(
        default=False,
        help_text="Whether the thinking in an answer stays in it; otherwise it is put aside.",
    )


@extend_schema_view(
    list=extend_schema(
        summary="List the answers of language models, oldest first",
        parameters=[
            VERSION,
            OpenApiParameter("question", UUID, description="The id of a question."),
            OpenApiParameter("model", UUID, description="The id of a language model."),
        ],
        responses=ModelAnswerRowSerializer(many=True),
    ),
    retrieve=extend_schema(summary="Read a model's answer in full"),
    create=describe_bulk_upload(
        "Send answers of language models, all rows or none",
        "A draft is published by them. Unknown models are made. The same rows again change "
        "nothing; an answer that is there with another text or status is a bad row.",
        MODEL_ANSWER_ROWS,
        MODEL_ANSWER_REPORT,
        ModelAnswerOptionsSerializer,
    ),
)
@extend_schema(tags=["language models"])
class ModelAnswerViewSet(BulkViewSet):
    """Answers of language models to the questions of a set."""

    queryset = LLMResponse.objects.all()
    lookup_url_kwarg = "model_answer_id"
    serializer_class = ModelAnswerSerializer
    required_keys = ("model", "question", "answer")
    reader = staticmethod(read_model_answers)

    def list(self, request: Request, set_id: Any) -> Response:
        """List the model answers to a version, with the beginnings of their texts."""
        question_set = get_answered_set(request, set_id)
        version = select_version(request, question_set, answered=True)
        rows = select_visible(request, LLMResponse.objects.all()).filter(question__version=version)
        if question := parse_public_id(request.query_params, "question"):
            rows = rows.filter(question__public_id=question)
        if model := parse_public_id(request.query_params, "model"):
            rows = rows.filter(model__public_id=model)
        rows = annotate_excerpt(_joined(rows).defer("text", "prompt", "extra", "parameters"))
        page = load_page(request, rows, OLDEST)
        body = ModelAnswerRowSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    def retrieve(self, request: Request, set_id: Any, model_answer_id: Any) -> Response:
        """Return a model answer in full."""
        rows = LLMResponse.objects.filter(question__version__question_set__public_id=set_id)
        found = get_visible_or_404(request, _joined(rows), model_answer_id)
        return Response(ModelAnswerSerializer(found).data)

    @repeatable
    def create(self, request: Request, set_id: Any) -> Response:
        """Import rows of model answers."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        options = read_options(request, ModelAnswerOptionsSerializer)
        options["imported_by"] = get_user_id(request)
        return self.taken_in(import_model_answers, question_set, options)


def _joined(rows: QuerySet[LLMResponse]) -> QuerySet[LLMResponse]:
    """Join question and model names to the rows, without their long texts."""
    return rows.select_related("question__version", "model").defer(
        "question__text",
        "question__metadata",
        "question__choices",
        "question__accepted_answers",
        "model__notice",
        "model__parameters",
    )
