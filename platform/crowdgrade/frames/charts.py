"""The product's charts of each function, drawn from the tables of a result.

They are those of the site's pages. Charts that a command writes as files are not declared here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from uuid import UUID

from annotations.web.paging import Page
from evaluation.core.charts.chart import Chart
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.crowd_vs_llm.report import build_model_rows, list_ranking_panels
from evaluation.crowd_vs_llm.run.summary import Standing
from evaluation.crowd_vs_llm.views import build_panels_chart
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
from evaluation.maqa.charts import build_questions_chart as build_maqa_questions_chart
from evaluation.maqa.run.tables import ItemRow
from evaluation.multiqa.charts import build_accuracy_chart, build_crowd_chart, list_overall_rows
from evaluation.multiqa.messages import CROWD_DESCRIPTIONS, METRIC_DESCRIPTIONS
from evaluation.runs.flow.forecast import forecast_consensus_error
from evaluation.runs.flow.metrics import MetricRow
from evaluation.sample_size.charts import build_planner_chart
from evaluation.umwp.charts import build_f1_chart
from evaluation.umwp.report.results import build_model_results

_NO_ID = UUID(int=0)


class Tables(Protocol):
    """Protocol of an object with the tables and the summary of a result."""

    @property
    def summary(self) -> dict[str, Any]:
        """Content of the file summary.json, as a dict."""
        ...

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table, each a dict by column."""
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
    """Return the chart of workers' and models' scores, models below; None without models."""
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


def _build_panels(result: Tables) -> Chart | None:
    """Return the chart of the models' scores by panel; None without scores."""
    standings = [Standing(**row) for row in result.rows("panel_models")]
    ranked = list_ranking_panels(row["name"] for row in result.rows("panels"))
    names = {row.model: row.model for row in standings}
    return build_panels_chart(build_model_rows(standings, ranked, names), ranked)


def _build_planner(result: Tables) -> Chart | None:
    """Return the chart of the expected error by number of answers; None without a forecast."""
    typical = result.summary["typical_answer"]
    if typical["similarity"] is None:
        return None
    return build_planner_chart(
        forecast_consensus_error(typical["similarity"], round(typical["answers"]))
    )


def _read_metrics(result: Tables) -> list[MetricRow]:
    """Return the rows of metrics.csv."""
    return [MetricRow(**{**row, "group": row["group"] or ""}) for row in result.rows("metrics")]


def _build_accuracy(result: Tables) -> Chart | None:
    """Return the chart of accuracy over wordings; None without accepted answers."""
    return build_accuracy_chart(*list_overall_rows(_read_metrics(result), METRIC_DESCRIPTIONS))


def _build_crowd_scores(result: Tables) -> Chart | None:
    """Return the chart of crowd scores over wordings; None without workers' answers."""
    return build_crowd_chart(*list_overall_rows(_read_metrics(result), CROWD_DESCRIPTIONS))


def _build_f1(result: Tables) -> Chart | None:
    """Return the chart of F1 by model and prompt form; None if no F1 is defined."""
    return build_f1_chart(build_model_results(_read_metrics(result)))


def _build_confidence(result: Tables) -> Chart | None:
    """Return the chart of the models' confidence at each question; None without a measure."""
    return build_maqa_questions_chart([ItemRow(**row) for row in result.rows("items")])


CHARTS: Mapping[str, Mapping[str, Callable[[Tables], Chart | None]]] = {
    "grade": {
        "grades": _build_grades,
        "ranks": _build_ranks,
        "questions": _build_questions,
        "models": _build_models,
        "convergence": _build_convergence,
    },
    "panels": {"panels": _build_panels},
    "plan": {"planner": _build_planner},
    "multiqa": {"accuracy": _build_accuracy, "crowd_scores": _build_crowd_scores},
    "umwp": {"f1": _build_f1},
    "maqa": {"confidence": _build_confidence},
    "eloquent": {},
}
"""The charts of each function by name; None instead of a chart that has no data."""
