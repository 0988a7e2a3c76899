"""What the requester does: begins the writing, closes it, sends a problem back or leaves it out."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotations.models import (
    Question,
    QuestionSetVersion,
    WritingEvent,
    WritingProject,
    WrittenProblem,
)
from annotations.writing.refused import WritingError
from annotations.writing.texts import checked_note

State = WrittenProblem.State
GONE = (State.WITHDRAWN, State.DROPPED)
"""States in which a problem no longer takes the place of one of its question."""


def originals(version: QuestionSetVersion) -> QuerySet[Question]:
    """Return the questions that problems are written of: those with a text and an answer."""
    return version.questions.filter(answerable=True).exclude(text="")


def start(version: QuestionSetVersion) -> WritingProject:
    """Begin the writing for a version; what was begun before is returned as it is.

    Raises `WritingError`: not_published, no_originals.
    """
    if not version.is_published:
        raise WritingError("not_published")
    if not originals(version).exists():
        raise WritingError("no_originals")
    return WritingProject.objects.get_or_create(version=version)[0]


def set_open(project: WritingProject, is_open: bool) -> None:
    """Open or close the writing; what is being checked stays as it is until it opens again."""
    if is_open == (project.closed_at is None):
        return
    project.closed_at = None if is_open else timezone.now()
    project.save(update_fields=["closed_at"])


def send_back(problem: WrittenProblem, by: int, note: str) -> None:
    """Give a problem that is being checked or accepted back to its author, with a note.

    Raises `WritingError`: not_decided, note_missing, note_too_long.
    """
    said = checked_note(note, required=True)
    with transaction.atomic():
        now = locked(problem.pk)
        if now.state not in (State.CHECKING, State.ACCEPTED):
            raise WritingError("not_decided")
        return_to_author(now, WritingEvent.Kind.SENT_BACK, by, said)


def drop(problem: WrittenProblem, by: int, note: str) -> None:
    """Leave a problem out for good, with a note; its question is free again.

    Raises `WritingError`: note_missing, note_too_long, not_decided for one that is gone already.
    """
    said = checked_note(note, required=True)
    with transaction.atomic():
        now = locked(problem.pk)
        if now.state in GONE:
            raise WritingError("not_decided")
        now.state, now.decided_at = State.DROPPED, timezone.now()
        now.save(update_fields=["state", "decided_at", "updated_at"])
        note_event(now, WritingEvent.Kind.DROPPED, by, said)


def return_to_author(problem: WrittenProblem, kind: str, by: int, note: str) -> None:
    """Make a problem its author's again: the next time it is handed in it is another revision."""
    note_event(problem, kind, by, note)
    problem.state, problem.decided_at = State.RETURNED, timezone.now()
    problem.save(update_fields=["state", "decided_at", "updated_at"])


def note_event(problem: WrittenProblem, kind: str, by: int, note: str = "") -> None:
    """Note what happened to a problem, with its words of now."""
    WritingEvent.objects.create(
        problem=problem,
        kind=kind,
        by_id=by,
        revision=problem.revision,
        text=problem.text,
        category=problem.category,
        note=note,
    )


def locked(pk: int) -> WrittenProblem:
    """Return a problem as it is now, so that nobody else changes it before the end."""
    return (
        WrittenProblem.objects.select_for_update(of=("self",))
        .select_related("project", "original")
        .get(pk=pk)
    )
