"""Outcomes of alarms, and measured rates of false alarms.

Measured false-alarm rates in real crowds of about this size without a known problem.

The numbers are those of `manage.py reproduce false-rings`, stored with the project, and are also in
platform/docs/alarms.md; a test compares both.

Outcomes of alarms: after the remedies of a run, and compared with the earlier run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import OuterRef, Subquery

import evaluation
from annotations.models import Worker
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.messages import (
    CROWDS,
    ONE_GROUP,
    SEVERITIES,
    choose_alarm_case,
    format_false_alarm_rate,
    format_false_alarm_rates,
    get_alarm_title,
)
from evaluation.grading.alarms.report.report import NAMED, NamedItem
from evaluation.grading.alarms.run.detection import ANSWERS
from evaluation.grading.summary import AqerSummary, CheckResult, VanishedAlarm, read_summary
from evaluation.models import Alarm, AlarmReview, Run
from evaluation.models.runs import GRADING
from evaluation.runs.reports.judging import (
    FEWEST_JUDGED,
    check_experts,
    find_audit,
    load_judged_answers,
)

FILE = Path(evaluation.__file__).parent / "evidence" / "studies" / "false_rings.csv"
# Smaller crowds are not ranked, and none was drawn.
FEWEST = 3
# Where an alarm surely rings in more than one crowd of twenty, pages say how little it means.
OFTEN = 0.05
# The row that counts any alarm, and is a statistic of none.
ANY = "any"


@dataclass(frozen=True)
class FalseAlarmRate:
    """Rate at which one alarm was raised in random groups of a crowd without a known problem.

    Attributes
    ----------
    groups : number of groups drawn. looked : number of them with enough answers for the statistic.
    rang : number of these in which the alarm was raised.
    share, low, high : `rang` / `looked`, 0 to 1, with Wilson's 95% interval; None if `looked` is 0.
    """

    crowd: str
    groups: int
    looked: int
    rang: int
    share: float | None
    low: float | None
    high: float | None

    @property
    def name(self) -> str:
        """Name of the crowd from which the groups were drawn."""
        return CROWDS[self.crowd]

    @property
    def said(self) -> str:
        """The false-alarm rate as text, such as "38.4% (34.7 to 42.2) of 643"."""
        return format_false_alarm_rate(self.looked, self.rang, self.share, self.low, self.high)

    @property
    def is_high(self) -> bool:
        """Whether the rate is above 5% even at the lower end of its interval."""
        return self.low is not None and self.low > OFTEN


@dataclass(frozen=True)
class CaseRates:
    """Measured false-alarm rates of one alarm, in several crowds."""

    case: str
    severity: str
    rates: tuple[FalseAlarmRate, ...]

    @property
    def title(self) -> str:
        """Title of the alarm."""
        return get_alarm_title(self.case)

    @property
    def word(self) -> str:
        """The alarm's severity as a label, such as "Notice"."""
        return SEVERITIES[self.severity]

    @property
    def has_high_rate(self) -> bool:
        """Whether the alarm's false-alarm rate is high in at least one crowd."""
        return any(rate.is_high for rate in self.rates)


@dataclass(frozen=True)
class FalseAlarmRates:
    """Measured false-alarm rates of all alarms, for the group size nearest to a crowd's size.

    Attributes
    ----------
    size : number of workers in a group. n_workers : number in the crowd.
    cases : rates of each alarm, then of each notice.
    """

    size: int
    n_workers: int
    cases: tuple[CaseRates, ...]

    @property
    def frequent_cases(self) -> list[CaseRates]:
        """Alarms (not notices) that are often raised falsely in groups of this size."""
        return [case for case in self.cases if case.severity == "alarm" and case.has_high_rate]

    @property
    def crowds(self) -> list[str]:
        """Names of the crowds, one for each column of rates."""
        return [rate.name for rate in self.cases[0].rates]

    def describe_rates(self, case: str) -> str:
        """Return sentences on one alarm's false-alarm rates; "" if none were measured."""
        case_rates = next((rates for rates in self.cases if rates.case == case), None)
        if case_rates is None:
            return ""
        rates = [(rate.name, rate.said) for rate in case_rates.rates]
        return format_false_alarm_rates(self.size, rates, often=case_rates.has_high_rate)


