"""Chart of two models' score differences by group of questions, with intervals."""

from __future__ import annotations

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Layout, Row, draw_axis, draw_rows
from evaluation.core.charts.scales import build_scale, format_interval, format_number
from evaluation.core.charts.svg import Drawing
from evaluation.model_comparison.report.pair import Grouping, GroupOfPair, PairDetail

MOST = 30


def groups_chart(detail: PairDetail, grouping: Grouping) -> Chart:
    """Return the chart of at most 30 groups, largest first."""
    first, second = detail.pair.first_name, detail.pair.second_name
    shown = grouping.groups[:MOST]
    rows = [
        Row(
            name=f"{group.name or 'not told'} ({group.n})",
            value=group.difference.value,
            low=group.difference.low,
            high=group.difference.high,
            tip=_tip(group, first, second),
            look="-model" if group.better else "-weak",
        )
        for group in shown
    ]

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in rows])
        description = f"{len(rows)} groups, differences with 95% intervals"
        drawing = Drawing(width, layout.height, f"By {grouping.by}", description)
        values = [value for row in rows for value in (row.value, row.low, row.high)]
        scale = build_scale([*values, 0.0], layout.left, layout.right)
        draw_axis(drawing, layout, scale, "score of the first less that of the second")
        zero = scale(0.0)
        drawing.line(zero, layout.top, zero, layout.bottom, "median")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name=f"by-{grouping.by}",
        title=f"By {grouping.by}",
        explanation=(
            f"Every row is a {grouping.by}, with its number of questions. Right of the dotted zero "
            "the first model is better, left of it the second; the line is the 95% interval. "
            "Filled diamonds are more than chance (Holm's correction for the number of groups), "
            "hollow dots are not."
        ),
        draw=draw,
        note=f"The {MOST} largest of {grouping.n_groups} are shown."
        if grouping.n_groups > MOST
        else "",
    )


def _tip(group: GroupOfPair, first: str, second: str) -> str:
    ends = format_interval(group.difference.low, group.difference.high, "unknown")
    return "\n".join(
        [
            group.name or "not told",
            f"{first}: {format_number(group.first.value)}",
            f"{second}: {format_number(group.second.value)}",
            f"difference {format_number(group.difference.value)}, interval {ends}",
            f"{group.n} questions",
        ]
    )
