"""Language models, as they are ranked."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.paging import NEWEST
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer
from annotations.web.rest.once import repeatable
from annotations.web.rest.paging import page_body, page_of
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.scope import editable, maker, visible, visible_or_404
from evaluation.models import LanguageModel

NAME_TAKEN = "You have a model of this name."
DETAILS = ("family", "version", "size", "tuning", "strategy")


class LanguageModelRowSerializer(serializers.ModelSerializer[LanguageModel]):
    """A language model in a list."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = LanguageModel
        fields = ("id", "name", *DETAILS, "created_at")
        read_only_fields = fields


class LanguageModelSerializer(StrictModelSerializer):
    """One version of a language model under one strategy of asking it."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        """The fields, in their order."""

        model = LanguageModel
        fields = ("id", "name", *DETAILS, "notice", "created_at")
        read_only_fields = ("created_at",)
        extra_kwargs = {"notice": {"max_length": 2_000}}  # noqa: RUF012


@extend_schema_view(
    list=extend_schema(
        summary="List language models, newest first",
        responses=LanguageModelRowSerializer(many=True),
    ),
    create=extend_schema(
        summary="Make a language model",
        description="Not needed before its answers are sent: those make the models they name.",
    ),
    retrieve=extend_schema(summary="Read a language model"),
    partial_update=extend_schema(summary="Change what is said about a language model"),
)
@extend_schema(tags=["language models"])
class LanguageModelViewSet(ApiViewSet):
    """Models whose answers are scored among the workers'."""

    queryset = LanguageModel.objects.all()
    lookup_url_kwarg = "model_id"
    serializer_class = LanguageModelSerializer

    def list(self, request: Request) -> Response:
        """List the models that you see."""
        rows = visible(request, LanguageModel.objects.all()).defer("notice", "parameters")
        page = page_of(request, rows, NEWEST)
        body = LanguageModelRowSerializer(page.rows, many=True).data
        return Response(page_body(request, body, page.next))

    @repeatable
    def create(self, request: Request) -> Response:
        """Make a model of your own."""
        owner = maker(request)
        values = self.checked(LanguageModelSerializer).validated_data
        made = _stored(LanguageModel(owner_id=owner, **values))
        return Response(
            LanguageModelSerializer(made).data,
            status.HTTP_201_CREATED,
            headers={"Location": self.reverse_action("detail", args=[made.public_id])},
        )

    def retrieve(self, request: Request, model_id: Any) -> Response:
        """Read a model."""
        model = visible_or_404(request, LanguageModel.objects.all(), model_id)
        return Response(LanguageModelSerializer(model).data)

    def partial_update(self, request: Request, model_id: Any) -> Response:
        """Change the keys that are sent."""
        model = editable(request, LanguageModel.objects.all(), model_id)
        values = self.checked(LanguageModelSerializer, partial=True).validated_data
        for name, value in values.items():
            setattr(model, name, value)
        return Response(LanguageModelSerializer(_stored(model)).data)


def _stored(model: LanguageModel) -> LanguageModel:
    try:
        with transaction.atomic():
            model.save()
    except IntegrityError:
        raise ApiProblem("conflict", NAME_TAKEN, [Fault(NAME_TAKEN, "#/name")]) from None
    return model
