"""History of one worker over all question sets, and filters of the worker list.

Filters and sort orders of the worker list, for its page and the API.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django import forms
from django.db.models import BooleanField, Count, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery

from annotations.models import QuestionSet, Submission, Worker
from annotations.models.access import AnyUser
from annotations.web.filtering import Column, FlagFilter, ListFilter, Order
from annotations.web.paging import Keyset
from evaluation.core.messages.message import Message
from evaluation.core.messages.run_sentences import build_trend_messages
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.stats.inference.significance import Trend, estimate_trend
from evaluation.grading.alarms.messages import choose_alarm_case, get_short_statement
from evaluation.models import Alarm, WorkerGrade
from evaluation.runs.reports.across import NoteEntry, RepresentingRun, list_notes
from evaluation.workers.report.workers import (
    COPIES,
    NO_EVIDENCE,
    REPEATED,
    Participation,
    SetScore,
    VisibleWorkers,
    WorkerCounts,
    WorkerSummary,
)


@dataclass(frozen=True)
class NamingAlarm:
    """An alarm that names a worker; `place` is the alarm's index within the run, from 0.

    An `answered` one was settled by a remedy: it is history, and counts as evidence nowhere.
    """

    run: UUID
    place: int
    case: str
    severity: str
    answered: bool

    @property
    def words(self) -> str:
        """Short text of the alarm about the worker."""
        return get_short_statement(self.case)


@dataclass(frozen=True)
class SetParticipation:
    """A worker's participation in one version of a question set.

    Attributes
    ----------
    when : time of the worker's last answer. n_answers : submitted answers with a text.
    run : the official run of the set; None if none graded this version.
    score : leave-one-out score. on_scale : whether other sets' scores are comparable with it.
    percentile : 0 to 100, share of the `n_others` other ranked workers with lower scores, ties
        counted half; None and 0 without a rank.
    supported : whether there are enough answers for a rank. excluded : whether the run excluded the
        worker's vote.
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
    alarms: tuple[NamingAlarm, ...]


@dataclass(frozen=True)
class Companion:
    """Another worker that copy alarms name together with this one; `sets` are the question sets."""

    worker: UUID
    name: str
    sets: tuple[str, ...]

    @property
    def again(self) -> bool:
        """Whether copy alarms name both workers in two or more question sets."""
        return len(self.sets) >= REPEATED


@dataclass(frozen=True)
class WorkerHistory:
    """A worker's history over the question sets the user may see, oldest first.

    Attributes
    ----------
    scores, standing : trends of the comparable scores, and of the percentiles.
    told : messages on these trends. companions : workers named by the same copy alarms, most sets
        first. n_other_scale : number of runs whose scores are not comparable.
    """

    renamed_keys: ClassVar = {"told": "trend_messages"}

    worker: WorkerSummary
    sets: tuple[SetParticipation, ...]
    scores: Trend
    standing: Trend
    told: tuple[Message, ...]
    companions: tuple[Companion, ...]
    notes: tuple[NoteEntry, ...]
    n_other_scale: int


def build_worker_history(user: AnyUser, worker: Worker) -> WorkerHistory:
    """Return the history of a worker over the question sets that the user may see."""
    workers = VisibleWorkers(user)
    places = workers.load_participations([worker.pk])
    every = workers.load_scores([worker.pk], comparable=False).get(worker.pk, [])
    alarms = _load_worker_alarms(workers, worker)
    sets = _build_set_participations(
        workers, worker, places.get(worker.pk, []), every, alarms.named
    )
    comparable = [score for score in every if score.run in workers.counted.comparable]
    graded = [entry for entry in sets if entry.on_scale and entry.score.value is not None]
    scores = estimate_trend([entry.score.value or 0.0 for entry in graded])
    standing = estimate_trend([entry.percentile for entry in sets if entry.percentile is not None])
    notes = list_notes(worker, workers.user)
    numbers = {worker.pk: WorkerCounts(alarms.n, alarms.n_copies, len(notes))}
    return WorkerHistory(
        worker=workers.build_summaries([worker], places, {worker.pk: comparable}, numbers)[0],
        sets=tuple(sets),
        scores=scores,
        standing=standing,
        told=build_trend_messages(scores, standing),
        companions=alarms.companions,
        notes=tuple(notes),
        n_other_scale=sum(entry.score.value is not None and not entry.on_scale for entry in sets),
    )


