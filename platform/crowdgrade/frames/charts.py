"""The product's charts of a grading, drawn from the tables of a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from uuid import UUID

from annotations.web.paging import Page
from evaluation.core.charts.chart import Chart
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.grading.results.charts.grades import (
    build_convergence_chart,
    build_grades_chart,
    build_questions_chart,
    build_ranks_chart,
)
from evaluation.grading.results.charts.models import build_placement_chart
from evaluation.grading.results.report.models import CrowdScores, ModelRow
from evaluation.grading.results.report.questions import QuestionRow
from evaluation.grading.results.report.run import Ceiling
from evaluation.grading.results.report.workers import WorkerRow

_NO_ID = UUID(int=0)


class Tables(Protocol):
    """Protocol of a grading's result tables."""

    @property
    def summary(self) -> dict[str, Any]:
        """Content of summary.json."""
        ...

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        ...


def _read_estimate(row: Mapping[str, Any], name: str) -> Estimate:
    """Return an estimate with its interval from a row's columns."""
    return Estimate(row[name], row[f"{name}_low"], row[f"{name}_high"])


def _list_workers(result: Tables) -> list[WorkerRow]:
    """Return the workers of a grading, best grade first."""
    rows = [
        WorkerRow(
            worker=_NO_ID,
            name=str(row["worker"]),
            panel="",
            grade=_read_estimate(row, "grade"),
            raw=_read_estimate(row, "raw"),
            leave_one_out=row["raw_leave_one_out"],
            weight=row["weight"],
            rank=row["rank"],
            rank_low=row["rank_low"],
            rank_high=row["rank_high"],
            supported=row["support"] == "ok",
            n_answers=row["n_answers"],
        )
        for row in result.rows("workers")
    ]
    return sorted(rows, key=lambda row: -1.0 if row.grade.value is None else -row.grade.value)


def _build_grades(result: Tables) -> Chart | None:
    """Return the chart of the workers' grades."""
    workers = _list_workers(result)
    return build_grades_chart(workers, len(workers))


def _build_ranks(result: Tables) -> Chart | None:
    """Return the chart of the ranks, best rank first; None without intervals."""
    workers = [worker for worker in _list_workers(result) if worker.rank is not None]
    workers.sort(key=lambda worker: worker.rank or 0)
    return build_ranks_chart(workers, len(workers))


def _build_models(result: Tables) -> Chart | None:
    """Return the chart of the models' scores below those of the workers; None without models."""
    rows = [
        ModelRow(
            model=_NO_ID,
            name=str(row["model"]),
            details="",
            notice="",
            score=_read_estimate(row, "score"),
            score_answered=row["score_answered"],
            n=row["n"],
            n_answered=row["n_answered"],
            percentile=row["percentile"],
            rank=row["rank"],
            reason="",
        )
        for row in result.rows("models")
    ]
    if not rows:
        return None
    rows.sort(key=lambda row: math.inf if row.score.value is None else -row.score.value)
    workers = [row.leave_one_out for row in _list_workers(result) if row.supported]
    crowd = CrowdScores(sorted(score for score in workers if score is not None))
    ceiling = result.summary["ceiling"]
    human = Ceiling(
        Estimate(ceiling["score"], ceiling["low"], ceiling["high"]),
        ceiling["n_workers"],
        ceiling["n_questions"],
        ceiling["reason"],
    )
    return build_placement_chart(Page(rows), human, crowd)


def _build_questions(result: Tables) -> Chart | None:
    """Return the chart of the questions with the most disagreement; None without any."""
    rows = [
        QuestionRow(
            question=_NO_ID,
            name=str(row["question"]),
            text="",
            n_answers=row["n_answers"],
            dispersion=row["dispersion"],
            difficulty=None,
            nearest=row["nearest_answer"] or "",
            nearest_worker=row["nearest_worker"] or "",
        )
        for row in result.rows("exemplars")
        if row["dispersion"] is not None
    ]
    rows.sort(key=lambda row: -(row.dispersion or 0.0))
    return build_questions_chart(rows, len(rows))


def _build_convergence(result: Tables) -> Chart | None:
    """Return the chart of the changes of the voting weights."""
    return build_convergence_chart(result.summary["trace"])


CHARTS: Mapping[str, Callable[[Tables], Chart | None]] = {
    "grades": _build_grades,
    "ranks": _build_ranks,
    "questions": _build_questions,
    "models": _build_models,
    "convergence": _build_convergence,
}
"""The charts of a grading by name."""
