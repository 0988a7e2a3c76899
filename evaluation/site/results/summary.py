"""The page of a run that is made to be printed, or saved as PDF by the browser."""

from __future__ import annotations

from django.http import HttpRequest

from evaluation.models import Run
from evaluation.reports.alarms import marks_of
from evaluation.reports.summary import summary_report
from evaluation.reports.triage.verdicts import made_by
from evaluation.site.results.page import Context, results_page


@results_page("evaluation/summary.html")
def summary(request: HttpRequest, run: Run) -> Context:
    """Show on A4 what the first page says, then workers, questions and models, then the limits."""
    report = summary_report(run)
    workers = (*report.workers.first, *report.workers.last, *report.unranked)
    return {
        "title": f"Summary of {report.decision.about.name}",
        "report": report,
        "marks": marks_of(run, [worker.worker for worker in workers]),
        **made_by(run),
    }
