"""Result pages of any run type, experts' judgements, and downloads.

Page of experts' judgements of a run: draw a sample, ask experts, show agreement. Downloads of a
run's charts (SVG) and tables (CSV and others).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import redirect
from django.urls import resolve, reverse
from django.views.decorators.http import require_http_methods

from annotations.exchange.writing.formats import FORMATS, write_csv
from annotations.models import Share, rights
from annotations.web.downloads import build_attachment_headers, build_download_response
from annotations.web.query import parse_choice, parse_number
from annotations.web.scope import RefusedError, get_user_id
from evaluation.core.charts.chart import Chart
from evaluation.grading.results.charts.answers import build_iteration_captions
from evaluation.grading.results.charts.grades import build_convergence_chart
from evaluation.grading.results.charts.models import build_placement_chart
from evaluation.grading.results.pages import grading_file
from evaluation.grading.results.report.maps import read_answer_map
from evaluation.grading.results.report.models import build_models_report
from evaluation.grading.results.report.run import build_run_report
from evaluation.grading.results.report.tables import (
    build_differences_table,
    build_map_table,
    build_question_answers_table,
    build_run_comparison_table,
    build_worker_answers_table,
)
from evaluation.grading.results.views import models, pages
from evaluation.grading.results.views.pages import draw_disagreement, draw_grades, draw_ranks
from evaluation.grading.summary import AqerSummary, read_summary
from evaluation.model_comparison import views
from evaluation.model_comparison.report.leaderboard import build_pair_groups_table
from evaluation.model_comparison.report.scores import GROUPED_BY
from evaluation.models import Run
from evaluation.runs.judging import Judging, draw_sample, request_judgements
from evaluation.runs.judging.declaration import MOST_DRAWN, MOST_SEED
from evaluation.runs.reports.about import build_run_file_name
from evaluation.runs.reports.judging import build_judging_report
from evaluation.runs.reports.lists import Table
from evaluation.runs.reports.planner import build_planner_report
from evaluation.runs.result_pages import (
    Context,
    get_kind_or_404,
    get_run_or_404,
    make_results_file,
    make_results_page,
)
from evaluation.runs.run_types import Kind, RunSummary
from evaluation.runs.run_types.data_sheets import build_run_workbook, build_run_zip
from evaluation.sample_size.charts import build_planner_chart
from evaluation.trust.report.decision import build_decision
from evaluation.trust.views import build_linked_decision_chart
from evaluation.waves import views as waves
from evaluation.waves.report.comparison import (
    build_model_table,
    build_question_table,
    build_worker_table,
)

# Rows of a table on the page; the file has all.
MAX_SHOWN = 50
# No list is longer; a page begins before.
MOST = 10_000_000


def show_first_page(request: HttpRequest, run: UUID) -> HttpResponseBase:
    """Show the first results page of a run, with the view that the run type declares."""
    pages = get_kind_or_404(get_run_or_404(request, run)).pages
    address = next((page.address for page in pages if not page.slug), "")
    if not address:
        return show_results_page(request, run=run)
    view = resolve(reverse(f"admin:{address}", kwargs={"run": run})).func
    response: HttpResponseBase = view(request, run=run)
    return response


@make_results_page("evaluation/kind.html", RunSummary)
def show_results_page(request: HttpRequest, run: Run, slug: str = "") -> Context:
    """Show the page `slug` that the run type declares, or a generic report with tables."""
    kind = get_kind_or_404(run)
    shared = {
        "title": f"{kind.title}: {run.version.question_set.name}",
        "subtitle": f"Version {run.version.number}",
        "warnings": run.warnings,
    }
    for declared in kind.pages:
        if declared.slug == slug and not declared.address:
            if declared.paged is not None:
                first = parse_number(request.GET, "after", 0, MOST, blank=True) or 0
                return {**shared, "template": declared.template, **declared.paged(run, first)}
            return {**shared, "template": declared.template, **declared.context(run)}
    if slug:
        raise Http404("the kind has no such page")
    return {
        **shared,
        "facts": list_single_values(kind.load_result(run)),
        "tables": load_first_table_rows(kind, run),
    }


def list_single_values(report: Any) -> list[tuple[str, Any]]:
    """Return (name in words, value) of a report's fields, without lists and nested reports."""
    return [
        (field.name.replace("_", " "), value)
        for field in fields(report)
        if not is_dataclass(value := getattr(report, field.name))
        and not isinstance(value, list | tuple | dict)
    ]


