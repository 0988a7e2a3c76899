"""Web pages of the language models in a run: all, one, and pair by pair.

Web page that compares a run's language models pair by pair.
"""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict

from annotations.web.query import parse_public_id
from evaluation.core.charts.chart import Chart
from evaluation.core.estimates import CORRECTED_BY
from evaluation.grading.alarms.report import build_alarms_report
from evaluation.grading.facts.report import build_run_facts
from evaluation.grading.results.charts.models import (
    build_comparisons_chart,
    build_crowd_table,
    build_pair_chart,
    build_placement_chart,
)
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.comparisons import (
    ComparisonsReport,
    PairReport,
    build_comparisons_report,
    build_pair_report,
)
from evaluation.grading.results.report.models import build_model_report, build_models_report
from evaluation.models import Run
from evaluation.runs.result_pages import Context, asked_correction, question_link


@grading_page("evaluation/models.html")
def show_models(request: HttpRequest, run: Run) -> Context:
    """Show the models by score, and a chart of them among the workers' scores."""
    after = request.GET.get("after", "")
    report = build_models_report(run, after)
    return {
        "title": f"Language models on {report.about.name}",
        "report": report,
        "alarms": build_alarms_report(run),
        "chart": (
            build_placement_chart(report.models, report.ceiling, report.crowd)
            if report.models.rows
            else None
        ),
        "has_facts": build_run_facts(run) is not None,
        "crowd": build_crowd_table(report.crowd),
    }


@grading_page("evaluation/model.html")
def show_model(request: HttpRequest, run: Run, model: UUID) -> Context:
    """Show a model's scores, its facts compared with the crowd's, and its answers.

    `after` (a page of answers) comes from the address.
    """
    report = build_model_report(run, model, request.GET.get("after", ""))
    if report is None:
        raise Http404("the run has no such model")
    return {"title": report.model.name, "report": report}


@grading_page("evaluation/comparisons.html")
def show_comparisons(request: HttpRequest, run: Run) -> Context:
    """Show every pair of models, and the questions on which a chosen pair differs.

    `model`, `first`, `second` and `correction` come from the address.
    """
    query = request.GET
    report = read_report(run, query)
    pair = read_pair(run, query, report)
    return {
        "title": f"Models compared on {run.version.question_set.name}",
        "report": report,
        "corrections": CORRECTED_BY,
        "chart": build_comparisons_chart(report) if report.pairs else None,
        "pair": pair,
        "pair_chart": draw_pair(run, pair),
    }


def read_report(run: Run, query: QueryDict) -> ComparisonsReport:
    """Return the compared pairs of models, or those with the query parameter `model`."""
    report = build_comparisons_report(
        run, parse_public_id(query, "model", blank=True), asked_correction(query)
    )
    if report is None:
        raise Http404("the run has no such model")
    return report


def read_pair(run: Run, query: QueryDict, report: ComparisonsReport) -> PairReport | None:
    """Return the pair in the query parameters `first` and `second`, else the first pair."""
    first, second = (
        parse_public_id(query, "first", blank=True),
        parse_public_id(query, "second", blank=True),
    )
    if first is None and second is None:
        if not report.pairs:
            return None
        first, second = report.pairs[0].first, report.pairs[0].second
    if first is None or second is None:
        raise Http404("two models are needed")
    if first == second:
        return None
    pair = build_pair_report(run, first, second)
    if pair is None:
        raise Http404("the run did not compare these models")
    return pair


def read_models(run: Run, query: QueryDict) -> tuple[UUID, UUID]:
    """Return the ids of the two models in the query parameters, else of the first pair."""
    pair = read_pair(run, query, read_report(run, query))
    if pair is None:
        raise Http404("two models are needed")
    return pair.pair.first, pair.pair.second


def draw_comparisons(run: Run, query: QueryDict) -> Chart | None:
    """Return the chart of the compared pairs of models; None without pairs."""
    report = read_report(run, query)
    return build_comparisons_chart(report) if report.pairs else None


def draw_differences(run: Run, query: QueryDict) -> Chart | None:
    """Return the chart of the questions on which two models differ; None without a pair."""
    return draw_pair(run, read_pair(run, query, read_report(run, query)))


def draw_pair(run: Run, pair: PairReport | None) -> Chart | None:
    """Return the chart of the questions on which two models differ; None if they never do."""
    if pair is None or not (pair.first_better or pair.second_better):
        return None

    def link(question: UUID) -> str:
        return question_link(run, question)

    return build_pair_chart(pair, link)
