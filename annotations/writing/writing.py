"""Writer's actions: take a question, save a draft, submit the problem, or withdraw it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from annotations.models import Question, WritingEvent, WritingProject, WrittenProblem
from annotations.writing.errors import WritingError
from annotations.writing.projects import (
    ENDED_STATES,
    State,
    lock_problem,
    log_problem_event,
    select_original_questions,
)
from annotations.writing.texts import check_text_length, clean_problem_text, have_same_words

EDITABLE_STATES = (State.DRAFT, State.RETURNED)
"""States in which the author can change a problem."""


@dataclass(frozen=True)
class ProblemCount:
    """Numbers of problems wanted in a project and of those already begun (`taken`)."""

    wanted: int
    taken: int

    @property
    def free(self) -> int:
        """Number of wanted problems that no writer has begun."""
        return max(0, self.wanted - self.taken)


def count_problems(project: WritingProject) -> ProblemCount:
    """Return the numbers of problems wanted and taken, over all questions of a project."""
    wanted = select_original_questions(project.version).count() * project.per_original
    return ProblemCount(wanted, project.problems.exclude(state__in=ENDED_STATES).count())


def find_next_original(project: WritingProject, author: int) -> Question | None:
    """Return the next question for which a writer can write a problem; None if there is none.

    A question of which the writer has withdrawn a problem comes after all others.
    """
    active = Q(written__project=project) & ~Q(written__state__in=ENDED_STATES)
    own = Q(written__project=project, written__author=author)
    return (
        select_original_questions(project.version)
        .annotate(
            n_there=Count("written", filter=active, distinct=True),
            n_own=Count("written", filter=own, distinct=True),
        )
        .filter(n_there__lt=project.per_original)
        .order_by("n_own", "position", "pk")
        .first()
    )


@transaction.atomic
def take_question(project: WritingProject, author: int) -> WrittenProblem:
    """Create and return a problem for the next question, with the question's text as a draft.

    Raises `WritingError`: closed, not_published, nothing_to_take.
    """
    # The lock of the project: two writers who take at the same time get different questions.
    locked_project = WritingProject.objects.select_for_update(of=("self",)).get(pk=project.pk)
    _refuse_closed_project(locked_project)
    # A run of candidates also starts a project for a draft, whose wording may still change.
    if not locked_project.version.is_published:
        raise WritingError("not_published")
    original = find_next_original(locked_project, author)
    if original is None:
        raise WritingError("nothing_to_take")
    last = original.written.aggregate(last=Max("number"))["last"]
    problem = WrittenProblem.objects.create(
        project=locked_project,
        original=original,
        author_id=author,
        number=(last or 0) + 1,
        # Cut at MOST_CHARACTERS: the draft has to be one that can be saved.
        text=original.text[:5000],
    )
    log_problem_event(problem, WritingEvent.Kind.BEGUN, author)
    return problem


def save_problem(problem: WrittenProblem, text: str, category: int | None) -> None:
    """Store the text and category of a problem without submitting it.

    Raises `WritingError`: closed, not_yours_now, text_too_long.
    """
    with transaction.atomic():
        current = _lock_editable_problem(problem)
        current.text, current.category = check_text_length(text.replace("\r\n", "\n")), category
        current.save(update_fields=["text", "category", "updated_at"])


def submit_problem(problem: WrittenProblem, text: str, category: int | None) -> None:
    """Submit a problem for checking; after a return this makes a new revision.

    Raises `WritingError`: closed, not_yours_now; text_missing, text_too_long, text_of_the_original,
    text_there_already, category_missing.
    """
    written = clean_problem_text(text)
    if category is None:
        raise WritingError("category_missing", "category")
    with transaction.atomic():
        current = _lock_editable_problem(problem)
        if have_same_words(written, current.original.text):
            raise WritingError("text_of_the_original", "text")
        # Compared in Python: case, white space and Unicode composition are ignored.
        others = current.project.problems.exclude(pk=current.pk).exclude(
            state__in=(*ENDED_STATES, State.DRAFT)
        )
        questions = current.project.version.questions.values_list("text", flat=True)
        if any(have_same_words(written, other) for other in others.values_list("text", flat=True)):
            raise WritingError("text_there_already", "text")
        if any(have_same_words(written, other) for other in questions):
            raise WritingError("text_there_already", "text")
        if current.state == State.RETURNED:
            current.revision += 1
        current.text, current.category = written, category
        current.state, current.submitted_at, current.decided_at = (
            State.CHECKING,
            timezone.now(),
            None,
        )
        current.save()
        log_problem_event(current, WritingEvent.Kind.SUBMITTED, current.author_id)


def withdraw_problem(problem: WrittenProblem) -> None:
    """Withdraw a problem that is a draft, returned or being checked.

    Another problem can then be written of its question.

    Raises `WritingError`: not_yours_now.
    """
    with transaction.atomic():
        current = lock_problem(problem.pk)
        if current.state not in (*EDITABLE_STATES, State.CHECKING):
            raise WritingError("not_yours_now")
        current.state, current.decided_at = State.WITHDRAWN, timezone.now()
        current.save(update_fields=["state", "decided_at", "updated_at"])
        log_problem_event(current, WritingEvent.Kind.WITHDRAWN, current.author_id)


def _lock_editable_problem(problem: WrittenProblem) -> WrittenProblem:
    """Return the problem, locked; raise `WritingError` if its author cannot change it now."""
    current = lock_problem(problem.pk)
    _refuse_closed_project(current.project)
    if current.state not in EDITABLE_STATES:
        raise WritingError("not_yours_now")
    return current


def _refuse_closed_project(project: WritingProject) -> None:
    """Raise `WritingError` if the requester has closed the project."""
    if project.closed_at is not None:
        raise WritingError("closed")
