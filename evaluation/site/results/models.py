"""The page of the language models in a run."""

from __future__ import annotations

from django.http import HttpRequest

from evaluation.charts import placement_chart
from evaluation.charts.placement import crowd_table
from evaluation.models import Run
from evaluation.reports import models_report
from evaluation.reports.alarms import alarms_report
from evaluation.reports.facts import run_facts
from evaluation.site.results.page import Context, results_page


@results_page("evaluation/models.html")
def models(request: HttpRequest, run: Run) -> Context:
    """Show the leaderboard, and the models among people; `after` comes from the address."""
    after = request.GET.get("after", "")
    report = models_report(run, after)
    return {
        "title": f"Language models on {report.about.name}",
        "report": report,
        "alarms": alarms_report(run),
        "chart": placement_chart(report) if report.models.rows else None,
        "has_facts": run_facts(run) is not None,
        "crowd": crowd_table(report.crowd),
    }
