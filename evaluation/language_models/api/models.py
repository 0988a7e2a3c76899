"""REST API for language models."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.query import parse_flag
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import repeatable
from annotations.web.rest.paging import build_page_body
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.scope import (
    get_editable,
    get_visible_or_404,
    require_requester,
    select_visible,
)
from evaluation.core.options import API
from evaluation.models import LanguageModel
from evaluation.runs.flow.asking.registration import ModelOptions
from evaluation.runs.reports.list_filters import ModelFilter, annotate_answers
from evaluation.runs.steps.asking.registration import (
    convert_to_columns,
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


def _help(name: str) -> str:
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

    `spec` says how it is reached: openai:MODEL@URL or local:smollm2, "" where its answers are only
    sent. It and `key_variable` are empty for those who may only look at the model.
    """

    id = serializers.UUIDField(source="public_id", read_only=True)
    parameters = serializers.DictField(required=False, help_text=_help("parameters"))

    class Meta:
        """The fields, in their order."""

        model = LanguageModel
        fields = ("id", "name", *DETAILS, *REACHED, "notice", "created_at")
        read_only_fields = ("created_at",)
        extra_kwargs = {  # noqa: RUF012
            "notice": {"max_length": 2_000},
            **{name: {"help_text": _help(name)} for name in REACHED if name != "parameters"},
        }

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Validate how the model is reached and the user's right to it; errors name the key."""
        given = LanguageModel(**{name: values[name] for name in REACHED if name in values})
        if self.instance is not None:
            for name in set(REACHED) - values.keys():
                setattr(given, name, getattr(self.instance, name))
        options = read_model_options(given)
        wrong = find_registration_problems(options, self.context["request"].user)
        if wrong:
            reasons: dict[str, list[Any]] = {}
            for one in wrong:
                said = serializers.ErrorDetail(API.sentence(ModelOptions, one), one.code)
                reasons.setdefault(one.option, []).append(said)
            raise serializers.ValidationError(reasons)
        reached = {
            name: value for name, value in convert_to_columns(options).items() if name in values
        }
        return values | reached

    def to_representation(self, instance: LanguageModel) -> dict[str, Any]:
        """Return the model, without connection fields if the user may not change it."""
        shown: dict[str, Any] = super().to_representation(instance)
        user = self.context["request"].user
        if not LanguageModel.objects.editable_by(user).filter(pk=instance.pk).exists():
            shown |= dict.fromkeys(OF_ITS_OWNER, "")
        return shown


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
        description="409 where it has answers: these go by `deletion/`, which tells of them first.",
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
        rows = annotate_answers(rows, request.user)
        page = load_filtered_page(request, ModelFilter(request.query_params, rows))
        body = LanguageModelRowSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @repeatable
    def create(self, request: Request) -> Response:
        """Create a model owned by the user."""
        owner = require_requester(request)
        values = self.checked(LanguageModelSerializer).validated_data
        made = _stored(LanguageModel(owner_id=owner, **values))
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
        return Response(self.get_serializer(_stored(model)).data)

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


def _stored(model: LanguageModel) -> LanguageModel:
    try:
        with transaction.atomic():
            model.save()
    except IntegrityError:
        raise ApiProblem("conflict", NAME_TAKEN, [Fault(NAME_TAKEN, "#/name")]) from None
    return model
