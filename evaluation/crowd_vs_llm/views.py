"""Page of a comparison of panels, and its chart of models' scores by panel, one row per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.core.charts.chart import Chart, RowLayout, draw_axis
from evaluation.core.charts.svg import Drawing, build_scale, estimate_width, format_number
from evaluation.crowd_vs_llm.report import (
    PANEL_NAMES,
    ModelPanelScores,
    build_panels_report,
    load_panel_questions,
)
from evaluation.models import Run
from evaluation.runs.run_types.kind import Page

MOST = 60
KEY = 24.0


def build_panels_chart(rows: Sequence[ModelPanelScores], ranked: Sequence[str]) -> Chart | None:
    """Return the chart of up to 60 models' scores by panel; None if there are no scores.

    `ranked` are the names of the panels that score models.
    """
    models = [model for model in rows if any(s and s.score is not None for s in model.standings)]
    models = models[:MOST]
    if not models:
        return None
    names = [PANEL_NAMES[panel] for panel in ranked]

    def draw(width: float) -> Drawing:
        """Return the chart's drawing at this width in pixels."""
        keys = _lay_out_legend(names, width)
        top = 14 + KEY * (keys[-1][1] + 1)
        layout = RowLayout(width, [model.name for model in models], top)
        description = f"{len(models)} models scored by {len(names)} panels"
        drawing = Drawing(width, layout.height, "Panels", description)
        scores = [s.score for model in models for s in model.standings if s]
        scale = build_scale(scores, layout.left, layout.right)
        draw_axis(drawing, layout, scale, "mean similarity to the panel's consensus", top)
        for panel, (name, (left, row)) in enumerate(zip(names, keys, strict=True)):
            _draw_mark(drawing, left + 8, 12 + row * KEY, panel)
            drawing.add_text(left + 20, 16 + row * KEY, name, "label")
        for index, model in enumerate(models):
            y = layout.compute_y(index)
            tips = [
                f"{name}: {format_number(s.score if s else None)}"
                + (f", rank {s.rank}" if s and s.rank else "")
                for name, s in zip(names, model.standings, strict=True)
            ]
            drawing.begin_group("\n".join([model.name, *tips]))
            layout.draw_row(drawing, index)
            known = [s.score for s in model.standings if s and s.score is not None]
            drawing.add_line(scale(min(known)), y, scale(max(known)), y, "faint-line")
            for panel, standing in enumerate(model.standings):
                if standing is not None and standing.score is not None:
                    _draw_mark(drawing, scale(standing.score), y, panel)
            drawing.end_group()
        return drawing

    return Chart(
        name="panels",
        title="What each consensus makes of the models",
        explanation=(
            "A row is a model, a mark its mean score under one consensus: a dot under that of the "
            "people, a diamond under that of the models, a star under that of both together. A "
            "model never counts in the consensus that it is compared with. Where marks of one "
            "kind are all to the right of the others, that consensus is kinder to every model; "
            "where rows change their order, it prefers other models."
        ),
        draw=draw,
        note=f"The first {MOST} models are shown." if len(rows) > MOST else "",
    )


def _draw_mark(drawing: Drawing, x: float, y: float, panel: int) -> None:
    """Draw a panel's symbol (dot, diamond or star); `panel` is its index in the legend."""
    if panel == 0:
        drawing.add_dot(x, y, "dot", 5)
    elif panel == 1:
        drawing.add_diamond(x, y, "dot-model")
    elif panel == 2:
        drawing.add_star(x, y, "consensus", 7)
    else:
        drawing.add_dot(x, y, "dot-weak", 5)


def _lay_out_legend(names: list[str], width: float) -> list[tuple[float, int]]:
    """Return the left edge in pixels and the line number of each legend entry."""
    places, left, row = [], 4.0, 0
    for name in names:
        entry_width = 20 + estimate_width(name) + 20
        if left > 4 and left + entry_width > width:
            left, row = 4.0, row + 1
        places.append((left, row))
        left += entry_width
    return places


def build_panels_chart_of_run(run: Run) -> Chart | None:
    """Return the chart of models' scores by panel of a run; None without scores."""
    report = build_panels_report(run)
    return build_panels_chart(report.models, report.ranked)


def build_panels_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the page: report, chart, panel names, and questions."""
    report = build_panels_report(run)
    columns = [PANEL_NAMES[name] for name in report.ranked]
    return {
        "report": report,
        "chart": build_panels_chart(report.models, report.ranked),
        "columns": columns,
        "models": [
            (model, list(zip(columns, model.standings, strict=True))) for model in report.models
        ],
        "panels": [(PANEL_NAMES[panel.name], panel) for panel in report.panels],
        "distances": [
            (PANEL_NAMES[row.first], PANEL_NAMES[row.second], row) for row in report.distances
        ],
        "questions": load_panel_questions(run),
    }


PANELS_PAGE = Page(
    "", "Crowd and models", "evaluation/crowd_vs_llm/panels.html", build_panels_context
)
CHARTS = {"panels": build_panels_chart_of_run}
