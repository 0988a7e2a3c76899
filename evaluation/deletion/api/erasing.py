"""REST API to erase what a worker wrote."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import Worker
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.problems import build_field_problem
from annotations.web.scope import get_manageable, get_user_id
from evaluation.deletion.api.removing import HangingSerializer, RemovalSerializer
from evaluation.deletion.storage import erasing


class ConfirmedWorkerSerializer(StrictSerializer):
    """Request body that confirms an erasure with the worker's own id."""

    worker = serializers.CharField(max_length=255)


@extend_schema(tags=["workers"])
class ErasureViewSet(ApiViewSet):
    """Erasure of a worker's answers from all question sets."""

    queryset = Worker.objects.all()
    lookup_url_kwarg = "worker_id"
    serializer_class = RemovalSerializer

    @extend_schema(
        operation_id="workers_erasure",
        summary="List what an erasure of a worker's answers deletes",
        responses=HangingSerializer,
    )
    def hanging(self, request: Request, worker_id: Any) -> Response:
        """Return what an erasure would delete, and what would stay."""
        worker = get_manageable(request, Worker.objects.all(), worker_id)
        return Response(HangingSerializer(erasing.hanging_on_worker(worker)).data)

    @extend_schema(
        operation_id="workers_erase",
        summary="Erase what a worker wrote, in all question sets",
        description="With all copies of it, in the background. Grades and other numbers stay, and "
        "runs count how many of their answers are gone. Rows of the worker are refused afterwards.",
        request=ConfirmedWorkerSerializer,
        responses={202: RemovalSerializer},
    )
    def erase(self, request: Request, worker_id: Any) -> Response:
        """Erase the worker's answers."""
        worker = get_manageable(request, Worker.objects.all(), worker_id)
        confirmed = self.checked(ConfirmedWorkerSerializer).validated_data["worker"]
        if confirmed != worker.external_id:
            raise build_field_problem("worker", "write the worker's own id, to confirm")
        removal = erasing.erase(worker, get_user_id(request))
        return Response(RemovalSerializer(removal).data, status.HTTP_202_ACCEPTED)
