"""Page of a run of the LLM judge, and its chart of mean grades.

Chart of mean grades from a language model's judgments, corrected by its error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.core.charts.chart import Chart, EstimateRow, build_estimates_chart
from evaluation.core.charts.svg import format_number
from evaluation.llm_judge.report import CorrectedMean, build_report, load_corrected_rows
from evaluation.llm_judge.storage import estimate_requests
from evaluation.models import Run
from evaluation.runs.run_types.kind import Page, Start

# Rows of the chart; more could not be compared by eye.
MOST = 40


def build_corrected_chart(rows: Sequence[CorrectedMean]) -> Chart | None:
    """Return the chart of each author's corrected mean grade; None if there is none."""
    known = [row for row in rows if row.mean is not None][:MOST]
    if not known:
        return None
    return build_estimates_chart(
        name="corrected",
        title="Mean grades, with the judge's error taken off",
        explanation=(
            "A dot is the mean grade of a worker's or model's answers: the judge's scores of "
            "all of them, corrected by their error where experts graded too. The line is its 95% "
            "interval."
        ),
        axis="grade, 0 to 5",
        rows=[_build_chart_row(row) for row in known],
    )


def _build_chart_row(row: CorrectedMean) -> EstimateRow:
    """Return an author's row of the chart; drawn faint if the mean has no interval."""
    tip = "\n".join(
        [
            row.name,
            f"corrected {format_number(row.mean)}",
            f"judge {format_number(row.judge)}, {row.n} answers",
            f"experts {format_number(row.graded)}, {row.n_judged} answers",
        ]
    )
    css_class = "-model" if row.of == "model" else "" if row.low is not None else "-weak"
    return EstimateRow(row.name, row.mean, row.low, row.high, tip, style=css_class)  # type: ignore[arg-type]


# Corrected means on the page; the file has all.
MAX_SHOWN = 50
PARTS = (
    ("With itself", ("repetition_", "order_")),
    ("With the experts", ("experts_", "against_aqer_")),
    ("With AQER", ("aqer_",)),
)


def build_judge_context(run: Run) -> Mapping[str, Any]:
    """Return the context of the run's page: report, agreement, corrected means, chart."""
    report = build_report(run)
    rows = load_corrected_rows(run)
    parts = [
        (title, [row for prefix in prefixes for row in report.select_agreement_metrics(prefix)])
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
        "corrected": rows[:MAX_SHOWN],
        "more": max(0, len(rows) - MAX_SHOWN),
        "chart": build_corrected_chart(rows),
    }


def load_corrected_chart(run: Run) -> Chart | None:
    """Return the chart of the corrected mean grades of a run; None if there are none."""
    return build_corrected_chart(load_corrected_rows(run))


JUDGE_PAGE = Page("", "LLM judge", "evaluation/llm_judge/judge.html", build_judge_context)
CHARTS = {"corrected": load_corrected_chart}
START = Start(foreseen=estimate_requests)
