"""Status of a writing project for the requester, and the notes that an author gets."""

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
from annotations.writing.writing import ProblemCount, count_problems


@dataclass(frozen=True)
class MemberActivity:
    """A member of a writing project, with counts of the member's work.

    `done` counts submitted problems or votes, `accepted` accepted problems (0 for a validator), and
    `seen` is the time of the last of them.
    """

    member: WritingMember
    done: int
    accepted: int
    seen: datetime | None


@dataclass(frozen=True)
class Agreement:
    """Agreement between validators: numbers of revisions on which all votes are equal.

    Attributes
    ----------
    n : revisions of problems that have all votes.
    verdict : those for which all validators agree whether there is an answer.
    unanswerable : those for which no validator finds an answer.
    category : those of the unanswerable for which all validators name the same category.
    """

    n: int
    verdict: int
    unanswerable: int
    category: int


@dataclass(frozen=True)
class ProjectSummary:
    """State of a writing project: numbers of problems, members, and validators' agreement.

    `states` and `categories` are lists of (value, label, number of problems); categories count
    accepted problems only. `n_writers` and `n_validators` leave out pending invitations.
    """

    slots: ProblemCount
    states: list[tuple[str, str, int]]
    categories: list[tuple[int, str, int]]
    people: list[MemberActivity]
    agreement: Agreement
    n_writers: int
    n_validators: int

    @property
    def accepted(self) -> int:
        """Number of accepted problems."""
        return next(n for state, _, n in self.states if state == State.ACCEPTED)


@dataclass(frozen=True)
class AnonymousVote:
    """Vote of one validator, without the name."""

    answerable: bool
    category: str
    note: str


def summarize_project(project: WritingProject) -> ProjectSummary:
    """Return the state of a writing project; constant number of queries."""
    problems = project.problems.order_by()
    states = dict(problems.values_list("state").annotate(n=Count("pk")))
    accepted = problems.filter(state=State.ACCEPTED)
    categories = dict(accepted.values_list("category").annotate(n=Count("pk")))
    people = _load_member_activities(project)
    roles = [person.member.role for person in people if not person.member.pending]
    return ProjectSummary(
        count_problems(project),
        [(state.value, state.label, states.get(state.value, 0)) for state in State],
        [(row.value, row.label, categories.get(row.value, 0)) for row in Category],
        people,
        _compute_agreement(project),
        roles.count(WritingMember.Role.WRITER),
        roles.count(WritingMember.Role.VALIDATOR),
    )


def list_anonymous_votes(problem: WrittenProblem) -> list[AnonymousVote]:
    """Return the votes on a problem's current revision, without names, sorted by content."""
    votes = problem.votes.filter(revision=problem.revision)
    rows = votes.values_list("answerable", "category", "note")
    # Any other order could tell the author who voted, or when.
    ordered = sorted(rows, key=lambda row: (row[0], row[1] or 0, row[2]))
    return [
        AnonymousVote(answerable, Category(category).label if category else "", note)
        for answerable, category, note in ordered
    ]


def find_return_note(problem: WrittenProblem) -> str:
    """Return the requester's note on a returned problem; "" if validators' votes returned it."""
    last = problem.events.filter(
        kind__in=(WritingEvent.Kind.SENT_BACK, WritingEvent.Kind.RETURNED)
    ).order_by("-pk")
    return last.values_list("note", flat=True).first() or ""


def _load_member_activities(project: WritingProject) -> list[MemberActivity]:
    """Return the members of a project with counts of their work, by role and name."""
    members = project.members.select_related("user").order_by("-role", "user__username")
    written = _count_by_user(project.problems.exclude(submitted_at=None), "author", "updated_at")
    accepted = _count_by_user(project.problems.filter(state=State.ACCEPTED), "author", "updated_at")
    votes = _count_by_user(
        ProblemVote.objects.filter(problem__project=project), "validator", "updated_at"
    )
    people = []
    for member in members:
        writes = member.role == WritingMember.Role.WRITER
        done, last = (written if writes else votes).get(member.user_id, (0, None))
        n_accepted = accepted.get(member.user_id, (0, None))[0] if writes else 0
        people.append(MemberActivity(member, done, n_accepted, last))
    return people


def _count_by_user(
    rows: object, key_name: str, time_name: str
) -> dict[int, tuple[int, datetime | None]]:
    """Return (number of rows, latest time) of each user, by user key.

    `key_name` is the column of the user key, `time_name` that of the time.
    """
    # Without an order, which would split the groups.
    counted = rows.order_by().values_list(key_name).annotate(Count("pk"), Max(time_name))  # type: ignore[attr-defined]
    return {key: (n, last) for key, n, last in counted}


def _compute_agreement(project: WritingProject) -> Agreement:
    """Return the agreement of the validators over all revisions with all votes."""
    votes: dict[tuple[int, int], list[tuple[bool, int | None]]] = {}
    for problem, revision, answerable, category in (
        ProblemVote.objects.filter(problem__project=project)
        .order_by()
        .values_list(F("problem"), "revision", "answerable", "category")
    ):
        votes.setdefault((problem, revision), []).append((answerable, category))
    # Revisions still in checking would count as agreeing merely because votes are missing.
    complete = [rows for rows in votes.values() if len(rows) >= project.votes_needed]
    unanswerable = [rows for rows in complete if not any(answerable for answerable, _ in rows)]
    return Agreement(
        len(complete),
        sum(_are_equal(answerable for answerable, _ in rows) for rows in complete),
        len(unanswerable),
        sum(_are_equal(category for _, category in rows) for rows in unanswerable),
    )


def _are_equal(values: Iterable[object]) -> bool:
    """Return whether all values are equal; False if there are none."""
    return len(set(values)) == 1
