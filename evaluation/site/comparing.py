"""The page that compares the language models of a question set."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from annotations.models import rights
from annotations.web.pages import breadcrumbs
from annotations.web.query import choice, public_id
from annotations.web.scope import answered_set
from evaluation.charts import placement_chart
from evaluation.kinds import run_kinds
from evaluation.kinds.listed import listed
from evaluation.methods.inference.corrections import Correction
from evaluation.models import Run
from evaluation.reports import models_report
from evaluation.reports.comparing import leaderboard_report
from evaluation.reports.comparing.groups import group_tables
from evaluation.reports.comparing.leaderboard import run_compared, runs_of
from evaluation.reports.comparing.scores import ScoreTable
from evaluation.reports.comparisons import CORRECTED_BY, HOLM
from evaluation.reports.facts import run_facts
from evaluation.reports.panels import panels_report
from evaluation.site.starting import start_link

# The kind of run that compares the consensus of people with that of models.
PANELS = "panels"
# Models beside each other in the table of groups, and groups of each kind; the file has all.
COLUMNS_SHOWN = 6
GROUPS_SHOWN = 12


@require_safe
def compare_models(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the leaderboard against the exemplary answers of a run (`run`, else that of record).

    `correction` in the address is that of the p-values.
    """
    question_set = answered_set(request, set_id)
    runs = runs_of(question_set)
    run = chosen(runs, public_id(request.GET, "run", blank=True))
    context: dict[str, Any] = {
        "title": "Models compared",
        "subtitle": question_set.name,
        "breadcrumbs": breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "rights": rights(request.user, question_set),
        "runs": listed(runs),
        "run": run,
        "corrections": CORRECTED_BY,
    }
    if run is not None:
        correction: Correction = choice(request.GET, "correction", CORRECTED_BY, HOLM)  # type: ignore[assignment]
        context |= of_run(run, correction)
    return TemplateResponse(request, "evaluation/compare_models.html", context)


def chosen(runs: list[Run], wanted: UUID | None) -> Run | None:
    """Return the run of that id, the run of record without an id, None without runs; else 404."""
    if wanted is None:
        return run_compared(runs)
    for run in runs:
        if run.public_id == wanted:
            return run
    raise Http404("the set has no such run with results")


def newest_panels(run: Run) -> Run | None:
    """Return the newest comparison of panels over the set of a run; None without one."""
    of_set = Run.objects.filter(version__question_set=run.version.question_set_id, kind=PANELS)
    return of_set.filter(state=Run.State.DONE).select_related("version").order_by("-pk").first()


def of_run(run: Run, correction: Correction) -> dict[str, Any]:
    """Return what the page shows of a run's models."""
    report = leaderboard_report(run, correction)
    if not report.models:
        return {"report": report}
    panels, kind = newest_panels(run), run_kinds().get(PANELS)
    placed = models_report(run)
    return {
        "report": report,
        "corrected_by": CORRECTED_BY[correction],
        "panels": panels,
        "panels_said": panels_report(panels).said[0] if panels else "",
        "panels_start": start_link(kind, run.version.question_set) if kind else "",
        "chart": placement_chart(placed),
        "shown_columns": COLUMNS_SHOWN,
        "shown_slice": f":{COLUMNS_SHOWN}",
        "groups_slice": f":{GROUPS_SHOWN}",
        "groups": group_tables(ScoreTable.of(run)),
        "told": {
            "facts": run_facts(run) is not None,
            "seconds": any(row.costs.seconds is not None for row in report.models),
            "cost": any(row.costs.cost is not None for row in report.models),
        },
    }
