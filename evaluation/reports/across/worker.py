"""A worker over all sets that the one who looks may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import (
    BooleanField,
    Count,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)

from annotations.models import Response, Submission, Worker
from annotations.models.access import Anybody
from evaluation.methods.inference.trend import Trend, trend
from evaluation.models import Alarm, WorkerGrade
from evaluation.reports.across.counting import CountedRun
from evaluation.reports.across.noting import NoteEntry, notes_about
from evaluation.reports.across.workers import (
    COPIES,
    NO_EVIDENCE,
    REPEATED,
    WHEN,
    WorkerAcross,
    Workers,
)
from evaluation.reports.values import Estimate
from evaluation.words.across import trend_messages
from evaluation.words.alarms import brief, case_of
from evaluation.words.message import Message


@dataclass(frozen=True)
class NamedBy:
    """An alarm that names a worker; `place` is its number within the run, from 0.

    An `answered` one was settled by a remedy: it is history, and counts as evidence nowhere.
    """

    run: UUID
    place: int
    case: str
    severity: str
    answered: bool

    @property
    def words(self) -> str:
        """What it says of the worker, in a few words."""
        return brief(self.case)


@dataclass(frozen=True)
class SetEntry:
    """What a worker did in one version of a set.

    Attributes
    ----------
    when : when they last answered there. n_answers : submitted answers with a text.
    run : the run that counts for the set, None where none graded this version.
    score : leave-one-out score, on_scale : whether other sets' scores can be compared with it.
    percentile : 0 to 100, share of the other supported workers who score lower, ties half;
        n_others : how many these are. None and 0 where the worker has no support.
    supported : whether there are enough answers for a rank. excluded : whether their vote was
        left out.
    """

    set_id: UUID
    set_name: str
    version: int
    when: datetime
    n_answers: int
    run: UUID | None
    embedder: str
    score: Estimate
    on_scale: bool
    percentile: float | None
    n_others: int
    supported: bool
    excluded: bool
    alarms: tuple[NamedBy, ...]


@dataclass(frozen=True)
class Companion:
    """Somebody who is named with a worker by alarms about copies, in `sets`."""

    worker: UUID
    name: str
    sets: tuple[str, ...]

    @property
    def again(self) -> bool:
        """Whether it happened in two sets or more."""
        return len(self.sets) >= REPEATED


@dataclass(frozen=True)
class WorkerHistory:
    """A worker over the sets that somebody sees, oldest first.

    Attributes
    ----------
    scores, standing : trends of the comparable scores, and of the percentiles.
    told : what these trends say, as messages. companions : with whom they are named as copying,
        most sets first. n_other_scale : runs whose scores are on another scale.
    """

    worker: WorkerAcross
    sets: tuple[SetEntry, ...]
    scores: Trend
    standing: Trend
    told: tuple[Message, ...]
    companions: tuple[Companion, ...]
    notes: tuple[NoteEntry, ...]
    n_other_scale: int


def worker_history(user: Anybody, worker: Worker) -> WorkerHistory:
    """Return the history of a worker whom the user may see; a constant number of queries."""
    workers = Workers(user)
    sets = _sets(workers, worker)
    graded = [entry for entry in sets if entry.on_scale and entry.score.value is not None]
    scores = trend([entry.score.value or 0.0 for entry in graded])
    standing = trend([entry.percentile for entry in sets if entry.percentile is not None])
    return WorkerHistory(
        worker=workers.described([worker])[0],
        sets=tuple(sets),
        scores=scores,
        standing=standing,
        told=trend_messages(scores, standing),
        companions=tuple(_companions(workers, worker)),
        notes=tuple(notes_about(worker, workers.user)),
        n_other_scale=sum(entry.score.value is not None and not entry.on_scale for entry in sets),
    )


def _sets(workers: Workers, worker: Worker) -> list[SetEntry]:
    submissions = (
        Submission.objects.filter(worker=worker, version__in=workers.versions)
        .annotate(
            at=WHEN,
            n=Count(
                "responses",
                filter=Q(
                    responses__state=Response.State.SUBMITTED,
                    responses__status=Response.Status.TEXT,
                ),
            ),
        )
        .order_by("at", "pk")
        .values(
            *("version_id", "version__number", "version__question_set__public_id"),
            *("version__question_set__name", "at", "n"),
        )
    )
    runs = {run.version: run for run in workers.counted.runs.values()}
    scores = {score.run: score for score in workers.scores([worker.pk], False).get(worker.pk, [])}
    crowd = {row["run_id"]: row for row in _standing(worker, list(workers.counted.runs))}
    named = _named(workers, worker)
    entries = []
    for row in submissions:
        run: CountedRun | None = runs.get(row["version_id"])
        grade: dict[str, Any] = crowd.get(run.key, {}) if run else {}
        score = scores.get(run.key) if run else None
        n_others = (grade.get("n_crowd") or 1) - 1 if grade.get("support") else 0
        entries.append(
            SetEntry(
                set_id=row["version__question_set__public_id"],
                set_name=row["version__question_set__name"],
                version=row["version__number"],
                when=row["at"],
                n_answers=row["n"],
                run=run.public_id if run else None,
                embedder=run.embedder if run else "",
                score=score.estimate if score else Estimate(None),
                on_scale=bool(run and run.scale == workers.counted.scale),
                percentile=_percentile(grade) if n_others and score else None,
                n_others=n_others,
                supported=bool(grade.get("support")),
                excluded=bool(
                    run and {worker.external_id, str(worker.public_id)} & set(run.excluded)
                ),
                alarms=tuple(named.get(run.key, ())) if run else (),
            )
        )
    return entries


def _standing(worker: Worker, runs: Sequence[int]) -> QuerySet[WorkerGrade, Any]:
    """Return by run whether the worker has support, and how many supported ones score how."""
    crowd = WorkerGrade.objects.filter(
        run=OuterRef("run"), support=True, leave_one_out__isnull=False
    ).order_by()

    def count(rows: QuerySet[WorkerGrade]) -> Subquery:
        return Subquery(rows.values("run").annotate(n=Count("pk")).values("n"))

    own = OuterRef("leave_one_out")
    return WorkerGrade.objects.filter(run__in=runs, worker=worker).values(
        "run_id",
        "support",
        n_crowd=count(crowd),
        n_lower=count(crowd.filter(leave_one_out__lt=own)),
        n_equal=count(crowd.filter(leave_one_out=own)),
    )


def _percentile(grade: dict[str, Any]) -> float:
    """Return the share of the others who score lower, those with the same score by half."""
    others = grade["n_crowd"] - 1
    lower = (grade["n_lower"] or 0) + ((grade["n_equal"] or 1) - 1) / 2
    return float(100 * lower / others)


def _named(workers: Workers, worker: Worker) -> dict[int, list[NamedBy]]:
    alarms = Alarm.objects.filter(pk__in=workers.ever_named().filter(worker=worker).values("alarm"))
    settled = ExpressionWrapper(NO_EVIDENCE, output_field=BooleanField())
    rows = alarms.annotate(settled=settled).order_by("run_id", "place")
    columns = ("run_id", "run__public_id", "place", "kind", "severity", "settled")
    found: dict[int, list[NamedBy]] = {}
    for key, run, place, kind, severity, answered in rows.values_list(*columns):
        case = case_of(kind, severity, has_workers=True)
        found.setdefault(key, []).append(NamedBy(run, place, case, severity, bool(answered)))
    return found


def _companions(workers: Workers, worker: Worker) -> list[Companion]:
    own = workers.named().filter(worker=worker, alarm__kind__in=COPIES).values("alarm")
    together = Alarm.workers.through.objects.filter(alarm__in=own).exclude(worker=worker)
    rows = together.order_by("alarm__run_id", "pk").values_list(
        "worker__public_id", "worker__external_id", "alarm__run_id"
    )
    sets: dict[tuple[UUID, str], dict[int, str]] = {}
    for public_id, name, run in rows:
        counted = workers.counted.runs[run]
        sets.setdefault((public_id, name), {})[run] = counted.set_name
    made = [Companion(*who, tuple(names.values())) for who, names in sets.items()]
    return sorted(made, key=lambda one: (-len(one.sets), one.name))
