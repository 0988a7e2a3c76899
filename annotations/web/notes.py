"""Writing and deletion of notes about workers and models, for pages and the REST API."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from annotations.models.notes import Note, may_write_notes
from annotations.web.scope import RefusedError, UserRequest, get_user_id, get_visible_or_404


def create_note(request: UserRequest, subject: Any, text: str) -> Note:
    """Store and return a note on a worker or model; raise `RefusedError` if not permitted."""
    check_note_rights(request, subject)
    note: Note = subject.notes.create(author_id=get_user_id(request), text=text)
    return note


def check_note_rights(request: UserRequest, subject: Any) -> None:
    """Raise RefusedError if the user may not write notes about a worker or model."""
    if not may_write_notes(request.user, subject):
        raise RefusedError("change")


def delete_note(request: UserRequest, subject: Any, note_id: UUID) -> None:
    """Delete the user's own note; raise `RefusedError` for another user's note."""
    note = get_visible_or_404(request, subject.notes.all(), note_id)
    if note.author_id != request.user.pk:
        raise RefusedError("change")
    note.delete()
