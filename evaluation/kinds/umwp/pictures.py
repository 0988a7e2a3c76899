"""F1 of noticing by the size of the models, drawn for commands and for pages alike."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts import Chart
from evaluation.charts.by_size import SizedPoint, by_size_chart
from evaluation.flow.umwp.sizes import SizeRow

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
