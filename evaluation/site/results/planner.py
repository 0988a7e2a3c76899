"""The page that says how many answers a question needs."""

from __future__ import annotations

from django.http import HttpRequest

from evaluation.charts.planner import planner_chart
from evaluation.models import Run
from evaluation.reports.planner import planner_report
from evaluation.site.results.page import Context, results_page


@results_page("evaluation/planner.html")
def planner(request: HttpRequest, run: Run) -> Context:
    """Show the paper's bounds with the numbers of the run."""
    report = planner_report(run)
    return {
        "title": f"How many answers {report.about.name} needs",
        "report": report,
        "chart": planner_chart(report),
    }
