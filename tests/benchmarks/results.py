"""What a case gives back: rows of numbers, some with a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

from tests.benchmarks.timing import Timing

SECONDS = "s"


class SkippedError(Exception):
    """A case cannot be run here; the message says why."""


class FailedError(Exception):
    """A case broke off; the message says where. Its claims are not met."""


@dataclass(frozen=True)
class Claim:
    """A bound that a number has to keep, or two with "between"."""

    side: Literal["at least", "at most", "between"]
    bound: float
    unit: str = ""
    upper: float | None = None

    def met_by(self, value: float) -> bool:
        """Whether the number keeps the bound."""
        if self.side == "at most":
            return value <= self.bound
        return value >= self.bound and (self.upper is None or value <= self.upper)

    def __str__(self) -> str:
        bounds = f"{self.bound:g}" if self.upper is None else f"{self.bound:g} and {self.upper:g}"
        return f"{self.side} {bounds} {self.unit}".rstrip()


@dataclass(frozen=True)
class Figure:
    """One measured thing.

    Attributes
    ----------
    setting : the size of the data, or which variant.
    what : what was measured.
    unit : of `values`.
    values : one a run.
    median, low, high : of the values.
    ratio : median of this one over that of Crowdgrade's own; above 1, Crowdgrade is faster.
    claim : the bound on `ratio`, or on the median where there is no ratio; None for information.
    verdict : "met", "not met", "not applicable" or None without a claim.
    reason : why a claim is not applicable.
    """

    setting: str
    what: str
    unit: str
    values: tuple[float, ...]
    median: float | None
    low: float | None
    high: float | None
    ratio: float | None = None
    claim: str | None = None
    verdict: str | None = None
    reason: str | None = None

    @property
    def runs(self) -> int:
        """How many runs it rests on."""
        return len(self.values)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "values": list(self.values), "runs": self.runs}


def timed(
    setting: str,
    what: str,
    timing: Timing,
    *,
    own: Timing | None = None,
    claim: Claim | None = None,
) -> Figure:
    """Return the row of a timed contestant, `own` being the one it is compared with."""
    ratio = None if own is None else timing.median / own.median
    judged = timing.median if ratio is None else ratio
    return Figure(
        setting,
        what,
        SECONDS,
        tuple(timing.seconds),
        timing.median,
        min(timing.seconds),
        max(timing.seconds),
        ratio,
        *_judged(claim, judged),
    )


def figure(setting: str, what: str, value: float, unit: str, claim: Claim | None = None) -> Figure:
    """Return the row of a number that is no time."""
    value = float(value)
    return Figure(setting, what, unit, (value,), value, value, value, None, *_judged(claim, value))


def middle_of(
    setting: str, what: str, values: Sequence[float], unit: str, claim: Claim | None = None
) -> Figure:
    """Return the row of a number that was measured several times; the claim is of the median."""
    mid = float(median(values))
    told = tuple(map(float, values))
    return Figure(setting, what, unit, told, mid, min(told), max(told), None, *_judged(claim, mid))


def not_applicable(setting: str, what: str, claim: Claim, reason: str) -> Figure:
    """Return the row of a claim that this machine cannot try."""
    nothing = (None, None, None, None)
    return Figure(setting, what, "", (), *nothing, str(claim), "not applicable", reason)


def _judged(claim: Claim | None, value: float) -> tuple[str | None, str | None]:
    if claim is None:
        return None, None
    return str(claim), "met" if claim.met_by(value) else "not met"


@dataclass(frozen=True)
class Findings:
    """What a case returns: its rows, and remarks that a reader needs to judge them."""

    rows: Sequence[Figure]
    remarks: Sequence[str] = ()

    def __add__(self, other: Findings) -> Findings:
        """Return both, one after the other."""
        return Findings([*self.rows, *other.rows], [*self.remarks, *other.remarks])


@dataclass(frozen=True)
class CaseResult:
    """A case as it was run.

    Attributes
    ----------
    seconds : how long the case took in all.
    load_before, load_after : one-minute load averages; None where the system has none.
    skipped, failed : why there are no rows.
    """

    name: str
    seconds: float
    load_before: float | None
    load_after: float | None
    rows: Sequence[Figure] = field(default_factory=tuple)
    remarks: Sequence[str] = field(default_factory=tuple)
    skipped: str | None = None
    failed: str | None = None

    def missed(self) -> list[str]:
        """Return the claims that are not met, in words."""
        if self.failed is not None:
            return [f"{self.name}: {self.failed}"]
        return [
            f"{self.name}, {row.setting}, {row.what}: {row.claim}, "
            f"measured {row.median if row.ratio is None else row.ratio:.4g}"
            for row in self.rows
            if row.verdict == "not met"
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **asdict(self),
            "rows": [row.as_dict() for row in self.rows],
            "remarks": list(self.remarks),
        }
