"""F1 of noticing by model and by size, drawn for commands and for pages alike."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts import Chart, estimates_chart
from evaluation.charts.by_size import SizedPoint, by_size_chart
from evaluation.charts.rows import Row
from evaluation.charts.scales import interval, three_digits
from evaluation.flow.umwp.sizes import SizeRow
from evaluation.reports.umwp import Noticed

EXPLANATION = (
    "A mark is a model in one form of asking: to the right the larger ones, above those that "
    "better tell questions without an answer from the others (1 is perfect). Its line is a 95% "
    "interval. Each form of asking has a panel of its own, because a hint that some questions have "
    "no answer makes it easier."
)


def size_chart(rows: Sequence[SizeRow]) -> Chart | None:
    """Return the picture of rows with a size and an F1; None without any."""
    points = [
        SizedPoint(row.form, row.tuning, row.system, row.parameters, row.f1, row.low, row.high)
        for row in rows
        if row.parameters is not None and row.f1 is not None
    ]
    return by_size_chart(points, "F1", EXPLANATION, len(rows) - len(points))


def noticing_chart(models: Sequence[Noticed]) -> Chart | None:
    """Return F1 of each model and form, those of a form together; None without any number."""
    rows = [
        Row(
            f"{one.system}, {one.form}",
            one.f1.value,
            one.f1.low,
            one.f1.high,
            f"{one.system}, {one.form}\nF1 {three_digits(one.f1.value)} "
            f"({interval(one.f1.low, one.f1.high)})\n{one.noticed} of {one.without_answer} without "
            f"an answer noticed\n{one.wrongly} of {one.with_answer} with an answer given up",
            look="-model",
        )
        for one in models
        if one.f1.value is not None
    ]
    if not rows:
        return None
    return estimates_chart(
        "noticing",
        "How well each model tells questions without an answer",
        "A dot is a model in one form of asking: 1 means that it said that there is no answer "
        "where there is none, and only there. The line is a 95% interval: where lines overlap "
        "widely, other questions might have turned the order round.",
        "F1, 0 to 1",
        rows,
    )
