"""Draw the scores of a worker or model across question sets, in time order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evaluation.charts.chart import Chart
from evaluation.charts.rows import Look, Row, estimates_chart
from evaluation.charts.scales import interval, three_digits
from evaluation.reports.values import Estimate


class Occasion(NamedTuple):
    """A score at a time; `weak` ones are not comparable, or have too little support."""

    name: str
    when: str
    score: Estimate
    weak: bool = False
    link: str = ""


def history_chart(occasions: Iterable[Occasion], axis: str, whose: str, of_model: bool) -> Chart:
    """Return the chart of scores, a row each, the oldest at the top."""
    strong: Look = "-model" if of_model else ""
    rows = [
        Row(
            name=one.name,
            value=one.score.value,
            low=one.score.low,
            high=one.score.high,
            tip=f"{one.name}, {one.when}\n{three_digits(one.score.value)}"
            + (f" ({interval(one.score.low, one.score.high)})" if one.score.has_interval else ""),
            link=one.link,
            look="-weak" if one.weak else strong,
        )
        for one in occasions
        if one.score.value is not None
    ]
    return estimates_chart(
        "history",
        f"Scores of {whose} set by set, the oldest at the top",
        "A dot further right is nearer to what the others agree on. The line through it is the "
        "range that other questions of the same kind could have given (95%). A hollow dot cannot "
        "be compared with the others: its set was graded in another way, or too few of its "
        "answers count.",
        axis,
        rows,
    )
