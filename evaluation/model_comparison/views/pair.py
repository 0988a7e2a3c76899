"""Page that compares two language models of a run."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from annotations.web.query import parse_choice, parse_number, parse_public_id
from evaluation.core.charts.chart import Chart
from evaluation.core.estimates import CORRECTED_BY
from evaluation.grading.results.pages import grading_file, grading_page
from evaluation.grading.results.views.comparisons import read_models
from evaluation.model_comparison.charts import groups_chart
from evaluation.model_comparison.report import ORDERS, differences, pair_detail
from evaluation.models import Run
from evaluation.runs.result_pages import Context, asked_correction


@grading_page("evaluation/pair.html")
def pair(request: HttpRequest, run: Run, first: UUID, second: UUID) -> Context:
    """Show which of two models is better, overall, by group and by question.

    `order`, `start` and `correction` come from the address.
    """
    asked = request.GET
    correction = asked_correction(asked)
    order = parse_choice(asked, "order", ORDERS, "largest")
    start = parse_number(asked, "start", 0, 99_999_999, blank=True) or 0
    found = pair_detail(run, first, second, correction)
    if found is None:
        raise Http404("the run did not compare these models")
    detail, table = found
    return {
        "title": f"{detail.pair.first_name} and {detail.pair.second_name}",
        "subtitle": run.version.question_set.name,
        "detail": detail,
        "corrected_by": CORRECTED_BY[correction],
        "order": order,
        "orders": ORDERS,
        "shown": differences(run, table, first, second, order, start),
        "charts": [(grouping, groups_chart(detail, grouping)) for grouping in detail.groupings],
    }


@grading_file
def two(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Redirect to the page of the two models chosen in a form, else to all pairs."""
    first, second = parse_public_id(request.GET, "first"), parse_public_id(request.GET, "second")
    asked = urlencode({"correction": asked_correction(request.GET)})
    if first is None or second is None or first == second:
        return redirect(f"{reverse('admin:results-comparison', args=[run.public_id])}?{asked}")
    pair_page = reverse("admin:results-pair", args=[run.public_id, first, second])
    return redirect(f"{pair_page}?{asked}")


def picture(by: str, run: Run, asked: QueryDict) -> Chart | None:
    """Return the chart of two models by one kind of question group; None without groups."""
    found = pair_detail(run, *read_models(run, asked))
    if found is None:
        return None
    detail, _ = found
    shown = (grouping for grouping in detail.groupings if grouping.by == by)
    grouping = next(shown, None)
    return groups_chart(detail, grouping) if grouping else None
