"""Web page of a worker in a run."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.models import rights
from evaluation.core.charts.chart import Chart
from evaluation.grading.alarms.report import build_alarms_report
from evaluation.grading.results.charts.worker import build_worker_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.signals import read_signals
from evaluation.grading.results.report.worker import WorkerReport, build_worker_report
from evaluation.grading.results.views.remedies import (
    build_links_without,
    build_verdict_context,
    read_what_if,
)
from evaluation.models import Run
from evaluation.runs.result_pages import Context, question_link


@grading_page("evaluation/worker.html")
def show_worker(request: HttpRequest, run: Run, worker: UUID) -> Context:
    """Show a worker's grade, and every answer beside the consensus (nearest) answer.

    `after` (a page of answers) and `without` (whether to compute a run without the worker) come
    from the address.
    """
    report = read_report(run, worker, request.GET.get("after", ""))
    may_edit = rights(request.user, run.version.question_set).edit
    return {
        **build_verdict_context(run, [worker], may_edit),
        "title": f"Worker {report.worker.name}",
        "report": report,
        "alarms": build_alarms_report(run, worker=report.worker.worker),
        "chart": draw_scores(run, report),
        "signals": read_signals(run, [worker], in_full=True).get(worker),
        "without": build_links_without(run, [report.worker], may_edit),
        "what_if": read_what_if(request, run),
    }


def read_report(run: Run, worker: UUID, after: str = "") -> WorkerReport:
    """Return a worker's report; 404 for an unknown worker."""
    report = build_worker_report(run, worker, after)
    if report is None:
        raise Http404("the run has no such worker")
    return report


def draw_scores(run: Run, report: WorkerReport) -> Chart | None:
    """Return the chart of a worker's answers by score; None without a leave-one-out score."""

    def link(question: UUID) -> str:
        return question_link(run, question)

    if all(answer.score_leave_one_out is None for answer in report.answers.rows):
        return None
    return build_worker_chart(report.answers.rows, report.worker.leave_one_out, link)
