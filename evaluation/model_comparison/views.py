"""Pages that compare language models, and the chart of two models' differences by group."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotations.models import rights
from annotations.web.pages import build_breadcrumbs
from annotations.web.paging import Page
from annotations.web.query import parse_choice, parse_number, parse_public_id
from annotations.web.scope import get_set_with_answers
from evaluation.core.charts.chart import Chart, EstimateRow, RowLayout, draw_axis, draw_rows
from evaluation.core.charts.svg import Drawing, build_scale, format_interval, format_number
from evaluation.core.estimates import CORRECTED_BY, HOLM
from evaluation.core.stats.inference.significance import Correction
from evaluation.crowd_vs_llm.report import build_panels_report
from evaluation.grading.facts.report import build_run_facts
from evaluation.grading.results.charts.models import build_placement_chart
from evaluation.grading.results.pages import grading_file, grading_page
from evaluation.grading.results.report.models import build_models_report
from evaluation.grading.results.views.models import read_chosen_models
from evaluation.model_comparison.report import (
    ORDERS,
    build_leaderboard,
    build_pair_detail,
    load_differences_page,
)
from evaluation.model_comparison.report.leaderboard import (
    choose_leaderboard_run,
    list_comparable_runs,
)
from evaluation.model_comparison.report.pair import PairDetail, PairGroup, PairGrouping
from evaluation.model_comparison.report.scores import ScoreTable, build_group_tables
from evaluation.models import Run
from evaluation.runs.result_pages import Context, build_start_link, get_p_value_correction
from evaluation.runs.run_types import list_run_kinds
from evaluation.runs.run_types.run_list import list_runs

MOST = 30


def build_groups_chart(detail: PairDetail, grouping: PairGrouping) -> Chart:
    """Return the chart of two models' differences in at most 30 groups, largest first."""
    first, second = detail.pair.first_name, detail.pair.second_name
    plotted = grouping.groups[:MOST]
    rows = [
        EstimateRow(
            name=f"{group.name or 'not given'} ({group.n})",
            value=group.difference.value,
            low=group.difference.low,
            high=group.difference.high,
            tip=_format_tooltip(group, first, second),
            style="-model" if group.better else "-weak",
        )
        for group in plotted
    ]

    def draw(width: float) -> Drawing:
        """Return the chart's drawing at this width in pixels."""
        layout = RowLayout(width, [row.name for row in rows])
        description = f"{len(rows)} groups, differences with 95% intervals"
        drawing = Drawing(width, layout.height, f"By {grouping.by}", description)
        values = [value for row in rows for value in (row.value, row.low, row.high)]
        # With 0, so that the line of no difference is visible.
        scale = build_scale([*values, 0.0], layout.left, layout.right)
        draw_axis(drawing, layout, scale, "score of the first less that of the second")
        zero = scale(0.0)
        drawing.add_line(zero, layout.top, zero, layout.bottom, "median")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name=f"by-{grouping.by}",
        title=f"By {grouping.by}",
        explanation=(
            f"Every row is a {grouping.by}, with its number of questions. Right of the dotted zero "
            "the first model is better, left of it the second; the line is the 95% interval. "
            "Filled diamonds are more than chance (Holm's correction for the number of groups), "
            "hollow dots are not."
        ),
        draw=draw,
        note=f"The {MOST} largest of {grouping.n_groups} are shown."
        if grouping.n_groups > MOST
        else "",
    )


def _format_tooltip(group: PairGroup, first: str, second: str) -> str:
    """Return the tooltip of a group: both means, their difference, and the number of questions."""
    ends = format_interval(group.difference.low, group.difference.high, "unknown")
    return "\n".join(
        [
            group.name or "not given",
            f"{first}: {format_number(group.first.value)}",
            f"{second}: {format_number(group.second.value)}",
            f"difference {format_number(group.difference.value)}, interval {ends}",
            f"{group.n} questions",
        ]
    )


# The kind of run that compares the consensus of people with that of models.
PANELS = "panels"
# Models beside each other in the table of groups, and groups of each kind; the file has all.
COLUMNS_SHOWN = 6
GROUPS_SHOWN = 12


