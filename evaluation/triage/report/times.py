"""When answers were written, and who of two workers answered first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from evaluation.core.messages.message import Message

Order = Literal["unknown", "before", "earlier", "after", "later", "together"]


@dataclass(frozen=True)
class AnswerTimes:
    """Start, submission time and time on task of an answer; None where not recorded."""

    started: datetime | None
    submitted: datetime | None
    seconds: float | None = None


def compare_times(mine: AnswerTimes, other: AnswerTimes) -> Order:
    """Return whether one answer was written before, after or at the same time as another.

    "before" or "after" : one was sent before the other was begun.
    "together" : both were being written at once, or were sent in the same moment.
    "earlier" or "later" : order of sending, if the start of the second one is unknown.
    "unknown" : a time of sending is missing.
    """
    if mine.submitted is None or other.submitted is None:
        return "unknown"
    if mine.submitted == other.submitted:
        return "together"
    # Sending order alone does not tell who copied: the later writer may have begun long before the
    # other one sent.
    if mine.submitted < other.submitted:
        if other.started is None:
            return "earlier"
        return "before" if mine.submitted <= other.started else "together"
    if mine.started is None:
        return "later"
    return "after" if other.submitted <= mine.started else "together"


def find_survey_times(answers: Iterable[AnswerTimes]) -> AnswerTimes | None:
    """Return the times that all answers share (those of the survey); None if they differ.

    None also for fewer than two answers, or if no time is known.
    """
    times = list(answers)
    first = times[0] if len(times) > 1 else AnswerTimes(None, None)
    is_known = first.submitted is not None or first.seconds is not None
    return first if is_known and all(time == first for time in times) else None


def summarize_orders(me: str, other: str, orders: Iterable[Order]) -> Message:
    """Return the message on which of two workers could have copied from the other.

    `orders` has one value for each question that both answered.
    """
    n_by_order = Counter(orders)
    names: tuple[Order, ...] = ("before", "earlier", "after", "later", "together", "unknown")
    counts: dict[str, int] = {name: n_by_order[name] for name in names}
    return Message("triage.times", {"me": me, "other": other, "n": n_by_order.total(), **counts})
