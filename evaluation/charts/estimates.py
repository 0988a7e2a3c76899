"""Any estimates under each other, a row each, with what spreads around them."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts.chart import Chart
from evaluation.charts.rows import Layout, Row, draw_axis, draw_rows
from evaluation.charts.scales import around
from evaluation.charts.svg import Drawing


def estimates_chart(
    name: str, title: str, explanation: str, axis: str, rows: Sequence[Row]
) -> Chart:
    """Return the picture; `axis` says what the numbers are."""

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in rows])
        drawing = Drawing(width, layout.height, title, f"{axis}, {len(rows)} rows")
        values = [value for row in rows for value in (row.value, row.low, row.high)]
        scale = around(values, layout.left, layout.right)
        draw_axis(drawing, layout, scale, axis)
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(name, title, explanation, draw)
