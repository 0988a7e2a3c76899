"""A number of models by their size, a panel for each form of asking: forms are never pooled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import Chart
from evaluation.charts.scales import Scale, interval, three_digits, tick_label
from evaluation.charts.svg import Drawing, width_of

PANEL, GAP = 220.0, 56.0
LEFT, RIGHT = 46.0, 16.0
KEY = 22.0
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"), (1.0, ""))


@dataclass(frozen=True)
class SizedPoint:
    """A model in a form: its parameters, and a number from 0 to 1 with its interval."""

    form: str
    tuning: str
    name: str
    parameters: float
    value: float
    low: float | None = None
    high: float | None = None


def size_label(parameters: float) -> str:
    """Return 7e9 as 7B."""
    unit, letter = next((one for one in _UNITS if parameters >= one[0] * 0.9995), (1.0, ""))
    return f"{parameters / unit:.3g}{letter}"


def by_size_chart(
    points: Sequence[SizedPoint], what: str, explanation: str, left_out: int = 0
) -> Chart | None:
    """Return the picture; None without a model of known size.

    `what` is called so at the left edge; `left_out` models have no size or no number.
    """
    if not points:
        return None
    forms = list(dict.fromkeys(one.form for one in points))
    tunings = list(dict.fromkeys(one.tuning for one in points))
    logs = [math.log10(one.parameters) for one in points]
    air = max(0.15, (max(logs) - min(logs)) * 0.06)

    def draw(width: float) -> Drawing:
        keys = _keys(tunings, width) if len(tunings) > 1 else []
        top = 24 + KEY * (keys[-1][1] + 1 if keys else 0)
        height = top + len(forms) * (PANEL + GAP)
        drawing = Drawing(
            width, height, f"{what} by size", f"{len(points)} numbers in {len(forms)} forms"
        )
        for at, (left, row) in enumerate(keys):
            _mark(drawing, left + 8, 10 + row * KEY, at)
            drawing.text(left + 20, 14 + row * KEY, tunings[at] or "tuning not told", "label")
        x = Scale(min(logs) - air, max(logs) + air, LEFT, width - RIGHT)
        for at, form in enumerate(forms):
            begin = top + at * (PANEL + GAP)
            shown = [one for one in points if one.form == form]
            _panel(drawing, form, shown, x, begin, tunings, what)
        return drawing

    return Chart(
        name="by-size",
        title=f"{what} by size of the model",
        explanation=explanation,
        draw=draw,
        note=f"{left_out} without a known size, or without the number, are not shown."
        if left_out
        else "",
    )


def _panel(
    drawing: Drawing,
    form: str,
    points: Sequence[SizedPoint],
    x: Scale,
    top: float,
    tunings: Sequence[str],
    what: str,
) -> None:
    bottom = top + PANEL
    y = Scale(0.0, 1.0, bottom, top + 8)
    drawing.text(LEFT, top - 4, f"{form}: {what}", "label")
    for tick in y.ticks(5):
        drawing.line(LEFT, y(tick), x.end, y(tick), "grid")
        drawing.text(LEFT - 8, y(tick) + 4, tick_label(tick), "faint", "end")
    for power, factor in _ticks(x):
        place = x(power + math.log10(factor))
        drawing.text(place, bottom + 17, size_label(factor * 10.0**power), "faint", "middle")
    drawing.line(LEFT, bottom, x.end, bottom, "axis")
    drawing.text((LEFT + x.end) / 2, bottom + 34, "parameters", "faint", "middle")
    for one in points:
        place = x(math.log10(one.parameters))
        drawing.mark(
            f"{one.name} ({size_label(one.parameters)}{', ' + one.tuning if one.tuning else ''})\n"
            f"{what} {three_digits(one.value)} ({interval(one.low, one.high)})"
        )
        if one.low is not None and one.high is not None:
            drawing.line(place, y(one.low), place, y(one.high), "whisker-weak")
        _mark(drawing, place, y(one.value), tunings.index(one.tuning))
        drawing.end_mark()


def _ticks(x: Scale) -> list[tuple[int, int]]:
    """Return powers of ten in the range; with 2 and 5 between them where these are few."""
    powers = range(math.floor(x.low), math.ceil(x.high) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 4, 5, 6, 7, 8, 9)):
        found = [
            (power, factor)
            for power in powers
            for factor in factors
            if x.low <= power + math.log10(factor) <= x.high
        ]
        if len(found) > 1:
            return found
    return found


def _mark(drawing: Drawing, x: float, y: float, place: int) -> None:
    """Draw the mark of a tuning, told apart by shape and not by colour only."""
    if place % 4 == 0:
        drawing.dot(x, y, "dot", 5)
    elif place % 4 == 1:
        drawing.diamond(x, y, "dot-model")
    elif place % 4 == 2:
        drawing.star(x, y, "consensus", 7)
    else:
        drawing.dot(x, y, "dot-weak", 5)


def _keys(names: Sequence[str], width: float) -> list[tuple[float, int]]:
    """Return left edge and row of each entry of the key."""
    places, left, row = [], 4.0, 0
    for name in names:
        wide = 20 + width_of(name or "tuning not told") + 20
        if left > 4 and left + wide > width:
            left, row = 4.0, row + 1
        places.append((left, row))
        left += wide
    return places