def load_first_table_rows(kind: Kind, run: Run) -> list[dict[str, Any]]:
    """Return the first 50 rows of each table of a run, and whether there are more."""
    tables = []
    for name, table_of in kind.tables.items():
        table = table_of(run)
        # One more than shown detects whether there are more, without reading the whole table.
        rows = list(islice(table.rows, MAX_SHOWN + 1))
        tables.append(
            {
                "name": name,
                "header": table.header,
                "rows": rows[:MAX_SHOWN],
                "more": len(rows) > MAX_SHOWN,
            }
        )
    return tables


COUNT = 40


class JudgingSampleForm(forms.Form):
    """Form to draw a sample to judge: its size, seed and the experts who judge."""

    count = forms.IntegerField(
        min_value=1,
        max_value=MOST_DRAWN,
        initial=COUNT,
        label="How many",
        help_text="Drawn at random among all. A larger number later on keeps those that were "
        "drawn before.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MOST_SEED,
        initial=0,
        label="Seed",
        help_text="The same seed draws the same ones.",
    )
    experts = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Who judges",
        error_messages={"required": "Choose who judges."},
    )

    def __init__(
        self, people: list[tuple[int, str]], drawn: tuple[int, int | None], data: Any = None
    ) -> None:
        super().__init__(data, label_suffix="")
        n_drawn, seed = drawn
        self.fields["experts"].choices = people  # type: ignore[attr-defined]
        if seed is not None:
            self.fields["count"].initial = n_drawn
            self.fields["seed"].initial = seed
            # A drawn sample can only be enlarged: another seed would draw another one.
            self.fields["seed"].disabled = True


@require_http_methods(["GET", "HEAD", "POST"])
def show_or_request_judgements(request: HttpRequest, run: UUID, name: str) -> HttpResponseBase:
    """Show the judgements of a run; POST requests more from experts."""
    if request.method != "POST":
        return _show_judgements(request, run=run, name=name)
    current_run = get_run_or_404(request, run)
    judging = _get_judging_or_404(current_run, name)
    if not rights(request.user, current_run.version.question_set).edit:
        raise RefusedError("change")
    if current_run.state != Run.State.DONE:
        return redirect("admin:results-judging", current_run.public_id, name)
    form = _build_sample_form(request, current_run, judging, request.POST)
    if form.is_valid():
        return _ask_experts(request, current_run, judging, form)
    # Result pages accept GET only, so the page with the form's errors is built as a GET.
    reading = copy(request)
    reading.method = "GET"
    response: Any = _show_judgements(reading, run=run, name=name, form=form)
    response.status_code = 400
    return response


@make_results_page("evaluation/judging.html", RunSummary)
def _show_judgements(
    request: HttpRequest, run: Run, name: str, form: JudgingSampleForm | None = None
) -> Context:
    """Show the page of a run's judgements: report, agreement and form."""
    judging = _get_judging_or_404(run, name)
    may = rights(request.user, run.version.question_set)
    me = get_user_id(request)
    report = build_judging_report(run, judging)
    return {
        "title": judging.title,
        "subtitle": f"{run.version.question_set.name}, version {run.version.number}",
        "report": report,
        "judging": judging,
        "groups": [
            {"title": "People with each other", "pairs": report.between},
            {"title": "People with programs", "pairs": report.with_machines},
        ],
        "form": form or _build_sample_form(request, run, judging),
        "may": may.edit,
        "sharing": may.manage,
        "own": next((expert for expert in report.experts if expert.user == me), None),
    }


def _get_judging_or_404(run: Run, name: str) -> Judging:
    """Return the run type's judging with this name; raise Http404 if there is none."""
    for judging in get_kind_or_404(run).judging:
        if judging.name == name:
            return judging
    raise Http404("the kind has nothing of that name judged")


