"""The page of two language models of a run, side by side."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from annotations.web.query import choice, number, public_id
from evaluation.charts import Chart
from evaluation.charts.groups import groups_chart
from evaluation.models import Run
from evaluation.reports.comparing import ORDERS, differences, pair_detail
from evaluation.reports.comparisons import CORRECTED_BY
from evaluation.site.results.comparisons import asked_correction, two_models
from evaluation.site.results.page import Context, results_file, results_page


@results_page("evaluation/pair.html")
def pair(request: HttpRequest, run: Run, first: UUID, second: UUID) -> Context:
    """Show who is better, in which groups, and on which questions.

    `order`, `start` and `correction` come from the address.
    """
    asked = request.GET
    correction = asked_correction(asked)
    order = choice(asked, "order", ORDERS, "largest")
    start = number(asked, "start", 0, 99_999_999, blank=True) or 0
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


@results_file
def two(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Lead to the page of the two models that a form named; to all pairs otherwise."""
    first, second = public_id(request.GET, "first"), public_id(request.GET, "second")
    asked = urlencode({"correction": asked_correction(request.GET)})
    if first is None or second is None or first == second:
        return redirect(f"{reverse('admin:results-comparison', args=[run.public_id])}?{asked}")
    pair_page = reverse("admin:results-pair", args=[run.public_id, first, second])
    return redirect(f"{pair_page}?{asked}")


def picture(by: str, run: Run, asked: QueryDict) -> Chart | None:
    """Return the picture of two models' groups by something; None where there are none."""
    found = pair_detail(run, *two_models(run, asked))
    if found is None:
        return None
    detail, _ = found
    shown = (grouping for grouping in detail.groupings if grouping.by == by)
    grouping = next(shown, None)
    return groups_chart(detail, grouping) if grouping else None