@require_safe
def show_leaderboard(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show a set's leaderboard: of the run in the query, else of the official run.

    `correction` in the address is that of the p-values.
    """
    question_set = get_set_with_answers(request, set_id)
    runs = list_comparable_runs(question_set)
    run = find_requested_run(runs, parse_public_id(request.GET, "run", blank=True))
    context: dict[str, Any] = {
        "title": "Models compared",
        "subtitle": question_set.name,
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
        "runs": list_runs(runs),
        "run": run,
        "corrections": CORRECTED_BY,
    }
    if run is not None:
        correction: Correction = parse_choice(request.GET, "correction", CORRECTED_BY, HOLM)  # type: ignore[assignment]
        context |= build_leaderboard_context(run, correction, runs)
    return TemplateResponse(request, "evaluation/compare_models.html", context)


def find_requested_run(runs: list[Run], wanted: UUID | None) -> Run | None:
    """Return the run with an id, else the official one; None without runs, 404 for a wrong id."""
    if wanted is None:
        return choose_leaderboard_run(runs)
    # Only among the runs of this set: the id of another set's run is a 404.
    for run in runs:
        if run.public_id == wanted:
            return run
    raise Http404("the set has no such run with results")


def find_panel_comparison(run: Run) -> Run | None:
    """Return the newest panel comparison of a run's question set; None without one."""
    of_set = Run.objects.filter(version__question_set=run.version.question_set_id, kind=PANELS)
    return of_set.filter(state=Run.State.DONE).select_related("version").order_by("-pk").first()


def build_leaderboard_context(run: Run, correction: Correction, runs: list[Run]) -> dict[str, Any]:
    """Return the part of the page context on the models of one run."""
    table, costs = ScoreTable.from_run_with_costs(run)
    report = build_leaderboard(run, correction, runs, table.standings, costs)
    if not report.models:
        return {"report": report}
    panels, kind = find_panel_comparison(run), list_run_kinds().get(PANELS)
    placed = build_models_report(run, models=Page([row.standing for row in report.models]))
    return {
        "report": report,
        "corrected_by": CORRECTED_BY[correction],
        "panels": panels,
        "panels_said": build_panels_report(panels).said[0] if panels else "",
        "panels_start": build_start_link(kind, run.version.question_set) if kind else "",
        "chart": build_placement_chart(placed.models, placed.ceiling, placed.crowd),
        "shown_columns": COLUMNS_SHOWN,
        "shown_slice": f":{COLUMNS_SHOWN}",
        "groups_slice": f":{GROUPS_SHOWN}",
        "groups": build_group_tables(table),
        "told": {
            "facts": build_run_facts(run) is not None,
            "seconds": any(row.costs.seconds is not None for row in report.models),
            "cost": any(row.costs.cost is not None for row in report.models),
        },
    }


@grading_page("evaluation/pair.html")
def show_pair(request: HttpRequest, run: Run, first: UUID, second: UUID) -> Context:
    """Show which of two models is better, overall, by group and by question.

    `order`, `start` and `correction` come from the address.
    """
    query = request.GET
    correction = get_p_value_correction(query)
    order = parse_choice(query, "order", ORDERS, "largest")
    start = parse_number(query, "start", 0, 99_999_999, blank=True) or 0
    pair_report = build_pair_detail(run, first, second, correction)
    if pair_report is None:
        raise Http404("the run did not compare these models")
    detail, table = pair_report
    return {
        "title": f"{detail.pair.first_name} and {detail.pair.second_name}",
        "subtitle": run.version.question_set.name,
        "detail": detail,
        "corrected_by": CORRECTED_BY[correction],
        "order": order,
        "orders": ORDERS,
        "shown": load_differences_page(run, table, first, second, order, start),
        "charts": [
            (grouping, build_groups_chart(detail, grouping)) for grouping in detail.groupings
        ],
    }


@grading_file
def redirect_to_pair(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Redirect to the page of the two models chosen in a form, else to all pairs."""
    first, second = parse_public_id(request.GET, "first"), parse_public_id(request.GET, "second")
    query = urlencode({"correction": get_p_value_correction(request.GET)})
    if first is None or second is None or first == second:
        return redirect(f"{reverse('admin:results-comparison', args=[run.public_id])}?{query}")
    pair_page = reverse("admin:results-pair", args=[run.public_id, first, second])
    return redirect(f"{pair_page}?{query}")


def build_groups_chart_of_pair(by: str, run: Run, query: QueryDict) -> Chart | None:
    """Return the chart of two models by one kind of question group; None without groups."""
    pair_report = build_pair_detail(run, *read_chosen_models(run, query))
    if pair_report is None:
        return None
    detail, _ = pair_report
    groupings = (grouping for grouping in detail.groupings if grouping.by == by)
    grouping = next(groupings, None)
    return build_groups_chart(detail, grouping) if grouping else None
