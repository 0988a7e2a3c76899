"""Printable A4 page of a run."""

from __future__ import annotations

from django.http import HttpRequest

from evaluation.grading.results.pages import grading_page
from evaluation.models import Run
from evaluation.runs.reports.verdicts import build_applied_context
from evaluation.runs.result_pages import Context
from evaluation.trust.report.summary import summary_report


@grading_page("evaluation/summary.html")
def summary(request: HttpRequest, run: Run) -> Context:
    """Show the printable summary: decision, workers, questions, models and limits."""
    report = summary_report(run)
    return {
        "title": f"Summary of {report.decision.about.name}",
        "report": report,
        "marks": report.marks,
        **build_applied_context(run),
    }