def _build_set_participations(
    workers: VisibleWorkers,
    worker: Worker,
    places: Sequence[Participation],
    scores: Sequence[SetScore],
    named: dict[int, list[NamingAlarm]],
) -> list[SetParticipation]:
    """Return the worker's participation in each version, oldest first."""
    runs = {run.version: run for run in workers.counted.runs.values()}
    of_run = {score.run: score for score in scores}
    crowd = {row["run_id"]: row for row in _select_grade_rows(worker, list(workers.counted.runs))}
    entries = []
    for place in places:
        run: RepresentingRun | None = runs.get(place.version)
        grade: dict[str, Any] = crowd.get(run.key, {}) if run else {}
        score = of_run.get(run.key) if run else None
        n_others = (grade.get("n_crowd") or 1) - 1 if grade.get("support") else 0
        entries.append(
            SetParticipation(
                set_id=place.set_id,
                set_name=place.set_name,
                version=place.number,
                when=place.at,
                n_answers=place.n_answers,
                run=run.public_id if run else None,
                embedder=run.embedder if run else "",
                score=score.estimate if score else Estimate(None),
                on_scale=bool(run and run.scale == workers.counted.scale),
                percentile=_compute_percentile(grade) if n_others and score else None,
                n_others=n_others,
                supported=bool(grade.get("support")),
                excluded=bool(
                    run and {worker.external_id, str(worker.public_id)} & set(run.excluded)
                ),
                alarms=tuple(named.get(run.key, ())) if run else (),
            )
        )
    return entries


def _select_grade_rows(worker: Worker, runs: Sequence[int]) -> QuerySet[WorkerGrade, Any]:
    """Return the query of the worker's grade rows in runs, with the counts for percentiles."""
    crowd = WorkerGrade.objects.filter(
        run=OuterRef("run"), support=True, leave_one_out__isnull=False
    ).order_by()

    def build_count_subquery(rows: QuerySet[WorkerGrade]) -> Subquery:
        """Return the subquery that counts these rows by run."""
        return Subquery(rows.values("run").annotate(n=Count("pk")).values("n"))

    own = OuterRef("leave_one_out")
    return WorkerGrade.objects.filter(run__in=runs, worker=worker).values(
        "run_id",
        "support",
        n_crowd=build_count_subquery(crowd),
        n_lower=build_count_subquery(crowd.filter(leave_one_out__lt=own)),
        n_equal=build_count_subquery(crowd.filter(leave_one_out=own)),
    )


def _compute_percentile(grade: dict[str, Any]) -> float:
    """Return the percentage of other ranked workers with lower scores, ties counted half."""
    others = grade["n_crowd"] - 1
    # A subquery without rows is null; the worker is one of the equal ones.
    lower = (grade["n_lower"] or 0) + ((grade["n_equal"] or 1) - 1) / 2
    return float(100 * lower / others)


@dataclass(frozen=True)
class _WorkerAlarms:
    """Alarms that name a worker, by run, and the workers named as copying with this one.

    `n` of the alarms are evidence; copy alarms name the worker in `n_copies` runs.
    """

    named: dict[int, list[NamingAlarm]]
    companions: tuple[Companion, ...]
    n: int
    n_copies: int


