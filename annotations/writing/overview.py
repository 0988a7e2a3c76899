"""What the requester sees of the writing, and what an author is told of a problem sent back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Max

from annotations.models import (
    Category,
    ProblemVote,
    WritingEvent,
    WritingMember,
    WritingProject,
    WrittenProblem,
)
from annotations.writing.projects import State
from annotations.writing.writing import Slot, slots


@dataclass(frozen=True)
class Person:
    """Somebody who writes or checks. `done` counts problems handed in, or votes; `seen` is last."""

    member: WritingMember
    done: int
    accepted: int
    seen: datetime | None


@dataclass(frozen=True)
class Agreement:
    """How often the validators said the same without knowing of each other.

    Attributes
    ----------
    n : handed-in problems (each time anew) with all votes. verdict : those on whose answer all
        agree. unanswerable : those that nobody finds an answer for; category : those of these for
        which all give the same reason.
    """

    n: int
    verdict: int
    unanswerable: int
    category: int


@dataclass(frozen=True)
class Overview:
    """How far the writing is. `states` and `categories` (of what was accepted) with their names."""

    slots: Slot
    states: list[tuple[str, str, int]]
    categories: list[tuple[int, str, int]]
    people: list[Person]
    agreement: Agreement
    n_writers: int
    n_validators: int

    @property
    def accepted(self) -> int:
        """How many problems were accepted."""
        return next(n for state, _, n in self.states if state == State.ACCEPTED)


@dataclass(frozen=True)
class Word:
    """What one validator said, without saying who."""

    answerable: bool
    category: str
    note: str


def overview(project: WritingProject) -> Overview:
    """Return how far the writing is, by a handful of queries."""
    problems = project.problems.order_by()
    states = dict(problems.values_list("state").annotate(n=Count("pk")))
    accepted = problems.filter(state=State.ACCEPTED)
    categories = dict(accepted.values_list("category").annotate(n=Count("pk")))
    people = _people(project)
    roles = [person.member.role for person in people if not person.member.pending]
    return Overview(
        slots(project),
        [(state.value, state.label, states.get(state.value, 0)) for state in State],
        [(one.value, one.label, categories.get(one.value, 0)) for one in Category],
        people,
        _agreement(project),
        roles.count(WritingMember.Role.WRITER),
        roles.count(WritingMember.Role.VALIDATOR),
    )


def words_about(problem: WrittenProblem) -> list[Word]:
    """Return what validators said of the revision that was sent back last.

    In an order that tells nothing of who said it or when.
    """
    votes = problem.votes.filter(revision=problem.revision)
    said = votes.values_list("answerable", "category", "note")
    ordered = sorted(said, key=lambda row: (row[0], row[1] or 0, row[2]))
    return [
        Word(answerable, Category(category).label if category else "", note)
        for answerable, category, note in ordered
    ]


def last_note(problem: WrittenProblem) -> str:
    """Return the requester's note on a problem that was sent back, "" if validators did it."""
    last = problem.events.filter(
        kind__in=(WritingEvent.Kind.SENT_BACK, WritingEvent.Kind.RETURNED)
    ).order_by("-pk")
    return last.values_list("note", flat=True).first() or ""


def _people(project: WritingProject) -> list[Person]:
    members = project.members.select_related("user").order_by("-role", "user__username")
    written = _by(project.problems.exclude(submitted_at=None), "author", "updated_at")
    accepted = _by(project.problems.filter(state=State.ACCEPTED), "author", "updated_at")
    votes = _by(ProblemVote.objects.filter(problem__project=project), "validator", "updated_at")
    found = []
    for member in members:
        writes = member.role == WritingMember.Role.WRITER
        done, seen = (written if writes else votes).get(member.user_id, (0, None))
        n_accepted = accepted.get(member.user_id, (0, None))[0] if writes else 0
        found.append(Person(member, done, n_accepted, seen))
    return found


def _by(rows: object, who: str, when: str) -> dict[int, tuple[int, datetime | None]]:
    counted = rows.order_by().values_list(who).annotate(Count("pk"), Max(when))  # type: ignore[attr-defined]
    return {key: (n, last) for key, n, last in counted}


def _agreement(project: WritingProject) -> Agreement:
    votes: dict[tuple[int, int], list[tuple[bool, int | None]]] = {}
    for problem, revision, answerable, category in (
        ProblemVote.objects.filter(problem__project=project)
        .order_by()
        .values_list(F("problem"), "revision", "answerable", "category")
    ):
        votes.setdefault((problem, revision), []).append((answerable, category))
    whole = [said for said in votes.values() if len(said) >= project.votes_needed]
    unanswerable = [said for said in whole if not any(answerable for answerable, _ in said)]
    return Agreement(
        len(whole),
        sum(_same(answerable for answerable, _ in said) for said in whole),
        len(unanswerable),
        sum(_same(category for _, category in said) for said in unanswerable),
    )


def _same(values: Iterable[object]) -> bool:
    return len(set(values)) == 1
