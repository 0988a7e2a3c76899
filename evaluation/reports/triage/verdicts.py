"""What people decided of the workers of a run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from evaluation.models import Run, WorkerVerdict
from evaluation.words.triage import OWN, REASONS

COLUMNS = (
    *("public_id", "worker__public_id", "kind", "category", "reason", "rejects"),
    *("decided_by__username", "created_at", "together"),
)


# No row has this id: a page without workers asks the database as often as one with.
NOBODY = UUID(int=0)
# Whom a run left out is in it without a vote and a grade.
VOTED = ~Q(weight=0, grade__isnull=True)


@dataclass(frozen=True)
class Decided:
    """What somebody decided of a worker, or took back.

    Attributes
    ----------
    kind : accept, look, exclude; undo for what was taken back. category : a code of the reason.
    rejects : whether the work is refused on the panel as well.
    together : the same of all that were decided by one press; None for one who was looked at alone.
    """

    id: UUID
    worker: UUID
    kind: str
    category: str
    reason: str
    rejects: bool
    by: str
    at: datetime
    together: UUID | None = None

    @property
    def word(self) -> str:
        """What was decided, in a word or two."""
        return str(WorkerVerdict.Kind(self.kind).label)

    @property
    def why(self) -> str:
        """The reason of an exclusion in a few words; "" for anything else."""
        if self.kind != WorkerVerdict.Kind.EXCLUDE:
            return ""
        if self.category == OWN or self.category not in REASONS:
            return self.reason
        return REASONS[self.category].briefly


Verdicts = dict[UUID, Decided]


def verdicts_of(run: Run, workers: Collection[UUID] | None = None) -> Verdicts:
    """Return what counts of each worker of whom something is decided, by one query."""
    rows: QuerySet[WorkerVerdict, Any] = WorkerVerdict.counting(run)
    if workers is not None:
        rows = rows.filter(worker__public_id__in=[NOBODY, *workers])
    # The newest one of a worker comes last.
    return {row[1]: Decided(*row) for row in rows.values_list(*COLUMNS)}


def history_of(run: Run, worker: UUID) -> list[Decided]:
    """Return all that was decided of a worker and taken back, the newest first; one query."""
    rows = WorkerVerdict.objects.filter(run=run, worker__public_id=worker).order_by("-pk")
    return [Decided(*row) for row in rows.values_list(*COLUMNS)]


@dataclass(frozen=True)
class Applied(Decided):
    """A decision that a run was made with; `name` is the worker's own id."""

    name: str = ""


def applied_to(run: Run) -> list[Applied]:
    """Return the decisions that a run was made with, in their order; one query."""
    rows = run.applied_verdicts.order_by("pk")
    return [Applied(*row) for row in rows.values_list(*COLUMNS, "worker__external_id")]


def made_by(run: Run) -> dict[str, Any]:
    """Return the decisions that a run was made with, and the run whose grades led to them.

    As `cards/made_by.html` shows them, by one query, and one more where there are any.
    """
    found = applied_to(run)
    of = Run.objects.filter(verdicts__applied_in=run).order_by("pk").first() if found else None
    return {"made_by": found, "made_of": of}
