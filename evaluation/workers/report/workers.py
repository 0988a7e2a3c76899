"""List of all workers that a user may see, over all their question sets.

A worker is unique per owner, panel and external id. Numbers count only the question sets that the
user may see: a viewer of one set learns nothing of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import (
    Avg,
    Count,
    F,
    FloatField,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.functions import Coalesce

from annotations.models import Response, Submission, Worker, WorkerNote, is_operator
from annotations.models.access import AnyUser
from annotations.web.numbers import TableCounts, read_numbers
from annotations.web.paging import Page
from evaluation.core.stats.inference.clustered import compute_strata_mean
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.stats.inference.intervals import compute_t_interval
from evaluation.grading.alarms.report.marks import OF_PEOPLE
from evaluation.models import Alarm, AnswerScore, WorkerGrade
from evaluation.models.alarms import SETTLED
from evaluation.runs.reports.across import (
    RepresentingRuns,
    list_answered_versions,
    load_representing_runs,
)

COPIES = ("copies", "clique")
"""Kinds of alarm that say that people's answers are the same, or nearly so."""
REPEATED = 2
"""In so many sets must such an alarm name somebody who copies again and again."""

NO_EVIDENCE = SETTLED | Q(state=Alarm.State.REMEDIED)
"""Alarms that count against nobody over several sets: dismissed, or answered by a remedy."""

WHEN = Coalesce("submitted_at", "last_seen_at", "created_at")
"""When a worker answered in a version; when it was imported where nobody told the time."""


@dataclass(frozen=True)
class WorkerSummary:
    """A worker with counts and scores over several question sets.

    Attributes
    ----------
    name, panel : the id a panel gave, and the panel. n_sets : sets they answered in.
    n_answers : submitted answers with a text.
    latest : leave-one-out score in the set they answered last, of those with one; latest_set : it.
    mean : mean of the leave-one-out scores of n_scored sets, each counted once.
    n_alarms : alarms about single workers that name the worker and that no remedy settled.
    n_copies : sets with such an alarm about copying.
    n_excluded : sets whose run excluded the worker. n_notes : notes about the worker.
    last_seen : time of the last answer; time of its import if that is unknown.
    """

    worker: UUID
    name: str
    panel: str
    n_sets: int
    n_answers: int
    latest: Estimate
    latest_set: str
    mean: Estimate
    n_scored: int
    n_alarms: int
    n_copies: int
    n_excluded: int
    n_notes: int
    last_seen: datetime | None

    @property
    def copies_again(self) -> bool:
        """Whether alarms name the worker as copying in two or more question sets."""
        return self.n_copies >= REPEATED


@dataclass(frozen=True)
class Score:
    """A worker's mean leave-one-out score in a question set, standard error and answer count."""

    run: int
    value: float
    error: float | None
    n: int

    @property
    def estimate(self) -> Estimate:
        """Mean score with its 95% t interval over questions."""
        if self.error is None:
            return Estimate(self.value)
        interval = compute_t_interval([self.value], [self.error], [self.n])[0]
        return Estimate(self.value, interval.low, interval.high)


class Place(NamedTuple):
    """Participation of a worker in a version: last time, and number of answers with a text."""

    version: int
    number: int
    at: datetime
    n_answers: int
    set_id: UUID
    set_name: str


Places = Mapping[int, list[Place]]


class Named(NamedTuple):
    """Numbers of a worker's alarms, of runs with a copy alarm, and of notes."""

    n_alarms: int
    n_copies: int
    n_notes: int


