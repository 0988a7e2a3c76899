"""Pages of a crowd size trial, and of the answer plan of a graded run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase

from annotations.exchange.writing.formats import FORMATS
from annotations.web.downloads import build_download_response
from evaluation.core.charts.chart import Chart
from evaluation.core.options import SITE
from evaluation.grading.results.pages import grading_file, grading_page
from evaluation.models import Run
from evaluation.runs.forms import OptionForm, get_option_form
from evaluation.runs.reports.planner import build_planner_report
from evaluation.runs.result_pages import Context
from evaluation.runs.run_types.kind import Page
from evaluation.sample_size.charts import MEASURE_NAMES, build_crowd_size_chart, build_planner_chart
from evaluation.sample_size.messages import STANDINGS, format_money
from evaluation.sample_size.methods import QUESTIONS, WORKERS
from evaluation.sample_size.report import PLAN_TABLES, build_crowd_size_report, build_run_plan
from evaluation.sample_size.run.trial import PlanTargets


def build_run_chart(run: Run, by: str) -> Chart | None:
    """Return a run's chart of agreement by number of workers or questions; None without values."""
    return build_crowd_size_chart(build_crowd_size_report(run).points, by)


def build_crowd_size_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of a trial's page: its report, and two charts with tables."""
    report = build_crowd_size_report(run)
    parts = [
        {
            "by": by,
            "chart": build_run_chart(run, by),
            "rows": [point for point in report.points if point.by == by],
        }
        for by in (WORKERS, QUESTIONS)
    ]
    return {"report": report, "parts": parts, "compared": MEASURE_NAMES}


CURVES = Page("", "Sample size", "evaluation/sample_size/crowd_size.html", build_crowd_size_context)
CHARTS = {f"crowd-size-{by}": partial(build_run_chart, by=by) for by in (WORKERS, QUESTIONS)}

# Most questions on the page; the file has all.
MAX_SHOWN = 8


@grading_page("evaluation/sample_size/planner.html")
def show_planner(request: HttpRequest, run: Run) -> Context:
    """Show the expected error of the consensus, and the answer plan for the query's options."""
    report = build_planner_report(run)
    form = _build_plan_form(request)
    page: Context = {
        "title": f"How many more answers {report.about.name} needs",
        "report": report,
        "chart": build_planner_chart(report),
        "form": form,
    }
    if form.is_bound and not form.is_valid():
        return page
    wishes: PlanTargets = form.get_parameters() if form.is_bound else PlanTargets()
    plan = build_run_plan(run, wishes)
    rows = [row for row in plan.questions if row.more or row.standing == "beyond"]
    return page | {
        "plan": plan.plan,
        "said": SITE.format_messages(plan.messages),
        "listed": [
            {
                "row": row,
                "cost": format_money(row.cost, wishes.currency),
                "word": STANDINGS[row.standing],
            }
            for row in rows[:MAX_SHOWN]
        ],
        "n_listed": len(rows),
        "costs": {
            "so_far": format_money(plan.plan.cost, wishes.currency),
            "more": format_money(plan.plan.total_cost, wishes.currency),
        },
        "asked": urlencode({name: value for name, value in wishes.as_dict().items() if value}),
    }


@grading_file
def send_plan_file(request: HttpRequest, run: Run, name: str, form: str) -> HttpResponseBase:
    """Send the plan's table of questions or workers as a file, for the query's options."""
    option_form = _build_plan_form(request)
    if name not in PLAN_TABLES or form not in FORMATS:
        raise Http404("there is no such file")
    if option_form.is_bound and not option_form.is_valid():
        raise Http404("the wishes of the address will not do")
    table = PLAN_TABLES[name](
        build_run_plan(run, option_form.get_parameters() if option_form.is_bound else PlanTargets())
    )
    return build_download_response(
        FORMATS[form](table.header, table.rows), _build_file_name(run.public_id, name), form
    )


def _build_file_name(run: UUID, name: str) -> str:
    """Return the name of the file with a table of a run's plan, without its ending."""
    return f"crowdgrade-plan-{name}-{run.hex[-8:]}"


def _build_plan_form(request: HttpRequest) -> OptionForm:
    """Return the form of plan options, filled from the query string or with defaults."""
    known = PlanTargets.get_options()
    values = {name: value for name, value in request.GET.items() if name in known}
    if not values:
        return get_option_form(PlanTargets)(request.user)
    # A bound form takes a missing field for empty, not for its default.
    defaults = {
        name: "" if option.default is None else option.default for name, option in known.items()
    }
    return get_option_form(PlanTargets)(request.user, {**defaults, **values})
