"""What a validator does: reads a problem, says whether it has an answer, and if not, why.

A validator gets the text alone. Author, original, category, revision and the votes of others stay
behind this module.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotations.models import ProblemVote, WritingEvent, WritingProject, WrittenProblem
from annotations.writing.projects import State, locked, note_event, return_to_author
from annotations.writing.refused import WritingError
from annotations.writing.texts import checked_note


@dataclass(frozen=True)
class Task:
    """A problem to check, and all that may be known of it.

    `answerable` (None before it was said), `category` and `note` are the validator's own.
    """

    id: UUID
    text: str
    answerable: bool | None = None
    category: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Tasks:
    """What a validator is to check, in an order of their own, and what they said that still counts.

    `n_said` counts all votes that they ever gave here.
    """

    open: list[Task]
    said: list[Task]
    n_said: int


def tasks(project: WritingProject, validator: int) -> Tasks:
    """Return what there is to check for one validator, by three queries."""
    own = ProblemVote.objects.filter(
        problem=OuterRef("pk"), revision=OuterRef("revision"), validator=validator
    )
    checking = _to_check(project, validator).annotate(has_own=Exists(own))
    wanted = checking.filter(has_own=False, n_votes__lt=project.votes_needed)
    found = sorted(
        wanted.values_list("public_id", "text"), key=lambda row: _place(row[0], validator)
    )
    votes = ProblemVote.objects.filter(
        validator=validator,
        problem__project=project,
        problem__state=State.CHECKING,
        revision=F("problem__revision"),
    )
    said = [
        Task(*row)
        for row in votes.order_by("-updated_at").values_list(
            "problem__public_id", "problem__text", "answerable", "category", "note"
        )
    ]
    n_said = ProblemVote.objects.filter(validator=validator, problem__project=project).count()
    return Tasks([Task(*row) for row in found], said, n_said)


def task(project: WritingProject, validator: int, problem: UUID) -> Task | None:
    """Return one problem that a validator may check, or whose check they may still change."""
    found = _to_check(project, validator).filter(public_id=problem).first()
    if found is None:
        return None
    own = found.votes.filter(validator=validator, revision=found.revision).first()
    if own is not None:
        return Task(found.public_id, found.text, own.answerable, own.category, own.note)
    if found.n_votes >= project.votes_needed:
        return None
    return Task(found.public_id, found.text)


def vote(
    project: WritingProject,
    validator: int,
    problem: UUID,
    answerable: bool | None,
    category: int | None,
    note: str = "",
) -> UUID | None:
    """Store what a validator says, in place of what they said before; return the next to check.

    The last vote that is needed decides: accepted if nobody finds an answer and more than half say
    the author's reason; else it goes back, with the notes and without names.

    Raises `WritingError`: closed, decided; verdict_missing, category_missing,
    category_of_answerable, note_too_long.
    """
    if answerable is None:
        raise WritingError("verdict_missing", "answerable")
    if answerable and category is not None:
        raise WritingError("category_of_answerable", "category")
    if not answerable and category is None:
        raise WritingError("category_missing", "category")
    said = checked_note(note)
    if project.closed_at is not None:
        raise WritingError("closed")
    with transaction.atomic():
        found = WrittenProblem.objects.filter(project=project, public_id=problem)
        pk = found.exclude(author=validator).values_list("pk", flat=True).first()
        now = locked(pk) if pk is not None else None
        if now is None or now.state != State.CHECKING:
            raise WritingError("decided")
        votes = now.votes.filter(revision=now.revision)
        if not votes.filter(validator=validator).exists() and votes.count() >= _needed(now):
            raise WritingError("decided")
        ProblemVote.objects.update_or_create(
            problem=now,
            revision=now.revision,
            validator_id=validator,
            defaults={"answerable": answerable, "category": category, "note": said},
        )
        _decide(now, validator)
    following = tasks(project, validator).open
    return following[0].id if following else None


def _needed(problem: WrittenProblem) -> int:
    return int(problem.project.votes_needed)


def _decide(problem: WrittenProblem, by: int) -> None:
    """Decide once all votes are there; see `vote`."""
    votes = list(problem.votes.filter(revision=problem.revision).order_by("pk"))
    if len(votes) < _needed(problem):
        return
    categories = Counter(one.category for one in votes)
    unanswerable = not any(one.answerable for one in votes)
    if unanswerable and 2 * categories[problem.category] > len(votes):
        problem.state, problem.decided_at = State.ACCEPTED, timezone.now()
        problem.save(update_fields=["state", "decided_at", "updated_at"])
        note_event(problem, WritingEvent.Kind.ACCEPTED, by)
    else:
        return_to_author(problem, WritingEvent.Kind.RETURNED, by, "")


def _to_check(project: WritingProject, validator: int) -> QuerySet[Any]:
    """Return what is being checked and not the validator's own, with how many votes it has."""
    of_revision = Q(votes__revision=F("revision"))
    return (
        WrittenProblem.objects.filter(
            project=project, project__closed_at=None, state=State.CHECKING
        )
        .exclude(author=validator)
        .annotate(n_votes=Count("votes", filter=of_revision))
    )


def _place(problem: UUID, validator: int) -> bytes:
    """Return what orders a validator's problems: at random, but the same each time."""
    return hashlib.sha256(f"{validator}:{problem}".encode()).digest()
