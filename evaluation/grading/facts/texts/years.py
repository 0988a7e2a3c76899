"""Parse calendar years, decades, centuries and months in a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.grading.facts.texts.numbers import Number
from evaluation.grading.facts.texts.tokens import FIGURE, WORD, Token

FIRST, LAST = 1000, 2099
_NAMES = "January February March April May June July August September October November December"
MONTHS = tuple(_NAMES.split())
_MONTHS = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_MONTHS |= {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_MONTHS["sept"] = 9
# Words of the language besides: a capital, or a number beside them, says that the month is meant.
_AMBIGUOUS = frozenset(
    ("march", "may", "mar", "jan", "jun", "dec", "sep", "august", "april", "june")
)
_BEFORE_WORDS = (
    "in since by until till from during before after circa year around to between "
    "of and the about early late mid"
)
_BEFORE = frozenset(_BEFORE_WORDS.split())
_ERAS = {"bc": -1, "bce": -1, "ad": 1, "ce": 1}
_ORDINALS_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
    "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth "
    "nineteenth twentieth twenty-first"
)
_ORDINALS = {
    word: number
    for number, word in enumerate(
        _ORDINALS_WORDS.split(),
        1,
    )
}
ORDINALS = frozenset(_ORDINALS)


class Year(NamedTuple):
    """A year, or an interval of years, with its text; `end` is the token after it."""

    low: int
    high: int
    shown: str
    end: int


def parse_year(tokens: Sequence[Token], at: int, number: Number, counts: bool) -> Year | None:
    """Return the year that a number means; None if it counts or measures something.

    Parameters
    ----------
    counts : the question asks for a number, so that only what cannot be one is a year.
    """
    after = tokens[number.end] if number.end < len(tokens) else None
    era = _ERAS.get(after.lower) if after is not None and after.kind == WORD else None
    if number.figures.isdecimal() and era is not None and number.end == at + 1:
        year = era * int(number.figures)
        return Year(year, year, f"{number.figures} {after.text}" if after else "", number.end + 1)
    if not is_year(number.figures) or number.end != at + 1:
        return None
    year = int(number.figures)
    if (
        after is not None
        and after.kind == WORD
        and after.lower in ("s", "'s", "’s")
        and after.glued
    ):
        return Year(year, year + (9 if year % 100 else 99), f"{year}s", number.end + 1)
    before = tokens[at - 1].lower if at else ""
    if before in _BEFORE or before in _MONTHS or era is not None:
        return Year(year, year, str(year), number.end)
    if counts:
        return None
    if (
        after is not None
        and after.kind == WORD
        and after.lower.endswith("s")
        and after.lower not in ("was", "is", "as", "has", "this", "its")
    ):
        return None  # 1500 soldiers
    return Year(year, year, str(year), number.end)


def is_year(figures: str) -> bool:
    """Return whether figures look like a year, 1000 to 2099."""
    return len(figures) == 4 and figures.isdecimal() and FIRST <= int(figures) <= LAST


def parse_century(tokens: Sequence[Token], at: int) -> Year | None:
    """Return the century at token `at` ("19th century") as years; None if there is none."""
    token = tokens[at]
    number, end = _ORDINALS.get(token.lower, 0), at + 1
    if token.lower == "twenty" and at + 2 < len(tokens) and tokens[at + 2].lower == "first":
        number, end = 21, at + 3
    if token.kind == FIGURE and token.text.isdecimal() and len(token.text) <= 2:
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if after is None or after.lower not in ("st", "nd", "rd", "th") or not after.glued:
            return None
        number, end = int(token.text), at + 2
    if end < len(tokens) and tokens[end].text == "-":
        end += 1
    if not number or end >= len(tokens) or tokens[end].lower not in ("century", "centuries"):
        return None
    return Year(100 * number - 100, 100 * number, f"{_format_ordinal(number)} century", end + 1)


def _format_ordinal(number: int) -> str:
    """Return a number as an ordinal: "1st", "12th", "21st"."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{ends.get(number % 10, 'th') if number // 10 != 1 else 'th'}"


def parse_month(tokens: Sequence[Token], at: int) -> int | None:
    """Return the number (1 to 12) of the month that token `at` names; None for no month."""
    token = tokens[at]
    number = _MONTHS.get(token.lower)
    if number is None or token.lower not in _AMBIGUOUS:
        return number
    near = [*tokens[max(0, at - 2) : at], *tokens[at + 1 : at + 2]]
    if any(one.kind == FIGURE for one in near):
        return number
    before = tokens[at - 1].lower if at else ""
    alone = len(tokens) <= 2
    if token.text[0].isupper() and (alone or before in _BEFORE) and len(token.text) > 2:
        return number
    return None
