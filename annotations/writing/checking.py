"""Checking of problems: validators vote whether a problem has an answer, and if not, why.

A validator gets only the text of a problem. Author, original, category, revision and other votes
are not passed on by this module.
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
from annotations.writing.errors import WritingError
from annotations.writing.projects import State, lock_problem, log_problem_event, mark_returned
from annotations.writing.texts import clean_note


@dataclass(frozen=True)
class ProblemTask:
    """A problem to check, with everything that its validator may see.

    `answerable` (None before the vote), `category` and `note` are the validator's own vote.
    """

    id: UUID
    text: str
    answerable: bool | None = None
    category: int | None = None
    note: str = ""


@dataclass(frozen=True)
class ProblemTasks:
    """A validator's tasks: `open` ones in random order, `voted` ones whose vote can change.

    A vote can be changed while its problem is being checked. `n_voted` counts all votes of the
    validator in the project.
    """

    open: list[ProblemTask]
    voted: list[ProblemTask]
    n_voted: int


def list_problem_tasks(project: WritingProject, validator: int) -> ProblemTasks:
    """Return the tasks of a validator (user key) in a project; three queries."""
    # A vote belongs to a revision: after a return the rewritten text is checked anew.
    own = ProblemVote.objects.filter(
        problem=OuterRef("pk"), revision=OuterRef("revision"), validator=validator
    )
    checking = _select_checkable_problems(project, validator).annotate(has_own=Exists(own))
    unchecked = checking.filter(has_own=False, n_votes__lt=project.votes_needed)
    open_rows = sorted(
        unchecked.values_list("public_id", "text"),
        key=lambda row: _compute_sort_key(row[0], validator),
    )
    votes = ProblemVote.objects.filter(
        validator=validator,
        problem__project=project,
        problem__state=State.CHECKING,
        revision=F("problem__revision"),
    )
    voted = [
        ProblemTask(*row)
        for row in votes.order_by("-updated_at").values_list(
            "problem__public_id", "problem__text", "answerable", "category", "note"
        )
    ]
    # Over all revisions and states: `voted` has only the votes that can still change.
    n_voted = ProblemVote.objects.filter(validator=validator, problem__project=project).count()
    return ProblemTasks([ProblemTask(*row) for row in open_rows], voted, n_voted)


def find_problem_task(project: WritingProject, validator: int, problem: UUID) -> ProblemTask | None:
    """Return a validator's task for a problem; None if the validator may not vote on it."""
    checkable = _select_checkable_problems(project, validator).filter(public_id=problem).first()
    if checkable is None:
        return None
    own = checkable.votes.filter(validator=validator, revision=checkable.revision).first()
    if own is not None:
        return ProblemTask(
            checkable.public_id, checkable.text, own.answerable, own.category, own.note
        )
    if checkable.n_votes >= project.votes_needed:
        return None
    return ProblemTask(checkable.public_id, checkable.text)


def vote_on_problem(
    project: WritingProject,
    validator: int,
    problem: UUID,
    answerable: bool | None,
    category: int | None,
    note: str = "",
) -> UUID | None:
    """Store a validator's vote, replacing an earlier vote; return the next problem's id or None.

    The last vote needed decides. The problem is accepted if no validator finds an answer and more
    than half name the author's category. Otherwise it goes back to its author, with the notes but
    without names.

    Raises `WritingError`: closed, decided; verdict_missing, category_missing,
    category_of_answerable, note_too_long.
    """
    if answerable is None:
        raise WritingError("verdict_missing", "answerable")
    if answerable and category is not None:
        raise WritingError("category_of_answerable", "category")
    if not answerable and category is None:
        raise WritingError("category_missing", "category")
    checked_note = clean_note(note)
    if project.closed_at is not None:
        raise WritingError("closed")
    with transaction.atomic():
        rows = WrittenProblem.objects.filter(project=project, public_id=problem)
        pk = rows.exclude(author=validator).values_list("pk", flat=True).first()
        # The lock: of two last votes at the same time, only one decides.
        current = lock_problem(pk) if pk is not None else None
        if current is None or current.state != State.CHECKING:
            raise WritingError("decided")
        votes = current.votes.filter(revision=current.revision)
        # A validator may change a vote, but not add one after enough votes.
        if not votes.filter(validator=validator).exists() and votes.count() >= _get_votes_needed(
            current
        ):
            raise WritingError("decided")
        ProblemVote.objects.update_or_create(
            problem=current,
            revision=current.revision,
            validator_id=validator,
            defaults={"answerable": answerable, "category": category, "note": checked_note},
        )
        _decide_problem(current, validator)
    # After the commit, so that the lock is not held while the list is read.
    following = list_problem_tasks(project, validator).open
    return following[0].id if following else None


def _get_votes_needed(problem: WrittenProblem) -> int:
    """Return the number of votes that decide about a problem."""
    return int(problem.project.votes_needed)


def _decide_problem(problem: WrittenProblem, by: int) -> None:
    """Accept a problem or return it to its author, if all its validators have voted."""
    votes = list(problem.votes.filter(revision=problem.revision).order_by("pk"))
    if len(votes) < _get_votes_needed(problem):
        return
    categories = Counter(row.category for row in votes)
    unanswerable = not any(row.answerable for row in votes)
    # More than half, so of two validators both have to name the author's category.
    if unanswerable and 2 * categories[problem.category] > len(votes):
        problem.state, problem.decided_at = State.ACCEPTED, timezone.now()
        problem.save(update_fields=["state", "decided_at", "updated_at"])
        log_problem_event(problem, WritingEvent.Kind.ACCEPTED, by)
    else:
        mark_returned(problem, WritingEvent.Kind.RETURNED, by, "")


def _select_checkable_problems(project: WritingProject, validator: int) -> QuerySet[Any]:
    """Return problems to check, without the validator's own, annotated with numbers of votes."""
    current_votes = Q(votes__revision=F("revision"))
    return (
        WrittenProblem.objects.filter(
            project=project, project__closed_at=None, state=State.CHECKING
        )
        .exclude(author=validator)
        .annotate(n_votes=Count("votes", filter=current_votes))
    )


def _compute_sort_key(problem: UUID, validator: int) -> bytes:
    """Return a key that sorts problems randomly, in a stable order for each validator."""
    return hashlib.sha256(f"{validator}:{problem}".encode()).digest()
