"""What a terminal shows of a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluation.flow.judge.findings import CorrectedRow
from evaluation.flow.metrics import MetricRow
from evaluation.models import Run
from evaluation.options import TERMINAL
from evaluation.reports.judge import corrected_rows, judge_report
from evaluation.words.console import printable, text_table
from evaluation.words.judge import METRICS

SHOWN = 40
AGREEMENT = ("agreement", "value", "low", "high", "n", "why empty")
MEANS = ("of", "name", "judge", "experts", "corrected", "low", "high", "judged", "scored")


def text_of(
    system: str,
    metrics: Iterable[MetricRow],
    corrected: Sequence[CorrectedRow],
    warnings: Iterable[str],
) -> str:
    """Return how far a judge agrees, and the corrected means, with what to know first."""
    rows = [
        (
            METRICS.get(row.metric, row.metric) if not row.group else f"{row.group}, kappa",
            *(row.value, row.low, row.high, row.n, row.reason),
        )
        for row in metrics
    ]
    means = [
        (
            *(row.of, row.name, row.judge, row.graded.mean),
            *(row.tuned.mean, row.tuned.low, row.tuned.high, row.n_judged, row.n),
        )
        for row in corrected[:SHOWN]
    ]
    more = len(corrected) - len(means)
    parts = [
        f"{printable(system)} as judge",
        text_table(AGREEMENT, rows),
        text_table(MEANS, means) + (f"\n... and {more} more" if more > 0 else ""),
        "\n".join(f"Warning: {warning}" for warning in warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def text_of_run(run: Run) -> str:
    """Return the same of a run that is done."""
    report = judge_report(run)
    rows = [
        (one.label, one.value, one.low, one.high, one.n, one.why or None)
        for one in report.agreement
    ]
    means = [
        (*(m.of, m.name, m.judge, m.graded), *(m.mean, m.low, m.high, m.n_judged, m.n))
        for m in corrected_rows(run)[:SHOWN]
    ]
    parts = [
        f"{printable(report.judge)} as judge",
        "\n".join(report.said),
        text_table(AGREEMENT, rows),
        text_table(MEANS, means),
        "\n".join(f"Warning: {warning}" for warning in TERMINAL.all_said(run.warnings)),
    ]
    return "\n\n".join(part for part in parts if part)
