"""Page of a run of the LLM judge: findings, agreement, corrected means and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.charts.chart import Chart
from evaluation.llm_judge.charts import build_corrected_chart
from evaluation.llm_judge.report import build_report, load_corrected_rows
from evaluation.llm_judge.storage import estimate_requests
from evaluation.models import Run
from evaluation.runs.run_types.kind import Page, Start

# Corrected means on the page; the file has all.
SHOWN = 50
PARTS = (
    ("With itself", ("repetition_", "order_")),
    ("With the experts", ("experts_", "against_aqer_")),
    ("With AQER", ("aqer_",)),
)


def build_context(run: Run) -> Mapping[str, Any]:
    """Return the context of the run's page: report, agreement, corrected means, chart."""
    report = build_report(run)
    rows = load_corrected_rows(run)
    parts = [
        (title, [row for prefix in prefixes for row in report.select_agreement(prefix)])
        for title, prefixes in PARTS
    ]
    # A part without any data is one sentence on the page, not a table of empty rows.
    parts = [
        (title, [] if all(row.value is None and not row.n for row in part) else part)
        for title, part in parts
    ]
    return {
        "report": report,
        "parts": parts,
        "corrected": rows[:SHOWN],
        "more": max(0, len(rows) - SHOWN),
        "chart": build_corrected_chart(rows),
    }


def draw_corrected_chart(run: Run) -> Chart | None:
    """Return the chart of the corrected mean grades of a run; None if there are none."""
    return build_corrected_chart(load_corrected_rows(run))


JUDGE_PAGE = Page("", "LLM judge", "evaluation/llm_judge/judge.html", build_context)
CHARTS = {"corrected": draw_corrected_chart}
START = Start(foreseen=estimate_requests)
