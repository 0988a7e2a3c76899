"""Web page that compares a run with another run of the same question set."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.models import rights
from annotations.web.query import parse_public_id
from annotations.web.scope import get_visible_or_404
from evaluation.core.charts.chart import Chart
from evaluation.grading.alarms.report import count_alarms
from evaluation.grading.results.charts.against import build_against_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.against import (
    AgainstReport,
    build_against_report,
    read_other_runs,
)
from evaluation.grading.results.views.remedies import build_verdict_context
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.runs.result_pages import Context, status_link, worker_link


@grading_page("evaluation/against.html")
def show_against(request: HttpRequest, run: Run) -> Context:
    """Show what changed between this run and another one, and why.

    `with` in the address names the other run; by default it is the newest one.
    """
    runs = read_other_runs(run)
    other = read_other_run(request, run)
    if other is None:
        done = next((entry.run for entry in runs if entry.is_done), None)
        other = None if done is None else _get_other_or_404(request, run, done)
    report = build_against_report(run, other) if other and _is_done(other) else None
    movers = report.movers if report else []
    may_edit = rights(request.user, run.version.question_set).edit
    alarms_here, *alarms_there = count_alarms(run, *([other] if other and report else []))
    return {
        **build_verdict_context(run, [mover.worker for mover in movers], may_edit),
        "title": f"Runs of {run.version.question_set.name} compared",
        "runs": runs,
        "other": other,
        "other_link": status_link(other) if other else "",
        "report": report,
        "alarms_here": alarms_here,
        "alarms_there": alarms_there[0] if alarms_there else None,
        "chart": draw_grades(report, run) if report else None,
    }


def read_other_run(request: HttpRequest, run: Run) -> Run | None:
    """Return the run in the query parameter `with`; None without it, 404 if not visible."""
    run_id = parse_public_id(request.GET, "with", blank=True)
    return None if run_id is None else _get_other_or_404(request, run, run_id)


def build_comparison(request: HttpRequest, run: Run) -> AgainstReport:
    """Return the comparison of two runs, for a file; 404 if one has no results."""
    other = read_other_run(request, run)
    if other is None or not _is_done(other):
        raise Http404("another run with results is needed")
    return build_against_report(run, other)


def draw_grades(report: AgainstReport, run: Run) -> Chart | None:
    """Return the chart of the workers' grades in both runs; None without common grades."""

    def link(worker: UUID) -> str:
        return worker_link(run, worker)

    return build_against_chart(report, link)


def _get_other_or_404(request: HttpRequest, run: Run, run_id: UUID) -> Run:
    """Return another grading of the question set that the user may see; 404 for other ids."""
    runs = Run.objects.select_related("version__question_set").exclude(pk=run.pk)
    of_set = runs.filter(version__question_set=run.version.question_set_id, kind=GRADING)
    return get_visible_or_404(request, of_set, run_id)


def _is_done(run: Run) -> bool:
    """Return whether a run has finished."""
    return run.state == Run.State.DONE
