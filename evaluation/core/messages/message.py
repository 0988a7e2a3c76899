"""Messages to people as codes with values, which each interface turns into its own sentences.

A number with a threshold is rounded so that it does not cross the threshold shown with it.
"""

from __future__ import annotations

import json
import re
import string
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

MOST_DIGITS = 12
SPEC = re.compile(r"(?P<before>[^.]*)\.(?P<digits>\d+)(?P<kind>[fg%])")


class ThresholdNumber(float):
    """Float that formats with more digits where rounding would move it across a threshold.

    .8996 beside .9 is "0.8996" in the format ".2f", for "0.90" would be no less than .9.
    """

    thresholds: tuple[float, ...]

    def __new__(cls, value: float, *thresholds: float) -> Self:
        """Return `value` as a number that remembers its thresholds."""
        number = super().__new__(cls, value)
        number.thresholds = thresholds
        return number

    def __format__(self, spec: str) -> str:
        """Return the number with the digits of `spec`, or with more to stay on its side."""
        value, match = float(self), SPEC.fullmatch(spec)
        if match is None:
            return format(value, spec)
        before, kind = match["before"], match["kind"]
        text = format(value, spec)
        for digits in range(int(match["digits"]), MOST_DIGITS + 1):
            text = format(value, f"{before}.{digits}{kind}")
            rounded = float(text.rstrip("%").replace(",", "")) / (100 if kind == "%" else 1)
            if all(
                _compare_with_threshold(rounded, threshold)
                == _compare_with_threshold(value, threshold)
                for threshold in self.thresholds
            ):
                break
        return text


def _compare_with_threshold(value: float, threshold: float) -> int:
    """Return 1 if a value is above a threshold, -1 if below, 0 if equal."""
    return (value > threshold) - (value < threshold)


# A ready sentence without a code: from a file, or from a run older than codes.
SENTENCE = "sentence"
# Nouns that have another plural than an s at their end.
MANY = {"person": "people", "reply": "replies"}
# Smaller ones depend on the number of questions more than on the size of a difference.
LEAST_P = 0.001
# Below it a difference counts as beyond chance.
SIGNIFICANT = 0.05
# So begins a message that is stored as text.
TEXT = '{"code": '
# Words by which the warnings of older runs are recognised.
OF_OLDER_RUNS = {
    "Empty answers, which count as unanswered": "empty_answers",
    "answers are longer than": "truncated",
    "KNOWS ENGLISH ONLY": "english_only",
    "The language of the answers was not checked": "language_not_checked",
    "Most answers are short or numeric": "short_answers",
}


@dataclass(frozen=True)
class Message:
    """Message to people as a code and the values of its sentence; each interface formats it.

    The values are numbers, texts, booleans and None.

    A value named `sentence` is the whole sentence, the same for every interface.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_stored(cls, stored: Message | Mapping[str, Any] | str) -> Message:
        """Return a message stored by `as_dict`, by `as_text` or, in old runs, as a sentence."""
        if isinstance(stored, Message):
            return stored
        if isinstance(stored, str) and stored.startswith(TEXT):
            return cls.from_stored(json.loads(stored))
        if isinstance(stored, str):
            known = (code for words, code in OF_OLDER_RUNS.items() if words in stored)
            return cls(next(known, SENTENCE), {SENTENCE: stored})
        return cls(stored["code"], stored["values"])

    def as_dict(self) -> dict[str, Any]:
        """Return the message as plain values, ready for JSON."""
        return {"code": self.code, "values": dict(self.values)}

    def as_text(self) -> str:
        """Return the message as a line of JSON, for fields that also hold sentences."""
        return json.dumps(self.as_dict())


# A template for `str.format`, or a function where words depend on the values. In addition to the
# values of the message there are `option`, the interface's names of the options of a grading, and
# `people`, the number of `workers` in words.
Sentence = str | Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class OptionNames:
    """Mapping from option names to the names that an interface gives them."""

    name: Callable[[str], str]

    def __getitem__(self, option: str) -> str:
        return self.name(option)


def fill_sentence(
    sentence: Sentence, values: Mapping[str, Any], option: Callable[[str], str]
) -> str:
    """Return a message's sentence, filled with values and an interface's names of options."""
    n = values.get("workers", 0)
    people = "1 worker" if n == 1 else f"{n:,} workers"
    known = ChainMap({"option": OptionNames(option), "people": people}, values)  # type: ignore[arg-type]
    return fill_template(sentence, known) if isinstance(sentence, str) else sentence(known)


def fill_template(template: str, values: Mapping[str, Any]) -> str:
    """Return a template filled with values; `{questions:question}` becomes "2 questions"."""
    return _TEMPLATES.vformat(template, (), values)


def format_count(n: int, noun: str) -> str:
    """Return a number with its noun, such as "1 model" or "2,000 models"."""
    return f"{n:,} {noun if n == 1 else MANY.get(noun, f'{noun}s')}"


def format_p_value(p: float) -> str:
    """Return a p-value for a sentence, such as "p = 0.032" or "p < 0.001"."""
    if p < LEAST_P:
        return "p < 0.001"
    # The page of all words has a name in place of the number.
    p_value = ThresholdNumber(p, SIGNIFICANT) if isinstance(p, int | float) else p
    return f"p = {p_value:.2g}"


class _Templates(string.Formatter):
    """String formatter with nouns as formats: `{n:model}` becomes "2 models"."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Return a value as text; with a noun as format, the number with the noun."""
        if format_spec.isalpha() and len(format_spec) > 1:
            return format_count(value, format_spec)
        return super().format_field(value, format_spec)


_TEMPLATES = _Templates()
