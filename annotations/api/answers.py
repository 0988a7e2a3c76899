"""REST endpoints for workers' answers: list, read and import."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response as Reply

from annotations.exchange import read_answers
from annotations.exchange.importing.answers import (
    prepare_answers,
    stage_answers,
    store_staged_answers,
)
from annotations.exchange.reading.duplicates import Duplicates
from annotations.models import COUNTERS, QuestionSet, Response
from annotations.web.paging import OLDEST
from annotations.web.query import parse_public_id
from annotations.web.rest.bulk import BulkViewSet, VersionOptionsSerializer, read_import_options
from annotations.web.rest.examples import ANSWER_REPORT, ANSWER_ROWS
from annotations.web.rest.idempotency import make_repeatable_after_reading
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.serializers import ExcerptField, annotate_excerpt
from annotations.web.rest.uploads import describe_bulk_upload
from annotations.web.rest.versions import VERSION, find_requested_version
from annotations.web.scope import (
    get_editable,
    get_set_with_answers,
    get_user_id,
    get_visible_or_404,
    select_visible,
)


class AnswerRowSerializer(serializers.ModelSerializer[Response]):
    """Answer as a list item: ids of answer, worker and question, and the beginning of the text."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    question = serializers.CharField(source="question.external_id")
    question_id = serializers.UUIDField(source="question.public_id")
    worker = serializers.CharField(source="submission.worker.external_id")
    worker_id = serializers.UUIDField(source="submission.worker.public_id")
    panel = serializers.CharField(source="submission.worker.panel", help_text="Of the worker's id.")
    excerpt = ExcerptField()

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = Response
        fields = (
            *("id", "worker", "worker_id", "panel", "question", "question_id", "excerpt"),
            *("status", "rejected", "created_at"),
        )
        read_only_fields = fields


class AnswerSerializer(AnswerRowSerializer):
    """Answer with full text; `extra` holds further columns of the imported row."""

    version = serializers.IntegerField(source="submission.version.number")
    signals = serializers.ChoiceField(
        choices=Response.Counted.choices,
        allow_blank=True,
        help_text="Whether the numbers that follow are there: counted, off (its worker switched "
        "it off), or empty if it was not counted. They are evidence, and part of no grade.",
    )
    excerpt = None  # type: ignore[assignment]
    extra = serializers.DictField(child=serializers.CharField())

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = Response
        fields = (
            *("id", "version", "worker", "worker_id", "panel", "question", "question_id"),
            *("text", "status", "rejected", "extra", "created_at", "submitted_at"),
            *("first_draft_at", "signals", *COUNTERS, "language"),
        )
        read_only_fields = fields


class AnswerOptionsSerializer(VersionOptionsSerializer):
    """Options of an answer import: panel, duplicate answers, missing questions."""

    panel = serializers.CharField(
        default="",
        max_length=100,
        allow_blank=True,
        help_text="Where the workers' ids come from; the same id in two panels is two workers.",
    )
    duplicates = serializers.ChoiceField(
        choices=[choice.value for choice in Duplicates],
        default=Duplicates.REFUSE.value,
        help_text="If a worker answered a question twice: refuse the rows, or let the first or the "
        "last answer count.",
    )
    create_questions = serializers.BooleanField(
        default=False, help_text="Make questions that are missing, by their ids alone."
    )


@extend_schema_view(
    list=extend_schema(
        summary="List answers, oldest first",
        parameters=[
            VERSION,
            OpenApiParameter("question", UUID, description="The id of a question."),
            OpenApiParameter("worker", UUID, description="The id of a worker."),
        ],
        responses=AnswerRowSerializer(many=True),
    ),
    retrieve=extend_schema(summary="Read an answer in full"),
    create=describe_bulk_upload(
        "Send answers, all rows or none",
        "A draft is published by them, because answers quote its wording. Unknown workers are "
        "made. The same rows again change nothing; an answer that is there with another text is a "
        "bad row, because stored answers are never overwritten. So is a question that a worker "
        "answered twice, unless `duplicates` decides which answer counts.",
        ANSWER_ROWS,
        ANSWER_REPORT,
        AnswerOptionsSerializer,
    ),
)
@extend_schema(tags=["answers"])
class AnswerViewSet(BulkViewSet):
    """API endpoints that list, read and import the workers' answers to a question set."""

    queryset = Response.objects.all()
    lookup_url_kwarg = "answer_id"
    serializer_class = AnswerSerializer
    required_keys = ("worker", "question", "answer")
    reader = staticmethod(read_answers)

    def list(self, request: Request, set_id: Any) -> Reply:
        """Return a page of a version's submitted answers, with the beginnings of their texts."""
        question_set = get_set_with_answers(request, set_id)
        version = find_requested_version(request, question_set, answered=True)
        rows = select_visible(request, Response.objects.all()).filter(
            submission__version=version, state=Response.State.SUBMITTED
        )
        if question := parse_public_id(request.query_params, "question"):
            rows = rows.filter(question__public_id=question)
        if worker := parse_public_id(request.query_params, "worker"):
            rows = rows.filter(submission__worker__public_id=worker)
        rows = annotate_excerpt(_select_related_names(rows).defer("text", "extra", "signal_pages"))
        page = load_page(request, rows, OLDEST)
        return Reply(
            build_page_body(request, AnswerRowSerializer(page.rows, many=True).data, page.next)
        )

    def retrieve(self, request: Request, set_id: Any, answer_id: Any) -> Reply:
        """Return one submitted answer with its full text."""
        rows = Response.objects.filter(
            submission__version__question_set__public_id=set_id, state=Response.State.SUBMITTED
        )
        answer = get_visible_or_404(request, _select_related_names(rows), answer_id)
        return Reply(AnswerSerializer(answer).data)

    @make_repeatable_after_reading
    def create(self, request: Request, set_id: Any) -> Generator[None, None, Reply]:
        """Import the answers in the request body: all rows or none."""
        into = get_editable(request, QuestionSet.objects.all(), set_id)
        storing = read_import_options(request, AnswerOptionsSerializer)
        reading = {"panel": storing.pop("panel"), "duplicates": storing.pop("duplicates")}
        reading["duplicates"] = Duplicates(reading["duplicates"])
        storing["imported_by"] = get_user_id(request)
        with self.convert_row_errors(), stage_answers(self.build_source(), **reading) as stage:
            dry_run = storing.pop("dry_run")
            if not dry_run:
                prepare_answers(into, stage, **storing)
            # Nothing is stored before; the rest runs in one transaction with the Idempotency-Key.
            yield
            report = store_staged_answers(into, stage, dry_run=dry_run, **storing)
        return self.build_report_response(into, report)


def _select_related_names(rows: QuerySet[Response]) -> QuerySet[Response]:
    """Return the answers with question, worker and version loaded, without long texts."""
    return rows.select_related("question", "submission__worker", "submission__version").defer(
        "question__text", "question__metadata", "question__choices", "question__accepted_answers"
    )
