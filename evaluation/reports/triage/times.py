"""Who answered first, hence who could have copied from whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from evaluation.words.message import Message

Order = Literal["unknown", "before", "earlier", "after", "later", "together"]


@dataclass(frozen=True)
class When:
    """When an answer was begun and sent; None where nobody took the time.

    Attributes
    ----------
    seconds : time on task, as it was counted where the answer was collected.
    """

    started: datetime | None
    submitted: datetime | None
    seconds: float | None = None


def order_of(mine: When, other: When) -> Order:
    """Return how an answer stands in time to another.

    "before" or "after" where one was sent when the other was not begun yet; "together" where both
    were being written, or were sent in the same moment; "earlier" or "later" where it is not known
    when the one that was sent second was begun; "unknown" without both times of sending.
    """
    if mine.submitted is None or other.submitted is None:
        return "unknown"
    if mine.submitted == other.submitted:
        return "together"
    if mine.submitted < other.submitted:
        if other.started is None:
            return "earlier"
        return "before" if mine.submitted <= other.started else "together"
    if mine.started is None:
        return "later"
    return "after" if other.submitted <= mine.started else "together"


def who_first(me: str, other: str, orders: Iterable[Order]) -> Message:
    """Return who could have copied from whom, over the answers to common questions."""
    found = Counter(orders)
    names: tuple[Order, ...] = ("before", "earlier", "after", "later", "together", "unknown")
    counts: dict[str, int] = {name: found[name] for name in names}
    return Message("triage.times", {"me": me, "other": other, "n": found.total(), **counts})
