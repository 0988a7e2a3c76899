"""Page with the leaderboard of a question set's language models."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from annotations.models import rights
from annotations.web.pages import build_breadcrumbs
from annotations.web.paging import Page
from annotations.web.query import parse_choice, parse_public_id
from annotations.web.scope import get_answered_set
from evaluation.core.estimates import CORRECTED_BY, HOLM
from evaluation.core.stats.inference.corrections import Correction
from evaluation.crowd_vs_llm.report import build_report
from evaluation.grading.facts.report import build_run_facts
from evaluation.grading.results.charts.placement import build_placement_chart
from evaluation.grading.results.report.models import build_models_report
from evaluation.model_comparison.report import leaderboard_report
from evaluation.model_comparison.report.groups import group_tables
from evaluation.model_comparison.report.leaderboard import run_compared, runs_of
from evaluation.model_comparison.report.scores import ScoreTable
from evaluation.models import Run
from evaluation.runs.result_pages import start_link
from evaluation.runs.run_types import list_run_kinds
from evaluation.runs.run_types.run_list import list_runs

# The kind of run that compares the consensus of people with that of models.
PANELS = "panels"
# Models beside each other in the table of groups, and groups of each kind; the file has all.
COLUMNS_SHOWN = 6
GROUPS_SHOWN = 12


@require_safe
def compare_models(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the leaderboard of a run (query parameter `run`, else the official run).

    `correction` in the address is that of the p-values.
    """
    question_set = get_answered_set(request, set_id)
    runs = runs_of(question_set)
    run = chosen(runs, parse_public_id(request.GET, "run", blank=True))
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
        context |= of_run(run, correction, runs)
    return TemplateResponse(request, "evaluation/compare_models.html", context)


def chosen(runs: list[Run], wanted: UUID | None) -> Run | None:
    """Return the run of an id, else the official one; None without runs, 404 for a wrong id."""
    if wanted is None:
        return run_compared(runs)
    for run in runs:
        if run.public_id == wanted:
            return run
    raise Http404("the set has no such run with results")


def newest_panels(run: Run) -> Run | None:
    """Return the newest panel comparison of a run's question set; None without one."""
    of_set = Run.objects.filter(version__question_set=run.version.question_set_id, kind=PANELS)
    return of_set.filter(state=Run.State.DONE).select_related("version").order_by("-pk").first()


def of_run(run: Run, correction: Correction, runs: list[Run]) -> dict[str, Any]:
    """Return the page context on the models of one run."""
    table, costs = ScoreTable.with_costs(run)
    report = leaderboard_report(run, correction, runs, table.standings, costs)
    if not report.models:
        return {"report": report}
    panels, kind = newest_panels(run), list_run_kinds().get(PANELS)
    placed = build_models_report(run, models=Page([row.standing for row in report.models]))
    return {
        "report": report,
        "corrected_by": CORRECTED_BY[correction],
        "panels": panels,
        "panels_said": build_report(panels).said[0] if panels else "",
        "panels_start": start_link(kind, run.version.question_set) if kind else "",
        "chart": build_placement_chart(placed),
        "shown_columns": COLUMNS_SHOWN,
        "shown_slice": f":{COLUMNS_SHOWN}",
        "groups_slice": f":{GROUPS_SHOWN}",
        "groups": group_tables(table),
        "told": {
            "facts": build_run_facts(run) is not None,
            "seconds": any(row.costs.seconds is not None for row in report.models),
            "cost": any(row.costs.cost is not None for row in report.models),
        },
    }