def _build_sample_form(
    request: HttpRequest, run: Run, judging: Judging, data: Any = None
) -> JudgingSampleForm:
    """Return the form with the set's experts and the size of the sample drawn so far."""
    me = get_user_id(request)
    shares = Share.objects.filter_experts(run.version.question_set)
    people = [
        *shares.exclude(user=me).values_list("user", "user__username"),
        (me, f"{request.user.get_username()} (you)"),
    ]
    seeds = run.exhibits.filter(judging=judging.name).values_list("seed", flat=True)
    drawn = (len(seeds), next(iter(seeds), None))
    return JudgingSampleForm(people, drawn, data)


def _ask_experts(
    request: HttpRequest, run: Run, judging: Judging, form: JudgingSampleForm
) -> HttpResponse:
    """Draw the sample, ask the experts to judge it, and redirect with a message."""
    drawn = draw_sample(run, judging, form.cleaned_data["count"], form.cleaned_data["seed"])
    address = reverse("admin:results-judging", args=[run.public_id, judging.name])
    if not drawn:
        messages.error(request, f"This run has no {judging.many} to judge.")
        return redirect(address)
    experts = [int(one) for one in form.cleaned_data["experts"]]
    for expert in experts:
        request_judgements(drawn, expert)
    if experts == [get_user_id(request)]:
        return redirect("admin:judging", run.version.question_set.public_id)
    requested = f"{len(drawn)} {judging.many if len(drawn) > 1 else judging.one}"
    messages.success(request, f"Asked about {requested}; experts find them on the page of the set.")
    return redirect(address)


def _build_placement_chart(run: Run) -> Chart:
    """Return the chart that places a run's models among the workers."""
    report = build_models_report(run)
    return build_placement_chart(report.models, report.ceiling, report.crowd)


# The query has further parameters, such as a model.
CHARTS: dict[str, Callable[[Run, QueryDict], Chart | None]] = {
    "grades": lambda run, _: draw_grades(run, build_run_report(run).n_graded),
    "decision": lambda run, _: build_linked_decision_chart(run, build_decision(run)),
    "ranks": lambda run, _: draw_ranks(run, build_run_report(run).n_graded),
    "questions": lambda run, _: draw_disagreement(run, _count_questions(run)),
    "convergence": lambda run, _: build_convergence_chart(read_summary(run).trace),
    "placement": lambda run, _: _build_placement_chart(run),
    "comparison": models.draw_comparisons,
    "differences": models.draw_differences,
    **{f"by-{by}": partial(views.build_groups_chart_of_pair, by) for by in GROUPED_BY},
    "heat-map": lambda run, _: models.draw_overview(run),
    "heat-block": lambda run, asked: models.draw_block(run, models.read_chosen_block(run, asked)),
    "planner": lambda run, _: build_planner_chart(build_planner_report(run)),
}

# Tables of graded runs that need more than the run: another one, or two models.
REQUESTED_TABLES: dict[str, Callable[[HttpRequest, Run], Table]] = {
    "against": lambda request, run: build_run_comparison_table(
        pages.build_comparison(request, run)
    ),
    "waves-people": lambda request, run: build_worker_table(
        waves.load_waves_report_or_404(request, run)
    ),
    "waves-questions": lambda request, run: build_question_table(
        waves.load_waves_report_or_404(request, run)
    ),
    "waves-models": lambda request, run: build_model_table(
        waves.load_waves_report_or_404(request, run)
    ),
    "differences": lambda request, run: build_differences_table(
        run, *models.read_chosen_models(run, request.GET)
    ),
    "pair-groups": lambda request, run: build_pair_groups_table(
        run, *models.read_chosen_models(run, request.GET)
    ),
}


@partial(make_results_file, summary=RunSummary)
def send_chart(request: HttpRequest, run: Run, name: str) -> HttpResponseBase:
    """Send a chart of a run as SVG; 404 if the run has none of this name."""
    kind = get_kind_or_404(run)
    if name in kind.charts:
        return _build_chart_response(run, kind.charts[name](run))
    if not kind.stores_summary(AqerSummary):
        raise Http404("there is no such picture")
    if name == "against":
        return _build_chart_response(
            run, pages.draw_grade_changes(pages.build_comparison(request, run), run)
        )
    make = CHARTS.get(name)
    return _build_chart_response(run, make(run, request.GET) if make else None)


