"""A run: what was computed, how, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, Q, Sum

from annotations.models import GRADED, Response
from evaluation.flow.aqer_summary import summary_of
from evaluation.methods.aqer.estimator import FEWEST_WORKERS
from evaluation.models import Run, WorkerGrade
from evaluation.reports.about import RunAbout, about
from evaluation.reports.changes import DataChange, data_change
from evaluation.reports.values import Ceiling
from evaluation.words.message import Message
from evaluation.words.reasons import Reasoned


@dataclass(frozen=True)
class UndefinedCells(Reasoned):
    """How many cells of a column are empty, and why (a code, see `reasons`)."""

    table: str
    column: str
    reason: str
    count: int


@dataclass(frozen=True)
class RunReport:
    """A finished run without its rows.

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
        """Whether there are no grades because there are too few people."""
        return self.counts.get("workers", 0) < FEWEST_WORKERS


def run_report(run: Run) -> RunReport:
    """Return the report of a run that is done, by four queries; three more with exclusions."""
    of_workers = WorkerGrade.of_crowd(run).aggregate(
        all=Count("pk"),
        supported=Count("pk", filter=Q(support=True)),
        graded=Count("grade"),
    )
    summary = summary_of(run)
    return RunReport(
        about=about(run),
        counts=crowd_counts(run),
        n_workers=of_workers["all"],
        n_supported=of_workers["supported"],
        n_graded=of_workers["graded"],
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
        changed=data_change(run),
    )


def crowd_counts(run: Run) -> dict[str, int]:
    """Return what went into a run, without the answers of workers whom it excluded."""
    counts = dict(summary_of(run).shown_counts())
    excluded = WorkerGrade.of_excluded(run)
    out = excluded.aggregate(
        workers=Count("pk", filter=Q(n_answers__gt=0)), answers=Sum("n_answers")
    )
    if out["workers"]:
        counts["workers"] -= out["workers"]
        counts["answers"] -= out["answers"]
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
