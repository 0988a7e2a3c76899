"""Measured false-alarm rates in real crowds of about this size without a known problem.

The numbers are those of `manage.py reproduce false-rings`, stored with the project, and stand in
platform/docs/alarms.md as well, which a test compares.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import evaluation
from evaluation.grading.alarms.messages import (
    CROWDS,
    ONE_GROUP,
    SEVERITIES,
    format_case_rates,
    format_rate,
    get_title,
)

FILE = Path(evaluation.__file__).parent / "evidence" / "studies" / "false_rings.csv"
# Smaller crowds are not ranked, and none was drawn.
FEWEST = 3
# Where an alarm surely rings in more than one crowd of twenty, pages say how little it means.
OFTEN = 0.05
# The row that counts any alarm, and is a statistic of none.
ANY = "any"


@dataclass(frozen=True)
class Rate:
    """False-alarm rate of one alarm in random groups of one crowd, with a 95% interval.

    Attributes
    ----------
    groups : how many were drawn. looked : of these, how many had enough answers for the statistic.
    rang : of these; share, low, high : 0 to 1, with Wilson's 95% interval; None where none had.
    """

    crowd: str
    groups: int
    looked: int
    rang: int
    share: float | None
    low: float | None
    high: float | None

    @property
    def name(self) -> str:
        """Name of the crowd that the groups were drawn from."""
        return CROWDS[self.crowd]

    @property
    def said(self) -> str:
        """The false-alarm rate as text, such as "38.4% (34.7 to 42.2) of 643"."""
        return format_rate(self.looked, self.rang, self.share, self.low, self.high)

    @property
    def is_high(self) -> bool:
        """Whether the rate is above 5% even at the lower end of its interval."""
        return self.low is not None and self.low > OFTEN


@dataclass(frozen=True)
class CaseRates:
    """False-alarm rates of one alarm, one for each crowd."""

    case: str
    severity: str
    rates: tuple[Rate, ...]

    @property
    def title(self) -> str:
        """Title of the alarm."""
        return get_title(self.case)

    @property
    def word(self) -> str:
        """The alarm's severity as a label, such as "Notice"."""
        return SEVERITIES[self.severity]

    @property
    def rings_often(self) -> bool:
        """Whether the false-alarm rate is high in at least one crowd."""
        return any(rate.is_high for rate in self.rates)


@dataclass(frozen=True)
class FalseRings:
    """False-alarm rates for the measured group size that is nearest to a crowd's size.

    Attributes
    ----------
    size : workers of the groups. n_workers : of the crowd. cases : alarms, then notices.
    """

    size: int
    n_workers: int
    cases: tuple[CaseRates, ...]

    @property
    def often(self) -> list[CaseRates]:
        """The alarms (without notices) with a high false-alarm rate in groups of this size."""
        return [case for case in self.cases if case.severity == "alarm" and case.rings_often]

    @property
    def crowds(self) -> list[str]:
        """Names of the crowds, one for each column of rates."""
        return [rate.name for rate in self.cases[0].rates]

    def of(self, case: str) -> str:
        """Return one alarm's false-alarm rates in sentences; "" if none were measured."""
        case_rates = next((one for one in self.cases if one.case == case), None)
        if case_rates is None:
            return ""
        rates = [(rate.name, rate.said) for rate in case_rates.rates]
        return format_case_rates(self.size, rates, often=case_rates.rings_often)


def find_false_rings(n_workers: int) -> FalseRings | None:
    """Return the false-alarm rates for a crowd of so many workers; None below 3 workers.

    The nearest size is that of the least ratio: 14 are compared with 10, 15 with 20.
    """
    if n_workers < FEWEST:
        return None
    # Ratios, not differences: 10 and 20 workers differ more than 100 and 110.
    sizes = _read_rates()
    size = min(sizes, key=lambda one: (max(one, n_workers) / min(one, n_workers), one))
    return FalseRings(size, n_workers, sizes[size])


@cache
def _read_rates() -> Mapping[int, tuple[CaseRates, ...]]:
    """Return the false-alarm rates by group size, read from the CSV file."""
    rates_by_size: dict[int, dict[tuple[str, str], list[Rate]]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["resamples"]) == ONE_GROUP or row["alarm"] == ANY:
                continue
            rate = Rate(
                row["crowd"],
                int(row["resamples"]),
                int(row["looked_at"]),
                int(row["rang"]),
                *(float(row[name]) if row[name] else None for name in ("share", "low", "high")),
            )
            cases = rates_by_size.setdefault(int(row["workers"]), {})
            cases.setdefault((row["alarm"], row["severity"]), []).append(rate)
    return {
        size: tuple(CaseRates(*case, tuple(rates)) for case, rates in cases.items())
        for size, cases in rates_by_size.items()
    }
