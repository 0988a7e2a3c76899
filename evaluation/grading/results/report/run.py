"""Report of a run: method, counts, convergence and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from django.db.models import Count, Q, Sum

from annotations.models import GRADED, Response
from annotations.web.numbers import Numbers, TableCounts, read_numbers
from evaluation.consensus.methods.estimator import FEWEST_WORKERS
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import Reasoned
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.grading.results.report.changes import (
    DataChange,
    build_change_parts,
    build_data_change,
)
from evaluation.grading.summary import HasSummary, read_summary
from evaluation.models import Run, WorkerGrade
from evaluation.runs.reports.about import RunAbout, build_about


@dataclass(frozen=True)
class Ceiling(Reasoned):
    """Human ceiling: mean leave-one-out score of the best quarter of the ranked workers.

    Attributes
    ----------
    n_workers, n_questions : what it rests on.
    reason : code of why `score.value` is None, else None.
    """

    score: Estimate
    n_workers: int
    n_questions: int
    reason: str | None

    @classmethod
    def of_run(cls, run: HasSummary) -> Self:
        """Return the human ceiling of a run; undefined if the run has none (yet)."""
        ceiling = read_summary(run).ceiling
        estimate = Estimate(ceiling.score, ceiling.low, ceiling.high)
        return cls(estimate, ceiling.n_workers, ceiling.n_questions, ceiling.reason)


@dataclass(frozen=True)
class UndefinedCells(Reasoned):
    """Number of empty cells in a column of a result table, and the reason's code."""

    table: str
    column: str
    reason: str
    count: int


@dataclass(frozen=True)
class RunReport:
    """A finished run in numbers: counts, convergence, ceiling, warnings and settings.

    Attributes
    ----------
    counts : answers, empty_answers, workers, questions, models, model_answers; those of workers
        whom the run excluded are not among them.
    n_workers, n_supported, n_graded : all workers of the run but the excluded, those with enough
        answers to be ranked, those with a grade. n_excluded : whom the run excluded.
    trace : root mean square change of the weights, an iteration each.
    embedding : what made the vectors. versions : of Crowdgrade, Python and libraries.
    changed : the data against that of now.
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
    """Return the queries whose counts `build_run_report` needs, by name.

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
    return {"workers": TableCounts(WorkerGrade.of_crowd(run), numbers), **build_change_parts(run)}


def build_run_report(run: Run, numbers: Mapping[str, list[Numbers]] | None = None) -> RunReport:
    """Return the report of a finished run; `numbers` are its counts, if already read.

    `numbers` are the counts of `build_report_parts`, where they were read.
    """
    numbers = numbers or read_numbers(build_report_parts(run))
    ((n_workers, n_supported, n_graded, *_),) = numbers["workers"]
    summary = read_summary(run)
    return RunReport(
        about=build_about(run),
        counts=count_crowd(run),
        n_workers=n_workers,
        n_supported=n_supported,
        n_graded=n_graded,
        n_excluded=WorkerGrade.of_excluded(run).count(),
        iterations=summary.iterations,
        converged=summary.converged,
        trace=list(summary.trace),
        warnings=[Message.of(stored) for stored in run.warnings],
        undefined=[
            UndefinedCells(
                table=entry["file"].removesuffix(".csv"),
                column=entry["column"],
                reason=entry["reason"],
                count=entry["count"],
            )
            for entry in run.reasons
        ],
        ceiling=Ceiling.of_run(run),
        embedding=asdict(summary.embedding),
        versions=dict(summary.versions),
        changed=build_data_change(run, numbers),
    )


def count_crowd(run: Run) -> dict[str, int]:
    """Return the counts of answers, workers and questions of a run, without excluded workers."""
    counts = dict(read_summary(run).shown_counts())
    excluded = WorkerGrade.of_excluded(run)
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
        counts["empty_answers"] = max(0, counts["empty_answers"] - empty.count())
    return counts
