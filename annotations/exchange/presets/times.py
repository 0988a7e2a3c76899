"""Compute durations from times in survey exports, whose order of day and month is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

DAYS = ("%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y")
CLOCKS = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
LONGEST = timedelta(days=30)


def elapsed_seconds(begun: str, ended: str) -> float | None:
    """Return the seconds between two times of one file; None if they are ambiguous.

    None where one is no time, where the end is before the beginning or a month later, and where
    the order of day and month matters.
    """
    ends = dict(_readings(ended))
    found = {
        (ends[form] - time).total_seconds()
        for form, time in _readings(begun)
        if form in ends and timedelta() <= ends[form] - time <= LONGEST
    }
    return found.pop() if len(found) == 1 else None


def _readings(cell: str) -> Iterator[tuple[str, datetime]]:
    """Yield each (format, time) as which a cell can be read."""
    text = " ".join(cell.split())
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        pass
    else:
        yield f"iso {time.tzinfo is not None}", time
        return
    if not text[:1].isdigit():
        return
    for day in DAYS:
        for clock in CLOCKS:
            try:
                yield f"{day} {clock}", datetime.strptime(text, f"{day} {clock}")
            except ValueError:
                continue