def _load_worker_alarms(workers: VisibleWorkers, worker: Worker) -> _WorkerAlarms:
    """Return the alarms that name a worker, and the workers named with this one; one query."""
    own = workers.select_alarm_rows().filter(worker=worker).values("alarm")
    # Of alarms about copying the rows of all members, who are the companions; of any other alarm
    # only the worker's own row.
    alarms = Alarm.objects.filter(Q(workers=worker) | Q(kind__in=COPIES), pk__in=own)
    settled = ExpressionWrapper(NO_EVIDENCE, output_field=BooleanField())
    rows = alarms.annotate(settled=settled).order_by("run_id", "place", "workers__pk")
    columns = ("run_id", "run__public_id", "place", "kind", "severity", "settled")
    named: dict[int, list[NamingAlarm]] = {}
    sets: dict[tuple[UUID, str], dict[int, str]] = {}
    n, copied = 0, set()
    for key, run, place, kind, severity, answered, person, name in rows.values_list(
        *columns, "workers__public_id", "workers__external_id"
    ):
        if person == worker.public_id:
            case = choose_alarm_case(kind, severity, has_workers=True)
            named.setdefault(key, []).append(
                NamingAlarm(run, place, case, severity, bool(answered))
            )
        if answered:
            continue
        if person != worker.public_id:
            sets.setdefault((person, name), {})[key] = workers.counted.runs[key].set_name
            continue
        n += 1
        if kind in COPIES:
            copied.add(key)
    made = [Companion(*person, tuple(names.values())) for person, names in sets.items()]
    made.sort(key=lambda one: (-len(one.sets), one.name))
    return _WorkerAlarms(named, tuple(made), n, len(copied))


# Panels and sets that a form offers to choose from.
OFFERED = 200


def _build_sort_order(
    name: str, *fields: str, label: str, value: str = "", texts: tuple[str, ...] = ()
) -> Order:
    """Return a sort order of the worker list; `value` names the number that must be annotated."""
    keyset = Keyset(f"workers-{name}", (*fields, "public_id"), empty_last=bool(value), texts=texts)
    return Order(keyset, label)


