"""The page of a run against one of an earlier wave."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from django.urls import reverse

from annotations.models import rights
from annotations.web.query import public_id
from evaluation.models import Run
from evaluation.reports.waves import WavesReport, earlier_runs, offered, waves_report
from evaluation.site.results.page import Context, results_page

SHOWN = 12
"""People, and questions, that the page shows; the files have all."""


@results_page("evaluation/waves.html")
def waves(request: HttpRequest, run: Run) -> Context:
    """Show how far people repeat themselves, which answers moved, and how models stand.

    `with` in the address names the run of the earlier wave; without it that which counts there.
    """
    runs = earlier_runs(request, run)
    other = _chosen(request, runs)
    report = waves_report(other, run) if other else None
    question_set = run.version.question_set
    return {
        "title": f"{question_set.name} and the wave before",
        "may_link": rights(request.user, question_set).edit,
        "link_address": reverse("admin:link-wave", args=[question_set.public_id]),
        "runs": offered(runs),
        "other": other,
        "report": report,
        "shown": f":{SHOWN}",
        "more_people": report is not None and len(report.people.workers) > SHOWN,
        "more_questions": report is not None and len(report.questions) > SHOWN,
    }


def compared(request: HttpRequest, run: Run) -> WavesReport:
    """Return the report for a file; 404 where there is no graded wave before."""
    other = _chosen(request, earlier_runs(request, run))
    if other is None:
        raise Http404("an earlier wave with results is needed")
    return waves_report(other, run)


def _chosen(request: HttpRequest, runs: list[Run]) -> Run | None:
    wanted = public_id(request.GET, "with", blank=True)
    if wanted is None:
        return runs[0] if runs else None
    for run in runs:
        if run.public_id == wanted:
            return run
    raise Http404("no such run of an earlier wave")
