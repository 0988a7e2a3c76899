"""What a measure is told for: "a year", "per kilometre", "each century", "daily"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.grading.facts.texts.tokens import Token
from evaluation.grading.facts.texts.units import BY_WORD, DURATION, Unit, unit_at

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
    """What a measure is told for; `begin` and `end` are its tokens."""

    unit: Unit
    begin: int
    end: int


def rate_at(tokens: Sequence[Token], at: int) -> Rate | None:
    """Return the rate that follows a measure: "a year", "/h", "per second"."""
    if at >= len(tokens):
        return None
    word = tokens[at].lower
    if word in _BY or tokens[at].text == "/":
        found = unit_at(tokens, at + 1)
        if found is not None:
            return Rate(found[0], at, found[1])
    return None


def rate_near(tokens: Sequence[Token], begin: int, end: int) -> Rate | None:
    """Return the time that a clause tells its measure for: "each century", "daily".

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
