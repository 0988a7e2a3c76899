"""The page of a trial of crowd sizes: the answer, the curves, the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from evaluation.charts import Chart
from evaluation.charts.crowd_size import COMPARED, crowd_size_chart
from evaluation.kinds.kind import Page
from evaluation.methods.crowd_size import QUESTIONS, WORKERS
from evaluation.models import Run
from evaluation.reports.crowd_size import crowd_size_report


def chart_of(run: Run, by: str) -> Chart | None:
    """Return the picture of workers or of questions."""
    return crowd_size_chart(crowd_size_report(run).points, by)


def context(run: Run) -> Mapping[str, Any]:
    """Return the report, a picture for workers and one for questions, and the rows below each."""
    report = crowd_size_report(run)
    parts = [
        {
            "by": by,
            "chart": chart_of(run, by),
            "rows": [point for point in report.points if point.by == by],
        }
        for by in (WORKERS, QUESTIONS)
    ]
    return {"report": report, "parts": parts, "compared": COMPARED}


CURVES = Page("", "How many workers", "evaluation/crowd_size.html", context)
CHARTS = {f"crowd-size-{by}": partial(chart_of, by=by) for by in (WORKERS, QUESTIONS)}
