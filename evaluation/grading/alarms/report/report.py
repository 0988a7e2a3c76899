"""The alarms of a run, most severe first, and the checks that raised none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import CharField, Count, F, OuterRef, Q, QuerySet, Value, Window
from django.db.models.functions import Coalesce, RowNumber

from annotations.web.numbers import build_group_count
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import describe_missing_statistic
from evaluation.grading.alarms.messages import (
    RESULTS,
    SEVERITIES,
    choose_alarm_case,
    format_needed_data,
    format_skipped_checks,
    format_statistic,
    get_alarm_title,
)
from evaluation.grading.alarms.methods.survey import STABLE
from evaluation.grading.methods.check_results import (
    ALARM_CHECKS,
    NOT_RECORDED,
    Result,
    classify_check,
    find_needed_count,
    find_raising_checks,
)
from evaluation.grading.summary import CheckResult, read_summary
from evaluation.models import Alarm, Run
from evaluation.runs.reports.about import RunAbout, build_run_about

DISMISSED, ANSWERED = "dismissed", "answered"
# Alarms that one page lists, and names that an alarm in a list spells out.
MOST = 50
NAMED = 6


@dataclass(frozen=True)
class NamedItem:
    """A worker or question that an alarm names: public id and external id."""

    id: UUID
    name: str


@dataclass(frozen=True)
class AlarmEntry:
    """An alarm of a run with its texts, the workers it names and its review state.

    Attributes
    ----------
    place : index within the run, from 0. kind, severity : codes. case : key of its texts.
    measured : the statistic against its threshold, in words; "" without a number.
    message : evidence, meaning and advice, without names.
    n_workers, n_questions : numbers of workers and questions it names, 0 for the whole crowd;
        `workers` and `questions` are the first of them.
    state : review state: open, examined, remedied or dismissed.
    outcome : effect of the remedies; None in a run without remedies.
    answered : whether a remedy of this run settles it, and no reviewer opened it again.
    """

    place: int
    kind: str
    severity: str
    case: str
    statistic: float | None
    threshold: float | None
    message: Message
    n_workers: int
    n_questions: int
    workers: tuple[NamedItem, ...] = ()
    questions: tuple[NamedItem, ...] = ()
    state: str = Alarm.State.OPEN.value
    outcome: Message | None = None
    answered: bool = False

    @property
    def title(self) -> str:
        """Title of the alarm."""
        return get_alarm_title(self.case)

    @property
    def word(self) -> str:
        """The alarm's severity as a label, such as "Notice"."""
        return SEVERITIES.get(self.severity, self.severity)

    @property
    def measured(self) -> str:
        """Sentence that compares the statistic with its threshold; "" without a statistic."""
        return format_statistic(self.case, self.statistic, self.threshold)

    @property
    def state_word(self) -> str:
        """The review state as a label, such as "Dismissed"; "" while the alarm is open."""
        return "" if self.state == Alarm.State.OPEN else Alarm.State(self.state).label

    @property
    def more_workers(self) -> int:
        """Number of workers the alarm names beyond those listed in `workers`."""
        return self.n_workers - len(self.workers)

    @property
    def more_questions(self) -> int:
        """Number of questions the alarm names beyond those listed in `questions`."""
        return self.n_questions - len(self.questions)


@dataclass(frozen=True)
class Check:
    """A check for one kind of alarm, as stored with a run: statistic, threshold and result.

    `rings` is true if the check raised an alarm, `is_answered` if remedies resolve all its alarms.
    """

    renamed_keys: ClassVar = {"rings": "is_raised"}

    name: str
    statistic: float | None
    threshold: float | None
    rings: bool
    reason: str | None
    is_answered: bool = False

    @property
    def result(self) -> Result:
        """Result code: good, problem, not_enough_data or not_applicable."""
        return classify_check(self.statistic, self.rings, self.reason)

    @property
    def result_word(self) -> str:
        """The check's result as a label, such as "Not enough data"."""
        return RESULTS[self.result]

    @property
    def needed(self) -> int | None:
        """Least number of items that the check needs; None if it ran or more would not help."""
        return find_needed_count(self.name, self.reason) if self.statistic is None else None

    @property
    def needs(self) -> str:
        """Least data that the check needs, as text; "" if it ran or more would not help."""
        return format_needed_data(self.name, self.reason) if self.statistic is None else ""

    @property
    def title(self) -> str:
        """Title of the alarm that the check raises."""
        return get_alarm_title(self.name)

    @property
    def measured(self) -> str:
        """Sentence that compares the statistic with its threshold; "" without a statistic."""
        return format_statistic(self.name, self.statistic, self.threshold)

    @property
    def why(self) -> str:
        """Reason why the check's statistic is undefined, as text; "" if it is defined."""
        return describe_missing_statistic(self.reason)


