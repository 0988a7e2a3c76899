"""REST API for workers across question sets: list, history and notes."""

from __future__ import annotations

from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import Worker, WorkerNote
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_page_body
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import get_visible_or_404
from evaluation.runs.rest.views import NoteSerializer, NotingViewSet
from evaluation.workers.report.worker import WorkerFilter, WorkerHistory, build_worker_history
from evaluation.workers.report.workers import VisibleWorkers, WorkerSummary

WorkerSummarySerializer = build_serializer(WorkerSummary)
WorkerHistorySerializer = build_serializer(WorkerHistory)


class WorkerNoteSerializer(NoteSerializer):
    """A user's note about a worker."""

    class Meta(NoteSerializer.Meta):
        """The fields, in their order."""

        model = WorkerNote


@extend_schema(tags=["workers"])
class WorkerViewSet(NotingViewSet):
    """Endpoints of the workers over all question sets whose answers the user may see."""

    queryset = Worker.objects.all()
    lookup_url_kwarg = "worker_id"
    serializer_class = WorkerNoteSerializer
    filter_backends = (DjangoFilterBackend,)  # for the schema: rows are filtered by `filtered_page`
    filterset_class = WorkerFilter

    def get_serializer_class(self) -> Any:
        """Return the serializer of notes; workers come from a report."""
        return WorkerSummarySerializer if self.action == "list" else super().get_serializer_class()

    @extend_schema(
        summary="List workers over all question sets",
        description="Scores are raw leave-one-out scores of the runs that count; grades of "
        "different runs cannot be compared.",
        parameters=[build_sort_parameter(WorkerFilter)],
        responses=WorkerSummarySerializer(many=True),
        filters=True,
    )
    def list(self, request: Request) -> Response:
        """List the workers that the user may see."""
        workers = VisibleWorkers(request.user)
        worker_filter = WorkerFilter(request.query_params, workers=workers)
        page = workers.load_summaries_page(load_filtered_page(request, worker_filter))
        body = WorkerSummarySerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        summary="Read a worker's history over all question sets",
        responses=WorkerHistorySerializer,
        filters=False,
    )
    def retrieve(self, request: Request, worker_id: Any) -> Response:
        """Return a worker's history, oldest question set first, with trend and notes."""
        worker = get_visible_or_404(request, Worker.objects.all(), worker_id)
        return Response(WorkerHistorySerializer(build_worker_history(request.user, worker)).data)

    @extend_schema(
        summary="Write down something about a worker",
        request=WorkerNoteSerializer,
        responses={201: WorkerNoteSerializer},
    )
    @make_repeatable
    def note(self, request: Request, worker_id: Any) -> Response:
        """Add a note about a worker; earlier notes stay."""
        worker = get_visible_or_404(request, Worker.objects.all(), worker_id)
        return self.store_note(request, worker)

    @extend_schema(summary="Take back a note of your own", responses={204: None})
    def remove_note(self, request: Request, worker_id: Any, note_id: Any) -> Response:
        """Delete the user's own note about a worker."""
        worker = get_visible_or_404(request, Worker.objects.all(), worker_id)
        return self.delete_own_note(request, worker, note_id)
