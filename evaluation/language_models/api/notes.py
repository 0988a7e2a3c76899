"""REST API for notes about language models, and their history over question sets."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.paging import Keyset
from annotations.web.rest.idempotency import repeatable
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import get_visible_or_404, select_visible
from evaluation.language_models.report.history import ModelHistory, model_history
from evaluation.models import LanguageModel, LanguageModelNote
from evaluation.runs.rest.notes import NoteSerializer, NotingViewSet

ModelHistorySerializer = build_serializer(ModelHistory)
NEWEST = Keyset("model-notes", ("-pk",))


class ModelNoteSerializer(NoteSerializer):
    """A note about a language model."""

    class Meta(NoteSerializer.Meta):
        """The fields, in their order."""

        model = LanguageModelNote


@extend_schema(tags=["language models"])
class ModelNoteViewSet(NotingViewSet):
    """History of a model over all question sets, and users' notes about it."""

    queryset = LanguageModel.objects.all()
    lookup_url_kwarg = "model_id"
    serializer_class = ModelNoteSerializer

    @extend_schema(
        operation_id="language_models_history",
        summary="Read a language model's history over all question sets",
        responses=ModelHistorySerializer,
    )
    def history(self, request: Request, model_id: Any) -> Response:
        """Return a model's scores, oldest set first, with trend and related models."""
        model = self._shown(request, model_id)
        return Response(ModelHistorySerializer(model_history(request.user, model)).data)

    @extend_schema(
        operation_id="language_models_notes",
        summary="Read the notes about a language model, newest first",
        responses=ModelNoteSerializer(many=True),
    )
    def notes(self, request: Request, model_id: Any) -> Response:
        """Return the notes about a model that the user may read."""
        model = self._shown(request, model_id)
        rows = select_visible(request, model.notes.all())
        page = load_page(request, rows.select_related("author"), NEWEST)
        body = ModelNoteSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="language_models_note",
        summary="Write down something about a language model",
        request=ModelNoteSerializer,
        responses={201: ModelNoteSerializer},
    )
    @repeatable
    def note(self, request: Request, model_id: Any) -> Response:
        """Add a note about a model."""
        return self.kept(request, self._shown(request, model_id))

    @extend_schema(
        operation_id="language_models_note_destroy",
        summary="Take back a note of your own about a language model",
        responses={204: None},
    )
    def remove_note(self, request: Request, model_id: Any, model_note_id: Any) -> Response:
        """Delete a note about a model."""
        return self.taken_back(request, self._shown(request, model_id), model_note_id)

    def _shown(self, request: Request, model_id: Any) -> LanguageModel:
        return get_visible_or_404(request, LanguageModel.objects.all(), model_id)