def find_false_alarm_rates(n_workers: int) -> FalseAlarmRates | None:
    """Return the false-alarm rates measured nearest to a crowd's size; None below 3 workers.

    The nearest size is that of the least ratio: 14 are compared with 10, 15 with 20.
    """
    if n_workers < FEWEST:
        return None
    # Ratios, not differences: 10 and 20 workers differ more than 100 and 110.
    sizes = _read_rates()
    size = min(
        sizes,
        key=lambda candidate: (max(candidate, n_workers) / min(candidate, n_workers), candidate),
    )
    return FalseAlarmRates(size, n_workers, sizes[size])


@cache
def _read_rates() -> Mapping[int, tuple[CaseRates, ...]]:
    """Return the measured false-alarm rates by group size, read from the project's CSV file."""
    rates_by_size: dict[int, dict[tuple[str, str], list[FalseAlarmRate]]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["resamples"]) == ONE_GROUP or row["alarm"] == ANY:
                continue
            rate = FalseAlarmRate(
                row["crowd"],
                int(row["resamples"]),
                int(row["looked_at"]),
                int(row["rang"]),
                *(float(row[name]) if row[name] else None for name in ("share", "low", "high")),
            )
            cases = rates_by_size.setdefault(int(row["workers"]), {})
            cases.setdefault((row["alarm"], row["severity"]), []).append(rate)
    return {
        size: tuple(CaseRates(*case, tuple(rates)) for case, rates in cases.items())
        for size, cases in rates_by_size.items()
    }


# Of the crowd as a whole, whoever happens to be named.
OF_CROWD = frozenset({"concentrated_weight", "too_few", "unstable_ranking", "no_convergence"})
SAME = 0.5
# The two ways to compare texts cannot settle which of them is right; experts can.
TWO_WAYS, BY_WORDS = "grader_disagreement", "graded_by_words_already"
BY_EXPERTS = "outcome.by_words_agree"
REPORTED_SEVERITIES = (Alarm.Severity.ALARM, Alarm.Severity.NOTICE)


@dataclass(frozen=True)
class AlarmOutcome:
    """Outcome of an alarm after a remedy or in a later run: settled or still open.

    Attributes
    ----------
    case : key of the alarm's texts. severity : code.
    workers : the first of the `n_workers` workers that the alarm names; none for the whole crowd.
    outcome : effect of the remedy or of the later run. is_settled : whether the alarm no longer
        counts against the grades.
    place : index of the alarm in this run; None if this run does not raise it. before : its index
        in the earlier run; None if that run did not raise it.
    said, note : state and note of its review in the earlier run; "" without a review.
    """

    renamed_keys: ClassVar = {"said": "review"}

    case: str
    severity: str
    workers: tuple[NamedItem, ...]
    n_workers: int
    outcome: Message
    is_settled: bool
    place: int | None = None
    before: int | None = None
    said: str = ""
    note: str = ""

    @property
    def title(self) -> str:
        """Title of the alarm."""
        return get_alarm_title(self.case)

    @property
    def asks_experts(self) -> bool:
        """Whether expert grades for a sample of answers would settle the alarm."""
        return self.outcome.code in ("outcome.by_words", "outcome.by_words_unsure")

    @property
    def more(self) -> int:
        """Number of workers the alarm names beyond those in `workers`."""
        return self.n_workers - len(self.workers)


@dataclass(frozen=True)
class OutcomesReport:
    """Outcomes of a run's alarms, and of the alarms of the run from which it was made."""

    rows: list[AlarmOutcome]
    made_from: UUID | None

    @property
    def n_settled(self) -> int:
        """Number of alarms that a remedy or this run settled."""
        return sum(row.is_settled for row in self.rows)

    @property
    def n_left(self) -> int:
        """Number of alarms that neither a remedy nor this run settled, new ones included."""
        return len(self.rows) - self.n_settled


