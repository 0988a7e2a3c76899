"""Notes about workers and models: writing and deletion, the same for pages and REST."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from annotations.models.notes import Note, may_note
from annotations.web.scope import RefusedError, UserRequest, get_user_id, get_visible_or_404


def create_note(request: UserRequest, subject: Any, text: str) -> Note:
    """Store a note about `subject` and return it. Raises RefusedError without the right to."""
    check_note_rights(request, subject)
    note: Note = subject.notes.create(author_id=get_user_id(request), text=text)
    return note


def check_note_rights(request: UserRequest, subject: Any) -> None:
    """Raise RefusedError if the user may not write notes; call it before reading the input."""
    if not may_note(request.user, subject):
        raise RefusedError("change")


def delete_note(request: UserRequest, subject: Any, note_id: UUID) -> None:
    """Delete a note of the user. Raises RefusedError for the note of another user."""
    note = get_visible_or_404(request, subject.notes.all(), note_id)
    if note.author_id != request.user.pk:
        raise RefusedError("change")
    note.delete()
