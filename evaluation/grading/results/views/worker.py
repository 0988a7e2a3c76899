"""The page of a worker in a run."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from annotations.models import rights
from evaluation.charts.chart import Chart
from evaluation.grading.alarms.report import alarms_report
from evaluation.grading.results.charts.worker import build_worker_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.signals import signals_of
from evaluation.grading.results.report.worker import WorkerReport, build_worker_report
from evaluation.grading.results.views.remedies import (
    asked_what_if,
    build_verdict_context,
    without_each,
)
from evaluation.models import Run
from evaluation.result_pages import Context, question_link


@grading_page("evaluation/worker.html")
def worker(request: HttpRequest, run: Run, worker: UUID) -> Context:
    """Show a worker's grade, and every answer beside the nearest one.

    `after` (a page of answers) and `without` (whether to compute a run without the worker) come
    from the address.
    """
    report = found(run, worker, request.GET.get("after", ""))
    may_edit = rights(request.user, run.version.question_set).edit
    return {
        **build_verdict_context(run, [worker], may_edit),
        "title": f"Worker {report.worker.name}",
        "report": report,
        "alarms": alarms_report(run, worker=report.worker.worker),
        "chart": scores(run, report),
        "signals": signals_of(run, [worker], in_full=True).get(worker),
        "without": without_each(run, [report.worker], may_edit),
        "what_if": asked_what_if(request, run),
    }


def found(run: Run, worker: UUID, after: str = "") -> WorkerReport:
    """Return a worker's report; 404 for an unknown worker."""
    report = build_worker_report(run, worker, after)
    if report is None:
        raise Http404("the run has no such worker")
    return report


def scores(run: Run, report: WorkerReport) -> Chart | None:
    """Return the chart of a worker's answers; None where no answer has a leave-one-out score."""

    def link(question: UUID) -> str:
        return question_link(run, question)

    if all(answer.score_leave_one_out is None for answer in report.answers.rows):
        return None
    return build_worker_chart(report.answers.rows, report.worker.leave_one_out, link)