@grading_file
def send_worker_chart(request: HttpRequest, run: Run, worker: UUID) -> HttpResponseBase:
    """Send the chart of a worker's scores as SVG."""
    return _build_chart_response(run, pages.draw_scores(run, pages.read_worker_report(run, worker)))


@grading_file
def send_question_chart(request: HttpRequest, run: Run, question: UUID) -> HttpResponseBase:
    """Send the chart of the answers to a question as SVG."""
    report = pages.read_question_report(run, question)
    return _build_chart_response(run, pages.draw_answers(run, question, report))


@grading_file
def send_map_chart(request: HttpRequest, run: Run, question: UUID) -> HttpResponseBase:
    """Send a question's answer map as SVG, for query parameters `iteration` and `axes`."""
    report = read_answer_map(run, question, pages.read_axes(request))
    if report is None:
        raise Http404("the run recorded no map of such a question")
    index = -1
    number = parse_number(request.GET, "iteration", 0, 99_999_999, blank=True)
    if number is not None:
        if number not in report.iterations:
            raise Http404("there is no such iteration")
        index = report.iterations.index(number)
    return _build_chart_response(
        run,
        pages.draw_map(run, report, None if index == -1 else index),
        build_iteration_captions(report)[index],
    )


@grading_file
def send_map_file(request: HttpRequest, run: Run, question: UUID) -> HttpResponseBase:
    """Send the answers' map coordinates and the consensus path of a question as CSV."""
    pages.read_question_report(run, question)
    return _build_csv_response(run, "map", build_map_table(run, question))


@partial(make_results_file, summary=RunSummary)
def send_table(request: HttpRequest, run: Run, name: str) -> HttpResponseBase:
    """Send a table of a run as CSV or in the requested `format`; 404 for an unknown table."""
    kind = get_kind_or_404(run)
    filter_name = REQUESTED_TABLES.get(name) if kind.stores_summary(AqerSummary) else None
    if filter_name is not None:
        return _build_csv_response(run, name, filter_name(request, run))
    make = kind.tables.get(name)
    if make is None:
        raise Http404("there is no such table")
    form = parse_choice(request.GET, "format", FORMATS, "csv")
    table = make(run)
    return build_download_response(
        FORMATS[form](table.header, table.rows), build_run_file_name(run, name), form
    )


@partial(make_results_file, summary=RunSummary)
def send_data_sheets(request: HttpRequest, run: Run, form: str) -> HttpResponseBase:
    """Send all tables of a run with summary and column help as one ZIP or XLSX file."""
    kind = get_kind_or_404(run)
    made = {"zip": build_run_zip, "xlsx": build_run_workbook}.get(form)
    if made is None:
        raise Http404("there is no such form")
    return build_download_response(made(kind, run), build_run_file_name(run, "results"), form)


@grading_file
def send_worker_file(request: HttpRequest, run: Run, worker: UUID) -> HttpResponseBase:
    """Send a worker's answers in a run as CSV."""
    pages.read_worker_report(run, worker)
    return _build_csv_response(run, "worker", build_worker_answers_table(run, worker))


@grading_file
def send_question_file(request: HttpRequest, run: Run, question: UUID) -> HttpResponseBase:
    """Send the answers to a question in a run as CSV."""
    pages.read_question_report(run, question)
    return _build_csv_response(run, "question", build_question_answers_table(run, question))


def _count_questions(run: Run) -> int:
    """Return the number of graded questions of a run."""
    return read_summary(run).counts.questions


def _build_chart_response(run: Run, chart: Chart | None, caption: str = "") -> HttpResponse:
    """Return a chart with its captions as an SVG file; raise Http404 for None."""
    if chart is None:
        raise Http404("there is no such picture")
    question_set = run.version.question_set
    captions = [
        f"{question_set.name}, version {run.version.number}, run {run.public_id}",
        *filter(None, [caption, question_set.notice]),
    ]
    return HttpResponse(
        chart.build_standalone_svg(captions),
        content_type="image/svg+xml",
        headers=build_attachment_headers(f"{build_run_file_name(run, chart.name)}.svg"),
    )


def _build_csv_response(run: Run, name: str, table: Table) -> StreamingHttpResponse:
    """Return a table as a CSV file to download."""
    return build_download_response(
        write_csv(table.header, table.rows), build_run_file_name(run, name), "csv"
    )
