"""Question sets: list, make, read, change, publish; and their versions."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import Question, QuestionSet, QuestionSetVersion, Submission
from annotations.web.paging import NEWEST
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer
from annotations.web.rest.once import repeatable
from annotations.web.rest.paging import page_body, page_of
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.scope import editable, maker, visible, visible_or_404

NAME_TAKEN = "You have a question set of this name."


class QuestionSetRowSerializer(serializers.ModelSerializer[QuestionSet]):
    """A question set in a list, without its long texts."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    version = serializers.IntegerField(
        allow_null=True, read_only=True, help_text="Number of the latest version; null without any."
    )

    class Meta:
        """The fields, in their order."""

        model = QuestionSet
        fields = ("id", "name", "language", "version", "created_at", "updated_at")


class QuestionSetSerializer(StrictModelSerializer):
    """A question set."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    version = serializers.IntegerField(
        allow_null=True, read_only=True, help_text="Number of the latest version; null without any."
    )

    class Meta:
        """The fields, in their order."""

        model = QuestionSet
        fields = (
            *("id", "name", "description", "notice", "language", "version"),
            *("created_at", "updated_at"),
        )
        read_only_fields = ("created_at", "updated_at")
        extra_kwargs = {  # noqa: RUF012
            "description": {"max_length": 20_000},
            "notice": {"max_length": 2_000},
        }


class VersionSerializer(serializers.ModelSerializer[QuestionSetVersion]):
    """A version of a question set; a draft has no `published_at` and can still be changed."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    n_questions = serializers.IntegerField(read_only=True)
    n_workers = serializers.IntegerField(read_only=True, help_text="Who answered in it.")

    class Meta:
        """The fields, in their order."""

        model = QuestionSetVersion
        fields = ("id", "number", "published_at", "created_at", "n_questions", "n_workers")
        read_only_fields = fields


@extend_schema_view(
    list=extend_schema(
        summary="List question sets, newest first",
        parameters=[
            OpenApiParameter("search", str, description="A part of the name."),
        ],
    ),
    create=extend_schema(summary="Make a question set"),
    retrieve=extend_schema(summary="Read a question set"),
    partial_update=extend_schema(summary="Change what is said about a question set"),
    publish=extend_schema(
        summary="Freeze the wording of the latest version",
        description="Again changes nothing. 409 while there is no question.",
        request=None,
        responses=VersionSerializer,
    ),
    versions=extend_schema(
        summary="List the versions of a question set, newest first",
        responses=VersionSerializer(many=True),
    ),
)
@extend_schema(tags=["question sets"])
class QuestionSetViewSet(ApiViewSet):
    """Questions that are asked together, in versions; the unit that people share and grade."""

    queryset = QuestionSet.objects.all()
    lookup_url_kwarg = "set_id"
    serializer_class = QuestionSetSerializer

    def get_serializer_class(self) -> Any:
        """Lists hold no long texts."""
        return QuestionSetRowSerializer if self.action == "list" else super().get_serializer_class()

    def list(self, request: Request) -> Response:
        """List the sets that you see."""
        rows = with_version(visible(request, QuestionSet.objects.all()))
        rows = rows.defer("description", "notice")
        if search := request.query_params.get("search", "").replace("\0", ""):
            rows = rows.filter(name__icontains=search)
        page = page_of(request, rows, NEWEST)
        body = self.get_serializer(page.rows, many=True).data
        return Response(page_body(request, body, page.next))

    @repeatable
    def create(self, request: Request) -> Response:
        """Make a set of your own; it begins without a version."""
        owner = maker(request)
        values = self.checked(QuestionSetSerializer).validated_data
        made = _stored(QuestionSet(owner_id=owner, **values))
        return Response(
            self._shown(made),
            status.HTTP_201_CREATED,
            headers={"Location": self.reverse_action("detail", args=[made.public_id])},
        )

    def retrieve(self, request: Request, set_id: Any) -> Response:
        """Read a set."""
        return Response(self._shown(visible_or_404(request, QuestionSet.objects.all(), set_id)))

    def partial_update(self, request: Request, set_id: Any) -> Response:
        """Change the keys that are sent."""
        question_set = editable(request, QuestionSet.objects.all(), set_id)
        values = self.checked(QuestionSetSerializer, partial=True).validated_data
        for name, value in values.items():
            setattr(question_set, name, value)
        return Response(self._shown(_stored(question_set)))

    @action(detail=True, methods=["post"])
    def publish(self, request: Request, set_id: Any) -> Response:
        """Freeze the wording of the latest version; answers keep it."""
        question_set = editable(request, QuestionSet.objects.all(), set_id)
        latest = question_set.latest_version()
        if latest is None or not latest.questions.exists():
            raise ApiProblem("conflict", "There is nothing to publish: send questions first.")
        latest.publish()
        return Response(VersionSerializer(counted(question_set.versions).get(pk=latest.pk)).data)

    @action(detail=True)
    def versions(self, request: Request, set_id: Any) -> Response:
        """List the versions of a set."""
        question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
        page = page_of(request, counted(question_set.versions), NEWEST)
        return Response(page_body(request, VersionSerializer(page.rows, many=True).data, page.next))

    def _shown(self, question_set: QuestionSet) -> Any:
        latest = question_set.latest_version()
        question_set.version = latest.number if latest else None  # type: ignore[attr-defined]
        return QuestionSetSerializer(question_set).data


def _stored(question_set: QuestionSet) -> QuestionSet:
    """Save a set; its name may be taken since it was checked, so the database has the word."""
    try:
        with transaction.atomic():
            question_set.save()
    except IntegrityError:
        raise ApiProblem("conflict", NAME_TAKEN, [Fault(NAME_TAKEN, "#/name")]) from None
    return question_set


def with_version(rows: QuerySet[QuestionSet]) -> QuerySet[QuestionSet]:
    """Add the number of the latest version."""
    latest = QuestionSetVersion.objects.filter(question_set=OuterRef("pk")).order_by("-number")
    return rows.annotate(version=Subquery(latest.values("number")[:1]))


def counted(rows: Any) -> QuerySet[QuestionSetVersion]:
    """Add how many questions and workers there are, each by a query inside the one query."""

    def count(model: Any) -> Coalesce:
        of_version = model.objects.filter(version=OuterRef("pk")).order_by().values("version")
        counts = of_version.annotate(n=Count("pk")).values("n")
        return Coalesce(Subquery(counts, output_field=IntegerField()), 0)

    annotated: QuerySet[QuestionSetVersion] = rows.annotate(
        n_questions=count(Question), n_workers=count(Submission)
    )
    return annotated
