"""Charts of MultiQ&A: accuracy or crowd score of each model over wordings, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evaluation.core.charts.chart import (
    Chart,
    EstimateRow,
    RowLayout,
    RowStyle,
    draw_axis,
    draw_rows,
)
from evaluation.core.charts.svg import Drawing, Scale, build_scale, format_number
from evaluation.core.charts.svg import format_interval as interval_of
from evaluation.multiqa.messages import NumberWords
from evaluation.multiqa.report import MetricCell, NumberRow, build_number_rows, index_metrics
from evaluation.runs.flow.metrics import OVERALL, MetricRow

# Models in a chart; more would leave no room for their names.
MOST_MODELS = 15
# Rows of each model: label and look, by metric.
ACCURACY_ROWS: dict[str, tuple[str, RowStyle]] = {
    "worst_case": ("worst case", ""),
    "plurality": ("plurality", "-model"),
    "accuracy": ("original", "-model"),
    "best_case": ("best case", ""),
}
CROWD_ROWS: dict[str, tuple[str, RowStyle]] = {
    "crowd_worst": ("worst wording", ""),
    "crowd_score": ("all wordings", "-model"),
    "crowd_score_original": ("original", "-model"),
    "crowd_best": ("best wording", ""),
}


def build_accuracy_chart(systems: Sequence[str], numbers: Sequence[NumberRow]) -> Chart | None:
    """Return the chart of models' accuracy over wordings; None without accepted answers."""
    return _build_metric_chart(
        systems,
        numbers,
        ACCURACY_ROWS,
        "robustness",
        "Accuracy over wordings: worst case, plurality, original, best case",
        "Each model has four rows. Dots: share of questions that are right in every wording (worst "
        "case) and in at least one (best case); the farther apart they are, the more the answers "
        "depend on the wording. Diamonds: plurality accuracy and accuracy in the original wording. "
        "Lines are 95% intervals over questions; the thin mark is the chance level.",
        "share of questions",
    )


def build_crowd_chart(systems: Sequence[str], numbers: Sequence[NumberRow]) -> Chart | None:
    """Return the chart of models' crowd scores over wordings; None without workers' answers."""
    return _build_metric_chart(
        systems,
        numbers,
        CROWD_ROWS,
        "nearness",
        "Crowd score in the worst, in all, and in the best wording",
        "Each model has four rows: mean similarity of its replies to the workers' exemplary "
        "answers (95% intervals over questions). Dots: the least and the most similar reply to a "
        "question; the farther apart they are, the more the score depends on the wording.",
        "crowd score",
    )


def _build_metric_chart(
    systems: Sequence[str],
    table: Sequence[NumberRow],
    metrics: dict[str, tuple[str, RowStyle]],
    name: str,
    title: str,
    explanation: str,
    axis: str,
) -> Chart | None:
    """Return a chart with one row per model and metric of `metrics`; None without values."""
    by_metric = {row.name: row for row in table if row.name in metrics}
    rows: list[tuple[EstimateRow, MetricCell]] = []
    for index, system in enumerate(systems[:MOST_MODELS]):
        for metric, (label, css_class) in metrics.items():
            cell = by_metric[metric].of[index] if metric in by_metric else None
            if cell is not None and cell.value is not None:
                row = EstimateRow(
                    f"{system}: {label}",
                    cell.value,
                    cell.low,
                    cell.high,
                    _format_tooltip(system, label, cell),
                    style=css_class,
                )
                rows.append((row, cell))
    if not rows:
        return None

    def draw(width: float) -> Drawing:
        layout = RowLayout(width, [row.name for row, _ in rows])
        drawing = Drawing(width, layout.height, title, f"{len(rows)} numbers")
        # Accuracies have the whole scale, so that charts of two runs can be compared.
        if name == "nearness":
            scale = _build_value_scale(rows, layout)
        else:
            scale = Scale(0, 1, layout.left, layout.right)
        draw_axis(drawing, layout, scale, axis)
        for index, (_, cell) in enumerate(rows):
            if cell.chance is not None:
                x, y = scale(cell.chance), layout.compute_y(index)
                drawing.add_line(x, y - 6, x, y + 6, "faint-line")
        draw_rows(drawing, layout, scale, [row for row, _ in rows])
        return drawing

    more = len(systems) - MOST_MODELS
    note = f"The first {MOST_MODELS} models are shown." if more > 0 else ""
    return Chart(name=name, title=title, explanation=explanation, draw=draw, note=note)


def _build_value_scale(rows: list[tuple[EstimateRow, MetricCell]], layout: RowLayout) -> Scale:
    """Return the horizontal scale that covers all values and intervals of the chart rows."""
    values = [value for row, _ in rows for value in (row.value, row.low, row.high)]
    return build_scale(values, layout.left, layout.right)


def _format_tooltip(system: str, label: str, cell: MetricCell) -> str:
    """Return the tooltip of a chart row: value, interval, chance level and number of questions."""
    lines = [f"{system}: {label}", format_number(cell.value)]
    if cell.low is not None:
        lines.append(f"95% interval {interval_of(cell.low, cell.high)}")
    if cell.chance is not None:
        lines.append(f"chance level {format_number(cell.chance)}")
    return "\n".join([*lines, f"{cell.n:,} questions"])


def build_overall_rows(
    rows: Iterable[MetricRow], descriptions: Mapping[str, NumberWords]
) -> tuple[list[str], tuple[NumberRow, ...]]:
    """Return the models, and a chart row for each described metric over all items.

    `rows` are those of metrics.csv.
    """
    overall = [row for row in rows if row.group == OVERALL]
    systems = list(dict.fromkeys(row.system for row in overall))
    cells = index_metrics(overall)
    return systems, build_number_rows(cells, OVERALL, systems, descriptions, list(descriptions))