@dataclass(frozen=True)
class ChecksOfResult:
    """The checks of a run with the same result, such as "good", and that result's label."""

    result: Result
    word: str
    checks: list[Check]


def group_checks(checks: Iterable[Check]) -> list[ChecksOfResult]:
    """Return checks grouped by result, problems first; results without a check are left out."""
    listed = list(checks)
    order: tuple[Result, ...] = ("problem", "not_enough_data", "good", "not_applicable")
    groups = (
        ChecksOfResult(
            result, RESULTS[result], [check for check in listed if check.result == result]
        )
        for result in order
    )
    return [group for group in groups if group.checks]


@dataclass(frozen=True)
class AlarmsReport:
    """A page of a run's alarms, most severe first, with the run's checks.

    The alarms are all of the run, or those that name one worker or question.

    Attributes
    ----------
    looked : whether the run has alarm checks; runs of older versions have none.
    counts : alarms by severity, including those that are not listed.
    """

    about: RunAbout
    looked: bool
    alarms: list[AlarmEntry]
    counts: dict[str, int]
    checks: list[Check]

    @property
    def n(self) -> int:
        """Number of all alarms, including those on other pages."""
        return sum(self.counts.values())

    @property
    def open_counts(self) -> dict[str, int] | None:
        """Numbers of alarms by severity; reviewed ones by review state; None without checks."""
        if not self.looked:
            return None
        return count_by_severity(
            ((alarm.severity, alarm.state, alarm.answered), 1) for alarm in self.alarms
        )

    def select_first_alarms(self, most: int) -> AlarmsReport:
        """Return a copy with the first `most` alarms only, each with at most 6 workers."""
        alarms = [replace(alarm, workers=alarm.workers[:NAMED]) for alarm in self.alarms[:most]]
        return replace(self, alarms=alarms)

    @property
    def unchecked(self) -> str:
        """Sentence that lists the checks without enough data; "" if there are none."""
        lacking = [check for check in self.checks if check.result == "not_enough_data"]
        return format_skipped_checks((check.name, check.reason) for check in lacking)

    @property
    def results(self) -> list[ChecksOfResult]:
        """The checks grouped by result, problems first; results without a check are left out."""
        return group_checks(self.checks)

    @property
    def has_camps_alarm(self) -> bool:
        """Whether the alarm for two camps (opposed groups of workers) is among the alarms."""
        return any(alarm.case == "two_camps" for alarm in self.alarms)


def count_alarms(*runs: Run) -> list[dict[str, int] | None]:
    """Return each run's numbers of alarms by severity, None without checks; one query.

    Alarms dismissed by a reviewer are counted as `dismissed`, those that a remedy of the run
    answers as `answered`, and nowhere else.
    """
    checked_runs = [run for run in runs if read_summary(run).alarm_checks is not None]
    columns = ("severity", "state", "answered", "run_id")
    rows = Alarm.objects.filter(run__in=checked_runs).order_by().values(*columns)
    rows_of_counts = list(rows.annotate(n=Count("pk")).values_list(*columns, "n"))
    return [
        count_by_severity((row[:3], row[4]) for row in rows_of_counts if row[3] == run.pk)
        if run in checked_runs
        else None
        for run in runs
    ]


def count_by_severity(alarms: Iterable[tuple[tuple[str, str, bool], int]]) -> dict[str, int]:
    """Return the numbers of alarms by severity; reviewed ones count as dismissed or answered."""
    counts: dict[str, int] = {}
    for (severity, state, answered), n in alarms:
        name = severity
        if state == Alarm.State.DISMISSED:
            name = DISMISSED
        elif answered and state != Alarm.State.OPEN:
            name = ANSWERED
        counts[name] = counts.get(name, 0) + n
    return counts


