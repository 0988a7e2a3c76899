"""Pages of the model overview: the question set, the answers one by one, and one model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.urls import reverse

from annotations.models import QuestionSet, rights
from annotations.web.query import parse_number
from evaluation.model_overview.charts import correlations_of, views_chart
from evaluation.model_overview.messages import SIDES
from evaluation.model_overview.report import (
    answers_page,
    disagreements,
    portrait_shown,
    standings_shown,
    views_report,
)
from evaluation.model_overview.run.conclusions import portrait
from evaluation.model_overview.run.findings import ViewsSummary
from evaluation.model_overview.storage import kinds_of_runs, runs_that_tell, together_of
from evaluation.models import Run
from evaluation.runs.flow.stored import Side
from evaluation.runs.result_pages import Context, StartLink, results_page, start_link, way_here
from evaluation.runs.run_types import get_run_kind
from evaluation.runs.run_types.kind import Page

# The run type whose runs these pages show.
VIEWS = "views"
DISAGREEMENTS_SHOWN = 5
MOST = 99_999_999


@dataclass(frozen=True)
class NextStep:
    """A side (aspect) without results, and links to start the runs that would provide them."""

    side: str
    title: str
    starts: list[StartLink]


def next_steps(question_set: QuestionSet, missing: Iterable[Side | str]) -> list[NextStep]:
    """Return links to start the runs that would provide the missing sides (aspects)."""
    result = []
    for side in missing:
        starts = [
            StartLink(kind.verb, kind.words, start_link(kind, question_set), kind.needs_answers)
            for kind in kinds_of_runs()
            if any(viewed.view.side == side for viewed in kind.views)
        ]
        result.append(NextStep(str(side), SIDES[side], starts))
    return result


def newer_runs(run: Run, summary: ViewsSummary) -> list[Run]:
    """Return runs finished after the overview whose results it does not contain."""
    told = {source.run for source in summary.sources}
    newest = runs_that_tell(run.version, [kind.name for kind in kinds_of_runs()])
    return [
        runs[0]
        for runs in newest.values()
        if str(runs[0].public_id) not in told and runs[0].pk > run.pk
    ]


@results_page("evaluation/model_overview/views.html", ViewsSummary)
def views(request: HttpRequest, run: Run) -> Context:
    """Show the overview page: answered questions, models, and where views disagree."""
    summary = ViewsSummary.from_json(run.summary)
    question_set = run.version.question_set
    together = together_of(run, summary)
    titles = {view.view.name: view.view.title for view in summary.views}
    return {
        **_shared(request, run),
        "correlation_rows": [
            {
                "view": titles[row.view],
                "other": titles[row.other],
                "value": row.spearman,
                "low": row.low,
                "high": row.high,
                "questions": row.n_questions,
                "models": row.n_models,
            }
            for row in summary.correlations
        ],
        "title": f"{get_run_kind(run).title}: {question_set.name}",
        "subtitle": f"Version {run.version.number}",
        "breadcrumbs": way_here(run)[:1],
        "report": views_report(run),
        "leading": [view.view for view in summary.views if view.leads],
        "models": _models(summary),
        "chart": views_chart(together, lambda place: _model_link(run, place)),
        "correlations": correlations_of(run),
        "disagreements": disagreements(run, size=DISAGREEMENTS_SHOWN),
        "next_steps": next_steps(question_set, summary.missing),
        "newer": newer_runs(run, summary),
    }


@results_page("evaluation/model_overview/answers.html", ViewsSummary)
def answers(request: HttpRequest, run: Run) -> Context:
    """Show the values of every answer; query parameters `model` (index) and `start`."""
    summary = ViewsSummary.from_json(run.summary)
    place = parse_number(request.GET, "model", 0, MOST, blank=True)
    if place is not None and place >= len(summary.models):
        raise Http404("there is no such model")
    start = parse_number(request.GET, "start", 0, MOST, blank=True) or 0
    return {
        **_shared(request, run),
        "title": f"Answers one by one: {run.version.question_set.name}",
        "models": list(enumerate(summary.models)),
        "place": place,
        "page": answers_page(run, start, place=place),
    }


@results_page("evaluation/model_overview/model.html", ViewsSummary)
def model(request: HttpRequest, run: Run, place: int) -> Context:
    """Show all evidence about one model, for readers who decide about it."""
    summary = ViewsSummary.from_json(run.summary)
    if place >= len(summary.models):
        raise Http404("there is no such model")
    portrait_row = portrait_shown(summary, portrait(summary, place))
    question_set = run.version.question_set
    missing = [side for claim in portrait_row.claims for side in claim.missing]
    return {
        **_shared(request, run),
        "title": portrait_row.model,
        "subtitle": f"All views of a language model on {question_set.name}",
        "breadcrumbs": way_here(run),
        "portrait": portrait_row,
        "standings": standings_shown(summary, portrait_row.model),
        "disagreements": disagreements(run, size=DISAGREEMENTS_SHOWN, model=portrait_row.model),
        "next_steps": {step.side: step for step in next_steps(question_set, missing)},
    }


def _models(summary: ViewsSummary) -> list[dict[str, Any]]:
    """Return a table row per model, with its mean in the leading view of each side."""
    rows = standings_shown(summary)
    return [
        {"name": name, "place": place, "rows": [row for row in rows if row.place == place]}
        for place, name in enumerate(summary.models)
    ]


def newest_views(question_set: QuestionSet) -> QuerySet[Run]:
    """Return the finished model overview runs of a question set, the newest first."""
    of_set = Run.objects.filter(version__question_set=question_set, kind=VIEWS)
    return of_set.filter(state=Run.State.DONE).select_related("version").order_by("-pk")


def model_link(question_set: QuestionSet, name: str) -> str:
    """Return the URL of a model's page in the newest overview; "" if there is none."""
    run = newest_views(question_set).first()
    models = ViewsSummary.from_json(run.summary).models if run is not None else ()
    return "" if run is None or name not in models else _model_link(run, models.index(name))


def _model_link(run: Run, place: int) -> str:
    return reverse("admin:results-views-model", kwargs={"run": run.public_id, "place": place})


def _shared(request: HttpRequest, run: Run) -> dict[str, Any]:
    question_set = run.version.question_set
    return {
        "rights": rights(request.user, question_set),
        "again": start_link(get_run_kind(run), question_set),
    }


PAGES = (
    Page("", "All views", address="results-views"),
    Page("answers", "Answers one by one", address="results-views-answers"),
)
