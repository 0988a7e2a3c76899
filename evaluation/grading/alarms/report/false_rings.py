"""How often alarms rang in real crowds of about this size in which nothing is known to be amiss.

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
    of_case,
    rate_in_words,
    title_of,
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
    """How often an alarm rang in random groups of one crowd.

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
        """Whose groups these are."""
        return CROWDS[self.crowd]

    @property
    def said(self) -> str:
        """The rate in words."""
        return rate_in_words(self.looked, self.rang, self.share, self.low, self.high)

    @property
    def is_high(self) -> bool:
        """Whether it rings often, as far as the interval can say."""
        return self.low is not None and self.low > OFTEN


@dataclass(frozen=True)
class CaseRates:
    """How often one alarm rang, crowd by crowd."""

    case: str
    severity: str
    rates: tuple[Rate, ...]

    @property
    def title(self) -> str:
        """What it is."""
        return title_of(self.case)

    @property
    def word(self) -> str:
        """The severity in a word."""
        return SEVERITIES[self.severity]

    @property
    def rings_often(self) -> bool:
        """Whether it rings often in one of the crowds."""
        return any(rate.is_high for rate in self.rates)


@dataclass(frozen=True)
class FalseRings:
    """The rates of the measured size that is nearest to a crowd.

    Attributes
    ----------
    size : workers of the groups. n_workers : of the crowd. cases : alarms, then notices.
    """

    size: int
    n_workers: int
    cases: tuple[CaseRates, ...]

    @property
    def often(self) -> list[CaseRates]:
        """The alarms that ring often in groups of this size; not the notices."""
        return [case for case in self.cases if case.severity == "alarm" and case.rings_often]

    @property
    def crowds(self) -> list[str]:
        """Whose groups were drawn, as columns."""
        return [rate.name for rate in self.cases[0].rates]

    def of(self, case: str) -> str:
        """Return what is known of one alarm, in sentences; "" of one that was not measured."""
        found = next((one for one in self.cases if one.case == case), None)
        if found is None:
            return ""
        told = [(rate.name, rate.said) for rate in found.rates]
        return of_case(self.size, told, often=found.rings_often)


def false_rings(n_workers: int) -> FalseRings | None:
    """Return the rates for a crowd of so many workers; None below 3, where nobody is ranked.

    The nearest size is that of the least ratio: 14 are compared with 10, 15 with 20.
    """
    if n_workers < FEWEST:
        return None
    sizes = _measured()
    size = min(sizes, key=lambda one: (max(one, n_workers) / min(one, n_workers), one))
    return FalseRings(size, n_workers, sizes[size])


@cache
def _measured() -> Mapping[int, tuple[CaseRates, ...]]:
    """Return the rates by size; a whole crowd, which can be taken only once, is none."""
    found: dict[int, dict[tuple[str, str], list[Rate]]] = {}
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
            cases = found.setdefault(int(row["workers"]), {})
            cases.setdefault((row["alarm"], row["severity"]), []).append(rate)
    return {
        size: tuple(CaseRates(*case, tuple(rates)) for case, rates in cases.items())
        for size, cases in found.items()
    }
