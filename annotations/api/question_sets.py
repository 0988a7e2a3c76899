"""REST endpoints for question sets and their versions."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.editing import (
    Finding,
    PublishedError,
    list_blocking_findings,
    list_findings,
    lock_draft,
)
from annotations.models import Question, QuestionSet, QuestionSetVersion, Submission
from annotations.web.lists import QuestionSetFilter
from annotations.web.paging import NEWEST
from annotations.web.query import parse_flag
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.scope import (
    get_editable,
    get_visible_or_404,
    require_requester,
    select_visible,
)

NAME_TAKEN = "You have a question set of this name."


class QuestionSetRowSerializer(serializers.ModelSerializer[QuestionSet]):
    """Question set as a list item, without its long texts."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    version = serializers.IntegerField(
        allow_null=True, read_only=True, help_text="Number of the latest version; null without any."
    )

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = QuestionSet
        fields = ("id", "name", "language", "version", "created_at", "updated_at")


class QuestionSetSerializer(StrictModelSerializer):
    """Question set with name, description, notice and language; these can be changed."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    version = serializers.IntegerField(
        allow_null=True, read_only=True, help_text="Number of the latest version; null without any."
    )

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

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
    """Version of a question set with counts; `published_at` is null while it is a draft."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    n_questions = serializers.IntegerField(read_only=True)
    n_workers = serializers.IntegerField(read_only=True, help_text="Who answered in it.")

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = QuestionSetVersion
        fields = ("id", "number", "published_at", "created_at", "n_questions", "n_workers")
        read_only_fields = fields


class TextsSerializer(StrictModelSerializer):
    """Language, guidelines and consent text of a version; they can be changed in a draft."""

    version = serializers.IntegerField(source="number", read_only=True)
    consent_hash = serializers.CharField(
        read_only=True, help_text="SHA-256 of the consent text, as each consent keeps it."
    )

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = QuestionSetVersion
        fields = (
            *("version", "published_at", "language", "guidelines", "consent_text"),
            "consent_hash",
        )
        read_only_fields = ("published_at",)
        extra_kwargs = {  # noqa: RUF012
            "guidelines": {"max_length": 20_000},
            "consent_text": {"max_length": 20_000},
        }


class FindingSerializer(serializers.Serializer[Finding]):
    """A problem found in a version: an error, which blocks publishing, or a warning."""

    code = serializers.CharField()
    blocks = serializers.BooleanField()
    words = serializers.CharField()
    quoted = serializers.CharField(source="what")
    item = serializers.CharField(
        allow_null=True, help_text="The id in files of the passage or question; null without one."
    )


class ChecksSerializer(serializers.Serializer[Any]):
    """Result of the checks before publishing: findings, and whether they block it."""

    blocked = serializers.BooleanField(help_text="Whether it cannot be published yet.")
    findings = FindingSerializer(many=True)


ARCHIVED = OpenApiParameter(
    "archived", bool, description="Those that are archived, instead of all others."
)


