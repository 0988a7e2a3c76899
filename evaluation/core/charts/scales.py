"""Map numbers to positions in a chart, and format numbers for people."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

STEPS = (1, 2, 2.5, 5, 10)


def format_number(value: float | None, missing: str = "–") -> str:
    """Return a number with three decimals, or in scientific notation below .0005."""
    if value is None:
        return missing
    if value and abs(value) < 0.0005:
        return f"{value:.2e}"
    return f"{value:.3f}"


def format_interval(low: float | None, high: float | None, missing: str = "–") -> str:
    """Return an interval as "LOW to HIGH"."""
    if low is None or high is None:
        return missing
    return f"{format_number(low)} to {format_number(high)}"


@dataclass(frozen=True)
class Scale:
    """A linear map of numbers from `low` to `high` onto positions from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a number; numbers beyond the range are placed at its ends."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Return round numbers within the scale's range, at most `most` + 1."""
        span = self.high - self.low
        unit = 10 ** math.floor(math.log10(span / most))
        step = next(unit * step for step in STEPS if span / (unit * step) <= most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [tick * step for tick in range(first, last + 1)]


def build_scale(values: Iterable[float | None], start: float, end: float) -> Scale:
    """Return a scale that holds all numbers with 5% margin; 0 to 1 if there are none."""
    known = [value for value in values if value is not None]
    if not known:
        return Scale(0.0, 1.0, start, end)
    low, high = min(known), max(known)
    air = (high - low) * 0.05 or 0.05
    return Scale(low - air, high + air, start, end)


def format_tick(tick: float) -> str:
    """Return the number at an axis tick as text, without trailing zeros."""
    return f"{round(tick, 6) + 0.0:g}"
