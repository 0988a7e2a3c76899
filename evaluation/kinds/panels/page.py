"""The page of panels: what was found, each model under each of them, the questions apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.charts import Chart
from evaluation.charts.panels import panels_chart
from evaluation.kinds.kind import Page
from evaluation.models import Run
from evaluation.reports.panels import CALLED, panel_questions, panels_report


def chart_of(run: Run) -> Chart | None:
    """Return the picture of the models under each panel."""
    return panels_chart(panels_report(run))


def context(run: Run) -> Mapping[str, Any]:
    """Return the report with names for panels, its picture, and the questions most apart."""
    report = panels_report(run)
    columns = [CALLED[name] for name in report.ranked]
    return {
        "report": report,
        "chart": panels_chart(report),
        "columns": columns,
        "models": [
            (model, list(zip(columns, model.standings, strict=True))) for model in report.models
        ],
        "panels": [(CALLED[panel.name], panel) for panel in report.panels],
        "distances": [(CALLED[one.first], CALLED[one.second], one) for one in report.distances],
        "questions": panel_questions(run),
    }


PANELS_PAGE = Page("", "Whose consensus?", "evaluation/panels.html", context)
CHARTS = {"panels": chart_of}
