"""Draw charts of estimates: one row each, a dot with an interval on a common scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.labels import fit_labels
from evaluation.core.charts.scales import Scale, build_scale, format_tick
from evaluation.core.charts.svg import LETTERS, Drawing, estimate_width, fit_text

Look = Literal["", "-weak", "-model"]
# More rows than this stand closer and without names (the tooltips have them).
NAMED = 60
NAMED_HEIGHT = 22.0
STACKED_HEIGHT = 38.0
UNNAMED_HEIGHT = 6.0
TOP = 8.0
BOTTOM = 44.0
RIGHT = 14.0


@dataclass(frozen=True)
class Row:
    """One row of a chart: an estimate with its interval, tooltip and link.

    Attributes
    ----------
    tip : what its tooltip says, in lines. link : where it leads; "" for nowhere.
    look : "" for a worker, "-weak" for one of too little support, "-model" for a model.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    tip: str
    link: str = ""
    look: Look = ""


@dataclass(frozen=True)
class Layout:
    """Pixel positions of the rows of a chart of estimates.

    Names are left of their rows, or above them if they would take half of a phone's width.
    """

    width: float
    names: Sequence[str]
    top: float = TOP

    @property
    def n_rows(self) -> int:
        """Number of rows in the chart."""
        return len(self.names)

    @property
    def named(self) -> bool:
        """Whether there is space for the names of rows."""
        return self.n_rows <= NAMED

    @property
    def row_height(self) -> float:
        """Height of one row in pixels."""
        if not self.named:
            return UNNAMED_HEIGHT
        return STACKED_HEIGHT if self.stacked else NAMED_HEIGHT

    @property
    def is_narrow(self) -> bool:
        """Whether the chart is drawn for a phone (at most 600 pixels wide)."""
        return self.width <= 600

    @property
    def stacked(self) -> bool:
        """Whether the names are drawn above their rows, not beside them."""
        return self.named and self.is_narrow and self._longest > 0.36 * self.width

    @property
    def _longest(self) -> float:
        return max(map(estimate_width, self.names), default=0.0) + 20

    @property
    def left(self) -> float:
        """Horizontal position of the scale's left end in pixels."""
        if not self.named or self.stacked:
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

    def y(self, at: int) -> float:
        """Return the vertical position in pixels of the dot of row `at`."""
        top = self.top + at * self.row_height
        return top + (27 if self.stacked else self.row_height / 2)

    def draw_row(self, drawing: Drawing, at: int) -> None:
        """Draw a row's name if there is space, and the area that reacts to the pointer."""
        top = self.top + at * self.row_height
        drawing.rectangle(0, top, self.width, self.row_height, "hit")
        if self.stacked:
            name = self._labels[at]
            drawing.text(self.left, top + 14, name, "label")
        elif self.named:
            name = self._labels[at]
            drawing.text(self.left - 12, self.y(at) + 4, name, "label", "end")

    @cached_property
    def _labels(self) -> list[str]:
        """The row names, shortened to the available space."""
        room = self.right - self.left if self.stacked else self.left - 14
        return fit_labels(self.names, room)

    def draw_heading(self, drawing: Drawing, y: float, text: str) -> None:
        """Draw a heading between rows, in the column of names."""
        if self.left < 90:
            drawing.text(self.left, y - 60, text, "label")
        else:
            drawing.text(self.left - 12, y, fit_text(text, self.left - 14), "label", "end")


def draw_axis(drawing: Drawing, layout: Layout, scale: Scale, title: str, top: float = TOP) -> None:
    """Draw the horizontal axis: grid lines from `top`, round numbers, and its title."""
    for tick in scale.ticks(4 if layout.is_narrow else 6):
        x = scale(tick)
        drawing.line(x, top, x, layout.bottom, "grid")
        drawing.text(x, layout.bottom + 16, format_tick(tick), "faint", "middle")
    drawing.line(layout.left, layout.bottom, layout.right, layout.bottom, "axis")
    # Where the letters do not fit over the axis, they get all of the picture's width.
    middle, most = (layout.left + layout.right) / 2, layout.right - layout.left
    if len(title) * LETTERS * 0.5 > most:
        middle, most = layout.width / 2, layout.width
    drawing.text(middle, layout.bottom + 35, fit_text(title, most * 1.1), "faint", "middle")


def draw_rows(drawing: Drawing, layout: Layout, scale: Scale, rows: Sequence[Row]) -> None:
    """Draw each row: its interval, its dot (a diamond for a model), and its name."""
    for at, row in enumerate(rows):
        y = layout.y(at)
        drawing.mark(row.tip, row.link)
        layout.draw_row(drawing, at)
        if row.low is not None and row.high is not None:
            drawing.line(scale(row.low), y, scale(row.high), y, f"whisker{row.look}")
        if row.value is None:
            drawing.text(layout.left + 4, y + 4, "undefined" if layout.named else "", "faint")
        elif row.look == "-model":
            drawing.diamond(scale(row.value), y, "dot-model")
        else:
            radius = 4.5 if layout.named else 2.5
            drawing.dot(scale(row.value), y, f"dot{row.look}", radius)
        drawing.end_mark()


def draw_estimates(
    name: str, title: str, explanation: str, axis: str, rows: Sequence[Row]
) -> Chart:
    """Return a chart of estimates with intervals; `axis` is the title of the axis."""

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in rows])
        drawing = Drawing(width, layout.height, title, f"{axis}, {len(rows)} rows")
        values = [value for row in rows for value in (row.value, row.low, row.high)]
        scale = build_scale(values, layout.left, layout.right)
        draw_axis(drawing, layout, scale, axis)
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(name, title, explanation, draw)
