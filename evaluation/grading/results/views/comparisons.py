"""The page of a run's language models against each other."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict

from annotations.web.query import parse_public_id
from evaluation.charts.chart import Chart
from evaluation.grading.results.charts.comparisons import comparisons_chart, pair_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.comparisons import (
    ComparisonsReport,
    PairReport,
    comparisons_report,
    pair_report,
)
from evaluation.models import Run
from evaluation.reports.values import CORRECTED_BY
from evaluation.result_pages import Context, asked_correction, question_link


@grading_page("evaluation/comparisons.html")
def comparisons(request: HttpRequest, run: Run) -> Context:
    """Show every pair of models, and where two chosen ones differ.

    `model`, `first`, `second` and `correction` come from the address.
    """
    asked = request.GET
    report = found(run, asked)
    pair = chosen_pair(run, asked, report)
    return {
        "title": f"Models compared on {run.version.question_set.name}",
        "report": report,
        "corrections": CORRECTED_BY,
        "chart": comparisons_chart(report) if report.pairs else None,
        "pair": pair,
        "pair_chart": pair_picture(run, pair),
    }


def found(run: Run, asked: QueryDict) -> ComparisonsReport:
    """Return the pairs with the model that the address names, or all; 404 for an unknown one."""
    report = comparisons_report(
        run, parse_public_id(asked, "model", blank=True), asked_correction(asked)
    )
    if report is None:
        raise Http404("the run has no such model")
    return report


def chosen_pair(run: Run, asked: QueryDict, report: ComparisonsReport) -> PairReport | None:
    """Return the two models the address names, else the first pair; 404 for unknown ones."""
    first, second = (
        parse_public_id(asked, "first", blank=True),
        parse_public_id(asked, "second", blank=True),
    )
    if first is None and second is None:
        if not report.pairs:
            return None
        first, second = report.pairs[0].first, report.pairs[0].second
    if first is None or second is None:
        raise Http404("two models are needed")
    if first == second:
        return None
    pair = pair_report(run, first, second)
    if pair is None:
        raise Http404("the run did not compare these models")
    return pair


def two_models(run: Run, asked: QueryDict) -> tuple[UUID, UUID]:
    """Return the pair the address names, else the first one; 404 without any."""
    pair = chosen_pair(run, asked, found(run, asked))
    if pair is None:
        raise Http404("two models are needed")
    return pair.pair.first, pair.pair.second


def comparison_picture(run: Run, asked: QueryDict) -> Chart | None:
    """Return the picture of the pairs; None without any."""
    report = found(run, asked)
    return comparisons_chart(report) if report.pairs else None


def differences_picture(run: Run, asked: QueryDict) -> Chart | None:
    """Return the picture of two models' questions; None without a pair."""
    return pair_picture(run, chosen_pair(run, asked, found(run, asked)))


def pair_picture(run: Run, pair: PairReport | None) -> Chart | None:
    """Return the picture of a pair; None where the two never differ."""
    if pair is None or not (pair.first_better or pair.second_better):
        return None

    def link(question: UUID) -> str:
        return question_link(run, question)

    return pair_chart(pair, link)
