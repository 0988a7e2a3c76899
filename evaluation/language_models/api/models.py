"""REST API for language models, their answers and the notes about them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError, QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange import read_model_answers
from annotations.models import QuestionSet
from annotations.web.paging import OLDEST, Keyset
from annotations.web.query import parse_flag, parse_public_id
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer
from annotations.web.rest.bulk import BulkViewSet, VersionOptionsSerializer, read_options
from annotations.web.rest.examples import MODEL_ANSWER_REPORT, MODEL_ANSWER_ROWS
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import repeatable
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.rest.serializers import Excerpt, annotate_excerpt, build_serializer
from annotations.web.rest.uploads import describe_bulk_upload
from annotations.web.rest.versions import VERSION, select_version
from annotations.web.scope import (
    get_answered_set,
    get_editable,
    get_user_id,
    get_visible_or_404,
    require_requester,
    select_visible,
)
from evaluation.core.options import API
from evaluation.language_models.report import ModelHistory, build_model_history
from evaluation.models import LanguageModel, LanguageModelNote, LLMResponse
from evaluation.runs.flow.asking.options import ModelOptions
from evaluation.runs.imports import import_model_answers
from evaluation.runs.reports.lists import ModelFilter, annotate_answer_counts
from evaluation.runs.rest.views import NoteSerializer, NotingViewSet
from evaluation.runs.steps.asking.registration import (
    convert_to_model_columns,
    find_registration_problems,
    read_model_options,
)

NAME_TAKEN = "You have a model of this name."
DETAILS = ("family", "version", "size", "tuning", "strategy")
REACHED = ("spec", "key_variable", "parameters", "price_in", "price_out")
# They hold data of whoever asked it; nobody else may know where it is.
OF_ITS_OWNER = ("spec", "key_variable")
ARCHIVED = OpenApiParameter(
    "archived", bool, description="Those that are archived, instead of all others."
)


def _get_help(name: str) -> str:
    """Return the help text of a model's option, in the words of the API."""
    return API.help(ModelOptions, name)


class LanguageModelRowSerializer(serializers.ModelSerializer[LanguageModel]):
    """A language model as a list row."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = LanguageModel
        fields = ("id", "name", *DETAILS, "created_at")
        read_only_fields = fields


class LanguageModelSerializer(StrictModelSerializer):
    """A version of a language model with one prompting strategy.

    `spec` names the back-end: openai:MODEL@URL or local:smollm2, "" for imported answers only.
    `spec` and `key_variable` are empty for users who may not change the model.
    """

    id = serializers.UUIDField(source="public_id", read_only=True)
    parameters = serializers.DictField(required=False, help_text=_get_help("parameters"))

    class Meta:
        """The fields, in their order."""

        model = LanguageModel
        fields = ("id", "name", *DETAILS, *REACHED, "notice", "created_at")
        read_only_fields = ("created_at",)
        extra_kwargs = {  # noqa: RUF012
            "notice": {"max_length": 2_000},
            **{name: {"help_text": _get_help(name)} for name in REACHED if name != "parameters"},
        }

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Validate the connection and the user's right to it; errors name the invalid field."""
        language_model = LanguageModel(**{name: values[name] for name in REACHED if name in values})
        if self.instance is not None:
            for name in set(REACHED) - values.keys():
                setattr(language_model, name, getattr(self.instance, name))
        options = read_model_options(language_model)
        wrong = find_registration_problems(options, self.context["request"].user)
        if wrong:
            reasons: dict[str, list[Any]] = {}
            for problem in wrong:
                error_detail = serializers.ErrorDetail(
                    API.sentence(ModelOptions, problem), problem.code
                )
                reasons.setdefault(problem.option, []).append(error_detail)
            raise serializers.ValidationError(reasons)
        reached = {
            name: value
            for name, value in convert_to_model_columns(options).items()
            if name in values
        }
        return values | reached

    def to_representation(self, instance: LanguageModel) -> dict[str, Any]:
        """Return the model, without connection fields if the user may not change it."""
        representation: dict[str, Any] = super().to_representation(instance)
        user = self.context["request"].user
        if not LanguageModel.objects.editable_by(user).filter(pk=instance.pk).exists():
            representation |= dict.fromkeys(OF_ITS_OWNER, "")
        return representation


