"""Rates: the unit that a measure refers to, as in "a year", "per kilometre", "daily"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.grading.facts.texts.tokens import Token
from evaluation.grading.facts.texts.units import BY_WORD, DURATION, Unit, parse_unit

_BY = frozenset(("a", "an", "per", "each", "every"))
_ADVERBS = {
    "daily": "day",
    "hourly": "hour",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
    "annual": "year",
}


class Rate(NamedTuple):
    """The unit that a measure refers to ("per year"), and its first and last tokens."""

    unit: Unit
    begin: int
    end: int


def parse_rate(tokens: Sequence[Token], at: int) -> Rate | None:
    """Return the rate at token `at`, right after a measure ("a year", "/h"); None without one."""
    if at >= len(tokens):
        return None
    word = tokens[at].lower
    if word in _BY or tokens[at].text == "/":
        found = parse_unit(tokens, at + 1)
        if found is not None:
            return Rate(found[0], at, found[1])
    return None


def find_rate(tokens: Sequence[Token], begin: int, end: int) -> Rate | None:
    """Return the rate named in tokens `begin` to `end` ("each century", "daily"); None if none.

    "Every 20 minutes" is a measure itself; "a year" says nothing away from its measure.
    """
    for at in range(begin, end):
        word = tokens[at].lower
        if word in _ADVERBS:
            return Rate(BY_WORD[_ADVERBS[word]], at, at + 1)
        if word in ("each", "every", "per") and at + 1 < end:
            unit = BY_WORD.get(tokens[at + 1].lower)
            if unit is not None and unit.dimension == DURATION:
                return Rate(unit, at, at + 2)
    return None
