"""How agreement grows with the number of workers, or of questions."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts.chart import Chart
from evaluation.charts.lines import Series, lines_chart
from evaluation.methods.crowd_size import WORKERS, SizePoint

COMPARED = {
    "workers": "experts' grades of workers",
    "answers": "experts' grades of answers",
    "crowd": "the whole crowd's result",
}


def crowd_size_chart(points: Sequence[SizePoint], by: str) -> Chart | None:
    """Return the picture of the sizes of one sort; None where nothing can be drawn."""
    mine = [point for point in points if point.by == by]
    measures = list(dict.fromkeys(point.measure for point in mine if point.pearson is not None))
    if not measures:
        return None
    what = "workers who vote" if by == WORKERS else "questions"
    return lines_chart(
        name=f"crowd-size-{by}",
        title=f"What more {by} would have brought",
        explanation=(
            f"How far scores agree (Pearson's r, 1 is perfect) when only so many {by} are taken, "
            "drawn at random. A bar is where 95 of 100 draws fell. Where the line is flat, more "
            "gain nothing."
        ),
        axes=(what, "agreement r"),
        series=[_series(mine, measure) for measure in measures],
    )


def _series(points: Sequence[SizePoint], measure: str) -> Series:
    mine = [point for point in points if point.measure == measure]
    return Series(
        f"with {COMPARED[measure]}",
        [(point.size, point.pearson) for point in mine],
        [
            (point.size, point.low, point.high)
            for point in mine
            if point.low is not None and point.high is not None and point.low < point.high
        ],
    )
