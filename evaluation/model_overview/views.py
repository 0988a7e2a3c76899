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
from evaluation.model_overview.charts import build_correlations_chart_of_run, build_views_chart
from evaluation.model_overview.messages import SIDES
from evaluation.model_overview.report import (
    build_model_rows,
    build_portrait_report,
    build_views_report,
    load_answers,
    load_disagreements,
)
from evaluation.model_overview.run.conclusions import build_portrait
from evaluation.model_overview.run.findings import ViewsSummary
from evaluation.model_overview.storage import find_source_runs, list_kinds_of_runs, load_values
from evaluation.models import Run
from evaluation.runs.flow.stored import Aspect
from evaluation.runs.result_pages import (
    Context,
    StartLink,
    build_breadcrumbs,
    build_start_link,
    make_results_page,
)
from evaluation.runs.run_types import get_run_kind
from evaluation.runs.run_types.kind import Page

# The run type whose runs these pages show.
VIEWS = "views"
DISAGREEMENTS_SHOWN = 5
MOST = 99_999_999


@dataclass(frozen=True)
class NextStep:
    """An aspect of models without results, and links to start the runs that would provide them."""

    side: str
    title: str
    starts: list[StartLink]


def build_next_steps(question_set: QuestionSet, missing: Iterable[Aspect | str]) -> list[NextStep]:
    """Return links to start the runs that would provide the missing aspects of models."""
    result = []
    for side in missing:
        starts = [
            StartLink(
                kind.start_label,
                kind.words,
                build_start_link(kind, question_set),
                kind.needs_answers,
            )
            for kind in list_kinds_of_runs()
            if any(viewed.view.side == side for viewed in kind.views)
        ]
        result.append(NextStep(str(side), SIDES[side], starts))
    return result


def find_newer_runs(run: Run, summary: ViewsSummary) -> list[Run]:
    """Return runs finished after the overview whose results it does not contain."""
    told = {source.run for source in summary.sources}
    newest = find_source_runs(run.version, [kind.name for kind in list_kinds_of_runs()])
    return [
        runs[0]
        for runs in newest.values()
        if str(runs[0].public_id) not in told and runs[0].pk > run.pk
    ]


@make_results_page("evaluation/model_overview/views.html", ViewsSummary)
def show_overview(request: HttpRequest, run: Run) -> Context:
    """Show the overview page: answered questions, models, and where views disagree."""
    summary = ViewsSummary.from_json(run.summary)
    question_set = run.version.question_set
    together = load_values(run, summary)
    titles = {view.view.name: view.view.title for view in summary.views}
    return {
        **_build_shared_context(request, run),
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
        "breadcrumbs": build_breadcrumbs(run)[:1],
        "report": build_views_report(run),
        "leading": [view.view for view in summary.views if view.leads],
        "models": _build_model_rows(summary),
        "chart": build_views_chart(together, lambda place: _build_page_link(run, place)),
        "correlations": build_correlations_chart_of_run(run),
        "disagreements": load_disagreements(run, size=DISAGREEMENTS_SHOWN),
        "next_steps": build_next_steps(question_set, summary.missing),
        "newer": find_newer_runs(run, summary),
    }


@make_results_page("evaluation/model_overview/answers.html", ViewsSummary)
def show_answers(request: HttpRequest, run: Run) -> Context:
    """Show the values of every answer; query parameters `show_model` (index) and `start`."""
    summary = ViewsSummary.from_json(run.summary)
    place = parse_number(request.GET, "model", 0, MOST, blank=True)
    if place is not None and place >= len(summary.models):
        raise Http404("there is no such model")
    start = parse_number(request.GET, "start", 0, MOST, blank=True) or 0
    return {
        **_build_shared_context(request, run),
        "title": f"Answers one by one: {run.version.question_set.name}",
        "models": list(enumerate(summary.models)),
        "place": place,
        "page": load_answers(run, start, place=place),
    }


@make_results_page("evaluation/model_overview/model.html", ViewsSummary)
def show_model(request: HttpRequest, run: Run, place: int) -> Context:
    """Show all evidence about one model, for readers who decide about it."""
    summary = ViewsSummary.from_json(run.summary)
    if place >= len(summary.models):
        raise Http404("there is no such model")
    portrait_row = build_portrait_report(summary, build_portrait(summary, place))
    question_set = run.version.question_set
    missing = [side for claim in portrait_row.claims for side in claim.missing]
    return {
        **_build_shared_context(request, run),
        "title": portrait_row.model,
        "subtitle": f"All views of a language model on {question_set.name}",
        "breadcrumbs": build_breadcrumbs(run),
        "portrait": portrait_row,
        "standings": build_model_rows(summary, portrait_row.model),
        "disagreements": load_disagreements(
            run, size=DISAGREEMENTS_SHOWN, model=portrait_row.model
        ),
        "next_steps": {step.side: step for step in build_next_steps(question_set, missing)},
    }


def _build_model_rows(summary: ViewsSummary) -> list[dict[str, Any]]:
    """Return a table row per model, with its mean in the leading view of each side."""
    rows = build_model_rows(summary)
    return [
        {"name": name, "place": place, "rows": [row for row in rows if row.place == place]}
        for place, name in enumerate(summary.models)
    ]


def select_overviews(question_set: QuestionSet) -> QuerySet[Run]:
    """Return the finished model overview runs of a question set, the newest first."""
    of_set = Run.objects.filter(version__question_set=question_set, kind=VIEWS)
    return of_set.filter(state=Run.State.DONE).select_related("version").order_by("-pk")


def build_model_link(question_set: QuestionSet, name: str) -> str:
    """Return the URL of a model's page in the newest overview; "" if there is none."""
    run = select_overviews(question_set).first()
    models = ViewsSummary.from_json(run.summary).models if run is not None else ()
    return "" if run is None or name not in models else _build_page_link(run, models.index(name))


def _build_page_link(run: Run, place: int) -> str:
    """Return the URL of the page of the model at index `place` of a run."""
    return reverse("admin:results-views-model", kwargs={"run": run.public_id, "place": place})


def _build_shared_context(request: HttpRequest, run: Run) -> dict[str, Any]:
    """Return the template context that all pages share: rights, and the link to start a new run."""
    question_set = run.version.question_set
    return {
        "rights": rights(request.user, question_set),
        "again": build_start_link(get_run_kind(run), question_set),
    }


PAGES = (
    Page("", "All views", address="results-views"),
    Page("answers", "Answers one by one", address="results-views-answers"),
)
