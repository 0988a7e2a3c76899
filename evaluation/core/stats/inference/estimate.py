"""Define the records of a number with its 95% interval, which all features use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% interval; each part is None where it is undefined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def has_interval(self) -> bool:
        """Whether both ends of the interval are known."""
        return self.low is not None and self.high is not None


NO_ESTIMATE = Estimate()


@dataclass(frozen=True)
class SampleEstimate(Estimate):
    """A statistic of `n` items with its 95% interval.

    `reason` states why the value is None, or else why the interval is; None if nothing is missing.
    """

    n: int = 0
    reason: str | None = None
