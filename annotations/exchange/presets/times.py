"""Find a file's times and durations; the order of day and month in them is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from annotations.exchange.column_names import normalise_name
from annotations.exchange.presets.cells import holds_for_most, is_epoch, is_number
from annotations.exchange.presets.preset import TimeColumns
from annotations.exchange.presets.table import Head

DAYS = ("%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y")
CLOCKS = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
LONGEST = timedelta(days=30)
ANONYMISED = datetime(1980, 1, 1)
"""The time that LimeSurvey writes in place of all times of an anonymous survey."""
_START = re.compile(
    r"start|beg[iu]n|began|anfang|opened|creat|d[eé]but|inicio|inizio|begonnen|начал|開始|开始"
)
"""Part of the name of a column of times at which an answer was begun."""


def find_time_columns(head: Head, times: TimeColumns) -> tuple[str, ...]:
    """Return the columns of a file that hold times or durations, by the names of its preset."""
    names = (*times.started, *times.submitted, *times.seconds)
    return tuple(dict.fromkeys(filter(None, (head.find_column(name) for name in names))))


def classify_time_columns(head: Head, columns: Iterable[str], known: TimeColumns) -> TimeColumns:
    """Return which of the chosen columns hold start times, submission times and durations.

    Names of the preset (`known`) go first. Numbers are durations in seconds. Of the others those
    named like a beginning are start times; so is the first of several without such a name.
    """
    started, submitted, seconds, others = [], [], [], []
    for column in columns:
        names = set(map(normalise_name, head.get_titles(column)))
        if names & set(map(normalise_name, known.started)):
            started.append(column)
        elif names & set(map(normalise_name, known.submitted)):
            submitted.append(column)
        elif names & set(map(normalise_name, known.seconds)) or _are_durations(
            head.get_values(column)
        ):
            seconds.append(column)
        elif any(_START.search(title.casefold()) for title in head.get_titles(column)):
            started.append(column)
        else:
            others.append(column)
    if not started and not submitted and len(others) > 1:
        started.append(others.pop(0))
    return TimeColumns(tuple(started), (*submitted, *others), tuple(seconds), known.zone)


def _are_durations(values: Sequence[str]) -> bool:
    """Return whether values are durations: numbers, but no times."""
    return holds_for_most(is_number, values) and not holds_for_most(is_epoch, values)


def compute_elapsed_seconds(begun: str, ended: str) -> float | None:
    """Return the seconds between two times of one file; None if invalid or ambiguous.

    None where one is no time, where the end is before the beginning or a month later, and where
    the order of day and month matters, and where the survey is anonymous.
    """
    # Both times are read in the same format: a file writes all of its times alike.
    ends = dict(_iterate_time_readings(ended))
    if ANONYMISED in ends.values():
        return None
    found = {
        (ends[form] - time).total_seconds()
        for form, time in _iterate_time_readings(begun)
        if form in ends and timedelta() <= ends[form] - time <= LONGEST
    }
    # A set: 3/4 and 3/5 differ by a day or by a month, but readings that agree count once.
    return found.pop() if len(found) == 1 else None


def _iterate_time_readings(cell: str) -> Iterator[tuple[str, datetime]]:
    """Yield (format, time) for each format in which a cell is a valid time."""
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
