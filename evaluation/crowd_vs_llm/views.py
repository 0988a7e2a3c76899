"""Page of a comparison of panels: messages, models under each panel, least similar questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.charts.chart import Chart
from evaluation.crowd_vs_llm.charts import build_panels_chart
from evaluation.crowd_vs_llm.report import PANEL_NAMES, build_report, load_panel_questions
from evaluation.models import Run
from evaluation.runs.run_types.kind import Page


def build_chart(run: Run) -> Chart | None:
    """Return a run's chart of models' scores by panel; None without scores."""
    return build_panels_chart(build_report(run))


def build_context(run: Run) -> Mapping[str, Any]:
    """Return the template context of the page: report, chart, panel names, and questions."""
    report = build_report(run)
    columns = [PANEL_NAMES[name] for name in report.ranked]
    return {
        "report": report,
        "chart": build_panels_chart(report),
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


PANELS_PAGE = Page("", "Crowd and models", "evaluation/crowd_vs_llm/panels.html", build_context)
CHARTS = {"panels": build_chart}
