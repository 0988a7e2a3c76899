"""The page that says how many answers a question needs, and what more of them would cost."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase

from annotations.exchange.writing.formats import FORMATS
from annotations.web.downloads import download
from evaluation.charts.planner import planner_chart
from evaluation.flow.plan.wishes import Wishes
from evaluation.models import Run
from evaluation.options import SITE
from evaluation.reports.plan import PLAN_TABLES, plan_of
from evaluation.reports.planner import planner_report
from evaluation.site.option_form import OptionForm, form_for
from evaluation.site.results.page import Context, results_file, results_page
from evaluation.words.plan import STANDINGS, money

# Questions on the page; the file has all.
SHOWN = 8


@results_page("evaluation/planner.html")
def planner(request: HttpRequest, run: Run) -> Context:
    """Show what more answers would buy and cost, by the wishes of the address; then the bounds."""
    report = planner_report(run)
    form = _form(request)
    shown: Context = {
        "title": f"How many more answers {report.about.name} needs",
        "report": report,
        "chart": planner_chart(report),
        "form": form,
    }
    if form.is_bound and not form.is_valid():
        return shown
    wishes: Wishes = form.parameters() if form.is_bound else Wishes()
    found = plan_of(run, wishes)
    listed = [row for row in found.questions if row.more or row.standing == "beyond"]
    return shown | {
        "plan": found.plan,
        "said": SITE.all_said(found.messages),
        "listed": [
            {"row": row, "cost": money(row.cost, wishes.currency), "word": STANDINGS[row.standing]}
            for row in listed[:SHOWN]
        ],
        "n_listed": len(listed),
        "costs": {
            "so_far": money(found.plan.cost, wishes.currency),
            "more": money(found.plan.total_cost, wishes.currency),
        },
        "asked": urlencode({name: value for name, value in wishes.as_dict().items() if value}),
    }


@results_file
def plan_file(request: HttpRequest, run: Run, name: str, form: str) -> HttpResponseBase:
    """Send the plan's questions or workers as a file, by the wishes of the address."""
    asked = _form(request)
    if name not in PLAN_TABLES or form not in FORMATS:
        raise Http404("there is no such file")
    if asked.is_bound and not asked.is_valid():
        raise Http404("the wishes of the address will not do")
    table = PLAN_TABLES[name](plan_of(run, asked.parameters() if asked.is_bound else Wishes()))
    return download(FORMATS[form](table.header, table.rows), _file_name(run.public_id, name), form)


def _file_name(run: UUID, name: str) -> str:
    return f"crowdgrade-plan-{name}-{run.hex[-8:]}"


def _form(request: HttpRequest) -> OptionForm:
    """Return the form, filled in by the address where that has a wish, with defaults beside."""
    known = Wishes.options()
    asked = {name: value for name, value in request.GET.items() if name in known}
    if not asked:
        return form_for(Wishes)(request.user)
    defaults = {
        name: "" if option.default is None else option.default for name, option in known.items()
    }
    return form_for(Wishes)(request.user, {**defaults, **asked})
