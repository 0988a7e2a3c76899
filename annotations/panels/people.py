"""Those who answered, as a panel knows them, and what it is told of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import JSONField, OuterRef, QuerySet, Subquery

from annotations.exchange.prolific import APPROVE, OPEN, REJECT, REJECTED
from annotations.exchange.prolific import APPROVED as APPROVED_THERE
from annotations.models import (
    Decision,
    PanelSession,
    PanelStatus,
    QuestionSetVersion,
    Response,
    Submission,
)
from annotations.panels.sentences import REPORTS

# What a survey's file calls the id of a submission on Prolific.
SUBMISSION = ("Submission id", "submission_id", "SESSION_ID", "Session id", "session_id")


MOST_NAMED = 5
"""People who are named in a warning; of the others their number is told."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a panel is told: `kind` is approve or reject, the others are those of a rejection."""

    kind: str
    category: str = ""
    message: str = ""

    @property
    def rejected(self) -> bool:
        """Whether the work is refused."""
        return self.kind == REJECT


APPROVED = Told(APPROVE)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who answered.

    Attributes
    ----------
    submission : the panel's id of their submission, "" where it is not known.
    status : where it stood on the panel when its export was last taken in, "" where it never was.
    told : None where nothing is decided.
    """

    key: int
    worker: UUID
    name: str
    panel: str
    submission: str
    status: str
    told: Told | None

    @property
    def rejected(self) -> bool:
        """Whether the work is refused."""
        return self.told is not None and self.told.rejected


def standing(version: QuestionSetVersion | int) -> dict[int, Decision]:
    """Return the decision that counts of each submission of which one does, by its key."""
    rows = Decision.objects.filter(submission__version=version).order_by("pk")
    # The newest one of a submission comes last.
    newest = {row.submission_id: row for row in rows.select_related("decided_by")}
    return {key: row for key, row in newest.items() if row.kind != OPEN}


def told_of(decisions: Mapping[int, Decision]) -> dict[int, Told]:
    """Return what panels are told by decisions, by the keys of the submissions."""
    return {
        key: Told(REJECT, row.category, row.reason) if row.kind == REJECT else APPROVED
        for key, row in decisions.items()
    }


def people_of(submissions: QuerySet[Submission], told: Mapping[int, Told | None]) -> list[Person]:
    """Return who gave submissions, by name, with what the panel is told of them."""
    of = {"submission": OuterRef("pk")}
    first = Response.objects.filter(**of).order_by("pk").values("extra")
    sessions = PanelSession.objects.filter(**of).order_by("-pk").values("session_id")
    statuses = PanelStatus.objects.filter(**of).order_by("-pk")
    rows = (
        submissions.annotate(
            kept=Subquery(first[:1], output_field=JSONField()),
            session=Subquery(sessions[:1]),
            status=Subquery(statuses.values("status")[:1]),
            listed=Subquery(statuses.values("session_id")[:1]),
        )
        .order_by("worker__external_id", "pk")
        .values_list(
            *("pk", "worker__public_id", "worker__external_id", "worker__panel"),
            *("listed", "session", "kept", "status"),
        )
    )
    return [
        Person(
            *(key, worker, name, panel, listed or session or submission_in(kept)),
            *(status or "", told.get(key)),
        )
        for key, worker, name, panel, listed, session, kept, status in rows
    ]


def decided_people(version: QuestionSetVersion) -> list[Person]:
    """Return everybody of a version, with what the log of decisions says of them.

    Who withdrew what they wrote is left out: nothing is said of them any more.
    """
    there = Submission.objects.filter(version=version, withdrawn_at=None)
    return people_of(there, told_of(standing(version)))


def contradicted(people: Sequence[Person]) -> Iterator[str]:
    """Yield what was decided here and stands otherwise on the panel, a sentence each."""
    for said, there, is_rejected, status in (
        ("rejected", "approved", True, APPROVED_THERE),
        ("approved", "rejected", False, REJECTED),
    ):
        names = [
            person.name
            for person in people
            if person.told is not None
            and person.rejected == is_rejected
            and person.status == status
        ]
        if names:
            yield REPORTS.text(
                "contradicted", here=said, there=there, names=names[:MOST_NAMED], n=len(names)
            )


def submission_in(kept: Mapping[str, Any] | None, names: Collection[str] = SUBMISSION) -> str:
    """Return the panel's id of a submission among the cells that came with an answer, or ""."""
    found = (str((kept or {}).get(name, "")).strip() for name in names)
    return next((text for text in found if text), "")
