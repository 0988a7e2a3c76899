"""Workers across question sets."""

from __future__ import annotations

from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import Worker, WorkerNote
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import repeatable
from annotations.web.rest.paging import build_page_body
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import get_visible_or_404
from evaluation.runs.rest.notes import NoteSerializer, NotingViewSet
from evaluation.workers.report.worker import WorkerHistory, worker_history
from evaluation.workers.report.worker_filter import WorkerFilter
from evaluation.workers.report.workers import WorkerAcross, Workers

WorkerAcrossSerializer = build_serializer(WorkerAcross)
WorkerHistorySerializer = build_serializer(WorkerHistory)


class WorkerNoteSerializer(NoteSerializer):
    """A note about a worker."""

    class Meta(NoteSerializer.Meta):
        """The fields, in their order."""

        model = WorkerNote


@extend_schema(tags=["workers"])
class WorkerViewSet(NotingViewSet):
    """People over all question sets whose answers you see."""

    queryset = Worker.objects.all()
    lookup_url_kwarg = "worker_id"
    serializer_class = WorkerNoteSerializer
    filter_backends = (DjangoFilterBackend,)  # for the schema: rows are filtered by `filtered_page`
    filterset_class = WorkerFilter

    def get_serializer_class(self) -> Any:
        """Rows of the list are made by a report."""
        return WorkerAcrossSerializer if self.action == "list" else super().get_serializer_class()

    @extend_schema(
        summary="List workers over all question sets",
        description="Scores are raw leave-one-out scores of the runs that count; grades of "
        "different runs cannot be compared.",
        parameters=[build_sort_parameter(WorkerFilter)],
        responses=WorkerAcrossSerializer(many=True),
        filters=True,
    )
    def list(self, request: Request) -> Response:
        """List the workers that you see."""
        workers = Workers(request.user)
        asked = WorkerFilter(request.query_params, workers=workers)
        page = workers.filled(load_filtered_page(request, asked))
        body = WorkerAcrossSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        summary="Read a worker's history over all question sets",
        responses=WorkerHistorySerializer,
        filters=False,
    )
    def retrieve(self, request: Request, worker_id: Any) -> Response:
        """Read the history of a worker, oldest set first, with the trend and the notes."""
        worker = get_visible_or_404(request, Worker.objects.all(), worker_id)
        return Response(WorkerHistorySerializer(worker_history(request.user, worker)).data)

    @extend_schema(
        summary="Write down something about a worker",
        request=WorkerNoteSerializer,
        responses={201: WorkerNoteSerializer},
    )
    @repeatable
    def note(self, request: Request, worker_id: Any) -> Response:
        """Keep a note; the history has all of them."""
        worker = get_visible_or_404(request, Worker.objects.all(), worker_id)
        return self.kept(request, worker)

    @extend_schema(summary="Take back a note of your own", responses={204: None})
    def remove_note(self, request: Request, worker_id: Any, note_id: Any) -> Response:
        """Remove a note."""
        worker = get_visible_or_404(request, Worker.objects.all(), worker_id)
        return self.taken_back(request, worker, note_id)