@dataclass(frozen=True)
class _AlarmIdentity:
    """Values by which an alarm is recognised in another run: kind, severity, workers, model."""

    kind: str
    severity: str
    workers: frozenset[UUID]
    model: Any

    @classmethod
    def from_alarm(
        cls, kind: str, severity: str, workers: Iterable[UUID], message: Any
    ) -> _AlarmIdentity:
        """Return the identity of an alarm; `message` holds the model of a `model_like` alarm."""
        values = Message.from_stored(message).values
        return cls(kind, severity, frozenset(workers), values.get("model"))

    def is_same_alarm(self, other: _AlarmIdentity) -> bool:
        """Return whether another run's alarm is the same: equal kind, mostly the same workers."""
        mine = (self.kind, self.severity, self.model, bool(self.workers))
        if mine != (other.kind, other.severity, other.model, bool(other.workers)):
            return False
        if self.kind in OF_CROWD or not self.workers:
            return True
        fewer = min(len(self.workers), len(other.workers))
        return len(self.workers & other.workers) >= SAME * fewer


def build_outcomes_report(run: Run) -> OutcomesReport | None:
    """Return the outcomes of a run's alarms after its remedies; None without a remedy or alarms.

    None also without an earlier run. At most six queries. A run by words that follows a
    `grader_disagreement` needs some more, to compare experts' grades with both runs.
    """
    summary = read_summary(run)
    remedies = summary.remedies
    before = run.made_from
    if before is not None and (
        before.kind != GRADING
        or before.state != Run.State.DONE
        or before.version_id != run.version_id
    ):
        before = None
    if remedies is None and before is None:
        return None
    here, there = _read_alarms(run), [] if before is None else _read_alarms(before)
    gone = () if remedies is None else remedies.gone
    names = _read_worker_names([UUID(worker) for alarm in gone for worker in alarm.workers])
    outcomes = list(_iterate_outcomes(here, gone, there, summary, names))
    if before is not None:
        outcomes = [
            _add_expert_judgement(outcome, run, before) if outcome.asks_experts else outcome
            for outcome in outcomes
        ]
    made_from = None if before is None else before.public_id
    return OutcomesReport(outcomes, made_from) if outcomes else None


def _read_alarms(run: Run) -> list[tuple[Alarm, _AlarmIdentity, dict[UUID, str]]]:
    """Return a run's alarms and notices, each with its identity and its workers' names."""
    newest = AlarmReview.objects.filter(alarm=OuterRef("pk")).order_by("-pk")
    alarms = (
        Alarm.objects.filter(run=run, severity__in=REPORTED_SEVERITIES)
        .defer("evidence")
        .annotate(note=Subquery(newest.values("note")[:1]))
        .order_by("place")
    )
    through = Alarm.workers.through.objects.filter(
        alarm__run=run, alarm__severity__in=REPORTED_SEVERITIES
    ).order_by("pk")
    named: dict[int, dict[UUID, str]] = {}
    for alarm, worker, name in through.values_list(
        "alarm_id", "worker__public_id", "worker__external_id"
    ):
        named.setdefault(alarm, {})[worker] = name
    return [
        (
            alarm,
            _AlarmIdentity.from_alarm(alarm.kind, alarm.severity, workers, alarm.message),
            workers,
        )
        for alarm in alarms
        for workers in [named.get(alarm.pk, {})]
    ]


def _read_worker_names(workers: list[UUID]) -> dict[UUID, str]:
    """Return the external ids of workers by public id."""
    rows = Worker.objects.filter(public_id__in=workers)
    return dict(rows.values_list("public_id", "external_id"))


