"""What a terminal shows of a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluation.flow.judge.findings import CorrectedRow
from evaluation.flow.metrics import MetricRow
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
