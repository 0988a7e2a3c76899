"""Convert graders' marks to numeric grades: numbers unchanged, labels by a table."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from annotations.exchange.reading.answers import normalise_text


@dataclass(frozen=True)
class LabelGrades:
    """Table of the numeric grade of each label; case and outer spaces of a label are ignored."""

    values: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> LabelGrades:
        """Parse `correct=1,partial=.5` to a table of grades; a label with a comma is quoted.

        Raises ValueError, with a sentence for the user, for an entry without "=" or label, a value
        that is no finite number, and a label that is named twice.
        """
        return cls(dict(_parse_label_entries(text)) if text.strip() else {})

    def add_defaults(self, others: Mapping[str, float]) -> LabelGrades:
        """Return a table of these grades, with those of `others` for labels that it lacks."""
        return LabelGrades(
            {**{normalise_label(label): value for label, value in others.items()}, **self.values}
        )

    def convert_mark(self, mark: str) -> float | None:
        """Return the numeric grade of a mark: its label's grade, else its number, else None."""
        # A label such as "1" may have a value of its own, so the table precedes the number.
        value = self.values.get(normalise_label(mark))
        return parse_finite_number(mark) if value is None else value


def normalise_label(label: str) -> str:
    """Return a label in the form in which labels are compared: trimmed, NFC, lower case."""
    return normalise_text(label).casefold()


def parse_finite_number(mark: str) -> float | None:
    """Parse a mark as a finite number; None for any other text."""
    try:
        number = float(mark)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _parse_label_entries(text: str) -> Iterator[tuple[str, float]]:
    """Yield (label, grade) of each entry of `correct=1,...`; ValueError for an invalid entry."""
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"the labels {text!r} are not quoted as in CSV") from error
    if len(rows) != 1:
        raise ValueError("expected the labels' values on one line: correct=1,partial=.5,wrong=0")
    seen: set[str] = set()
    for entry in rows[0]:
        raw, equals, value = entry.rpartition("=")
        label = normalise_label(raw)
        if not equals or not label:
            raise ValueError(f"{entry.strip()!r} is not LABEL=VALUE, such as correct=1")
        number = parse_finite_number(value)
        if number is None:
            raise ValueError(f"the value of the label {raw.strip()!r} is no number: {value!r}")
        if label in seen:
            raise ValueError(f"the label {raw.strip()!r} is named twice")
        seen.add(label)
        yield label, number
