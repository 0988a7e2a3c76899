"""Badges ("marks") beside a worker's name: the open alarms that name the worker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, Case, Exists, ExpressionWrapper, OuterRef, QuerySet, When

from annotations.models import Worker
from evaluation.grading.alarms.messages import (
    IN_PART,
    SEVERITIES,
    choose_alarm_case,
    get_short_statement,
)
from evaluation.grading.alarms.report.report import (
    AlarmEntry,
    AlarmsReport,
    annotate_named_counts,
    build_alarm_entry,
    build_alarms_page,
    count_by_severity,
    read_named_items,
)
from evaluation.grading.summary import read_summary
from evaluation.models import Alarm, Run
from evaluation.models.alarms import SETTLED

# Cases that say something about a person, not about the crowd; the others are no mark.
OF_PEOPLE = frozenset(
    {"copies", IN_PART, "clique", "leverage", "repeated", "dont_know", "model_like"}
)
# No row has this id: whether somebody is asked about or not, the database is asked as often.
NO_WORKER = UUID(int=0)
REPORTED_SEVERITIES = (Alarm.Severity.ALARM, Alarm.Severity.NOTICE)


@dataclass(frozen=True)
class Mark:
    """A mark beside a worker's name: an open alarm or notice that names the worker.

    Attributes
    ----------
    place : index of the alarm within the run, from 0. case : key of its texts. severity : code.
    """

    place: int
    case: str
    severity: str

    @property
    def words(self) -> str:
        """Short statement about the worker, such as "answers copied or nearly copied"."""
        return get_short_statement(self.case)

    @property
    def word(self) -> str:
        """The alarm's severity as a label, such as "Notice"."""
        return SEVERITIES.get(self.severity, self.severity)

    @property
    def is_alarm(self) -> bool:
        """Whether the mark is an alarm and not only a notice."""
        return self.severity == Alarm.Severity.ALARM


Marks = dict[UUID, tuple[Mark, ...]]


def read_marks(run: Run, workers: Iterable[UUID]) -> Marks:
    """Return the marks (open alarms and notices) beside these workers' names; one query."""
    return _build_marks(
        _read_mark_rows(_query_naming_alarms(run).filter(workers__public_id__in=list(workers)))
    )


def read_alarms_and_marks(
    run: Run, question: UUID, workers: Iterable[UUID]
) -> tuple[AlarmsReport, Marks]:
    """Return the alarms that name a question, and the marks of these workers; two queries."""
    rows = Alarm.objects.filter(run=run)
    naming_question = rows.filter(questions__public_id=question)
    is_about = Exists(naming_question.filter(pk=OuterRef("pk")))
    entries, places = {}, set()
    for alarm in (
        annotate_named_counts(rows.defer("evidence")).annotate(is_about=is_about).order_by("place")
    ):
        entries[alarm.place] = build_alarm_entry(alarm, alarm.n_workers, alarm.n_questions)
        if alarm.is_about:
            places.add(alarm.place)
    through = Alarm.workers.through.objects
    marked = through.filter(alarm__run=run, worker__public_id__in=[NO_WORKER, *workers])
    names = read_named_items(naming_question, marked=marked)
    marks = _build_marks(
        (place, entry.kind, entry.severity, worker.id)
        for place, entry in entries.items()
        if _is_shown_as_mark(entry)
        for worker in names.get(("mark", place), ())
    )
    return build_alarms_page(run, [entries[place] for place in sorted(places)], names), marks


def read_all_marks(run: Run) -> Marks:
    """Return the marks (open alarms and notices) of every worker in a run; one query."""
    return _build_marks(_read_mark_rows(_query_naming_alarms(run)))


@dataclass(frozen=True)
class NamingAlarm:
    """An open alarm or notice that names a worker: primary key, kind and evidence."""

    pk: int
    kind: str
    evidence: list[dict[str, Any]]


def read_marks_and_naming_alarms(run: Run, worker: Worker) -> tuple[Marks, list[NamingAlarm]]:
    """Return the marks of all workers, and the alarms that name one worker, with evidence."""
    # Evidence is long: it is read once an alarm, with the row of the worker.
    own = Case(When(workers=worker, then="evidence"))
    columns = ("place", "kind", "severity", "workers__public_id")
    rows = list(
        _query_naming_alarms(run)
        .annotate(own=own)
        .order_by("place", "workers__pk")
        .values_list(*columns, "pk", "own")
    )
    naming_alarms = [
        NamingAlarm(pk, kind, evidence)
        for _, kind, _, name, pk, evidence in rows
        if name == worker.public_id
    ]
    return _build_marks(row[:4] for row in rows), naming_alarms


def read_marks_and_counts(run: Run) -> tuple[Marks, dict[str, int] | None]:
    """Return the marks of all workers, and the numbers of alarms by severity; one query.

    The counts are None if the run has no checks.
    """
    rows = (
        Alarm.objects.filter(run=run)
        .annotate(is_settled=ExpressionWrapper(SETTLED, BooleanField()))
        .order_by("place", "workers__pk")
        .values_list(
            *("place", "kind", "severity", "workers__public_id"),
            *("is_settled", "state", "answered"),
        )
    )
    named, alarms = [], {}
    for place, kind, severity, worker, is_settled, state, answered in rows:
        alarms[place] = ((severity, state, answered), 1)
        if severity in REPORTED_SEVERITIES and worker is not None and not is_settled:
            named.append((place, kind, severity, worker))
    has_checks = read_summary(run).alarm_checks is not None
    return _build_marks(named), count_by_severity(alarms.values()) if has_checks else None


def build_marks_of_report(report: AlarmsReport) -> Marks:
    """Return the marks of each worker, from a report that lists every alarm of the run."""
    return _build_marks(
        (alarm.place, alarm.kind, alarm.severity, worker.id)
        for alarm in sorted(report.alarms, key=attrgetter("place"))
        if _is_shown_as_mark(alarm)
        for worker in alarm.workers
    )


def _is_shown_as_mark(alarm: AlarmEntry) -> bool:
    """Return whether an alarm is shown as a mark: an alarm or notice that is still open."""
    is_settled = alarm.answered or alarm.state == Alarm.State.DISMISSED
    return alarm.severity in REPORTED_SEVERITIES and not is_settled


def _query_naming_alarms(run: Run) -> QuerySet[Alarm]:
    """Return the query for the open alarms and notices of a run that name a worker."""
    alarms = Alarm.objects.filter(run=run, severity__in=REPORTED_SEVERITIES, workers__isnull=False)
    return alarms.exclude(SETTLED)


def _read_mark_rows(rows: QuerySet[Alarm]) -> QuerySet[Alarm, Any]:
    """Return rows (place, kind, severity, worker) of alarms, one for each worker they name."""
    columns = ("place", "kind", "severity", "workers__public_id")
    return rows.order_by("place", "workers__pk").values_list(*columns)


def _build_marks(rows: Iterable[tuple[int, str, str, UUID]]) -> Marks:
    """Return the marks by worker, from rows (place, kind, severity, worker) of alarms."""
    marks: Marks = {}
    for place, kind, severity, worker in rows:
        case = choose_alarm_case(kind, severity, has_workers=True)
        if case in OF_PEOPLE:
            marks[worker] = (*marks.get(worker, ()), Mark(place, case, severity))
    return marks
