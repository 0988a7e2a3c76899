"""REST endpoints for the passages of a version."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers

from annotations.api.items import ItemViewSet
from annotations.exchange.importing import import_passages
from annotations.exchange.importing.questions import build_passage_fields
from annotations.exchange.reading.questions import LONGEST_BESIDE, read_passages
from annotations.models import Passage, QuestionSetVersion
from annotations.web.rest.base import StrictModelSerializer
from annotations.web.rest.examples import PASSAGE_REPORT, PASSAGE_ROWS
from annotations.web.rest.serializers import ExcerptField, annotate_excerpt
from annotations.web.rest.uploads import describe_bulk_upload
from annotations.web.rest.versions import VERSION


class PassageRowSerializer(serializers.ModelSerializer[Passage]):
    """Passage as a list item: ids, title, language and the beginning of the text."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    passage = serializers.CharField(source="external_id", help_text="The id in files.")
    excerpt = ExcerptField()

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = Passage
        fields = ("id", "passage", "title", "excerpt", "language")
        read_only_fields = fields


class PassageSerializer(StrictModelSerializer):
    """Passage with full text and image id; it can be changed while its version is a draft."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    passage = serializers.CharField(
        source="external_id", read_only=True, help_text="The id in files."
    )
    version = serializers.IntegerField(source="version.number", read_only=True)
    image = serializers.UUIDField(
        source="image.public_id",
        default=None,
        allow_null=True,
        read_only=True,
        help_text="The id of its image; null without one. See `images/` and `image/`.",
    )

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = Passage
        fields = (
            *("id", "passage", "version", "title", "text", "format", "image", "image_alt"),
            *("language", "metadata"),
        )
        extra_kwargs = {  # noqa: RUF012
            "text": {"allow_blank": False},
            "image_alt": {"max_length": LONGEST_BESIDE},
            "metadata": {"read_only": True},
        }


@extend_schema_view(
    list=extend_schema(
        summary="List passages", parameters=[VERSION], responses=PassageRowSerializer(many=True)
    ),
    retrieve=extend_schema(summary="Read a passage in full"),
    create=describe_bulk_upload(
        "Add passages, all rows or none",
        "Into the latest version, draft or published. Rows that are there already change nothing; "
        "one that is there with another content is a bad row.",
        PASSAGE_ROWS,
        PASSAGE_REPORT,
    ),
    partial_update=extend_schema(summary="Change a passage of a draft"),
)
@extend_schema(tags=["questions"])
class PassageViewSet(ItemViewSet):
    """API endpoints that list, read, import and change the passages of a version."""

    queryset = Passage.objects.all()
    model = Passage
    lookup_url_kwarg = "passage_id"
    serializer_class = PassageSerializer
    row_serializer = PassageRowSerializer
    load = staticmethod(import_passages)
    required_keys = ("passage", "text")
    reader = staticmethod(read_passages)

    def build_queryset(self) -> QuerySet[Passage]:
        """Return all passages with excerpts and images, without the images' bytes."""
        rows = annotate_excerpt(Passage.objects.all())
        return rows.select_related("image").defer("image__content")

    def build_file_row(self, row: Passage) -> dict[str, Any]:
        """Return a stored passage with the column names and values of an import file."""
        return {
            **row.metadata,
            "passage": row.external_id,
            "title": row.title,
            "text": row.text,
            "language": row.language,
            "format": row.format,
            "image_alt": row.image_alt,
        }

    def build_model_fields(self, record: Any, version: QuestionSetVersion) -> dict[str, Any]:
        """Return the model fields of a passage record that the file reader has checked."""
        return build_passage_fields(record)
