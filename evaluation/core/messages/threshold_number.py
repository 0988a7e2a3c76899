"""Define numbers that are rounded without crossing a threshold shown beside them."""

from __future__ import annotations

import re
from typing import Self

MOST_DIGITS = 12
SPEC = re.compile(r"(?P<before>[^.]*)\.(?P<digits>\d+)(?P<kind>[fg%])")


class ThresholdNumber(float):
    """A float that formatting never rounds across any of its thresholds.

    .8996 beside .9 is "0.8996" in the format ".2f", for "0.90" would be no less than .9.
    """

    thresholds: tuple[float, ...]

    def __new__(cls, value: float, *thresholds: float) -> Self:
        """Return `value` as a number that remembers its thresholds."""
        number = super().__new__(cls, value)
        number.thresholds = thresholds
        return number

    def __format__(self, spec: str) -> str:
        """Return the number with the digits of `spec`, or more to stay on its side."""
        value, found = float(self), SPEC.fullmatch(spec)
        if found is None:
            return format(value, spec)
        before, kind = found["before"], found["kind"]
        text = format(value, spec)
        for digits in range(int(found["digits"]), MOST_DIGITS + 1):
            text = format(value, f"{before}.{digits}{kind}")
            shown = float(text.rstrip("%").replace(",", "")) / (100 if kind == "%" else 1)
            if all(_side(shown, one) == _side(value, one) for one in self.thresholds):
                break
        return text


def _side(value: float, threshold: float) -> int:
    return (value > threshold) - (value < threshold)
