"""Dots with whiskers on a common scale, a row each: the most exact picture of estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evaluation.charts.chart import Chart
from evaluation.charts.labels import labels
from evaluation.charts.scales import Scale, around, tick_label
from evaluation.charts.svg import LETTERS, Drawing, fitting, width_of

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
    """An estimate.

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
    """Where the rows of a picture stand.

    Names stand to the left of their rows; above them where they would take half of a phone.
    """

    width: float
    names: Sequence[str]
    top: float = TOP

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.names)

    @property
    def named(self) -> bool:
        """Whether there is room for names."""
        return self.n_rows <= NAMED

    @property
    def row_height(self) -> float:
        """Pixels a row."""
        if not self.named:
            return UNNAMED_HEIGHT
        return STACKED_HEIGHT if self.stacked else NAMED_HEIGHT

    @property
    def is_narrow(self) -> bool:
        """Whether it is for a phone."""
        return self.width <= 600

    @property
    def stacked(self) -> bool:
        """Whether names stand above their rows."""
        return self.named and self.is_narrow and self._longest > 0.36 * self.width

    @property
    def _longest(self) -> float:
        return max(map(width_of, self.names), default=0.0) + 20

    @property
    def left(self) -> float:
        """Where the scale begins."""
        if not self.named or self.stacked:
            return 14.0
        return min(max(96.0, self._longest), 0.36 * self.width)

    @property
    def right(self) -> float:
        """Where the scale ends."""
        return self.width - RIGHT

    @property
    def bottom(self) -> float:
        """Where the rows end."""
        return self.top + self.n_rows * self.row_height

    @property
    def height(self) -> float:
        """The height of the picture."""
        return self.bottom + BOTTOM

    def y(self, at: int) -> float:
        """Where the dot of a row stands."""
        top = self.top + at * self.row_height
        return top + (27 if self.stacked else self.row_height / 2)

    def draw_row(self, drawing: Drawing, at: int) -> None:
        """Draw the name of a row where there is room, and a field to point at."""
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
        """The names as there is room for them; a row's tooltip has the whole one."""
        room = self.right - self.left if self.stacked else self.left - 14
        return labels(self.names, room)

    def draw_heading(self, drawing: Drawing, y: float, text: str) -> None:
        """Draw what a part without rows is, where names stand."""
        if self.left < 90:
            drawing.text(self.left, y - 60, text, "label")
        else:
            drawing.text(self.left - 12, y, fitting(text, self.left - 14), "label", "end")


def draw_axis(drawing: Drawing, layout: Layout, scale: Scale, title: str, top: float = TOP) -> None:
    """Draw lines at round numbers from `top`, the numbers, and what they are."""
    for tick in scale.ticks(4 if layout.is_narrow else 6):
        x = scale(tick)
        drawing.line(x, top, x, layout.bottom, "grid")
        drawing.text(x, layout.bottom + 16, tick_label(tick), "faint", "middle")
    drawing.line(layout.left, layout.bottom, layout.right, layout.bottom, "axis")
    # Where the letters do not fit over the axis, they get all of the picture's width.
    middle, most = (layout.left + layout.right) / 2, layout.right - layout.left
    if len(title) * LETTERS * 0.5 > most:
        middle, most = layout.width / 2, layout.width
    drawing.text(middle, layout.bottom + 35, fitting(title, most * 1.1), "faint", "middle")


def draw_rows(drawing: Drawing, layout: Layout, scale: Scale, rows: Sequence[Row]) -> None:
    """Draw a whisker and a dot (a diamond for a model) a row, and its name where there is room."""
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