def build_alarms_report(
    run: Run,
    worker: UUID | None = None,
    question: UUID | None = None,
    most: int | None = MOST,
    skip: int = 0,
    names: int | None = NAMED,
) -> AlarmsReport:
    """Return the report on a run's alarms, or on those that name a worker or a question.

    At most `most` are listed, after the first `skip`, each with at most `names` of its workers.
    """
    rows = Alarm.objects.filter(run=run)
    if worker is not None:
        rows = rows.filter(workers__public_id=worker)
    if question is not None:
        rows = rows.filter(questions__public_id=question)
    report = build_alarms_page(
        run, _iterate_entries(rows), read_named_items(rows, names), most, skip
    )
    # The checks are of the whole run, also beside a part of its alarms.
    is_part = worker is not None or question is not None
    return replace(report, checks=read_checks(run)) if is_part else report


def build_alarms_page(
    run: Run,
    entries: Iterable[AlarmEntry],
    named: NamedBy,
    most: int | None = MOST,
    skip: int = 0,
) -> AlarmsReport:
    """Return the report on alarms that were already read, with one page of them.

    `skip` alarms come before the page, which lists at most `most`; `named` holds the names of the
    workers and questions that the alarms name.
    """
    # What a remedy answers comes last.
    answered_last = sorted(entries, key=lambda entry: entry.answered)
    counts: dict[str, int] = {}
    for entry in answered_last:
        counts[entry.severity] = counts.get(entry.severity, 0) + 1
    listed = [
        _add_names(
            entry, named.get(("worker", entry.place), ()), named.get(("question", entry.place), ())
        )
        for entry in answered_last[skip:][:most]
    ]
    return AlarmsReport(
        about=build_run_about(run),
        looked=read_summary(run).alarm_checks is not None,
        alarms=listed,
        counts=counts,
        checks=build_checks(run, ((entry.case, entry.answered) for entry in answered_last)),
    )


def read_checks(run: Run) -> list[Check]:
    """Return the checks of a run; empty for runs older than the checks. One query."""
    columns = ("kind", "severity", "n_workers", "answered", "state")
    rows = annotate_named_counts(Alarm.objects.filter(run=run)).order_by().values_list(*columns)
    raised = (
        (choose_alarm_case(kind, severity, bool(n_workers)), answered and state != Alarm.State.OPEN)
        for kind, severity, n_workers, answered, state in rows
    )
    return build_checks(run, raised)


def build_checks(run: Run, raised: Iterable[tuple[str, bool]]) -> list[Check]:
    """Return all declared checks of a run in order; empty for runs older than the checks.

    `raised` are the run's alarms, each with its case and whether a remedy of the run settles it.
    Runs of older versions stored fewer checks: a missing one is a problem if it has raised an alarm
    of the run, and else not applicable.
    """
    stored = read_summary(run).alarm_checks
    if stored is None:
        return []
    cases = list(raised)
    open_names = {
        name for case, answered in cases if not answered for name in find_raising_checks(case)
    }
    any_answered = any(answered for _, answered in cases)
    agreement = read_summary(run).draw_agreement
    known = {stored_check.check: _build_check(stored_check, agreement) for stored_check in stored}
    explained = {case for check in ALARM_CHECKS if check.name in known for case in check.raises}
    # Where several checks can have raised an alarm, it is the first of them.
    blamed = {find_raising_checks(case)[0] for case, _ in cases if case not in explained}
    checks = []
    for declared in ALARM_CHECKS:
        check = known.get(declared.name)
        if check is None:
            is_raised = declared.name in blamed
            reason = None if is_raised else NOT_RECORDED
            check = Check(declared.name, None, None, is_raised, reason)
        is_answered = check.rings and any_answered and check.name not in open_names
        checks.append(replace(check, is_answered=is_answered))
    return checks


def _build_check(stored: CheckResult, agreement: float | None) -> Check:
    """Return the report's record of a stored check.

    Older runs with remedies checked the stability on the plain grading, which has no bootstrap
    draws, and stored no statistic. The agreement of their own draws (`agreement`) is stored.
    """
    statistic, rings, reason = stored.statistic, stored.rings, stored.reason
    if stored.check == "unstable_ranking" and statistic is None and agreement is not None:
        statistic, rings, reason = agreement, agreement < (stored.threshold or STABLE), None
    return Check(stored.check, statistic, stored.threshold, rings, reason)