def _iterate_outcomes(
    alarms: list[tuple[Alarm, _AlarmIdentity, dict[UUID, str]]],
    gone: Iterable[VanishedAlarm],
    earlier_alarms: list[tuple[Alarm, _AlarmIdentity, dict[UUID, str]]],
    summary: AqerSummary,
    names: dict[UUID, str],
) -> Iterator[AlarmOutcome]:
    """Yield the outcomes of a run's alarms, of vanished alarms and of the earlier run's others."""
    # An alarm of the run before answers to one alarm of this run at most.
    unmatched = list(earlier_alarms)

    def take_matching(seen: _AlarmIdentity) -> dict[str, Any]:
        """Return the earlier run's review of the same alarm, and remove it from `unmatched`."""
        for row in unmatched:
            if row[1].is_same_alarm(seen):
                unmatched.remove(row)
                return _read_review(row[0])
        return {}

    for alarm, seen, workers in alarms:
        known = take_matching(seen)
        outcome = alarm.outcome or (known and {"code": "outcome.still", "values": {}})
        if outcome:
            yield _build_outcome(
                seen,
                workers,
                Message.from_stored(outcome),
                is_settled=alarm.answered and alarm.state != Alarm.State.OPEN,
                place=alarm.place,
                **known,
            )
    for gone_alarm in gone:
        ids = [UUID(worker) for worker in gone_alarm.workers]
        seen = _AlarmIdentity.from_alarm(
            gone_alarm.kind, gone_alarm.severity, ids, gone_alarm.message
        )
        yield _build_outcome(
            seen,
            {worker: names[worker] for worker in ids if worker in names},
            Message.from_stored(gone_alarm.outcome),
            **take_matching(seen),
        )
    for alarm, seen, workers in unmatched:
        outcome = _explain_absence(seen, summary.alarm_checks or (), alarm.statistic)
        settled = outcome.code in ANSWERS or outcome.code == "outcome.settings"
        yield _build_outcome(seen, workers, outcome, is_settled=settled, **_read_review(alarm))


def _read_review(alarm: Alarm) -> dict[str, Any]:
    """Return an earlier alarm's place, review state and note, as fields of `AlarmOutcome`."""
    state = "" if alarm.state == Alarm.State.OPEN else Alarm.State(alarm.state).label
    note = getattr(alarm, "note", "") or ""
    return {"before": alarm.place, "said": state, "note": note}


def _explain_absence(
    seen: _AlarmIdentity, checks: Iterable[CheckResult], statistic: float | None
) -> Message:
    """Return the message on why this run does not raise an alarm of the earlier run."""
    name = {"clique": "copies"}.get(seen.kind, seen.kind)
    if seen.kind == "two_camps" and not seen.workers:
        name = "two_camps_of_questions"
    check = next((candidate for candidate in checks if candidate.check == name), None)
    if check is not None and seen.kind == TWO_WAYS and check.reason == BY_WORDS:
        return Message("outcome.by_words", {"workers": 0, "agreement": statistic})
    if check is not None and check.statistic is None:
        return Message("outcome.unchecked", {"workers": 0, "reason": check.reason})
    return Message("outcome.settings", {"workers": len(seen.workers)})


def _add_expert_judgement(outcome: AlarmOutcome, run: Run, before: Run) -> AlarmOutcome:
    """Return the outcome, settled if experts' grades fit this run better than `before`.

    It is settled if the grades agree with this run's scores, and better than with the earlier ones.
    Without an expert's grade, the outcome is returned unchanged.
    """
    audit = find_audit(run)
    check = check_experts(run, audit, load_judged_answers(run, audit))
    if not check.answers.n:
        return outcome
    check_before = check_experts(before, audit, load_judged_answers(before, audit))
    correlation, correlation_before = check.answers.value, check_before.answers.value
    is_settled = (
        check.confirms
        and correlation is not None
        and (correlation_before is None or correlation > correlation_before)
    )
    values = {
        **outcome.outcome.values,
        "count": check.answers.n,
        "correlation": correlation,
        "before": correlation_before,
        "fewest": FEWEST_JUDGED,
    }
    code = BY_EXPERTS if is_settled else "outcome.by_words_unsure"
    return replace(outcome, outcome=Message(code, values), is_settled=is_settled)


def _build_outcome(
    seen: _AlarmIdentity,
    workers: dict[UUID, str],
    outcome: Message,
    is_settled: bool = True,
    **more: Any,
) -> AlarmOutcome:
    """Return the outcome of an alarm, with the names of its first workers."""
    first_workers = tuple(NamedItem(*worker) for worker in list(workers.items())[:NAMED])
    case = choose_alarm_case(seen.kind, seen.severity, bool(seen.workers))
    return AlarmOutcome(
        case, seen.severity, first_workers, len(workers), outcome, is_settled, **more
    )
