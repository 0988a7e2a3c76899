"""Chart of convergence: root mean square change of the voting weights per iteration."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.scales import Scale, format_number
from evaluation.core.charts.svg import Drawing

HEIGHT = 240.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 20.0, 14.0, 46.0
# A change of exactly 0 has no logarithm; it stands at the lower end.
LEAST = 1e-17


def build_convergence_chart(trace: Sequence[float]) -> Chart:
    """Return the chart of the changes of the voting weights (`trace`), on a log scale."""
    powers = [math.log10(max(change, LEAST)) for change in trace]

    def draw(width: float) -> Drawing:
        description = (
            f"Change of the weights over {len(trace)} iterations, "
            f"at the end {format_number(trace[-1]) if trace else 'unknown'}"
        )
        drawing = Drawing(width, HEIGHT, "Convergence", description)
        bottom = HEIGHT - BOTTOM
        x = Scale(1, max(2, len(trace)), LEFT + 12, width - RIGHT)
        low, high = math.floor(min(powers, default=-1)), math.ceil(max(powers, default=0))
        y = Scale(low, max(high, low + 1), bottom, TOP)
        for power in y.ticks(5):
            if power == round(power):
                drawing.line(LEFT, y(power), width - RIGHT, y(power), "grid")
                drawing.text(LEFT - 8, y(power) + 4, _format_power(round(power)), "faint", "end")
        for tick in x.ticks(min(len(trace), 10 if width > 600 else 6) or 1):
            if tick == round(tick):
                drawing.text(x(tick), bottom + 17, f"{tick:.0f}", "faint", "middle")
        drawing.line(LEFT, bottom, width - RIGHT, bottom, "axis")
        drawing.text((LEFT + width - RIGHT) / 2, bottom + 36, "iteration", "faint", "middle")
        points = [(x(at), y(power)) for at, power in enumerate(powers, 1)]
        drawing.path(points, "line")
        for at, ((px, py), change) in enumerate(zip(points, trace, strict=True), 1):
            drawing.mark(f"iteration {at}\nchange of the weights {change:.3g}")
            drawing.dot(px, py, "hit", 12)
            drawing.dot(px, py, "dot", 4.5 if len(trace) <= 60 else 2)
            drawing.end_mark()
        return drawing

    return Chart(
        name="convergence",
        title="How quickly the grades settled",
        explanation=(
            "Grades and votes depend on each other, so they are computed again and again until "
            "they stop changing. The height is how much they still changed (from one line of the "
            "grid to the next ten or a hundred times less). A line that falls steadily is what "
            "you want to see; one that stays up means that close ranks should not be trusted."
        ),
        draw=draw,
    )


def _format_power(power: int) -> str:
    """Return the axis label of a power of ten, such as "0.01" or "1e-5"."""
    if -3 <= power <= 1:
        return f"{10.0**power:g}"
    return f"1e{power}"
