"""Draw the chart of a worker's or model's scores across question sets, in time order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Look, Row, draw_estimates
from evaluation.core.charts.scales import format_interval, format_number
from evaluation.core.stats.inference.estimate import Estimate


class Occasion(NamedTuple):
    """One score of a worker or model at a time; `weak` if not comparable or little supported."""

    name: str
    when: str
    score: Estimate
    weak: bool = False
    link: str = ""


def draw_history(occasions: Iterable[Occasion], axis: str, whose: str, of_model: bool) -> Chart:
    """Return the chart of one worker's or model's scores, one row each, oldest at the top."""
    strong: Look = "-model" if of_model else ""
    rows = [
        Row(
            name=one.name,
            value=one.score.value,
            low=one.score.low,
            high=one.score.high,
            tip=f"{one.name}, {one.when}\n{format_number(one.score.value)}"
            + (
                f" ({format_interval(one.score.low, one.score.high)})"
                if one.score.has_interval
                else ""
            ),
            link=one.link,
            look="-weak" if one.weak else strong,
        )
        for one in occasions
        if one.score.value is not None
    ]
    return draw_estimates(
        "history",
        f"Scores of {whose} set by set, the oldest at the top",
        "A dot further right is nearer to what the others agree on. The line through it is the "
        "range that other questions of the same kind could have given (95%). A hollow dot cannot "
        "be compared with the others: its set was graded in another way, or too few of its "
        "answers count.",
        axis,
        rows,
    )
