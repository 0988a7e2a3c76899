"""REST endpoints for the questions of a version."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers

from annotations.api.items import ItemViewSet
from annotations.exchange.importing import import_questions
from annotations.exchange.importing.questions import build_question_fields
from annotations.exchange.reading.questions import LONGEST_BESIDE, LONGEST_QUESTION, read_questions
from annotations.models import Question, QuestionSetVersion
from annotations.web.rest.base import StrictModelSerializer
from annotations.web.rest.examples import QUESTION_REPORT, QUESTION_ROWS
from annotations.web.rest.problems import build_field_problem
from annotations.web.rest.serializers import ExcerptField, annotate_excerpt
from annotations.web.rest.uploads import describe_bulk_upload
from annotations.web.rest.versions import VERSION


class QuestionRowSerializer(serializers.ModelSerializer[Question]):
    """Question as a list item: ids, position, kind, role and the beginning of the text."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    question = serializers.CharField(source="external_id", help_text="The id in files.")
    excerpt = ExcerptField()

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = Question
        fields = ("id", "question", "position", "excerpt", "kind", "role", "category", "language")
        read_only_fields = fields


class QuestionSerializer(StrictModelSerializer):
    """Question with all its fields; it can be changed while its version is a draft."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    question = serializers.CharField(
        source="external_id", read_only=True, help_text="The id in files."
    )
    version = serializers.IntegerField(source="version.number", read_only=True)
    passage = serializers.CharField(
        source="passage.external_id",
        default="",
        allow_blank=True,
        max_length=255,
        help_text="The id of its passage in files; empty without one.",
    )
    choices = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="For the kind choice, else empty."
    )
    accepted_answers = serializers.ListField(
        child=serializers.JSONField(),
        required=False,
        help_text="Texts, or lists of texts that mean the same.",
    )

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = Question
        fields = (
            *("id", "question", "version", "position", "text", "passage", "kind", "choices"),
            *("accepted_answers", "answerable", "category", "language"),
            *("role", "feedback", "max_characters", "metadata"),
        )
        extra_kwargs = {  # noqa: RUF012
            "position": {"read_only": True},
            "text": {"allow_blank": False},
            "feedback": {"max_length": LONGEST_BESIDE},
            "max_characters": {"min_value": 1, "max_value": LONGEST_QUESTION},
            "metadata": {"read_only": True},
        }


@extend_schema_view(
    list=extend_schema(
        summary="List questions", parameters=[VERSION], responses=QuestionRowSerializer(many=True)
    ),
    retrieve=extend_schema(summary="Read a question in full"),
    create=describe_bulk_upload(
        "Add questions, all rows or none",
        "Into the draft; if the latest version is published and a row is new, the next version is "
        "opened as its copy. A question whose text is not known yet is completed. Rows that are "
        "there already change nothing; one that is there with another content is a bad row.",
        QUESTION_ROWS,
        QUESTION_REPORT,
    ),
    partial_update=extend_schema(
        summary="Change a question of a draft",
        description="409 for a question of a published version, which keeps its words.",
    ),
)
@extend_schema(tags=["questions"])
class QuestionViewSet(ItemViewSet):
    """API endpoints that list, read, import and change the questions of a version."""

    queryset = Question.objects.all()
    model = Question
    lookup_url_kwarg = "question_id"
    serializer_class = QuestionSerializer
    row_serializer = QuestionRowSerializer
    load = staticmethod(import_questions)
    required_keys = ("question", "text")
    reader = staticmethod(read_questions)

    def build_queryset(self) -> QuerySet[Question]:
        """Return all questions with excerpts and their passages."""
        return annotate_excerpt(Question.objects.all()).select_related("passage")

    def build_file_row(self, row: Question) -> dict[str, Any]:
        """Return a stored question with the column names and values of an import file."""
        return {
            **row.metadata,
            "question": row.external_id,
            "text": row.text,
            "passage": row.passage.external_id if row.passage else "",
            "kind": row.kind,
            "choices": json.dumps(row.choices),
            "accepted_answers": json.dumps(row.accepted_answers),
            "answerable": "" if row.answerable is None else str(row.answerable),
            "category": row.category,
            "language": row.language,
            "role": row.role,
            "feedback": row.feedback,
            "max_characters": "" if row.max_characters is None else str(row.max_characters),
        }

    def build_model_fields(self, record: Any, version: QuestionSetVersion) -> dict[str, Any]:
        """Return the model fields of a question record; `ApiProblem` for an unknown passage."""
        passages = dict(
            version.passages.filter(external_id=record.passage).values_list("external_id", "pk")
        )
        if record.passage and not passages:
            raise build_field_problem(
                "passage", f"version {version.number} has no passage {record.passage}"
            )
        return build_question_fields(record, passages)
