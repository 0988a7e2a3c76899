"""The alarms of a run, and one alarm with its evidence."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from django.urls import reverse

from annotations.models import rights
from annotations.web.query import number
from evaluation.models import Run
from evaluation.reports.alarms import alarm_evidence, alarms_report
from evaluation.site.results.page import Context, results_page, way_here
from evaluation.site.results.remedies import remedies_for, without_each


@results_page("evaluation/alarms.html")
def alarms(request: HttpRequest, run: Run) -> Context:
    """Show what rang and what was looked at."""
    report = alarms_report(run)
    return {"title": f"Alarms of {report.about.name}", "alarms": report}


@results_page("evaluation/alarm.html")
def alarm(request: HttpRequest, run: Run, place: int) -> Context:
    """Show one alarm: whom it names, the texts, what it means and what to do.

    `after` (of workers) and `texts` (a page) come from the address.
    """
    page = number(request.GET, "texts", 1, 99_999) or 1
    after = request.GET.get("after", "")
    evidence = alarm_evidence(run, place, after, page)
    if evidence is None or evidence.page > evidence.n_pages:
        raise Http404("the run has no such alarm")
    may = rights(request.user, run.version.question_set).edit
    above = reverse("admin:results-alarms", kwargs={"run": run.public_id})
    return {
        "title": evidence.alarm.title,
        "breadcrumbs": [*way_here(run), ("Alarms", above)],
        "evidence": evidence,
        "alarm": evidence.alarm,
        "remedies": remedies_for(run, evidence.alarm, may),
        "without": without_each(run, evidence.workers.rows, may),
    }
