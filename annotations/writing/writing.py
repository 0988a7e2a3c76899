"""What a writer does: takes a question, writes, hands in, gives up."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from annotations.models import Question, WritingEvent, WritingProject, WrittenProblem
from annotations.writing.projects import GONE, State, locked, note_event, originals
from annotations.writing.refused import WritingError
from annotations.writing.texts import checked_text, same_words, within

OWN = (State.DRAFT, State.RETURNED)
"""States in which a problem is its author's to change."""


@dataclass(frozen=True)
class Slot:
    """How many problems are wanted, and how many are there or being written."""

    wanted: int
    taken: int

    @property
    def free(self) -> int:
        """How many nobody has begun."""
        return max(0, self.wanted - self.taken)


def slots(project: WritingProject) -> Slot:
    """Return how many problems are wanted of all questions together."""
    wanted = originals(project.version).count() * project.per_original
    return Slot(wanted, project.problems.exclude(state__in=GONE).count())


def next_original(project: WritingProject, author: int) -> Question | None:
    """Return the question that a writer would get: the first with a free place, None without any.

    One that the writer has given up comes after all others.
    """
    there = Q(written__project=project) & ~Q(written__state__in=GONE)
    own = Q(written__project=project, written__author=author)
    return (
        originals(project.version)
        .annotate(
            n_there=Count("written", filter=there, distinct=True),
            n_own=Count("written", filter=own, distinct=True),
        )
        .filter(n_there__lt=project.per_original)
        .order_by("n_own", "position", "pk")
        .first()
    )


@transaction.atomic
def take(project: WritingProject, author: int) -> WrittenProblem:
    """Begin a problem of the next question, with its words to begin with.

    Two writers who take at the same time get different questions. Raises `WritingError`: closed,
    nothing_to_take.
    """
    now = WritingProject.objects.select_for_update(of=("self",)).get(pk=project.pk)
    _refuse_closed(now)
    original = next_original(now, author)
    if original is None:
        raise WritingError("nothing_to_take")
    last = original.written.aggregate(last=Max("number"))["last"]
    problem = WrittenProblem.objects.create(
        project=now,
        original=original,
        author_id=author,
        number=(last or 0) + 1,
        text=original.text[:5000],
    )
    note_event(problem, WritingEvent.Kind.BEGUN, author)
    return problem


def save(problem: WrittenProblem, text: str, category: int | None) -> None:
    """Keep what a writer has so far.

    Raises `WritingError`: closed, not_yours_now, text_too_long.
    """
    with transaction.atomic():
        now = _own(problem)
        now.text, now.category = within(text.replace("\r\n", "\n")), category
        now.save(update_fields=["text", "category", "updated_at"])


def submit(problem: WrittenProblem, text: str, category: int | None) -> None:
    """Hand a problem in to be checked.

    Raises `WritingError`: closed, not_yours_now; text_missing, text_too_long, text_of_the_original,
    text_there_already, category_missing.
    """
    written = checked_text(text)
    if category is None:
        raise WritingError("category_missing", "category")
    with transaction.atomic():
        now = _own(problem)
        if same_words(written, now.original.text):
            raise WritingError("text_of_the_original", "text")
        others = now.project.problems.exclude(pk=now.pk).exclude(state__in=(*GONE, State.DRAFT))
        questions = now.project.version.questions.values_list("text", flat=True)
        if any(same_words(written, other) for other in others.values_list("text", flat=True)):
            raise WritingError("text_there_already", "text")
        if any(same_words(written, other) for other in questions):
            raise WritingError("text_there_already", "text")
        if now.state == State.RETURNED:
            now.revision += 1
        now.text, now.category = written, category
        now.state, now.submitted_at, now.decided_at = State.CHECKING, timezone.now(), None
        now.save()
        note_event(now, WritingEvent.Kind.SUBMITTED, now.author_id)


def withdraw(problem: WrittenProblem) -> None:
    """Give a problem up, while it is the author's or being checked; its question is free again.

    Raises `WritingError`: not_yours_now.
    """
    with transaction.atomic():
        now = locked(problem.pk)
        if now.state not in (*OWN, State.CHECKING):
            raise WritingError("not_yours_now")
        now.state, now.decided_at = State.WITHDRAWN, timezone.now()
        now.save(update_fields=["state", "decided_at", "updated_at"])
        note_event(now, WritingEvent.Kind.WITHDRAWN, now.author_id)


def _own(problem: WrittenProblem) -> WrittenProblem:
    now = locked(problem.pk)
    _refuse_closed(now.project)
    if now.state not in OWN:
        raise WritingError("not_yours_now")
    return now


def _refuse_closed(project: WritingProject) -> None:
    if project.closed_at is not None:
        raise WritingError("closed")
