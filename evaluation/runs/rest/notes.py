"""Serve the notes that users write on workers and language models."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.notes import check_note_rights, create_note, delete_note
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer


class NoteSerializer(StrictModelSerializer):
    """A user's note on a worker or model; subclasses set the model class."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    author = serializers.CharField(source="author.username", read_only=True)
    text = serializers.CharField(max_length=4000)

    class Meta:
        """Lists the fields of a note, in the order of the response."""

        fields: tuple[str, ...] = ("id", "text", "author", "created_at")
        read_only_fields: tuple[str, ...] = ("created_at",)


class NotingViewSet(ApiViewSet):
    """Base of the endpoints for notes on a worker or model."""

    def kept(self, request: Request, thing: Any) -> Response:
        """Store a note on a worker or model, and respond with it."""
        check_note_rights(request, thing)
        serializer: Any = self.serializer_class
        text = self.checked(serializer).validated_data["text"]
        note = create_note(request, thing, text)
        return Response(serializer(note).data, status.HTTP_201_CREATED)

    def taken_back(self, request: Request, thing: Any, note_id: UUID) -> Response:
        """Delete a note that the user wrote on a worker or model."""
        delete_note(request, thing, note_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
