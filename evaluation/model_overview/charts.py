"""Charts of the model overview: each model's views by question, and correlations of views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from evaluation.core.charts.chart import Chart, EstimateRow, build_estimates_chart
from evaluation.core.charts.svg import Drawing, fit_labels, fit_text, format_interval, format_number
from evaluation.grading.results.charts.heat_map import (
    ColourScale,
    compute_legend_height,
    draw_legend,
)
from evaluation.model_overview.messages import SIDES
from evaluation.model_overview.run.findings import (
    CorrelationRow,
    ViewsSummary,
    compute_aspect_disagreement,
)
from evaluation.model_overview.run.gathering import AlignedMetrics
from evaluation.model_overview.storage import load_stored_metrics
from evaluation.models import Run

# Most questions in the chart; the number of models depends on its width.
MOST = 40
FIFTHS = ColourScale(
    (0.2, 0.4, 0.6, 0.8),
    ("lowest fifth of all answers", "second", "third", "fourth", "highest fifth"),
)
LETTERS = "ABCD"
NAMES, NARROW_NAMES = 130.0, 74.0
ROW, LINE = 15.0, 18.0
NARROWEST, WIDEST, GAP = 9.0, 40.0, 8.0


def build_views_chart(
    together: AlignedMetrics, link: Callable[[int], str] = lambda _: ""
) -> Chart | None:
    """Return the chart of each model's measures by question; None if all are of one aspect.

    `link` returns the URL of the page of the model at an index.
    """
    disagreement = compute_aspect_disagreement(together)
    if np.isnan(disagreement.strength).all():
        return None
    sides = [together.views[index] for index in together.sides]
    strongest = np.where(np.isnan(disagreement.strength), -1.0, disagreement.strength).max(axis=0)
    order = [
        index
        for index in np.argsort(-strongest, kind="stable").tolist()[:MOST]
        if strongest[index] >= 0
    ]
    n_models, n_questions = disagreement.strength.shape

    def draw(width: float) -> Drawing:
        """Return the chart's drawing; as many models as fit the width."""
        left = NARROW_NAMES if width <= 600 else NAMES
        block = len(sides) * NARROWEST + GAP
        # At least one, even if its block is narrower than it should be.
        n_columns = max(1, min(n_models, int((width - left) // block)))
        field = min(WIDEST, ((width - left) / n_columns - GAP) / len(sides))
        block = len(sides) * field + GAP
        top = 16.0 + LINE * len(sides) + 40.0
        floor = top + ROW * len(order)
        drawing = Drawing(
            width,
            floor + compute_legend_height(FIFTHS, width) + LINE,
            "All views",
            f"{n_columns} models on {len(order)} questions from {len(sides)} sides",
        )
        drawing.root.set("data-columns", str(n_columns * len(sides)))
        for index, view in enumerate(sides):
            words = f"{LETTERS[index]}  {SIDES[view.side]} ({view.title})"
            drawing.add_text(4, 14 + LINE * index, fit_text(words, width - 8), "label")
        models = fit_labels(together.models, block - GAP, 11)
        for model in range(n_columns):
            x = left + model * block
            full = together.models[model]
            drawing.add_text(x, top - 20, models[model], "label", size=11, full=full)
            for index in range(len(sides)):
                middle = x + (index + 0.5) * field
                drawing.add_text(middle, top - 5, LETTERS[index], "faint", "middle", 10)
        names = fit_labels([together.questions[question] for question in order], left - 10, 11)
        for row, question in enumerate(order):
            y = top + row * ROW
            full = together.questions[question]
            drawing.add_text(left - 6, y + ROW - 4, names[row], "label", "end", 11, full=full)
            for model in range(n_columns):
                for index, view in enumerate(sides):
                    place = disagreement.places[index, model, question]
                    x = left + model * block + index * field
                    text = f"{together.models[model]} on {together.questions[question]}"
                    if np.isnan(place):
                        drawing.begin_group(f"{text}\n{view.title}: not known", link(model))
                        drawing.add_rectangle(x, y, field - 1, ROW - 1, "missing")
                        ends = (x + field * 0.3, y + ROW * 0.65, x + field * 0.6, y + ROW * 0.3)
                        drawing.add_line(*ends, "faint-line")
                    else:
                        number = together.values[together.sides[index], model, question]
                        drawing.begin_group(
                            f"{text}\n{view.title}: {format_number(float(number))}", link(model)
                        )
                        drawing.add_rectangle(x, y, field - 1, ROW - 1, FIFTHS(float(place)))
                    drawing.end_group()
        draw_legend(drawing, FIFTHS, floor, "not known")
        if n_columns < n_models:
            left_out = f"{n_models - n_columns} more models are in the table"
            drawing.add_text(4, drawing.height - 6, left_out, "faint")
        return drawing

    return Chart(
        name="views",
        title="Every model on every question, from all sides",
        explanation=(
            "A row is a question, a block of columns a model, each column a view. The yellower "
            "a field, the higher the rank of the answer among all answers in that view: nearer "
            "to people, surer, steadier, better at noticing what has "
            "no answer. Questions on which the views disagree most are on top: blue next to "
            "yellow within a block is an answer to read."
        ),
        draw=draw,
        note=f"The {len(order)} of {n_questions:,} questions with the strongest disagreement."
        if len(order) < n_questions
        else "",
    )


MOST_CORRELATIONS = 40


def build_views_chart_of_run(run: Run) -> Chart | None:
    """Return the chart of each model's measures by question, of a finished run."""
    return build_views_chart(load_stored_metrics(run, ViewsSummary.from_json(run.summary)))


def build_correlations_chart_of_run(run: Run) -> Chart | None:
    """Return the chart of the correlations between measures, of a finished run."""
    summary = ViewsSummary.from_json(run.summary)
    titles = {view.view.name: view.view.title for view in summary.views}
    return build_correlations_chart(summary.correlations, titles)


def build_correlations_chart(
    rows: Iterable[CorrelationRow], titles: Mapping[str, str]
) -> Chart | None:
    """Return the chart of the correlations between measures; None if none is defined."""
    known = [row for row in rows if row.spearman is not None]
    known.sort(key=lambda row: -abs(row.spearman or 0.0))
    if not known:
        return None
    return build_estimates_chart(
        "view-correlations",
        "How the views go together",
        "Each dot is a rank correlation of two views over the questions of a model, averaged over "
        "the models: 1 where both put the questions into the same order, -1 into the opposite "
        "one. If the line through it, which holds 95 of 100 draws of questions, crosses 0, these "
        "answers do not show that the two have to do with each other.",
        "rank correlation within a model",
        [
            EstimateRow(
                name := f"{titles[row.view]}, {titles[row.other]}",
                row.spearman,
                row.low,
                row.high,
                f"{name}\n{format_number(row.spearman)} ({format_interval(row.low, row.high)})\n"
                f"{row.n_questions} questions, {row.n_models} models",
            )
            for row in known[:MOST_CORRELATIONS]
        ],
    )


CHARTS = {"views": build_views_chart_of_run, "view-correlations": build_correlations_chart_of_run}
