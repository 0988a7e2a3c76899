"""What marks are worth: numbers as they are, labels such as "correct" as somebody says."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from annotations.exchange.reading.answers import cleaned


@dataclass(frozen=True)
class Labels:
    """Grades by label, as `plain` writes it: neither case nor spaces around it count."""

    values: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Labels:
        """The values in `correct=1,partial=.5`; a label with a comma is quoted as in CSV.

        Raises ValueError, with a sentence for the user, for an entry without "=" or label, a value
        that is no finite number, and a label that is named twice.
        """
        return cls(dict(_entries(text)) if text.strip() else {})

    def over(self, others: Mapping[str, float]) -> Labels:
        """Return these beside others; a label that is in both is worth what it is worth here."""
        return Labels({**{plain(label): value for label, value in others.items()}, **self.values})

    def grade(self, mark: str) -> float | None:
        """Return what a mark is worth: its label's value, else its number; None for neither."""
        known = self.values.get(plain(mark))
        return number_in(mark) if known is None else known


def plain(label: str) -> str:
    """Return a label as it is compared."""
    return cleaned(label).casefold()


def number_in(mark: str) -> float | None:
    """Return the finite number that a mark is, or None."""
    try:
        number = float(mark)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _entries(text: str) -> Iterator[tuple[str, float]]:
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"the labels {text!r} are not quoted as in CSV") from error
    if len(rows) != 1:
        raise ValueError("expected the labels' values on one line: correct=1,partial=.5,wrong=0")
    seen: set[str] = set()
    for entry in rows[0]:
        raw, equals, value = entry.rpartition("=")
        label = plain(raw)
        if not equals or not label:
            raise ValueError(f"{entry.strip()!r} is not LABEL=VALUE, such as correct=1")
        number = number_in(value)
        if number is None:
            raise ValueError(f"the value of the label {raw.strip()!r} is no number: {value!r}")
        if label in seen:
            raise ValueError(f"the label {raw.strip()!r} is named twice")
        seen.add(label)
        yield label, number
