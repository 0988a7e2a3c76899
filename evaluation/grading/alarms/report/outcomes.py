"""What became of the alarms: after the remedies of a run, and of the run that it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import OuterRef, Subquery

from annotations.models import Worker
from evaluation.grading.alarms.messages import case_of, title_of
from evaluation.grading.alarms.report.report import NAMED, Named
from evaluation.grading.alarms.run.detection import ANSWERS
from evaluation.grading.summary import AqerSummary, GoneAlarm, Looked, summary_of
from evaluation.models import Alarm, AlarmReview, Run
from evaluation.models.runs import GRADING
from evaluation.reports.judged_answers import FEWEST_JUDGED, audit_of, check_of, judged_answers
from evaluation.words.message import Message

# Of the crowd as a whole, whoever happens to be named.
OF_CROWD = frozenset({"concentrated_weight", "too_few", "unstable_ranking", "no_convergence"})
SAME = 0.5
# The two ways to compare texts cannot settle which of them is right; experts can.
TWO_WAYS, BY_WORDS = "grader_disagreement", "graded_by_words_already"
BY_EXPERTS = "outcome.by_words_agree"
TOLD = (Alarm.Severity.ALARM, Alarm.Severity.NOTICE)


@dataclass(frozen=True)
class Became:
    """An alarm and what became of it.

    Attributes
    ----------
    case : which of a kind's wordings fits. severity : a code.
    workers : the first few it names, `n_workers` in all; 0 for the crowd as a whole.
    outcome : what became of it. is_settled : whether it speaks against the grades no longer.
    place : of its row in this run; None if it has none. before : its place in the run that this
        one was made from; None if that did not have it.
    said : what people made of it there, as a word and a note; "" where nobody said anything.
    """

    renamed_keys: ClassVar = {"said": "review"}

    case: str
    severity: str
    workers: tuple[Named, ...]
    n_workers: int
    outcome: Message
    is_settled: bool
    place: int | None = None
    before: int | None = None
    said: str = ""
    note: str = ""

    @property
    def title(self) -> str:
        """What it is."""
        return title_of(self.case)

    @property
    def asks_experts(self) -> bool:
        """Whether a sample of answers that experts grade would settle it."""
        return self.outcome.code in ("outcome.by_words", "outcome.by_words_unsure")

    @property
    def more(self) -> int:
        """How many are not named here."""
        return self.n_workers - len(self.workers)


@dataclass(frozen=True)
class OutcomesReport:
    """What became of each alarm; `made_from` is the run before, None if there is none to show."""

    rows: list[Became]
    made_from: UUID | None

    @property
    def n_settled(self) -> int:
        """How many speak against the grades no longer."""
        return sum(row.is_settled for row in self.rows)

    @property
    def n_left(self) -> int:
        """How many are still there, or new."""
        return len(self.rows) - self.n_settled


@dataclass(frozen=True)
class _Seen:
    """An alarm as a row has it, with the keys of its workers."""

    kind: str
    severity: str
    workers: frozenset[UUID]
    model: Any

    @classmethod
    def of(cls, kind: str, severity: str, workers: Iterable[UUID], message: Any) -> _Seen:
        values = Message.of(message).values
        return cls(kind, severity, frozenset(workers), values.get("model"))

    def is_same(self, other: _Seen) -> bool:
        """Whether two alarms tell the same, as `evaluation.grading.run.outcomes.is_same` has it."""
        mine = (self.kind, self.severity, self.model, bool(self.workers))
        if mine != (other.kind, other.severity, other.model, bool(other.workers)):
            return False
        if self.kind in OF_CROWD or not self.workers:
            return True
        fewer = min(len(self.workers), len(other.workers))
        return len(self.workers & other.workers) >= SAME * fewer


def outcomes_report(run: Run) -> OutcomesReport | None:
    """Return what became of the alarms, None where there were none.

    By at most six queries; where a run by words answers that two ways to compare texts rank
    otherwise, by some more, for what experts say of both runs.
    """
    summary = summary_of(run)
    done = summary.remedies
    before = run.made_from
    if before is not None and (
        before.kind != GRADING
        or before.state != Run.State.DONE
        or before.version_id != run.version_id
    ):
        before = None
    if done is None and before is None:
        return None
    here, there = _rows(run), [] if before is None else _rows(before)
    gone = () if done is None else done.gone
    names = _names([UUID(worker) for alarm in gone for worker in alarm.workers])
    told = list(_told(here, gone, there, summary, names))
    if before is not None:
        told = [_by_experts(one, run, before) if one.asks_experts else one for one in told]
    made_from = None if before is None else before.public_id
    return OutcomesReport(told, made_from) if told else None


def _rows(run: Run) -> list[tuple[Alarm, _Seen, dict[UUID, str]]]:
    newest = AlarmReview.objects.filter(alarm=OuterRef("pk")).order_by("-pk")
    alarms = (
        Alarm.objects.filter(run=run, severity__in=TOLD)
        .defer("evidence")
        .annotate(note=Subquery(newest.values("note")[:1]))
        .order_by("place")
    )
    through = Alarm.workers.through.objects.filter(
        alarm__run=run, alarm__severity__in=TOLD
    ).order_by("pk")
    named: dict[int, dict[UUID, str]] = {}
    for alarm, worker, name in through.values_list(
        "alarm_id", "worker__public_id", "worker__external_id"
    ):
        named.setdefault(alarm, {})[worker] = name
    return [
        (alarm, _Seen.of(alarm.kind, alarm.severity, workers, alarm.message), workers)
        for alarm in alarms
        for workers in [named.get(alarm.pk, {})]
    ]


def _names(workers: list[UUID]) -> dict[UUID, str]:
    rows = Worker.objects.filter(public_id__in=workers)
    return dict(rows.values_list("public_id", "external_id"))


def _told(
    here: list[tuple[Alarm, _Seen, dict[UUID, str]]],
    gone: Iterable[GoneAlarm],
    there: list[tuple[Alarm, _Seen, dict[UUID, str]]],
    summary: AqerSummary,
    names: dict[UUID, str],
) -> Iterator[Became]:
    left = list(there)

    def taken(seen: _Seen) -> dict[str, Any]:
        """Return where the run before has the alarm, and what people made of it there."""
        for row in left:
            if row[1].is_same(seen):
                left.remove(row)
                return _said(row[0])
        return {}

    for alarm, seen, workers in here:
        known = taken(seen)
        outcome = alarm.outcome or (known and {"code": "outcome.still", "values": {}})
        if outcome:
            yield _became(
                seen,
                workers,
                Message.of(outcome),
                is_settled=alarm.answered and alarm.state != Alarm.State.OPEN,
                place=alarm.place,
                **known,
            )
    for one in gone:
        ids = [UUID(worker) for worker in one.workers]
        seen = _Seen.of(one.kind, one.severity, ids, one.message)
        yield _became(
            seen,
            {worker: names[worker] for worker in ids if worker in names},
            Message.of(one.outcome),
            **taken(seen),
        )
    for alarm, seen, workers in left:
        outcome = _with_settings(seen, summary.alarm_checks or (), alarm.statistic)
        settled = outcome.code in ANSWERS or outcome.code == "outcome.settings"
        yield _became(seen, workers, outcome, is_settled=settled, **_said(alarm))


def _said(alarm: Alarm) -> dict[str, Any]:
    said = "" if alarm.state == Alarm.State.OPEN else Alarm.State(alarm.state).label
    note = getattr(alarm, "note", "") or ""
    return {"before": alarm.place, "said": said, "note": note}


def _with_settings(seen: _Seen, checks: Iterable[Looked], statistic: float | None) -> Message:
    """Return what became of an alarm of the run before that this one has no more."""
    name = {"clique": "copies"}.get(seen.kind, seen.kind)
    if seen.kind == "two_camps" and not seen.workers:
        name = "two_camps_of_questions"
    check = next((one for one in checks if one.check == name), None)
    if check is not None and seen.kind == TWO_WAYS and check.reason == BY_WORDS:
        return Message("outcome.by_words", {"workers": 0, "agreement": statistic})
    if check is not None and check.statistic is None:
        return Message("outcome.unchecked", {"workers": 0, "reason": check.reason})
    return Message("outcome.settings", {"workers": len(seen.workers)})


def _by_experts(one: Became, run: Run, before: Run) -> Became:
    """Return what experts who graded answers blindly say of the two ways to compare texts.

    Settled where they agree with the scores of this run, and better than with those before.
    """
    audit = audit_of(run)
    here = check_of(run, audit, judged_answers(run, audit))
    if not here.answers.n:
        return one
    there = check_of(before, audit, judged_answers(before, audit))
    mine, other = here.answers.value, there.answers.value
    is_settled = here.confirms and mine is not None and (other is None or mine > other)
    values = {
        **one.outcome.values,
        "count": here.answers.n,
        "correlation": mine,
        "before": other,
        "fewest": FEWEST_JUDGED,
    }
    code = BY_EXPERTS if is_settled else "outcome.by_words_unsure"
    return replace(one, outcome=Message(code, values), is_settled=is_settled)


def _became(
    seen: _Seen,
    workers: dict[UUID, str],
    outcome: Message,
    is_settled: bool = True,
    **more: Any,
) -> Became:
    first = tuple(Named(*one) for one in list(workers.items())[:NAMED])
    case = case_of(seen.kind, seen.severity, bool(seen.workers))
    return Became(case, seen.severity, first, len(workers), outcome, is_settled, **more)
