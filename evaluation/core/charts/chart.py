"""Charts for wide and narrow screens: rows of estimates, lines, and histories of scores.

A chart is drawn for wide screens, for narrow screens, and as a file to download. Charts of
estimates have one row each, a dot with an interval on a common scale. Line charts have one line for
each series of points. A history has the scores of a worker or model across question sets, in time
order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from django.utils.safestring import SafeString, mark_safe

from evaluation.core.charts.svg import (
    LETTERS,
    Drawing,
    Scale,
    build_scale,
    estimate_width,
    fit_labels,
    fit_text,
    format_interval,
    format_number,
    format_tick,
)
from evaluation.core.stats.inference.estimate import Estimate

WIDE = 960.0
NARROW = 340.0
Draw = Callable[[float], Drawing]


@dataclass(frozen=True)
class Chart:
    """A chart: title, explanation, and a function that draws it at a given width.

    Attributes
    ----------
    name : part of addresses and file names. title : what it shows, in a few words.
    explanation : how to read it, for people who do not know statistics.
    draw : function that returns the drawing at a width in pixels.
    note : what it leaves out, such as workers beyond the first 200; "" if nothing.
    """

    name: str
    title: str
    explanation: str
    draw: Draw
    note: str = ""

    @property
    def wide(self) -> SafeString:
        """The chart as SVG for desktop screens."""
        return self._draw_inline(WIDE)

    @property
    def narrow(self) -> SafeString:
        """The chart as SVG for phones."""
        return self._draw_inline(NARROW)

    def build_standalone_svg(self, captions: Sequence[str] = ()) -> str:
        """Return the wide drawing as an SVG file on white, without workers' texts.

        The title is above the drawing; the note and `captions` (the source of the data) are below.
        """
        drawing = self.draw(WIDE)
        drawing.prepare_download(self.title, [*filter(None, [self.note]), *captions])
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawing.to_xml()}\n'

    def _draw_inline(self, width: float) -> SafeString:
        """Return the chart drawn at a width in pixels, as safe HTML."""
        # `Drawing` escapes every text and attribute; nothing else is in its markup.
        return mark_safe(self.draw(width).to_xml())  # noqa: S308


RowStyle = Literal["", "-weak", "-model"]
# More rows than this are closer together and without names (the tooltips have them).
NAMED = 60
NAMED_HEIGHT = 22.0
STACKED_HEIGHT = 38.0
UNNAMED_HEIGHT = 6.0
TOP = 8.0
BOTTOM = 44.0
RIGHT = 14.0


@dataclass(frozen=True)
class EstimateRow:
    """Row of a chart of estimates: name, estimate with interval, tooltip and link.

    Attributes
    ----------
    tip : lines of its tooltip. link : address; "" for none.
    style : "" for a worker, "-weak" for one of too little support, "-model" for a model.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    tip: str
    link: str = ""
    style: RowStyle = ""


@dataclass(frozen=True)
class RowLayout:
    """Positions in pixels of the rows, names and axis of a chart of estimates.

    Names are left of their rows, or above them if they would take half of a phone's width.
    """

    width: float
    names: Sequence[str]
    top: float = TOP

    @property
    def n_rows(self) -> int:
        """Number of rows of the chart."""
        return len(self.names)

    @property
    def has_names(self) -> bool:
        """Whether the rows are few enough for their names to be drawn."""
        return self.n_rows <= NAMED

    @property
    def row_height(self) -> float:
        """Height of one row in pixels."""
        if not self.has_names:
            return UNNAMED_HEIGHT
        return STACKED_HEIGHT if self.has_stacked_names else NAMED_HEIGHT

    @property
    def is_narrow(self) -> bool:
        """Whether the chart is drawn for a phone (at most 600 pixels wide)."""
        return self.width <= 600

    @property
    def has_stacked_names(self) -> bool:
        """Whether the names are drawn above their rows, not to the left of them."""
        return self.has_names and self.is_narrow and self._longest > 0.36 * self.width

    @property
    def _longest(self) -> float:
        """Width of the longest row name in pixels, with a margin."""
        return max(map(estimate_width, self.names), default=0.0) + 20

    @property
    def left(self) -> float:
        """Horizontal position of the scale's left end in pixels."""
        if not self.has_names or self.has_stacked_names:
            return 14.0
        return min(max(96.0, self._longest), 0.36 * self.width)

    @property
    def right(self) -> float:
        """Horizontal position of the scale's right end in pixels."""
        return self.width - RIGHT

    @property
    def bottom(self) -> float:
        """Vertical position of the last row's lower edge in pixels."""
        return self.top + self.n_rows * self.row_height

    @property
    def height(self) -> float:
        """Height of the chart in pixels."""
        return self.bottom + BOTTOM

    def compute_y(self, index: int) -> float:
        """Return the vertical position in pixels of a row's dot, by index from the top."""
        top = self.top + index * self.row_height
        return top + (27 if self.has_stacked_names else self.row_height / 2)

    def draw_row(self, drawing: Drawing, index: int) -> None:
        """Draw a row's name if there is space, and the area that reacts to the pointer."""
        top = self.top + index * self.row_height
        drawing.add_rectangle(0, top, self.width, self.row_height, "hit")
        if self.has_stacked_names:
            name = self._labels[index]
            drawing.add_text(self.left, top + 14, name, "label")
        elif self.has_names:
            name = self._labels[index]
            drawing.add_text(self.left - 12, self.compute_y(index) + 4, name, "label", "end")

    @cached_property
    def _labels(self) -> list[str]:
        """The row names, shortened to the available space."""
        room = self.right - self.left if self.has_stacked_names else self.left - 14
        return fit_labels(self.names, room)

    def draw_heading(self, drawing: Drawing, y: float, text: str) -> None:
        """Draw a heading between rows, in the column of names."""
        if self.left < 90:
            drawing.add_text(self.left, y - 60, text, "label")
        else:
            drawing.add_text(self.left - 12, y, fit_text(text, self.left - 14), "label", "end")


