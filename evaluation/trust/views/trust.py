"""Page of a run's trust report."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse

from annotations.models import rights
from evaluation.grading.results.pages import grading_page
from evaluation.models import Run
from evaluation.runs.reports.graded import KIND as OWN_DOMAIN
from evaluation.runs.reports.graded import find_own_domain
from evaluation.runs.result_pages import Context
from evaluation.trust.report import NOT_SEEN, PROVEN, trust_report


@grading_page("evaluation/trust.html")
def trust(request: HttpRequest, run: Run) -> Context:
    """Show the facts for and against this run, and the measured evidence for the method."""
    report = trust_report(run)
    question_set = run.version.question_set
    own = find_own_domain(question_set)
    may_start = rights(request.user, question_set).edit and question_set.archived_at is None
    return {
        "title": "Can I trust this?",
        "subtitle": f"The grades of {report.about.name}, version {report.about.version}",
        "report": report,
        "own": own,
        "own_link": own and reverse("admin:results-run", kwargs={"run": own.run}),
        "own_start": may_start
        and reverse("admin:start", kwargs={"set_id": question_set.public_id, "name": OWN_DOMAIN}),
        "proven": PROVEN,
        "not_seen": NOT_SEEN,
        "experts_link": reverse("admin:results-audit", kwargs={"run": run.public_id}),
        "alarms_link": reverse("admin:results-alarms", kwargs={"run": run.public_id}),
    }
