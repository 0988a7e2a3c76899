"""Downloads of a run's charts (SVG) and tables (CSV and others)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)

from annotations.exchange.writing.formats import FORMATS, write_csv
from annotations.web.downloads import build_attachment_headers, download
from annotations.web.query import parse_choice, parse_number
from evaluation.core.charts.chart import Chart
from evaluation.grading.results.charts.answer_map import build_captions
from evaluation.grading.results.charts.convergence import build_convergence_chart
from evaluation.grading.results.charts.placement import build_placement_chart
from evaluation.grading.results.pages import grading_file
from evaluation.grading.results.report.answer_map import read_answer_map
from evaluation.grading.results.report.models import build_models_report
from evaluation.grading.results.report.run import build_run_report
from evaluation.grading.results.report.tables import (
    build_against_table,
    build_differences_table,
    build_map_table,
    build_question_answers_table,
    build_worker_answers_table,
)
from evaluation.grading.results.views import against, comparisons, heat_map
from evaluation.grading.results.views import question as questions
from evaluation.grading.results.views import worker as workers
from evaluation.grading.results.views.run import draw_disagreement, draw_grades, draw_ranks
from evaluation.grading.summary import AqerSummary, read_summary
from evaluation.model_comparison.report.groups import GROUPED_BY
from evaluation.model_comparison.report.tables import pair_groups_table
from evaluation.model_comparison.views import pair
from evaluation.models import Run
from evaluation.runs.reports.planner import build_planner_report
from evaluation.runs.reports.run_titles import build_run_file_name
from evaluation.runs.reports.spreadsheet import Table
from evaluation.runs.result_pages import kind_or_404, results_file
from evaluation.runs.run_types import RunSummary
from evaluation.runs.run_types.data_sheets import build_workbook, build_zip
from evaluation.sample_size.charts import build_planner_chart
from evaluation.trust.report.decision import decision
from evaluation.trust.views.decision import people_chart
from evaluation.waves import views as waves
from evaluation.waves.report.comparison import (
    build_model_table,
    build_question_table,
    build_worker_table,
)

# What is asked for stands in the rest of the address, such as a model.
CHARTS: dict[str, Callable[[Run, QueryDict], Chart | None]] = {
    "grades": lambda run, _: draw_grades(run, build_run_report(run).n_graded),
    "decision": lambda run, _: people_chart(run, decision(run)),
    "ranks": lambda run, _: draw_ranks(run, build_run_report(run).n_graded),
    "questions": lambda run, _: draw_disagreement(run, _count_questions(run)),
    "convergence": lambda run, _: build_convergence_chart(read_summary(run).trace),
    "placement": lambda run, _: build_placement_chart(build_models_report(run)),
    "comparison": comparisons.draw_comparisons,
    "differences": comparisons.draw_differences,
    **{f"by-{by}": partial(pair.picture, by) for by in GROUPED_BY},
    "heat-map": lambda run, _: heat_map.draw_overview(run),
    "heat-block": lambda run, asked: heat_map.draw_block(run, heat_map.read_block(run, asked)),
    "planner": lambda run, _: build_planner_chart(build_planner_report(run)),
}

# Tables of graded runs that need more than the run: another one, or two models.
ASKED: dict[str, Callable[[HttpRequest, Run], Table]] = {
    "against": lambda request, run: build_against_table(against.build_comparison(request, run)),
    "waves-people": lambda request, run: build_worker_table(waves.load_report_or_404(request, run)),
    "waves-questions": lambda request, run: build_question_table(
        waves.load_report_or_404(request, run)
    ),
    "waves-models": lambda request, run: build_model_table(waves.load_report_or_404(request, run)),
    "differences": lambda request, run: build_differences_table(
        run, *comparisons.read_models(run, request.GET)
    ),
    "pair-groups": lambda request, run: pair_groups_table(
        run, *comparisons.read_models(run, request.GET)
    ),
}


@partial(results_file, summary=RunSummary)
def send_chart(request: HttpRequest, run: Run, name: str) -> HttpResponseBase:
    """Send a chart of a run as SVG."""
    kind = kind_or_404(run)
    if name in kind.charts:
        return _send_picture(run, kind.charts[name](run))
    if not kind.stores(AqerSummary):
        raise Http404("there is no such picture")
    if name == "against":
        return _send_picture(run, against.draw_grades(against.build_comparison(request, run), run))
    make = CHARTS.get(name)
    return _send_picture(run, make(run, request.GET) if make else None)


@grading_file
def send_worker_chart(request: HttpRequest, run: Run, worker: UUID) -> HttpResponseBase:
    """Send a worker's chart as SVG."""
    return _send_picture(run, workers.draw_scores(run, workers.read_report(run, worker)))


