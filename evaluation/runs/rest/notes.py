"""Serve notes on workers and language models."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.notes import check_note_rights, create_note, delete_note
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer


class NoteSerializer(StrictModelSerializer):
    """A note; subclasses name the model."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    author = serializers.CharField(source="author.username", read_only=True)
    text = serializers.CharField(max_length=4000)

    class Meta:
        """The fields, in their order."""

        fields: tuple[str, ...] = ("id", "text", "author", "created_at")
        read_only_fields: tuple[str, ...] = ("created_at",)


class NotingViewSet(ApiViewSet):
    """Shared view of notes on workers and models; `serializer_class` is that of the note."""

    def kept(self, request: Request, thing: Any) -> Response:
        """Store a note and return it."""
        check_note_rights(request, thing)
        serializer: Any = self.serializer_class
        text = self.checked(serializer).validated_data["text"]
        note = create_note(request, thing, text)
        return Response(serializer(note).data, status.HTTP_201_CREATED)

    def taken_back(self, request: Request, thing: Any, note_id: UUID) -> Response:
        """Delete a note of the user's own."""
        delete_note(request, thing, note_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
