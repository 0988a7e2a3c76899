"""The page of a run that is made to be printed, or saved as PDF by the browser."""

from __future__ import annotations

from django.http import HttpRequest

from evaluation.charts import (
    comparisons_chart,
    convergence_chart,
    grades_chart,
    placement_chart,
    questions_chart,
    ranks_chart,
)
from evaluation.charts.heat_map import block_chart, overview_chart
from evaluation.charts.planner import planner_chart
from evaluation.models import Run
from evaluation.reports.alarms import alarms_report, marks_of
from evaluation.reports.heat_map import heat_block, heat_overview
from evaluation.reports.summary import summary_report
from evaluation.site.results.page import Context, results_page

# Rows of a picture that stand on a page together with its title.
ON_A_PAGE = 40


@results_page("evaluation/summary.html")
def summary(request: HttpRequest, run: Run) -> Context:
    """Show method, signature, parameters, tables, pictures, warnings and limits on A4."""
    report = summary_report(run)
    workers, counts = report.workers[:ON_A_PAGE], report.run.counts
    similarity = run.parameters.get("similarity", "cosine")
    block = heat_block(run)
    overview = None if block.is_whole else heat_overview(run)
    heat = overview_chart(overview, similarity) if overview else block_chart(block, similarity)
    return {
        "title": f"Summary of {report.run.about.name}",
        "report": report,
        "alarms": alarms_report(run),
        "marks": marks_of(run, [worker.worker for worker in report.workers]),
        "charts": {
            "grades": grades_chart(workers, report.run.n_graded) if workers else None,
            "ranks": ranks_chart(workers, report.run.n_graded),
            "questions": questions_chart(report.questions[:ON_A_PAGE], counts.get("questions", 0)),
            "heat": heat if block.workers and block.questions else None,
            "convergence": convergence_chart(report.run.trace) if report.run.trace else None,
            "placement": placement_chart(report.models) if report.models.models.rows else None,
            "pairs": comparisons_chart(report.pairs)
            if report.pairs and report.pairs.pairs
            else None,
            "planner": planner_chart(report.plan),
        },
    }
