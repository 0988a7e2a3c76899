"""Templates and functions that make a sentence out of values."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# A template in the manner of `str.format`, or a function where words depend on the values. Beside
# the values of the message there are `option`, the door's names of the options of a grading, and
# `people`, the number of `workers` in words.
Sentence = str | Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class Options:
    """A door's names of the options of a grading, by those in `AqerParameters`."""

    name: Callable[[str], str]

    def __getitem__(self, option: str) -> str:
        return self.name(option)


def filled(sentence: Sentence, values: Mapping[str, Any], option: Callable[[str], str]) -> str:
    """Return a sentence with its values in the words of a door."""
    n = values.get("workers", 0)
    people = "1 worker" if n == 1 else f"{n:,} workers"
    known = ChainMap({"option": Options(option), "people": people}, values)  # type: ignore[arg-type]
    return sentence.format_map(known) if isinstance(sentence, str) else sentence(known)