class WorkerFilter(ListFilter):
    """Filter of workers by name, panel, question set, alarms and scores."""

    q = django_filters.CharFilter(
        field_name="external_id", lookup_expr="icontains", label="Part of the id", max_length=255
    )
    panel = django_filters.CharFilter(label="Panel", max_length=100)
    question_set = django_filters.UUIDFilter(method="filter_by_set", label="Question set")
    alarms = django_filters.ChoiceFilter(
        method="filter_by_alarms",
        label="Alarms",
        choices=[
            ("any", "Named by an alarm"),
            ("none", "Not named"),
            ("repeated", "Copies in two sets or more"),
        ],
        empty_label="Any",
    )
    excluded = FlagFilter(method="filter_by_exclusion", label="Vote left out of a run")
    notes = FlagFilter(method="filter_by_notes", label="Has notes")
    sets = django_filters.NumberFilter(
        method="filter_by_n_sets", label="At least so many sets", min_value=1, max_value=100_000
    )
    score_from = django_filters.NumberFilter(
        method="filter_by_score", label="Mean score from", min_value=-1000, max_value=1000
    )
    score_to = django_filters.NumberFilter(
        method="filter_by_score", label="Mean score to", min_value=-1000, max_value=1000
    )

    ORDERS: ClassVar[dict[str, Order]] = {
        "-new": Order(Keyset("workers-new", ("-public_id",)), "Newest first"),
        "-seen": _build_sort_order(
            "-seen", "-value", label="Last seen first", value="x", texts=("value",)
        ),
        "seen": _build_sort_order(
            "seen", "value", label="Not seen for longest", value="x", texts=("value",)
        ),
        "name": _build_sort_order(
            "name", "external_id", label="Name, A to Z", texts=("external_id",)
        ),
        "-name": _build_sort_order(
            "-name", "-external_id", label="Name, Z to A", texts=("external_id",)
        ),
        "-latest": _build_sort_order(
            "-latest", "-value", label="Latest score, best first", value="x"
        ),
        "latest": _build_sort_order(
            "latest", "value", label="Latest score, worst first", value="x"
        ),
        "-mean": _build_sort_order("-mean", "-value", label="Mean score, best first", value="x"),
        "mean": _build_sort_order("mean", "value", label="Mean score, worst first", value="x"),
        "-alarms": _build_sort_order("-alarms", "-value", label="Most alarms first", value="x"),
        "-sets": _build_sort_order("-sets", "-value", label="Most sets first", value="x"),
        "sets": _build_sort_order("sets", "value", label="Fewest sets first", value="x"),
        "-answers": _build_sort_order("-answers", "-value", label="Most answers first", value="x"),
        "answers": _build_sort_order("answers", "value", label="Fewest answers first", value="x"),
        "-notes": _build_sort_order("-notes", "-value", label="Most notes first", value="x"),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Worker", "name", "-name"),
        Column("Sets", "sets", "-sets", number=True),
        Column("Answers", "answers", "-answers", number=True, more=True),
        Column("Latest score", "latest", "-latest", number=True),
        Column("Mean score", "mean", "-mean", number=True),
        Column("Alarms", "", "-alarms"),
        Column("Notes", "", "-notes", number=True, more=True),
        Column("Last seen", "seen", "-seen", more=True),
    )

    VALUES: ClassVar[dict[str, str]] = {
        "seen": "build_last_answer_time",
        "latest": "build_latest_score",
        "mean": "build_mean_score",
        "alarms": "build_alarm_count",
        "sets": "build_set_count",
        "answers": "build_answer_count",
        "notes": "build_note_count",
    }

    class Meta(ListFilter.Meta):
        """Filter settings: rows are workers; no filters besides those declared above."""

        model = Worker
        fields: ClassVar[list[str]] = []

    def __init__(self, data: Any = None, *, workers: VisibleWorkers, **kwargs: Any) -> None:
        self.workers = workers
        super().__init__(data, workers.select_visible_workers(), **kwargs)

    def set_form_choices(self) -> None:
        """Set the choices of the form fields for panels and question sets; one query."""
        names = self.workers.select_panels()[:OFFERED]
        ids = self.workers.sets[:OFFERED]
        fields = self.form.fields
        fields["panel"].widget = forms.Select(choices=[("", "Any"), *((n, n) for n in names)])
        fields["question_set"].widget = forms.Select(choices=[("", "Any"), *ids])

    def apply_order(self, rows: QuerySet[Worker]) -> tuple[QuerySet[Worker], Keyset]:
        """Return the rows, annotated with their sort value, and the sort order."""
        rows, keyset = super().apply_order(rows)
        value = self.VALUES.get(self.sort.removeprefix("-"))
        return (rows.annotate(value=getattr(self.workers, value)()) if value else rows), keyset

    def filter_by_set(self, rows: QuerySet[Worker], name: str, value: UUID) -> QuerySet[Worker]:
        """Return the workers who answered in a question set that the user may read."""
        sets = QuestionSet.objects.visible_to(self.workers.user).filter(public_id=value)
        answered = Submission.objects.filter(
            version__in=self.workers.versions, version__question_set__in=sets.values("pk")
        )
        return rows.filter(pk__in=answered.values("worker"))

    def filter_by_alarms(self, rows: QuerySet[Worker], name: str, value: str) -> QuerySet[Worker]:
        """Return the workers with alarms, without, or with copy alarms in two or more sets."""
        if value == "repeated":
            return rows.alias(copies=self.workers.build_copy_alarm_count()).filter(
                copies__gte=REPEATED
            )
        named = self.workers.select_open_alarm_rows().values("worker")
        return rows.exclude(pk__in=named) if value == "none" else rows.filter(pk__in=named)

    def filter_by_exclusion(
        self, rows: QuerySet[Worker], name: str, value: bool
    ) -> QuerySet[Worker]:
        """Return the workers excluded from voting by a run, or all others."""
        left_out = Q(pk__in=self.workers.load_excluded())
        return rows.filter(left_out if value else ~left_out)

    def filter_by_notes(self, rows: QuerySet[Worker], name: str, value: bool) -> QuerySet[Worker]:
        """Return the workers with notes, or those without."""
        noted = Q(pk__in=self.workers.select_notes().values("worker"))
        return rows.filter(noted if value else ~noted)

    def filter_by_n_sets(self, rows: QuerySet[Worker], name: str, value: int) -> QuerySet[Worker]:
        """Return the workers who answered in at least this many question sets."""
        return rows.alias(in_sets=self.workers.build_set_count()).filter(in_sets__gte=value)

    def filter_by_score(self, rows: QuerySet[Worker], name: str, value: float) -> QuerySet[Worker]:
        """Return the workers whose mean score is at least, or at most, this number."""
        lookup = "gte" if name == "score_from" else "lte"
        # A name for each filter: both may be set at once.
        mean = {f"{name}_mean": self.workers.build_mean_score()}
        return rows.alias(**mean).filter(**{f"{name}_mean__{lookup}": float(value)})
