"""The page that says how far a run can be trusted."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse

from evaluation.models import Run
from evaluation.reports.trust import NOT_SEEN, PROVEN, trust_report
from evaluation.site.results.page import Context, results_page


@results_page("evaluation/trust.html")
def trust(request: HttpRequest, run: Run) -> Context:
    """Show what speaks for and against this run, and what was measured elsewhere."""
    report = trust_report(run)
    return {
        "title": "Can I trust this?",
        "subtitle": f"The grades of {report.about.name}, version {report.about.version}",
        "report": report,
        "proven": PROVEN,
        "not_seen": NOT_SEEN,
        "experts_link": reverse("admin:results-audit", kwargs={"run": run.public_id}),
        "alarms_link": reverse("admin:results-alarms", kwargs={"run": run.public_id}),
    }
