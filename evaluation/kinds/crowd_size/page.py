"""The page of a trial of crowd sizes: the answer, the curves, the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.charts.crowd_size import COMPARED, crowd_size_chart
from evaluation.kinds.kind import Page
from evaluation.methods.crowd_size import QUESTIONS, WORKERS
from evaluation.models import Run
from evaluation.reports.crowd_size import crowd_size_report


def context(run: Run) -> Mapping[str, Any]:
    """Return the report, a picture for workers and one for questions, and the rows below each."""
    report = crowd_size_report(run)
    parts = [
        {
            "by": by,
            "chart": crowd_size_chart(report.points, by),
            "rows": [point for point in report.points if point.by == by],
        }
        for by in (WORKERS, QUESTIONS)
    ]
    return {"report": report, "parts": parts, "compared": COMPARED}


CURVES = Page("", "How many workers", "evaluation/crowd_size.html", context)
