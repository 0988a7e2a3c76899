"""The page of the language models in a run."""

from __future__ import annotations

from django.http import HttpRequest

from evaluation.grading.alarms.report import alarms_report
from evaluation.grading.facts.report import run_facts
from evaluation.grading.results.charts.placement import build_crowd_table, placement_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.models import models_report
from evaluation.models import Run
from evaluation.result_pages import Context


@grading_page("evaluation/models.html")
def models(request: HttpRequest, run: Run) -> Context:
    """Show the models by score, and the models among people; `after` comes from the address."""
    after = request.GET.get("after", "")
    report = models_report(run, after)
    return {
        "title": f"Language models on {report.about.name}",
        "report": report,
        "alarms": alarms_report(run),
        "chart": placement_chart(report) if report.models.rows else None,
        "has_facts": run_facts(run) is not None,
        "crowd": build_crowd_table(report.crowd),
    }
