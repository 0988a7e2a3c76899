"""Web page of the language models in a run."""

from __future__ import annotations

from django.http import HttpRequest

from evaluation.grading.alarms.report import build_alarms_report
from evaluation.grading.facts.report import build_run_facts
from evaluation.grading.results.charts.placement import build_crowd_table, build_placement_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.models import build_models_report
from evaluation.models import Run
from evaluation.runs.result_pages import Context


@grading_page("evaluation/models.html")
def show_models(request: HttpRequest, run: Run) -> Context:
    """Show the models by score, and a chart of them among the workers' scores."""
    after = request.GET.get("after", "")
    report = build_models_report(run, after)
    return {
        "title": f"Language models on {report.about.name}",
        "report": report,
        "alarms": build_alarms_report(run),
        "chart": build_placement_chart(report) if report.models.rows else None,
        "has_facts": build_run_facts(run) is not None,
        "crowd": build_crowd_table(report.crowd),
    }