def iterate_alarms_with_ids(run: Run) -> Iterator[tuple[AlarmEntry, list[str], list[str]]]:
    """Yield every alarm of a run, with the external ids of its workers and of its questions.

    Ids keep the order of the grading: of questions with camps, the most separated one comes first.
    """
    for alarm in Alarm.objects.filter(run=run).order_by("place"):
        workers, questions = _read_named_ids(alarm, "worker"), _read_named_ids(alarm, "question")
        yield build_alarm_entry(alarm, len(workers), len(questions)), workers, questions


def _read_named_ids(alarm: Alarm, what: str) -> list[str]:
    """Return the external ids of the workers or questions (`what`) that an alarm names."""
    # Rows of the table between the two were written in the order in which the alarm names them.
    named = _get_through_model(what).objects.filter(alarm=alarm).order_by("pk")
    return list(named.values_list(f"{what}__external_id", flat=True))


def _get_through_model(what: str) -> Any:
    """Return the table model that links alarms to workers or to questions (`what`)."""
    return (Alarm.workers if what == "worker" else Alarm.questions).through


def build_alarm_entry(alarm: Alarm, n_workers: int, n_questions: int) -> AlarmEntry:
    """Return the report's record of a stored alarm, without the names of its workers."""
    return AlarmEntry(
        place=alarm.place,
        kind=alarm.kind,
        severity=alarm.severity,
        case=choose_alarm_case(alarm.kind, alarm.severity, bool(n_workers)),
        statistic=alarm.statistic,
        threshold=alarm.threshold,
        message=Message.from_stored(alarm.message),
        n_workers=n_workers,
        n_questions=n_questions,
        state=alarm.state,
        outcome=None if alarm.outcome is None else Message.from_stored(alarm.outcome),
        answered=alarm.answered and alarm.state != Alarm.State.OPEN,
    )


def _iterate_entries(rows: QuerySet[Alarm]) -> Iterator[AlarmEntry]:
    """Yield the report's records of a query's alarms, without names, in the run's order."""
    for alarm in annotate_named_counts(rows.defer("evidence")).order_by("place"):
        yield build_alarm_entry(alarm, alarm.n_workers, alarm.n_questions)


def annotate_named_counts(rows: QuerySet[Alarm]) -> QuerySet[Any]:
    """Return the query with the numbers of workers and questions that each alarm names."""
    # Each counted by a query of its own inside the one: joined, both would multiply each other.
    return rows.annotate(
        n_workers=_build_named_count(Alarm.workers.through),
        n_questions=_build_named_count(Alarm.questions.through),
    )


def _build_named_count(through: Any) -> Coalesce:
    """Return the subquery that counts the workers (or questions) that an alarm names."""
    return build_group_count(through.objects.filter(alarm=OuterRef("pk")), "alarm")


NamedBy = dict[tuple[str, int], tuple[NamedItem, ...]]


def read_named_items(
    rows: QuerySet[Alarm], n_workers: int | None = NAMED, marked: QuerySet[Any] | None = None
) -> NamedBy:
    """Return the first workers and questions that each alarm names; one query.

    Keys are ("worker" or "question", the alarm's place). `marked` are rows of alarms and workers,
    which become the key "mark".
    """
    names: NamedBy = {}
    first, *others = (
        _get_through_model(what)
        .objects.filter(alarm__in=rows.order_by().values("pk"))
        # Numbered within each alarm: a plain limit would cut the whole list, not each alarm's.
        .annotate(at=Window(RowNumber(), partition_by=F("alarm"), order_by=F("pk").asc()))
        .filter(Q() if most is None else Q(at__lte=most))
        .annotate(what=Value(what, CharField()))
        .values_list("what", "at", "alarm__place", f"{what}__public_id", f"{what}__external_id")
        for what, most in (("worker", n_workers), ("question", NAMED))
    )
    if marked is not None:
        values = marked.order_by().annotate(at=Value(0), what=Value("mark", CharField()))
        columns = ("alarm__place", "worker__public_id", "worker__external_id")
        others.append(values.values_list("what", "at", *columns))
    for what, _, place, public_id, name in sorted(first.union(*others, all=True)):
        names[what, place] = (*names.get((what, place), ()), NamedItem(public_id, name))
    return names


def _add_names(
    entry: AlarmEntry, workers: tuple[NamedItem, ...], questions: tuple[NamedItem, ...]
) -> AlarmEntry:
    """Return a copy of the record with the workers and questions that the alarm names."""
    return AlarmEntry(**{**vars(entry), "workers": workers, "questions": questions})
