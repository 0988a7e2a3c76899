"""REST API to list the imports of a question set and undo them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import Import
from annotations.web.paging import NEWEST
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.problems import ApiProblem
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import get_answered_set, get_editable, get_user_id
from evaluation.deletion.api.removing import HangingSerializer, RemovalSerializer
from evaluation.deletion.report import ImportShown, imports_of, shown_imports
from evaluation.deletion.storage import undoing
from evaluation.deletion.storage.record import ForbiddenRemovalError

ImportSerializer = build_serializer(ImportShown)


@extend_schema(tags=["answers"])
class ImportViewSet(ApiViewSet):
    """Imported files of a question set."""

    queryset = Import.objects.all()
    lookup_url_kwarg = "import_id"
    serializer_class = ImportSerializer

    @extend_schema(
        operation_id="question_sets_imports",
        summary="List the imports into a question set, newest first",
        description="Files of answers, of models' answers, of questions and of passages, with what "
        "is still there of each. What came in before imports were kept track of belongs to none.",
        responses=ImportSerializer(many=True),
    )
    def list(self, request: Request, set_id: Any) -> Response:
        """List the imports of a question set."""
        page = load_page(request, imports_of(get_answered_set(request, set_id)), NEWEST)
        body = ImportSerializer(shown_imports(page), many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="question_sets_import_undoing",
        summary="List what undoing an import deletes",
        responses=HangingSerializer,
    )
    def hanging(self, request: Request, set_id: Any, import_id: Any) -> Response:
        """Return what undoing an import would delete."""
        brought = self._brought(request, set_id, import_id)
        return Response(HangingSerializer(undoing.hanging_on_import(brought)).data)

    @extend_schema(
        operation_id="question_sets_import_undo",
        summary="Undo an import",
        description="In the background, once no run works on the version. Again it is the same. "
        "409 where nothing of it can go, such as questions of a published version.",
        request=None,
        responses={202: RemovalSerializer},
    )
    def undo(self, request: Request, set_id: Any, import_id: Any) -> Response:
        """Undo an import."""
        brought = self._brought(request, set_id, import_id)
        try:
            removal = undoing.undo(brought, get_user_id(request))
        except ForbiddenRemovalError as error:
            raise ApiProblem("conflict", str(error)) from None
        return Response(RemovalSerializer(removal).data, status.HTTP_202_ACCEPTED)

    def _brought(self, request: Request, set_id: Any, import_id: Any) -> Import:
        return get_editable(request, imports_of(get_answered_set(request, set_id)), import_id)
