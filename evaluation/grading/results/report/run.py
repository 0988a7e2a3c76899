"""Reports of a run, and of the official run of a question set.

Report of a run: method, counts, convergence and warnings. The official run of a question set: which
it is, who chose it, and if answers changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from annotations.models import GRADED, QuestionSet, QuestionSetVersion, Response
from annotations.web.numbers import Numbers, TableCounts, load_table_counts
from evaluation.consensus.methods.estimator import FEWEST_WORKERS
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.grading.results.report.changes import (
    DataChange,
    build_change_parts,
    build_data_change,
    read_data_change,
)
from evaluation.grading.summary import HasSummary, read_summary
from evaluation.models import Run, RunOfRecord, WorkerGrade
from evaluation.models.runs import GRADING
from evaluation.runs.reports.about import RunAbout, build_run_about, build_run_title


@dataclass(frozen=True)
class Ceiling(RecordWithReason):
    """Human ceiling: the mean leave-one-out score of the best quarter of ranked workers.

    Attributes
    ----------
    n_workers, n_questions : numbers from which the ceiling is computed.
    reason : code of why `score.value` is None; else None.
    """

    score: Estimate
    n_workers: int
    n_questions: int
    reason: str | None

    @classmethod
    def from_run(cls, run: HasSummary) -> Self:
        """Return the human ceiling of a run, with a reason if it is undefined."""
        ceiling = read_summary(run).ceiling
        estimate = Estimate(ceiling.score, ceiling.low, ceiling.high)
        return cls(estimate, ceiling.n_workers, ceiling.n_questions, ceiling.reason)


@dataclass(frozen=True)
class UndefinedCells(RecordWithReason):
    """Number of empty cells in one column of a result table, with the reason code."""

    table: str
    column: str
    reason: str
    count: int


@dataclass(frozen=True)
class RunReport:
    """A finished run in numbers: counts, convergence, ceiling, warnings and settings.

    Attributes
    ----------
    counts : answers, empty_answers, workers, questions, models, model_answers; without excluded
        workers and their answers.
    n_workers, n_supported, n_graded : numbers of workers without the excluded ones, of those with
        enough answers to be ranked, and of those with a grade. n_excluded : excluded workers.
    trace : root mean square change of the weights at each iteration.
    embedding : embedding model and settings. versions : of Crowdgrade, Python and libraries.
    changed : how the stored answers changed since the run.
    """

    about: RunAbout
    counts: dict[str, int]
    n_workers: int
    n_supported: int
    n_graded: int
    n_excluded: int
    iterations: int
    converged: bool | None
    trace: list[float]
    warnings: list[Message]
    undefined: list[UndefinedCells]
    ceiling: Ceiling
    embedding: dict[str, Any]
    versions: dict[str, str]
    changed: DataChange

    @property
    def too_few_workers(self) -> bool:
        """Whether fewer than 3 workers answered, so that there are no grades."""
        return self.counts.get("workers", 0) < FEWEST_WORKERS

    @property
    def n_excluded_answers(self) -> int:
        """Number of answers by excluded workers, which were scored but had no vote."""
        return self.changed.n_answers_then - self.counts.get("answers", 0)


def build_report_parts(run: Run) -> dict[str, TableCounts]:
    """Return the count queries, by name, whose results `build_run_report` takes.

    Of the workers: all, those with enough answers, those with a grade, those with an answer, those
    with a rank.
    """
    numbers = (
        Count("pk"),
        Count("pk", filter=Q(support=True)),
        Count("grade"),
        Count("pk", filter=Q(n_answers__gt=0)),
        Count("rank"),
    )
    return {
        "workers": TableCounts(WorkerGrade.select_crowd(run), numbers),
        **build_change_parts(run),
    }


def build_run_report(run: Run, numbers: Mapping[str, list[Numbers]] | None = None) -> RunReport:
    """Return the report on a finished run; `numbers` are its counts if they were read.

    `numbers` are the counts of `build_report_parts`, where they were read.
    """
    numbers = numbers or load_table_counts(build_report_parts(run))
    ((n_workers, n_supported, n_graded, *_),) = numbers["workers"]
    summary = read_summary(run)
    return RunReport(
        about=build_run_about(run),
        counts=count_crowd(run),
        n_workers=n_workers,
        n_supported=n_supported,
        n_graded=n_graded,
        n_excluded=WorkerGrade.select_excluded(run).count(),
        iterations=summary.iterations,
        converged=summary.converged,
        trace=list(summary.trace),
        warnings=[Message.from_stored(stored) for stored in run.warnings],
        undefined=[
            UndefinedCells(
                table=entry["file"].removesuffix(".csv"),
                column=entry["column"],
                reason=entry["reason"],
                count=entry["count"],
            )
            for entry in run.reasons
        ],
        ceiling=Ceiling.from_run(run),
        embedding=asdict(summary.embedding),
        versions=dict(summary.versions),
        changed=build_data_change(run, numbers),
    )


def count_crowd(run: Run) -> dict[str, int]:
    """Return the numbers of answers, workers and questions of a run, without excluded workers."""
    counts = dict(read_summary(run).get_shown_counts())
    excluded = WorkerGrade.select_excluded(run)
    excluded_counts = excluded.aggregate(
        workers=Count("pk", filter=Q(n_answers__gt=0)), answers=Sum("n_answers")
    )
    if excluded_counts["workers"]:
        counts["workers"] -= excluded_counts["workers"]
        counts["answers"] -= excluded_counts["answers"]
        empty = Response.objects.filter(
            submission__version=run.version_id,
            submission__worker__in=excluded.values("worker"),
            question__role__in=GRADED,
            state=Response.State.SUBMITTED,
            status=Response.Status.EMPTY,
        )
        if not run.parameters.get("include_rejected"):
            empty = empty.filter(rejected=False)
        # Counted now, while the run counted then: an answer may have been added since.
        counts["empty_answers"] = max(0, counts["empty_answers"] - empty.count())
    return counts


@dataclass(frozen=True)
class OfficialRun:
    """The official run of a question set, with the texts of a page about it.

    Attributes
    ----------
    run, called, version : id, title and version number of the official run.
    chosen_by : user who chose it, "" if it was chosen automatically. chosen_at : time of the
        choice; None if it was chosen automatically.
    newer : id of a finished run made after it, None without one; newer_called : its title.
    changed : whether a new run would read other answers. old_version : whether the question set has
        a newer version.
    """

    run: UUID
    called: str
    version: int
    chosen_by: str
    chosen_at: datetime | None
    newer: UUID | None
    newer_called: str
    changed: bool
    old_version: bool

    @property
    def is_chosen(self) -> bool:
        """Whether a user chose the run, so that it is not just the newest."""
        return bool(self.chosen_by)


@dataclass(frozen=True)
class OfficialRunSources:
    """Runs from which a question set's official run is found: chosen, official and newest.

    Attributes
    ----------
    run : the official run; None without a finished one. row : record of the user's choice; None if
        it is the newest run. newer : the newest finished run, if it was made after `run`.
    others : further runs that the caller requested.
    """

    run: Run | None
    row: RunOfRecord | None
    newer: Run | None
    others: list[Run]

    def build_official_run(
        self, change: DataChange, latest: QuestionSetVersion | None
    ) -> OfficialRun | None:
        """Return the official run for a page, with `change` as the change of answers since then.

        None without a finished run.
        """
        run, row, newer = self.run, self.row, self.newer
        if run is None:
            return None
        return OfficialRun(
            run=run.public_id,
            called=build_run_title(run, AqerParameters).title,
            version=run.version.number,
            chosen_by=row.chosen_by.get_username() if row and row.chosen_by else "",
            chosen_at=row.chosen_at if row else None,
            newer=newer.public_id if newer else None,
            newer_called=build_run_title(newer, AqerParameters).title if newer else "",
            changed=change.has_worker_changes,
            old_version=latest is not None and latest.pk != run.version_id,
        )


def read_official_run_sources(
    question_set: QuestionSet | int, others: QuerySet[Run] | None = None
) -> OfficialRunSources:
    """Return the official and the newest grading of a question set, and `others`; one query."""
    gradings = Run.objects.filter(
        version__question_set=question_set,
        kind=GRADING,
        state=Run.State.DONE,
        archived_at=None,
    ).order_by("-pk")
    chosen = RunOfRecord.objects.filter(
        question_set=question_set, kind=GRADING, run__archived_at__isnull=True
    )
    is_needed = Q(pk__in=chosen.values("run"))
    # As `choose_official_or_newest` has it: one of the answers so far only where there is no other.
    for rows in (gradings, gradings.filter(interim__isnull=True), others):
        if rows is not None:
            is_needed |= Q(pk__in=rows.values("pk")[:1])
    gradings_found = list(
        Run.objects.filter(is_needed)
        # Read with the run, also where there is none: `hasattr` below asks the database no more.
        .select_related("version", "of_record__chosen_by", "interim")
        .order_by("-pk")
    )
    other_type_runs = [run for run in gradings_found if run.kind != GRADING]
    gradings_found = [run for run in gradings_found if run.kind == GRADING]
    run = next((run for run in gradings_found if hasattr(run, "of_record")), None)
    row = run.of_record if run else None
    if run is None:
        complete = (run for run in gradings_found if not hasattr(run, "interim"))
        run = next(complete, gradings_found[0] if gradings_found else None)
    newer = gradings_found[0] if run and gradings_found[0].pk > run.pk else None
    return OfficialRunSources(run, row, newer, other_type_runs)


def read_official_run(
    question_set: QuestionSet | int, latest: QuestionSetVersion | None = None
) -> OfficialRun | None:
    """Return the official run of a question set for a page; None without a finished grading.

    `latest` is the set's latest version, where it is known.
    """
    runs = read_official_run_sources(question_set)
    if runs.run is None:
        return None
    of_set = QuestionSetVersion.objects.filter(question_set=question_set)
    latest = latest or of_set.order_by("-number").first()
    return runs.build_official_run(read_data_change(runs.run), latest)


def read_official_run_of(run: Run) -> OfficialRun | None:
    """Return the official run of a run's question set; None if the run is not a grading."""
    return read_official_run(run.version.question_set_id) if run.kind == GRADING else None
