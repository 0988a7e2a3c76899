"""The pictures of all views: fields of answers, and correlations with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluation.charts import Chart, estimates_chart
from evaluation.charts.rows import Row
from evaluation.charts.scales import interval, three_digits
from evaluation.charts.views import views_chart
from evaluation.flow.views.finding import CorrelationRow
from evaluation.flow.views.summary import ViewsSummary
from evaluation.models import Run
from evaluation.steps.views import together_of

MOST = 40


def fields_of(run: Run) -> Chart | None:
    """Return the picture of a run's answers."""
    return views_chart(together_of(run, ViewsSummary.of(run.summary)))


def correlations_of(run: Run) -> Chart | None:
    """Return the picture of a run's correlations."""
    summary = ViewsSummary.of(run.summary)
    titles = {one.view.name: one.view.title for one in summary.views}
    return correlations_chart(summary.correlations, titles)


def correlations_chart(rows: Iterable[CorrelationRow], titles: Mapping[str, str]) -> Chart | None:
    """Return the picture of correlations between views; None without one that is defined."""
    known = [row for row in rows if row.spearman is not None]
    known.sort(key=lambda row: -abs(row.spearman or 0.0))
    if not known:
        return None
    return estimates_chart(
        "view-correlations",
        "How the views go together",
        "Each dot is a rank correlation of two views over the questions of a model, averaged over "
        "the models: 1 where both put the questions into the same order, -1 into the opposite "
        "one. If the line through it, which holds 95 of 100 draws of questions, crosses 0, these "
        "answers do not show that the two have to do with each other.",
        "rank correlation within a model",
        [
            Row(
                name := f"{titles[row.view]}, {titles[row.other]}",
                row.spearman,
                row.low,
                row.high,
                f"{name}\n{three_digits(row.spearman)} ({interval(row.low, row.high)})\n"
                f"{row.n_questions} questions, {row.n_models} models",
            )
            for row in known[:MOST]
        ],
    )


CHARTS = {"views": fields_of, "view-correlations": correlations_of}
