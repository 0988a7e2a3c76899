"""Notes about a worker or a model: kept and taken back, by every door in the same way."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from annotations.models.notes import Note, may_note
from annotations.web.scope import Asked, RefusedError, user_id, visible_or_404


def keep_note(request: Asked, thing: Any, text: str) -> Note:
    """Write down something, and return it. RefusedError for who may only read."""
    refuse_notes(request, thing)
    note: Note = thing.notes.create(author_id=user_id(request), text=text)
    return note


def refuse_notes(request: Asked, thing: Any) -> None:
    """Raise RefusedError for who may write no notes, before what was sent is looked at."""
    if not may_note(request.user, thing):
        raise RefusedError("change")


def take_back_note(request: Asked, thing: Any, note_id: UUID) -> None:
    """Remove a note of one's own. RefusedError for the note of somebody else."""
    note = visible_or_404(request, thing.notes.all(), note_id)
    if note.author_id != request.user.pk:
        raise RefusedError("change")
    note.delete()