@grading_file
def send_question_chart(request: HttpRequest, run: Run, question: UUID) -> HttpResponseBase:
    """Send a question's chart as SVG."""
    report = questions.read_report(run, question)
    return _send_picture(run, questions.draw_answers(run, question, report))


@grading_file
def send_map_chart(request: HttpRequest, run: Run, question: UUID) -> HttpResponseBase:
    """Send a question's answer map as SVG, for query parameters `iteration` and `axes`."""
    report = read_answer_map(run, question, questions.read_axes(request))
    if report is None:
        raise Http404("the run recorded no map of such a question")
    at = -1
    asked = parse_number(request.GET, "iteration", 0, 99_999_999, blank=True)
    if asked is not None:
        if asked not in report.iterations:
            raise Http404("there is no such iteration")
        at = report.iterations.index(asked)
    return _send_picture(
        run, questions.draw_map(run, report, None if at == -1 else at), build_captions(report)[at]
    )


@grading_file
def send_map_file(request: HttpRequest, run: Run, question: UUID) -> HttpResponseBase:
    """Send the answers' map coordinates and the consensus path of a question as CSV."""
    questions.read_report(run, question)
    return _send_csv(run, "map", build_map_table(run, question))


@partial(results_file, summary=RunSummary)
def send_table(request: HttpRequest, run: Run, name: str) -> HttpResponseBase:
    """Send a table of a run as CSV or in the requested `format`."""
    kind = kind_or_404(run)
    asked = ASKED.get(name) if kind.stores(AqerSummary) else None
    if asked is not None:
        return _send_csv(run, name, asked(request, run))
    make = kind.tables.get(name)
    if make is None:
        raise Http404("there is no such table")
    form = parse_choice(request.GET, "format", FORMATS, "csv")
    found = make(run)
    return download(FORMATS[form](found.header, found.rows), build_run_file_name(run, name), form)


@partial(results_file, summary=RunSummary)
def send_data_sheets(request: HttpRequest, run: Run, form: str) -> HttpResponseBase:
    """Send all tables of a run with summary and column help, as one ZIP or XLSX file."""
    kind = kind_or_404(run)
    made = {"zip": build_zip, "xlsx": build_workbook}.get(form)
    if made is None:
        raise Http404("there is no such form")
    return download(made(kind, run), build_run_file_name(run, "results"), form)


@grading_file
def send_worker_file(request: HttpRequest, run: Run, worker: UUID) -> HttpResponseBase:
    """Send a worker's answers as CSV."""
    workers.read_report(run, worker)
    return _send_csv(run, "worker", build_worker_answers_table(run, worker))


@grading_file
def send_question_file(request: HttpRequest, run: Run, question: UUID) -> HttpResponseBase:
    """Send the answers to a question as CSV."""
    questions.read_report(run, question)
    return _send_csv(run, "question", build_question_answers_table(run, question))


def _count_questions(run: Run) -> int:
    """Return the number of graded questions of a run."""
    return read_summary(run).counts.questions


def _send_picture(run: Run, chart: Chart | None, caption: str = "") -> HttpResponse:
    """Send a chart with its captions as SVG; 404 for None."""
    if chart is None:
        raise Http404("there is no such picture")
    question_set = run.version.question_set
    captions = [
        f"{question_set.name}, version {run.version.number}, run {run.public_id}",
        *filter(None, [caption, question_set.notice]),
    ]
    return HttpResponse(
        chart.standalone(captions),
        content_type="image/svg+xml",
        headers=build_attachment_headers(f"{build_run_file_name(run, chart.name)}.svg"),
    )


def _send_csv(run: Run, name: str, table: Table) -> StreamingHttpResponse:
    """Send a table as a CSV file."""
    return download(write_csv(table.header, table.rows), build_run_file_name(run, name), "csv")
