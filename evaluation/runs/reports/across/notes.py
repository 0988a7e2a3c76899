"""List the notes on a worker or a model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from annotations.models.access import AnyUser


@dataclass(frozen=True)
class NoteEntry:
    """A note on a worker or model, with its author; `mine` if the reader wrote it."""

    id: UUID
    text: str
    author: str
    written_at: datetime
    mine: bool


def list_notes(thing: Any, user: AnyUser) -> list[NoteEntry]:
    """Return the notes on a worker or model that the user may read, newest first."""
    rows = thing.notes.visible_to(user).select_related("author").order_by("-pk")
    return [
        NoteEntry(
            id=note.public_id,
            text=note.text,
            author=note.author.get_username(),
            written_at=note.created_at,
            mine=note.author_id == user.pk,
        )
        for note in rows
    ]
