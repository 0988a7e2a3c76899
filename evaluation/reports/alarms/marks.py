"""Alarms as marks beside a name, wherever a worker stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from evaluation.models import Alarm, Run
from evaluation.models.alarms import SETTLED
from evaluation.words.alarms import IN_PART, SEVERITIES, brief, case_of

# Cases that say something about a person, not about the crowd; the others are no mark.
OF_PEOPLE = frozenset(
    {"copies", IN_PART, "clique", "leverage", "repeated", "dont_know", "model_like"}
)
TOLD = (Alarm.Severity.ALARM, Alarm.Severity.NOTICE)


@dataclass(frozen=True)
class Mark:
    """An alarm that names a worker.

    Attributes
    ----------
    place : of the alarm within the run, from 0. case : which wording fits. severity : a code.
    """

    place: int
    case: str
    severity: str

    @property
    def words(self) -> str:
        """What the alarm says of the worker, in a few words."""
        return brief(self.case)

    @property
    def word(self) -> str:
        """The severity in a word."""
        return SEVERITIES.get(self.severity, self.severity)

    @property
    def rings(self) -> bool:
        """Whether it is an alarm, and not only a notice."""
        return self.severity == Alarm.Severity.ALARM


Marks = dict[UUID, tuple[Mark, ...]]


def marks_of(run: Run, workers: Iterable[UUID]) -> Marks:
    """Return the marks of those of these workers that an alarm names, by one query."""
    return _marks(_named(run).filter(workers__public_id__in=list(workers)))


def all_marks(run: Run) -> Marks:
    """Return the marks of every worker that an alarm names, the worst alarm first; one query."""
    return _marks(_named(run))


def _named(run: Run) -> QuerySet[Alarm]:
    named = Alarm.objects.filter(run=run, severity__in=TOLD, workers__isnull=False)
    return named.exclude(SETTLED)


def _marks(rows: QuerySet[Alarm]) -> Marks:
    found: Marks = {}
    values = rows.order_by("place", "workers__pk").values_list(
        "place", "kind", "severity", "workers__public_id"
    )
    for place, kind, severity, worker in values:
        case = case_of(kind, severity, has_workers=True)
        if case in OF_PEOPLE:
            found[worker] = (*found.get(worker, ()), Mark(place, case, severity))
    return found
