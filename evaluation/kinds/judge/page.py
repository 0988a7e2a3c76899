"""The page of a judge: what it comes to, how far it agrees, corrected means, what it was told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.charts import Chart
from evaluation.charts.judge import corrected_chart
from evaluation.kinds.kind import Page
from evaluation.models import Run
from evaluation.reports.judge import corrected_rows, judge_report

# Rows of corrected means on the page; the file has all.
SHOWN = 50
PARTS = (
    ("With itself", ("repetition_", "order_")),
    ("With the experts", ("experts_", "against_aqer_")),
    ("With AQER", ("aqer_",)),
)


def context(run: Run) -> Mapping[str, Any]:
    """Return the report, its numbers in parts, and the corrected means."""
    report = judge_report(run)
    rows = corrected_rows(run)
    parts = [
        (title, [one for beginning in beginnings for one in report.part(beginning)])
        for title, beginnings in PARTS
    ]
    # Of what was not judged there is nothing to say line by line.
    parts = [
        (title, [] if all(one.value is None and not one.n for one in rows) else rows)
        for title, rows in parts
    ]
    return {
        "report": report,
        "parts": parts,
        "corrected": rows[:SHOWN],
        "more": max(0, len(rows) - SHOWN),
        "chart": corrected_chart(rows),
    }


def chart_of(run: Run) -> Chart | None:
    """Return the picture of the corrected means."""
    return corrected_chart(corrected_rows(run))


JUDGE_PAGE = Page("", "Judge", "evaluation/judge.html", context)
CHARTS = {"corrected": chart_of}
