"""Draw line charts, with one line for each series of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.scales import Scale, build_scale, format_tick
from evaluation.core.charts.svg import Drawing, estimate_width

HEIGHT = 340.0
LEFT, RIGHT, BOTTOM = 58.0, 20.0, 48.0
# Looks of lines; a further series begins again with the first one.
LOOKS = 6
WHISKERS = ("whisker", "whisker-model", "whisker-weak")
KEY = 26.0
KEY_ROW = 20.0


@dataclass(frozen=True)
class Series:
    """One line of a chart: its points, and ranges around some of them.

    Attributes
    ----------
    points : (x, y) in ascending order of x; where y is None the line has a gap.
    ranges : (x, low, high) of what spreads around some points, drawn behind the lines.
    """

    name: str
    points: Sequence[tuple[float, float | None]]
    ranges: Sequence[tuple[float, float, float]] = ()


def draw_lines(
    name: str,
    title: str,
    explanation: str,
    axes: tuple[str, str],
    series: Sequence[Series],
    heights: tuple[float, float] | None = None,
) -> Chart:
    """Return a line chart of several series with titled axes and a key.

    Parameters
    ----------
    axes : what stands below the picture and above its left edge.
    heights : ends of the vertical axis; by default, what holds all points.
    """
    places = [x for line in series for x, _ in line.points]
    values = [y for line in series for _, y in line.points]
    values += [end for line in series for _, *ends in line.ranges for end in ends]

    def draw(width: float) -> Drawing:
        keys = _place_keys(series, width)
        top = 34 + KEY_ROW * (keys[-1][1] + 1 if keys else 0)
        height = HEIGHT + top
        drawing = Drawing(width, height, title, f"{axes[1]} by {axes[0]}, {len(series)} lines")
        bottom = height - BOTTOM
        x = build_scale(places, LEFT + 6, width - RIGHT)
        y = build_scale(values, bottom, top) if heights is None else Scale(*heights, bottom, top)
        _draw_axes(drawing, x, y, axes, top)
        for at, line in enumerate(series):
            for place, low, high in line.ranges:
                drawing.line(x(place), y(low), x(place), y(high), WHISKERS[at % len(WHISKERS)])
        for at, line in enumerate(series):
            look = f"series-{at % LOOKS}"
            left, row = keys[at]
            level = 12 + row * KEY_ROW
            drawing.line(left, level, left + KEY, level, look)
            drawing.text(left + KEY + 6, level + 4, line.name, "label")
            for part in _split_at_gaps(line.points):
                drawing.path([(x(a), y(b)) for a, b in part], look)
                for a, b in part:
                    drawing.mark(
                        f"{line.name}\n{axes[0]} {format_tick(a)}: {b:.3f}{_format_range(line, a)}"
                    )
                    drawing.dot(x(a), y(b), "hit", 8)
                    drawing.end_mark()
        return drawing

    return Chart(name, title, explanation, draw)


def _draw_axes(drawing: Drawing, x: Scale, y: Scale, axes: tuple[str, str], top: float) -> None:
    """Draw both axes with ticks, grid lines and titles."""
    bottom, right = y.start, x.end
    for tick in y.ticks(6):
        drawing.line(LEFT, y(tick), right, y(tick), "grid")
        drawing.text(LEFT - 8, y(tick) + 4, format_tick(tick), "faint", "end")
    for tick in x.ticks(8 if drawing.width > 600 else 5):
        drawing.text(x(tick), bottom + 17, format_tick(tick), "faint", "middle")
    drawing.line(LEFT, bottom, right, bottom, "axis")
    drawing.text((LEFT + right) / 2, bottom + 37, axes[0], "faint", "middle")
    drawing.text(10, top - 12, axes[1], "faint")


def _place_keys(series: Sequence[Series], width: float) -> list[tuple[float, int]]:
    """Return the left edge in pixels and the row of each entry of the chart's key."""
    places, left, row = [], 10.0, 0
    for line in series:
        wide = KEY + 6 + estimate_width(line.name) + 18
        if left > 10 and left + wide > width:
            left, row = 10.0, row + 1
        places.append((left, row))
        left += wide
    return places


def _split_at_gaps(points: Sequence[tuple[float, float | None]]) -> list[list[tuple[float, float]]]:
    """Return the continuous segments of a line, split where the value is None."""
    parts: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if y is None:
            parts.append([])
        else:
            parts[-1].append((x, y))
    return [part for part in parts if part]


def _format_range(line: Series, at: float) -> str:
    """Return the range around a line's point at x = `at` in words; "" without one."""
    found = next(((low, high) for place, low, high in line.ranges if place == at), None)
    return "" if found is None else f"\n{found[0]:.3f} to {found[1]:.3f}"