def draw_axis(
    drawing: Drawing, layout: RowLayout, scale: Scale, title: str, top: float = TOP
) -> None:
    """Draw the horizontal axis: grid lines from `top`, round numbers, and its title."""
    for tick in scale.list_ticks(4 if layout.is_narrow else 6):
        x = scale(tick)
        drawing.add_line(x, top, x, layout.bottom, "grid")
        drawing.add_text(x, layout.bottom + 16, format_tick(tick), "faint", "middle")
    drawing.add_line(layout.left, layout.bottom, layout.right, layout.bottom, "axis")
    # Where the letters do not fit over the axis, they get all of the picture's width.
    middle, most = (layout.left + layout.right) / 2, layout.right - layout.left
    if len(title) * LETTERS * 0.5 > most:
        middle, most = layout.width / 2, layout.width
    drawing.add_text(middle, layout.bottom + 35, fit_text(title, most * 1.1), "faint", "middle")


def draw_rows(
    drawing: Drawing, layout: RowLayout, scale: Scale, rows: Sequence[EstimateRow]
) -> None:
    """Draw each row: its interval, its dot (a diamond for a model), and its name."""
    for index, row in enumerate(rows):
        y = layout.compute_y(index)
        drawing.begin_group(row.tip, row.link)
        layout.draw_row(drawing, index)
        if row.low is not None and row.high is not None:
            drawing.add_line(scale(row.low), y, scale(row.high), y, f"whisker{row.style}")
        if row.value is None:
            drawing.add_text(
                layout.left + 4, y + 4, "undefined" if layout.has_names else "", "faint"
            )
        elif row.style == "-model":
            drawing.add_diamond(scale(row.value), y, "dot-model")
        else:
            radius = 4.5 if layout.has_names else 2.5
            drawing.add_dot(scale(row.value), y, f"dot{row.style}", radius)
        drawing.end_group()


def build_estimates_chart(
    name: str, title: str, explanation: str, axis: str, rows: Sequence[EstimateRow]
) -> Chart:
    """Return a chart with one row per estimate and its interval; `axis` is the axis title."""

    def draw(width: float) -> Drawing:
        """Return the drawing at a width in pixels."""
        layout = RowLayout(width, [row.name for row in rows])
        drawing = Drawing(width, layout.height, title, f"{axis}, {len(rows)} rows")
        values = [value for row in rows for value in (row.value, row.low, row.high)]
        scale = build_scale(values, layout.left, layout.right)
        draw_axis(drawing, layout, scale, axis)
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(name, title, explanation, draw)


HEIGHT = 340.0
LEFT, LINES_RIGHT, LINES_BOTTOM = 58.0, 20.0, 48.0
# Looks of lines; a further series begins again with the first one.
N_SERIES_STYLES = 6
WHISKERS = ("whisker", "whisker-model", "whisker-weak")
KEY = 26.0
KEY_ROW = 20.0


@dataclass(frozen=True)
class Series:
    """One line of a chart: its points, and ranges around some of them.

    Attributes
    ----------
    points : (x, y) in ascending order of x; where y is None the line has a gap.
    ranges : (x, low, high) of the ranges around some points, drawn behind the lines.
    """

    name: str
    points: Sequence[tuple[float, float | None]]
    ranges: Sequence[tuple[float, float, float]] = ()