@extend_schema_view(
    list=extend_schema(
        summary="List question sets, newest first",
        filters=True,
        parameters=[
            build_sort_parameter(QuestionSetFilter),
            OpenApiParameter("search", str, description="A part of the name."),
            ARCHIVED,
        ],
    ),
    create=extend_schema(summary="Make a question set"),
    retrieve=extend_schema(summary="Read a question set"),
    partial_update=extend_schema(summary="Change the description of a question set"),
    publish=extend_schema(
        summary="Freeze the wording of the latest version",
        description="Again changes nothing. 409 while there is no question, or something is "
        "missing: a text, a choice, a right answer of an attention check, words for an image.",
        request=None,
        responses=VersionSerializer,
    ),
    versions=extend_schema(
        summary="List the versions of a question set, newest first",
        responses=VersionSerializer(many=True),
        filters=False,
    ),
)
@extend_schema(tags=["question sets"])
class QuestionSetViewSet(ApiViewSet):
    """API endpoints that create, list, change and publish question sets."""

    queryset = QuestionSet.objects.all()
    lookup_url_kwarg = "set_id"
    serializer_class = QuestionSetSerializer
    filter_backends = (DjangoFilterBackend,)  # for the schema: filtered by `load_filtered_page`
    filterset_class = QuestionSetFilter

    def get_serializer_class(self) -> Any:
        """Return the serializer: for lists the one without the long texts."""
        return QuestionSetRowSerializer if self.action == "list" else super().get_serializer_class()

    def list(self, request: Request) -> Response:
        """List the question sets that the user may see, filtered and sorted by the query."""
        rows = annotate_version(select_visible(request, QuestionSet.objects.all()))
        rows = rows.defer("description", "notice")
        rows = rows.filter(archived_at__isnull=not parse_flag(request.query_params, "archived"))
        # PostgreSQL refuses NUL in a parameter.
        if search := request.query_params.get("search", "").replace("\0", ""):
            rows = rows.filter(name__icontains=search)
        sets = QuestionSetFilter(request.query_params, rows, user=request.user)
        page = load_filtered_page(request, sets)
        body = self.get_serializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @make_repeatable
    def create(self, request: Request) -> Response:
        """Create a question set owned by the user, without a version."""
        owner = require_requester(request)
        values = self.validate_body(QuestionSetSerializer).validated_data
        question_set = _save_set(QuestionSet(owner_id=owner, **values))
        return Response(
            self._serialize_set(question_set),
            status.HTTP_201_CREATED,
            headers={"Location": self.reverse_action("detail", args=[question_set.public_id])},
        )

    def retrieve(self, request: Request, set_id: Any) -> Response:
        """Return a question set with the number of its latest version."""
        return Response(
            self._serialize_set(get_visible_or_404(request, QuestionSet.objects.all(), set_id))
        )

    def partial_update(self, request: Request, set_id: Any) -> Response:
        """Change the fields of a question set that the request body contains."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        values = self.validate_body(QuestionSetSerializer, partial=True).validated_data
        for name, value in values.items():
            setattr(question_set, name, value)
        return Response(self._serialize_set(_save_set(question_set)))

    @extend_schema(
        summary="Read language, guidelines and consent text of the latest version",
        responses=TextsSerializer,
    )
    @action(detail=True, methods=["get"])
    def texts(self, request: Request, set_id: Any) -> Response:
        """Return language, guidelines and consent text of the latest version."""
        question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
        latest = question_set.latest_version()
        return Response(TextsSerializer(latest or QuestionSetVersion(number=1)).data)

    @extend_schema(
        summary="Change language, guidelines or consent text of the draft",
        description="A set without a version gets its first one. 409 while the latest version is "
        "published, which keeps its words: new questions open the next version, or the editor.",
        request=TextsSerializer,
        responses=TextsSerializer,
    )
    @texts.mapping.patch
    def change_texts(self, request: Request, set_id: Any) -> Response:
        """Change language, guidelines or consent text of the draft."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        values = self.validate_body(TextsSerializer, partial=True).validated_data
        try:
            with lock_draft(question_set) as draft:
                for name, value in values.items():
                    setattr(draft, name, value)
                draft.save(update_fields=[*values])
        except PublishedError:
            raise ApiProblem("conflict", "The latest version is published.") from None
        return Response(TextsSerializer(draft).data)

    @extend_schema(
        summary="List what is missing or odd in the latest version", responses=ChecksSerializer
    )
    @action(detail=True, methods=["get"])
    def checks(self, request: Request, set_id: Any) -> Response:
        """List the errors and warnings of the latest version, before it is published."""
        question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
        latest = question_set.latest_version()
        listed = list_findings(latest) if latest is not None else []
        body = {"blocked": any(finding.blocks for finding in listed), "findings": listed}
        return Response(ChecksSerializer(body).data)

    @action(detail=True, methods=["post"])
    def publish(self, request: Request, set_id: Any) -> Response:
        """Publish the latest version, which freezes its wording."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        latest = question_set.latest_version()
        if latest is None or not latest.questions.exists():
            raise ApiProblem("conflict", "There is nothing to publish: send questions first.")
        if not latest.is_published and (blockers := list_blocking_findings(latest)):
            reasons = "; ".join(f"{row.item or 'version'}: {row.words}" for row in blockers[:20])
            raise ApiProblem("conflict", f"It cannot be published yet. {reasons}")
        latest.publish()
        return Response(
            VersionSerializer(annotate_counts(question_set.versions).get(pk=latest.pk)).data
        )

    @action(detail=True)
    def versions(self, request: Request, set_id: Any) -> Response:
        """List the versions of a question set, newest first."""
        question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
        page = load_page(request, annotate_counts(question_set.versions), NEWEST)
        return Response(
            build_page_body(request, VersionSerializer(page.rows, many=True).data, page.next)
        )

    def _serialize_set(self, question_set: QuestionSet) -> Any:
        """Return a question set as JSON data, with the number of its latest version."""
        latest = question_set.latest_version()
        question_set.version = latest.number if latest else None  # type: ignore[attr-defined]
        return QuestionSetSerializer(question_set).data


def _save_set(question_set: QuestionSet) -> QuestionSet:
    """Save a question set; raise `ApiProblem` if its owner has another set of this name.

    The database decides: another request may have taken the name after validation.
    """
    try:
        with transaction.atomic():
            question_set.save()
    except IntegrityError:
        raise ApiProblem("conflict", NAME_TAKEN, [Fault(NAME_TAKEN, "#/name")]) from None
    return question_set


def annotate_version(rows: QuerySet[QuestionSet]) -> QuerySet[QuestionSet]:
    """Return the question sets annotated with `version`, the number of the latest version."""
    latest = QuestionSetVersion.objects.filter(question_set=OuterRef("pk")).order_by("-number")
    return rows.annotate(version=Subquery(latest.values("number")[:1]))


def annotate_counts(rows: Any) -> QuerySet[QuestionSetVersion]:
    """Return the versions annotated with numbers of questions and of workers who answered.

    The annotations are `n_questions` and `n_workers`.

    Subqueries, because two joins in one query would multiply the counts.
    """

    def build_count(model: Any) -> Coalesce:
        """Return the subquery that counts a version's rows of `model`."""
        rows_of_version = model.objects.filter(version=OuterRef("pk")).order_by().values("version")
        counts = rows_of_version.annotate(n=Count("pk")).values("n")
        return Coalesce(Subquery(counts, output_field=IntegerField()), 0)

    annotated: QuerySet[QuestionSetVersion] = rows.annotate(
        n_questions=build_count(Question), n_workers=build_count(Submission)
    )
    return annotated
