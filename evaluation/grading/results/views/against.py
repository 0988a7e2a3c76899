"""The page of a run against another one of the same set."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.models import rights
from annotations.web.query import parse_public_id
from annotations.web.scope import get_visible_or_404
from evaluation.charts.chart import Chart
from evaluation.grading.alarms.report import alarm_counts
from evaluation.grading.results.charts.against import against_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.against import AgainstReport, against_report, other_runs
from evaluation.grading.results.views.remedies import decided
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.result_pages import Context, status_link, worker_link


@grading_page("evaluation/against.html")
def against(request: HttpRequest, run: Run) -> Context:
    """Show what changed since another run and why.

    `with` in the address names the other one; by default it is the newest.
    """
    runs = other_runs(run)
    other = chosen(request, run)
    if other is None:
        done = next((entry.run for entry in runs if entry.is_done), None)
        other = None if done is None else _found(request, run, done)
    report = against_report(run, other) if other and _is_done(other) else None
    movers = report.movers if report else []
    may = rights(request.user, run.version.question_set).edit
    here, *there = alarm_counts(run, *([other] if other and report else []))
    return {
        **decided(run, [mover.worker for mover in movers], may),
        "title": f"Runs of {run.version.question_set.name} compared",
        "runs": runs,
        "other": other,
        "other_link": status_link(other) if other else "",
        "report": report,
        "alarms_here": here,
        "alarms_there": there[0] if there else None,
        "chart": picture(report, run) if report else None,
    }


def chosen(request: HttpRequest, run: Run) -> Run | None:
    """Return the run that the address names, None if it names none; 404 for one out of sight."""
    wanted = parse_public_id(request.GET, "with", blank=True)
    return None if wanted is None else _found(request, run, wanted)


def compared(request: HttpRequest, run: Run) -> AgainstReport:
    """Return the report for a file; 404 where there are no two runs with results."""
    other = chosen(request, run)
    if other is None or not _is_done(other):
        raise Http404("another run with results is needed")
    return against_report(run, other)


def picture(report: AgainstReport, run: Run) -> Chart | None:
    """Return the picture of the workers' grades."""

    def link(worker: UUID) -> str:
        return worker_link(run, worker)

    return against_chart(report, link)


def _found(request: HttpRequest, run: Run, wanted: UUID) -> Run:
    """A run of the same set that the user may see, and not this one."""
    runs = Run.objects.select_related("version__question_set").exclude(pk=run.pk)
    of_set = runs.filter(version__question_set=run.version.question_set_id, kind=GRADING)
    return get_visible_or_404(request, of_set, wanted)


def _is_done(run: Run) -> bool:
    return run.state == Run.State.DONE