@dataclass
class Workers:
    """Workers that a user may see, with methods that annotate or load one of their numbers each."""

    user: AnyUser
    counted: RepresentingRuns = field(init=False)

    def __post_init__(self) -> None:
        self.counted = load_representing_runs(self.user)

    @cached_property
    def versions(self) -> list[int]:
        """Keys of the question set versions whose answers the user may see."""
        return [key for key, *_ in self._versions]

    @property
    def sets(self) -> list[tuple[UUID, str]]:
        """Public ids and names of the question sets the user may see, by name."""
        return list(dict.fromkeys((public_id, name) for _, public_id, name in self._versions))

    @cached_property
    def _versions(self) -> list[tuple[int, UUID, str]]:
        """Return (version key, set id, set name) of the versions whose answers the user may see."""
        return list_answered_versions(self.user)

    def rows(self) -> QuerySet[Worker]:
        """Return the query of the workers that the user may see, without annotations."""
        return Worker.objects.visible_to(self.user)

    def panels(self) -> QuerySet[Worker, str]:
        """Return the non-empty panel names of the workers, sorted.

        The user's own workers are read from an index alone; workers of other owners are those who
        answered in a question set that the user may see.
        """
        named = Worker.objects.exclude(panel="").order_by().values_list("panel", flat=True)
        if is_operator(self.user):
            return named.distinct().order_by("panel")
        others = Submission.objects.filter(version__in=self.versions).exclude(
            version__question_set__owner=self.user.pk
        )
        return (
            named.filter(owner=self.user.pk)
            .union(named.filter(pk__in=others.values("worker")))
            .order_by("panel")
        )

    # What a list is filtered and sorted by: one value a worker, computed where it is asked for.

    def n_sets(self) -> Coalesce:
        """Database expression: number of question sets a worker answered in."""
        of_worker = Submission.objects.filter(worker=OuterRef("pk"), version__in=self.versions)
        return _build_number(of_worker, "worker", Count("version__question_set", distinct=True))

    def n_answers(self) -> Coalesce:
        """Database expression: number of answers a worker submitted."""
        return _build_number(
            self._select_answers().filter(submission__worker=OuterRef("pk")),
            "submission__worker",
            Count("pk"),
        )

    def mean(self) -> Subquery:
        """Database expression: mean of a worker's scores; null without any."""
        scores = self._select_scores().filter(worker=OuterRef("pk")).order_by().values("worker")
        return Subquery(
            scores.annotate(value=Avg("leave_one_out")).values("value"), output_field=FloatField()
        )

    def latest(self) -> Subquery:
        """Database expression: a worker's latest score; null without any."""
        answered = Submission.objects.filter(
            worker=OuterRef("worker"), version=OuterRef("run__version")
        )
        scores = self._select_scores().filter(worker=OuterRef("pk"))
        scores = scores.annotate(when=Subquery(answered.annotate(at=WHEN).values("at")[:1]))
        return Subquery(
            scores.order_by("-when", "-run_id").values("leave_one_out")[:1],
            output_field=FloatField(),
        )

    def n_alarms(self) -> Coalesce:
        """Database expression: number of alarms about workers that name a worker."""
        return _build_number(self.named().filter(worker=OuterRef("pk")), "worker", Count("alarm"))

    def n_copies(self) -> Coalesce:
        """Database expression: number of question sets with a copy alarm about a worker."""
        named = self.named().filter(worker=OuterRef("pk"), alarm__kind__in=COPIES)
        return _build_number(named, "worker", Count("alarm__run", distinct=True))

    def n_notes(self) -> Coalesce:
        """Database expression: number of notes about a worker that the user may read."""
        notes = self.notes().filter(worker=OuterRef("pk"))
        return _build_number(notes, "worker", Count("pk"))

    def last_seen(self) -> Subquery:
        """Database expression: time of a worker's last answer."""
        of_worker = Submission.objects.filter(worker=OuterRef("pk"), version__in=self.versions)
        seen = of_worker.order_by().values("worker").annotate(at=Max(WHEN)).values("at")
        return Subquery(seen)

    def load_excluded(self) -> set[int]:
        """Return the primary keys of workers excluded from voting by an official run."""
        return set(self._load_exclusions())

    # The rows of a page.

    def fill_page(self, page: Page[Worker]) -> Page[WorkerSummary]:
        """Return a page of workers as summaries with all their numbers; four queries."""
        rows = self.build_summaries(page.rows)
        return Page(rows, page.after, page.next, page.count)

    def build_summaries(
        self,
        workers: Sequence[Worker],
        places: Places | None = None,
        scores: Mapping[int, list[Score]] | None = None,
        named: Mapping[int, Named] | None = None,
    ) -> list[WorkerSummary]:
        """Return workers as summaries with all their numbers, in the same order.

        `places`, `scores` and `named` are theirs, where they are known.
        """
        keys = [worker.pk for worker in workers]
        places = self.places(keys) if places is None else places
        scores = self.scores(keys) if scores is None else scores
        named = self._count_alarms_and_notes(keys) if named is None else named
        excluded = self._load_exclusions(keys)
        made = []
        for worker in workers:
            of_worker = places.get(worker.pk, [])
            when = {place.version: place.at for place in of_worker}
            # Whether there is a time is compared first, so that None is never compared with one.
            own = sorted(
                scores.get(worker.pk, []),
                key=lambda score, when=when: (  # type: ignore[misc]
                    when.get(self.counted.runs[score.run].version) is not None,
                    when.get(self.counted.runs[score.run].version),
                    score.run,
                ),
            )
            last = own[-1] if own else None
            numbers = named[worker.pk]
            made.append(
                WorkerSummary(
                    worker=worker.public_id,
                    name=worker.external_id,
                    panel=worker.panel,
                    n_sets=len({place.set_id for place in of_worker}),
                    n_answers=sum(place.n_answers for place in of_worker),
                    latest=last.estimate if last else Estimate(None),
                    latest_set=self.counted.runs[last.run].set_name if last else "",
                    mean=compute_mean(own),
                    n_scored=len(own),
                    n_alarms=numbers.n_alarms,
                    n_copies=numbers.n_copies,
                    n_excluded=len(excluded.get(worker.pk, ())),
                    n_notes=numbers.n_notes,
                    last_seen=max((place.at for place in of_worker), default=None),
                )
            )
        return made

    def _count_alarms_and_notes(self, workers: Sequence[int]) -> dict[int, Named]:
        """Return alarm and note counts by worker key; one query."""
        copies = Count("alarm__run", distinct=True, filter=Q(alarm__kind__in=COPIES))
        alarms = self.named().filter(worker__in=workers)
        notes = self.notes().filter(worker__in=workers)
        numbers = read_numbers(
            {
                "alarms": TableCounts(alarms, (Count("alarm"), copies), ("worker",)),
                "notes": TableCounts(notes, (Count("pk"),), ("worker",)),
            }
        )
        of_alarms = {worker: (n, n_copies) for worker, n, n_copies in numbers["alarms"]}
        of_notes = {worker: n for worker, n in numbers["notes"] if n}
        return {
            worker: Named(*of_alarms.get(worker, (0, 0)), n_notes=of_notes.get(worker, 0))
            for worker in workers
        }

    def scores(self, workers: Sequence[int], comparable: bool = True) -> dict[int, list[Score]]:
        """Return each worker's scores; `comparable` selects those on the common scale.

        One query.
        """
        runs = self.counted.comparable if comparable else list(self.counted.runs)
        grades = (
            WorkerGrade.objects.filter(
                run__in=runs, worker__in=workers, leave_one_out__isnull=False
            )
            .order_by()
            .values_list(
                *("worker_id", "run_id", Value(0)), "leave_one_out", Value(0.0, FloatField())
            )
        )
        versions = {self.counted.runs[run].version for run in runs}
        spread = (
            # All runs of these answers, and not those of the scores wanted: named in the query
            # these would lead SQLite through all their answers instead of through the workers'.
            AnswerScore.objects.filter(
                response__submission__worker__in=workers,
                response__submission__version__in=versions,
                score_leave_one_out__isnull=False,
            )
            .order_by()
            .values_list("response__submission__worker", "run_id")
            .annotate(
                n=Count("pk"),
                total=Sum("score_leave_one_out"),
                squares=Sum(F("score_leave_one_out") * F("score_leave_one_out")),
            )
        )
        known, values = {}, {}
        for worker, run, n, total, squares in grades.union(spread, all=True):
            if n:
                known[worker, run] = n, total, squares
            else:  # a grade: a spread is of one answer at least
                values[worker, run] = total
        scores_by_set: dict[int, list[Score]] = {}
        for (worker, run), value in sorted(values.items()):
            n, total, squares = known.get((worker, run), (0, 0.0, 0.0))
            error = compute_standard_error(n, total, squares)
            scores_by_set.setdefault(worker, []).append(Score(run, value, error, n))
        return scores_by_set

    def places(self, workers: Sequence[int]) -> Places:
        """Return the versions each worker answered in, by worker and time."""
        answered = Q(
            responses__state=Response.State.SUBMITTED, responses__status=Response.Status.TEXT
        )
        rows = (
            Submission.objects.filter(worker__in=workers, version__in=self.versions)
            .annotate(at=WHEN, n=Count("responses", filter=answered))
            .order_by("at", "pk")
            .values_list(
                *("worker_id", "version_id", "version__number", "at", "n"),
                *("version__question_set__public_id", "version__question_set__name"),
            )
        )
        places_by_set: dict[int, list[Place]] = {}
        for worker, *place in rows:
            places_by_set.setdefault(worker, []).append(Place(*place))
        return places_by_set

    def _select_answers(self) -> QuerySet[Response]:
        """Return the submitted answers with a text to versions that the user may read."""
        return Response.objects.filter(
            submission__version__in=self.versions,
            state=Response.State.SUBMITTED,
            status=Response.Status.TEXT,
        )

    def _select_scores(self) -> QuerySet[WorkerGrade]:
        """Return the grade rows whose scores are on the common scale."""
        return WorkerGrade.objects.filter(
            run__in=self.counted.comparable, leave_one_out__isnull=False
        )

    def notes(self) -> QuerySet[WorkerNote]:
        """Return the query of the notes on workers that the user may read."""
        return WorkerNote.objects.visible_to(self.user)

    def named(self) -> QuerySet[Any, Any]:
        """Return (worker, alarm) rows of unresolved alarms about workers in official runs.

        Alarms that a remedy settled are left out, so that later runs do not count them again.
        """
        settled = Alarm.objects.filter(NO_EVIDENCE, run__in=list(self.counted.runs))
        return self.select_ever_named().exclude(alarm__in=settled.values("pk"))

    def select_ever_named(self) -> QuerySet[Any, Any]:
        """Return (worker, alarm) rows like `named`, with resolved alarms, for the history."""
        return Alarm.workers.through.objects.filter(
            alarm__run__in=list(self.counted.runs),
            alarm__severity=Alarm.Severity.ALARM,
            alarm__kind__in=sorted(OF_PEOPLE),
        ).exclude(alarm__state=Alarm.State.DISMISSED)

    def _load_exclusions(self, workers: Sequence[int] | None = None) -> dict[int, set[int]]:
        """Return, by worker key, the runs that excluded the worker's vote; at most one query."""
        runs = {run.version: run for run in self.counted.runs.values() if run.excluded}
        if not runs:
            return {}
        rows = Submission.objects.filter(version__in=list(runs))
        rows = rows if workers is None else rows.filter(worker__in=workers)
        excluded: dict[int, set[int]] = {}
        ids = {version: set(run.excluded) for version, run in runs.items()}
        columns = ("version_id", "worker_id", "worker__external_id", "worker__public_id")
        for version, worker, name, public_id in rows.values_list(*columns).iterator():
            if name in ids[version] or str(public_id) in ids[version]:
                excluded.setdefault(worker, set()).add(runs[version].key)
        return excluded


def compute_standard_error(n: int, total: float, squares: float) -> float | None:
    """Return the standard error of a mean from count, sum and sum of squares; None if n < 2."""
    if n < 2:
        return None
    # The sums come from the database; their difference may come out just below 0.
    variance = max(0.0, (squares - total * total / n) / (n - 1))
    return float((variance / n) ** 0.5)


def compute_mean(scores: Sequence[Score]) -> Estimate:
    """Return the unweighted mean of a worker's scores in several sets, with its interval."""
    nan = float("nan")
    estimate = compute_strata_mean(
        [score.value for score in scores],
        [nan if score.error is None else score.error for score in scores],
        [score.n for score in scores],
    )
    return Estimate(estimate.value, estimate.low, estimate.high)


def _build_number(rows: QuerySet[Any, Any], path: str, value: Any) -> Coalesce:
    """Return the database expression for one number of a worker, 0 without rows."""
    counted = rows.order_by().values(path).annotate(value=value).values("value")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
