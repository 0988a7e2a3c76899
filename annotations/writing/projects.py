"""Requester's actions on a writing project: start, close, return a problem, or drop it."""

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
from annotations.writing.errors import WritingError
from annotations.writing.texts import clean_note

State = WrittenProblem.State
ENDED_STATES = (State.WITHDRAWN, State.DROPPED)
"""States in which a problem no longer counts towards the number wanted of its question."""


def select_original_questions(version: QuestionSetVersion) -> QuerySet[Question]:
    """Return the questions for which problems are written: answerable, with a text."""
    return version.questions.filter(answerable=True).exclude(text="")


def start_project(version: QuestionSetVersion) -> WritingProject:
    """Start the writing project of a version, or return the existing one.

    Raises `WritingError`: not_published, no_originals.
    """
    if not version.is_published:
        raise WritingError("not_published")
    if not select_original_questions(version).exists():
        raise WritingError("no_originals")
    return WritingProject.objects.get_or_create(version=version)[0]


def set_project_open(project: WritingProject, is_open: bool) -> None:
    """Open or close a writing project; problems that are being checked keep their state."""
    if is_open == (project.closed_at is None):
        return
    project.closed_at = None if is_open else timezone.now()
    project.save(update_fields=["closed_at"])


def return_problem(problem: WrittenProblem, by: int, note: str) -> None:
    """Return a submitted or accepted problem to its author, with the requester's note.

    Raises `WritingError`: not_decided, note_missing, note_too_long.
    """
    cleaned_note = clean_note(note, required=True)
    with transaction.atomic():
        current = lock_problem(problem.pk)
        if current.state not in (State.CHECKING, State.ACCEPTED):
            raise WritingError("not_decided")
        mark_returned(current, WritingEvent.Kind.SENT_BACK, by, cleaned_note)


def discard_problem(problem: WrittenProblem, by: int, note: str) -> None:
    """Discard a problem permanently with a note; another can be written for its question.

    Raises `WritingError`: note_missing, note_too_long, not_decided if it is withdrawn or dropped.
    """
    cleaned_note = clean_note(note, required=True)
    with transaction.atomic():
        current = lock_problem(problem.pk)
        if current.state in ENDED_STATES:
            raise WritingError("not_decided")
        current.state, current.decided_at = State.DROPPED, timezone.now()
        current.save(update_fields=["state", "decided_at", "updated_at"])
        log_problem_event(current, WritingEvent.Kind.DROPPED, by, cleaned_note)


def mark_returned(problem: WrittenProblem, kind: str, by: int, note: str) -> None:
    """Mark a problem as returned and log it; its next submission is a new revision."""
    log_problem_event(problem, kind, by, note)
    problem.state, problem.decided_at = State.RETURNED, timezone.now()
    problem.save(update_fields=["state", "decided_at", "updated_at"])


def log_problem_event(problem: WrittenProblem, kind: str, by: int, note: str = "") -> None:
    """Store an event in a problem's history, with its current text and category."""
    WritingEvent.objects.create(
        problem=problem,
        kind=kind,
        by_id=by,
        revision=problem.revision,
        text=problem.text,
        category=problem.category,
        note=note,
    )


def lock_problem(pk: int) -> WrittenProblem:
    """Return the current state of a problem, locked until the transaction ends."""
    return (
        # Only the problem's own row: locking the joined project would make all writers wait.
        WrittenProblem.objects.select_for_update(of=("self",))
        .select_related("project", "original")
        .get(pk=pk)
    )
