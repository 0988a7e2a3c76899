"""Draw charts of the methods' correlations with the truth, one for each setting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Look, Row, draw_estimates
from evaluation.evidence.baselines import CONTRADICTION, METHODS
from evaluation.evidence.tables import EvidenceRow

LOOKS: dict[str, Look] = {
    "aqer": "",
    "baseline": "-weak",
    "control": "-weak",
    "supervised": "-model",
}


def draw_method_charts(rows: Sequence[EvidenceRow], axis: str) -> list[Chart]:
    """Return a chart for each setting in table order, with the best method on top."""
    return [
        draw_method_chart(setting, [row for row in rows if row.setting == setting], axis)
        for setting in dict.fromkeys(row.setting for row in rows)
    ]


def draw_method_chart(setting: str, rows: Sequence[EvidenceRow], axis: str) -> Chart:
    """Return the chart of the methods in one setting; omit methods without a result."""
    known = [row for row in rows if not math.isnan(row.pearson_mean)]
    known.sort(key=lambda row: -row.pearson_mean)
    chart = draw_estimates(
        name=f"table-{setting}",
        title=f"Agreement with the truth, {setting}",
        explanation=(
            "Each row is a method; the further to the right, the better its scores of workers "
            "agree with the truth. Lines are one standard deviation over simulated crowds to "
            "either side. Filled dots are AQER and its variants, open ones what it is compared "
            "with; the diamond knows the answers."
        ),
        axis=axis,
        rows=[_build_chart_row(row) for row in known],
    )
    return replace(
        chart,
        note="Filled dots: AQER and its variants. Open dots: baselines. Diamond: knows the key. "
        "Lines: one standard deviation over crowds.",
    )


def _build_chart_row(row: EvidenceRow) -> Row:
    """Return the chart row of a method: mean, one standard deviation to either side, and a tip."""
    mean, sd = row.pearson_mean, row.pearson_sd
    return Row(
        name=row.method,
        value=mean,
        low=None if sd is None else mean - sd,
        high=None if sd is None else min(1.0, mean + sd),
        tip=f"{row.method}\nr {mean:.3f}" + ("" if sd is None else f", sd {sd:.3f}"),
        look=LOOKS[METHODS.get(row.method, CONTRADICTION).kind],
    )