@extend_schema_view(
    list=extend_schema(
        summary="List language models, newest first",
        filters=True,
        parameters=[build_sort_parameter(ModelFilter), ARCHIVED],
        responses=LanguageModelRowSerializer(many=True),
    ),
    create=extend_schema(
        summary="Make a language model",
        description="Not needed before its answers are sent: those make the models they name.",
    ),
    retrieve=extend_schema(summary="Read a language model"),
    partial_update=extend_schema(summary="Change the description of a language model"),
    destroy=extend_schema(
        summary="Delete a language model",
        description="409 where it has answers: these are deleted by `deletion/`, which lists "
        "them first.",
    ),
)
@extend_schema(tags=["language models"])
class LanguageModelViewSet(ApiViewSet):
    """Language models, whose answers are scored together with the workers'."""

    queryset = LanguageModel.objects.all()
    lookup_url_kwarg = "model_id"
    serializer_class = LanguageModelSerializer
    filter_backends = (DjangoFilterBackend,)  # for the schema: rows are filtered by `filtered_page`
    filterset_class = ModelFilter

    def list(self, request: Request) -> Response:
        """List the models that the user may see."""
        rows = select_visible(request, LanguageModel.objects.all()).defer("notice", "parameters")
        rows = rows.filter(archived_at__isnull=not parse_flag(request.query_params, "archived"))
        rows = annotate_answer_counts(rows, request.user)
        page = load_filtered_page(request, ModelFilter(request.query_params, rows))
        body = LanguageModelRowSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @repeatable
    def create(self, request: Request) -> Response:
        """Create a model owned by the user."""
        owner = require_requester(request)
        values = self.checked(LanguageModelSerializer).validated_data
        made = _save(LanguageModel(owner_id=owner, **values))
        return Response(
            self.get_serializer(made).data,
            status.HTTP_201_CREATED,
            headers={"Location": self.reverse_action("detail", args=[made.public_id])},
        )

    def retrieve(self, request: Request, model_id: Any) -> Response:
        """Return a model."""
        model = get_visible_or_404(request, LanguageModel.objects.all(), model_id)
        return Response(self.get_serializer(model).data)

    def partial_update(self, request: Request, model_id: Any) -> Response:
        """Change the submitted fields of a model."""
        model = get_editable(request, LanguageModel.objects.all(), model_id)
        values = self.checked(LanguageModelSerializer, instance=model, partial=True).validated_data
        for name, value in values.items():
            setattr(model, name, value)
        return Response(self.get_serializer(_save(model)).data)

    def destroy(self, request: Request, model_id: Any) -> Response:
        """Delete a model that has no answers."""
        model = get_editable(request, LanguageModel.objects.all(), model_id)
        try:
            model.delete()
        except ProtectedError:
            raise ApiProblem(
                "conflict", "The model has answers: delete them with it by deletion/."
            ) from None
        return Response(status=status.HTTP_204_NO_CONTENT)


def _save(model: LanguageModel) -> LanguageModel:
    """Save a model and return it. Raises ApiProblem for a name that its owner uses already."""
    try:
        # A savepoint: after an IntegrityError the transaction around it could not continue.
        with transaction.atomic():
            model.save()
    except IntegrityError:
        raise ApiProblem("conflict", NAME_TAKEN, [Fault(NAME_TAKEN, "#/name")]) from None
    return model


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
        rows = annotate_excerpt(
            _select_related(rows).defer("text", "prompt", "extra", "parameters")
        )
        page = load_page(request, rows, OLDEST)
        body = ModelAnswerRowSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    def retrieve(self, request: Request, set_id: Any, model_answer_id: Any) -> Response:
        """Return a model answer in full."""
        rows = LLMResponse.objects.filter(question__version__question_set__public_id=set_id)
        answer = get_visible_or_404(request, _select_related(rows), model_answer_id)
        return Response(ModelAnswerSerializer(answer).data)

    @repeatable
    def create(self, request: Request, set_id: Any) -> Response:
        """Import rows of model answers."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        options = read_options(request, ModelAnswerOptionsSerializer)
        options["imported_by"] = get_user_id(request)
        return self.import_rows(import_model_answers, question_set, options)


def _select_related(rows: QuerySet[LLMResponse]) -> QuerySet[LLMResponse]:
    """Return the answers' rows with question and model names, without their long texts."""
    return rows.select_related("question__version", "model").defer(
        "question__text",
        "question__metadata",
        "question__choices",
        "question__accepted_answers",
        "model__notice",
        "model__parameters",
    )


ModelHistorySerializer = build_serializer(ModelHistory)
NEWEST = Keyset("model-notes", ("-pk",))


class ModelNoteSerializer(NoteSerializer):
    """A note about a language model."""

    class Meta(NoteSerializer.Meta):
        """The fields, in their order."""

        model = LanguageModelNote


@extend_schema(tags=["language models"])
class ModelNoteViewSet(NotingViewSet):
    """History of a model over all question sets, and users' notes about it."""

    queryset = LanguageModel.objects.all()
    lookup_url_kwarg = "model_id"
    serializer_class = ModelNoteSerializer

    @extend_schema(
        operation_id="language_models_history",
        summary="Read a language model's history over all question sets",
        responses=ModelHistorySerializer,
    )
    def history(self, request: Request, model_id: Any) -> Response:
        """Return a model's scores, oldest set first, with trend and related models."""
        model = self._get_model(request, model_id)
        return Response(ModelHistorySerializer(build_model_history(request.user, model)).data)

    @extend_schema(
        operation_id="language_models_notes",
        summary="Read the notes about a language model, newest first",
        responses=ModelNoteSerializer(many=True),
    )
    def notes(self, request: Request, model_id: Any) -> Response:
        """Return the notes about a model that the user may read."""
        model = self._get_model(request, model_id)
        rows = select_visible(request, model.notes.all())
        page = load_page(request, rows.select_related("author"), NEWEST)
        body = ModelNoteSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="language_models_note",
        summary="Write down something about a language model",
        request=ModelNoteSerializer,
        responses={201: ModelNoteSerializer},
    )
    @repeatable
    def note(self, request: Request, model_id: Any) -> Response:
        """Add a note about a model."""
        return self.store_note(request, self._get_model(request, model_id))

    @extend_schema(
        operation_id="language_models_note_destroy",
        summary="Take back a note of your own about a language model",
        responses={204: None},
    )
    def remove_note(self, request: Request, model_id: Any, model_note_id: Any) -> Response:
        """Delete a note about a model."""
        return self.delete_own_note(request, self._get_model(request, model_id), model_note_id)

    def _get_model(self, request: Request, model_id: Any) -> LanguageModel:
        """Return a model that the user may see; Http404 otherwise."""
        return get_visible_or_404(request, LanguageModel.objects.all(), model_id)