def build_line_chart(
    name: str,
    title: str,
    explanation: str,
    axes: tuple[str, str],
    series: Sequence[Series],
    heights: tuple[float, float] | None = None,
) -> Chart:
    """Return a line chart of several series with titled axes and a legend.

    Parameters
    ----------
    axes : titles of the horizontal and of the vertical axis.
    heights : ends of the vertical axis; by default it spans all points.
    """
    places = [x for line in series for x, _ in line.points]
    values = [y for line in series for _, y in line.points]
    values += [end for line in series for _, *ends in line.ranges for end in ends]

    def draw(width: float) -> Drawing:
        """Return the drawing at a width in pixels."""
        keys = _place_legend_entries(series, width)
        top = 34 + KEY_ROW * (keys[-1][1] + 1 if keys else 0)
        height = HEIGHT + top
        drawing = Drawing(width, height, title, f"{axes[1]} by {axes[0]}, {len(series)} lines")
        bottom = height - LINES_BOTTOM
        x = build_scale(places, LEFT + 6, width - LINES_RIGHT)
        y = build_scale(values, bottom, top) if heights is None else Scale(*heights, bottom, top)
        _draw_axes(drawing, x, y, axes, top)
        # SVG paints in order: the ranges of all series are drawn first and lie behind every line.
        for index, line in enumerate(series):
            for place, low, high in line.ranges:
                drawing.add_line(
                    x(place), y(low), x(place), y(high), WHISKERS[index % len(WHISKERS)]
                )
        for index, line in enumerate(series):
            css_class = f"series-{index % N_SERIES_STYLES}"
            left, row = keys[index]
            level = 12 + row * KEY_ROW
            drawing.add_line(left, level, left + KEY, level, css_class)
            drawing.add_text(left + KEY + 6, level + 4, line.name, "label")
            for part in _split_at_gaps(line.points):
                drawing.add_polyline([(x(a), y(b)) for a, b in part], css_class)
                for a, b in part:
                    drawing.begin_group(
                        f"{line.name}\n{axes[0]} {format_tick(a)}: {b:.3f}{_format_range(line, a)}"
                    )
                    # Invisible and larger than the line, so that the pointer hits it.
                    drawing.add_dot(x(a), y(b), "hit", 8)
                    drawing.end_group()
        return drawing

    return Chart(name, title, explanation, draw)


def _draw_axes(drawing: Drawing, x: Scale, y: Scale, axes: tuple[str, str], top: float) -> None:
    """Draw both axes with ticks, grid lines and titles."""
    bottom, right = y.start, x.end
    for tick in y.list_ticks(6):
        drawing.add_line(LEFT, y(tick), right, y(tick), "grid")
        drawing.add_text(LEFT - 8, y(tick) + 4, format_tick(tick), "faint", "end")
    for tick in x.list_ticks(8 if drawing.width > 600 else 5):
        drawing.add_text(x(tick), bottom + 17, format_tick(tick), "faint", "middle")
    drawing.add_line(LEFT, bottom, right, bottom, "axis")
    drawing.add_text((LEFT + right) / 2, bottom + 37, axes[0], "faint", "middle")
    drawing.add_text(10, top - 12, axes[1], "faint")


def _place_legend_entries(series: Sequence[Series], width: float) -> list[tuple[float, int]]:
    """Return for each legend entry its left edge in pixels and its row; rows fit in `width`."""
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


def _format_range(line: Series, index: float) -> str:
    """Return the range of a line at x = `index` as tooltip text; "" without one."""
    bounds = next(((low, high) for place, low, high in line.ranges if place == index), None)
    return "" if bounds is None else f"\n{bounds[0]:.3f} to {bounds[1]:.3f}"


class HistoryPoint(NamedTuple):
    """Score of a worker or model in one question set; `weak` if it cannot be compared."""

    name: str
    when: str
    score: Estimate
    weak: bool = False
    link: str = ""


def build_score_history_chart(
    occasions: Iterable[HistoryPoint], axis: str, whose: str, of_model: bool
) -> Chart:
    """Return the chart of one worker's or model's scores over question sets, oldest at the top.

    `whose` is the worker's or model's name for the title; `axis` is the title of the axis.
    """
    strong: RowStyle = "-model" if of_model else ""
    rows = [
        EstimateRow(
            name=occasion.name,
            value=occasion.score.value,
            low=occasion.score.low,
            high=occasion.score.high,
            tip=f"{occasion.name}, {occasion.when}\n{format_number(occasion.score.value)}"
            + (
                f" ({format_interval(occasion.score.low, occasion.score.high)})"
                if occasion.score.has_interval
                else ""
            ),
            link=occasion.link,
            style="-weak" if occasion.weak else strong,
        )
        for occasion in occasions
        if occasion.score.value is not None
    ]
    return build_estimates_chart(
        "history",
        f"Scores of {whose} set by set, the oldest at the top",
        "A dot further right is nearer to what the others agree on. The line through it is the "
        "range that other questions of the same kind could have given (95%). A hollow dot cannot "
        "be compared with the others: its set was graded in another way, or too few of its "
        "answers count.",
        axis,
        rows,
    )
