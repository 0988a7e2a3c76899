"""The table of methods as pictures, one for each setting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from evaluation.charts.chart import Chart
from evaluation.charts.rows import Look, Row, estimates_chart
from evaluation.evidence.baselines import CONTRADICTION, METHODS
from evaluation.evidence.tables import EvidenceRow

LOOKS: dict[str, Look] = {"aqer": "", "baseline": "-weak", "supervised": "-model"}


def methods_charts(rows: Sequence[EvidenceRow], axis: str) -> list[Chart]:
    """Return a picture for each setting, in the order of the table, the best method on top."""
    return [
        methods_chart(setting, [row for row in rows if row.setting == setting], axis)
        for setting in dict.fromkeys(row.setting for row in rows)
    ]


def methods_chart(setting: str, rows: Sequence[EvidenceRow], axis: str) -> Chart:
    """Return the picture of a setting's rows; methods that could not be computed are left out."""
    known = [row for row in rows if not math.isnan(row.pearson_mean)]
    known.sort(key=lambda row: -row.pearson_mean)
    chart = estimates_chart(
        name=f"table-{setting}",
        title=f"Agreement with the truth, {setting}",
        explanation=(
            "Each row is a method; the further to the right, the better its scores of workers "
            "agree with the truth. Lines are one standard deviation over simulated crowds to "
            "either side. Filled dots are AQER and its variants, open ones what it is compared "
            "with; the diamond knows the answers."
        ),
        axis=axis,
        rows=[_row(row) for row in known],
    )
    return replace(
        chart,
        note="Filled dots: AQER and its variants. Open dots: baselines. Diamond: knows the key. "
        "Lines: one standard deviation over crowds.",
    )


def _row(row: EvidenceRow) -> Row:
    mean, sd = row.pearson_mean, row.pearson_sd
    return Row(
        name=row.method,
        value=mean,
        low=None if sd is None else mean - sd,
        high=None if sd is None else min(1.0, mean + sd),
        tip=f"{row.method}\nr {mean:.3f}" + ("" if sd is None else f", sd {sd:.3f}"),
        look=LOOKS[METHODS.get(row.method, CONTRADICTION).kind],
    )
