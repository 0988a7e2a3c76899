"""Charts of UMWP: F1 with intervals by model, and F1 by model size for each prompt form.

Forms are never pooled: each has its own panel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.charts.chart import Chart, EstimateRow, build_estimates_chart
from evaluation.core.charts.svg import (
    Drawing,
    Scale,
    estimate_width,
    format_interval,
    format_number,
    format_tick,
)
from evaluation.umwp.report.results import RecognitionRates
from evaluation.umwp.run.tables import SizeRow

PANEL, GAP = 220.0, 56.0
LEFT, RIGHT = 46.0, 16.0
LEGEND_ROW = 22.0
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"), (1.0, ""))


@dataclass(frozen=True)
class SizedPoint:
    """A chart point: a model in one prompt form, its parameter count, and a value (0 to 1)."""

    form: str
    tuning: str
    name: str
    parameters: float
    value: float
    low: float | None = None
    high: float | None = None


def format_size(parameters: float) -> str:
    """Return a number of model parameters in short form, such as 7B for 7e9."""
    # .9995 instead of 1: 999.6 million is rounded to three digits, and so is 1B, not 1e+03M.
    unit, letter = next((pair for pair in _UNITS if parameters >= pair[0] * 0.9995), (1.0, ""))
    return f"{parameters / unit:.3g}{letter}"


def build_size_chart(
    points: Sequence[SizedPoint], what: str, explanation: str, left_out: int = 0
) -> Chart | None:
    """Return the chart of a metric by model size, one panel per prompt form; None if empty.

    `what` is the label of the measure. `left_out` is the number of models without size or value.
    """
    if not points:
        return None
    forms = list(dict.fromkeys(point.form for point in points))
    tunings = list(dict.fromkeys(point.tuning for point in points))
    logs = [math.log10(point.parameters) for point in points]
    # At least .15 of a power of ten, or a single size would have a scale of no width.
    margin = max(0.15, (max(logs) - min(logs)) * 0.06)

    def draw(width: float) -> Drawing:
        entries = _place_legend_entries(tunings, width) if len(tunings) > 1 else []
        top = 24 + LEGEND_ROW * (entries[-1][1] + 1 if entries else 0)
        height = top + len(forms) * (PANEL + GAP)
        drawing = Drawing(
            width, height, f"{what} by size", f"{len(points)} numbers in {len(forms)} forms"
        )
        for index, (left, row) in enumerate(entries):
            label = tunings[index] or "unknown tuning"
            _draw_tuning_symbol(drawing, left + 8, 10 + row * LEGEND_ROW, index)
            drawing.add_text(left + 20, 14 + row * LEGEND_ROW, label, "label")
        x = Scale(min(logs) - margin, max(logs) + margin, LEFT, width - RIGHT)
        for index, form in enumerate(forms):
            panel_top = top + index * (PANEL + GAP)
            form_points = [point for point in points if point.form == form]
            _draw_panel(drawing, form, form_points, x, panel_top, tunings, what)
        return drawing

    return Chart(
        name="by-size",
        title=f"{what} by size of the model",
        explanation=explanation,
        draw=draw,
        note=f"{left_out} without a known size, or without the number, are not shown."
        if left_out
        else "",
    )


def _draw_panel(
    drawing: Drawing,
    form: str,
    points: Sequence[SizedPoint],
    x: Scale,
    top: float,
    tunings: Sequence[str],
    what: str,
) -> None:
    """Draw the axes and points of one prompt form; `x` scales log10 of the parameters."""
    bottom = top + PANEL
    y = Scale(0.0, 1.0, bottom, top + 8)
    drawing.add_text(LEFT, top - 4, f"{form}: {what}", "label")
    for tick in y.list_ticks(5):
        drawing.add_line(LEFT, y(tick), x.end, y(tick), "grid")
        drawing.add_text(LEFT - 8, y(tick) + 4, format_tick(tick), "faint", "end")
    for power, factor in _choose_log_ticks(x):
        tick_x = x(power + math.log10(factor))
        drawing.add_text(tick_x, bottom + 17, format_size(factor * 10.0**power), "faint", "middle")
    drawing.add_line(LEFT, bottom, x.end, bottom, "axis")
    drawing.add_text((LEFT + x.end) / 2, bottom + 34, "parameters", "faint", "middle")
    for point in points:
        mark_x = x(math.log10(point.parameters))
        tuning = f", {point.tuning}" if point.tuning else ""
        drawing.begin_group(
            f"{point.name} ({format_size(point.parameters)}{tuning})\n"
            f"{what} {format_number(point.value)} ({format_interval(point.low, point.high)})"
        )
        if point.low is not None and point.high is not None:
            drawing.add_line(mark_x, y(point.low), mark_x, y(point.high), "whisker-weak")
        _draw_tuning_symbol(drawing, mark_x, y(point.value), tunings.index(point.tuning))
        drawing.end_group()


def _choose_log_ticks(x: Scale) -> list[tuple[int, int]]:
    """Return axis ticks as (power of ten, factor), with the fewest factors for two ticks."""
    powers = range(math.floor(x.low), math.ceil(x.high) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 4, 5, 6, 7, 8, 9)):
        ticks = [
            (power, factor)
            for power in powers
            for factor in factors
            if x.low <= power + math.log10(factor) <= x.high
        ]
        if len(ticks) > 1:
            return ticks
    return ticks


def _draw_tuning_symbol(drawing: Drawing, x: float, y: float, tuning: int) -> None:
    """Draw the symbol of a tuning type by its index; symbols differ in shape, not only colour."""
    if tuning % 4 == 0:
        drawing.add_dot(x, y, "dot", 5)
    elif tuning % 4 == 1:
        drawing.add_diamond(x, y, "dot-model")
    elif tuning % 4 == 2:
        drawing.add_star(x, y, "consensus", 7)
    else:
        drawing.add_dot(x, y, "dot-weak", 5)


def _place_legend_entries(names: Sequence[str], width: float) -> list[tuple[float, int]]:
    """Return the left edge in pixels and the line number of each legend entry."""
    positions, left, row = [], 4.0, 0
    for name in names:
        entry_width = 20 + estimate_width(name or "unknown tuning") + 20
        if left > 4 and left + entry_width > width:
            left, row = 4.0, row + 1
        positions.append((left, row))
        left += entry_width
    return positions


EXPLANATION = (
    "Each mark is a model with one prompt form: larger models to the right, higher F1 above. Lines "
    "are 95% intervals over questions. Each prompt form has a panel, because a hint makes the task "
    "easier."
)


def build_f1_by_size_chart(rows: Sequence[SizeRow]) -> Chart | None:
    """Return the chart of F1 by model size; None if no model has both."""
    points = [
        SizedPoint(row.form, row.tuning, row.system, row.parameters, row.f1, row.low, row.high)
        for row in rows
        if row.parameters is not None and row.f1 is not None
    ]
    return build_size_chart(points, "F1", EXPLANATION, len(rows) - len(points))


def build_f1_chart(models: Sequence[RecognitionRates]) -> Chart | None:
    """Return the chart of F1 by model and prompt form; None if no F1 is defined."""
    rows = [
        EstimateRow(
            f"{model.system}, {model.form}",
            model.f1.value,
            model.f1.low,
            model.f1.high,
            f"{model.system}, {model.form}\nF1 {format_number(model.f1.value)} "
            f"({format_interval(model.f1.low, model.f1.high)})\n{model.noticed} of "
            f"{model.without_answer} "
            f"unanswerable recognised\n{model.wrongly} of {model.with_answer} answerable called "
            "unanswerable",
            style="-model",
        )
        for model in models
        if model.f1.value is not None
    ]
    if not rows:
        return None
    return build_estimates_chart(
        "noticing",
        "F1 of recognising unanswerable questions",
        "Each dot is a model with one prompt form. At 1 the model calls all unanswerable questions "
        "unanswerable, and no others. Lines are 95% intervals over questions. Where they overlap "
        "widely, the order of the models is uncertain.",
        "F1, 0 to 1",
        rows,
    )
