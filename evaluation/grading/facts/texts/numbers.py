"""Parse numbers written in figures or in English words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from evaluation.grading.facts.texts.tokens import FIGURE, LONGEST_FIGURE, MARK, WORD, Token

_SMALL_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
)
_SMALL = {word: number for number, word in enumerate(_SMALL_WORDS.split())}
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_TENS["fourty"] = 40
_SCALES = {
    "hundred": 1e2,
    "hundreds": 1e2,
    "dozen": 12.0,
    "dozens": 12.0,
    "thousand": 1e3,
    "thousands": 1e3,
    "k": 1e3,
    "million": 1e6,
    "millions": 1e6,
    "mio": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "billions": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
    "trillions": 1e12,
}
# "Dozens" and "hundreds" alone are no numbers; after one they are.
_ALONE = frozenset(("hundred", "dozen", "thousand", "million", "billion", "trillion"))
# Only after a figure, and next to it.
_GLUED = frozenset(("k", "mn", "bn", "mio"))
WORDS = frozenset((*_SMALL, *_TENS, *_ALONE))
"""Words that numbers begin with, besides "a" and "half"."""
_VULGAR = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125}
_THOUSANDS = re.compile(r"\d{1,3}(?:([.,'’\u00a0\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")


class Number(NamedTuple):
    """A number in a text: value, precision, end token and figures as written.

    Attributes
    ----------
    value : at least 0. place : the last place that is told, such as 100 for 1,200 or .1 for 12.5.
    end : the token after it. figures : its figures as written, "" for words.
    """

    value: float
    place: float
    end: int
    figures: str


def parse_number(tokens: Sequence[Token], at: int) -> Number | None:
    """Return the number that begins at token `at`, in figures or words; None if there is none."""
    token = tokens[at]
    if token.kind == FIGURE:
        found = None if _is_list(tokens, at) else _parse_figure(token.text)
        if found is None:
            return None
        value, place = found
        return _extend_number(tokens, value, place, at + 1, token.text)
    if token.kind == WORD:
        return _parse_words(tokens, at)
    if token.text in _VULGAR:
        return Number(_VULGAR[token.text], 0.01, at + 1, token.text)
    return None


def _is_list(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a figure begins a list, as the "1,2" of "1,2, and 3" does."""
    if "," not in tokens[at].text or _THOUSANDS.fullmatch(tokens[at].text):
        return False
    after = tokens[at + 1 : at + 3]
    return (
        len(after) == 2
        and after[0].text == ","
        and (after[1].kind == FIGURE or after[1].lower in ("and", "or"))
    )


def _parse_figure(text: str) -> tuple[float, float] | None:
    """Return value and last significant place of a figure; None for a code such as 1.2.3."""
    if len(text) > LONGEST_FIGURE:
        return None
    marks = [mark for mark in text if not mark.isdecimal()]
    plain = text
    if marks:
        match = _THOUSANDS.fullmatch(text)
        # 1.250 is one and a quarter in English; 1.250.000 and 1,250 are thousands.
        if match and (match[1] not in "." or marks.count(".") > 1):
            whole = text.replace(match[1], "")
            plain = whole.replace(",", ".")
        elif len(marks) == 1 and marks[0] in ".,":
            plain = text.replace(",", ".")
        else:
            return None
    _, _, decimals = plain.partition(".")
    value = float(plain)
    return value, _find_place(plain, decimals, value)


def _find_place(plain: str, decimals: str, value: float) -> float:
    """Return the last significant place of a number: 100 for "1200", .1 for "12.5"."""
    if decimals:
        return 10.0 ** -len(decimals)
    if value == 0:
        return 1.0
    trailing = 0
    while trailing < len(plain) - 1 and int(plain[-1 - trailing]) == 0:
        trailing += 1
    return 10.0**trailing


def _parse_words(tokens: Sequence[Token], at: int) -> Number | None:
    """Return a number in words, such as "twenty-five" or "a million"; None for other words."""
    word = tokens[at].lower
    if word in ("a", "an"):
        after = tokens[at + 1].lower if at + 1 < len(tokens) else ""
        if after in _ALONE:
            return _extend_number(tokens, 1.0, 1.0, at + 1, "")
        return None
    if word in _ALONE:
        return _extend_number(tokens, 1.0, 1.0, at, "")
    value_and_end = _parse_below_hundred(tokens, at)
    if value_and_end is None:
        return None
    value, end = value_and_end
    return _extend_number(tokens, value, 10.0 if value and value % 10 == 0 else 1.0, end, "")


def _parse_below_hundred(tokens: Sequence[Token], at: int) -> tuple[float, int] | None:
    """Return a number below 100 in words and the index of the token after it, or None."""
    if at >= len(tokens):
        return None
    word = tokens[at].lower
    if word in _SMALL:
        return float(_SMALL[word]), at + 1
    if word not in _TENS:
        return None
    after = at + 1
    if after + 1 < len(tokens) and tokens[after].text in ("-", "‑", "–"):
        after += 1
    one = _SMALL.get(tokens[after].lower, 0) if after < len(tokens) else 0
    if 1 <= one <= 9:
        return float(_TENS[word] + one), after + 1
    return float(_TENS[word]), at + 1


def _extend_number(
    tokens: Sequence[Token], value: float, place: float, at: int, figures: str
) -> Number:
    """Return the number with what follows it: scales ("million"), further words and halves."""
    total, current, is_scaled = 0.0, value, False
    while at < len(tokens):
        word = tokens[at].lower
        if word in _SCALES and (word not in _GLUED or (figures and tokens[at].glued)):
            scale = _SCALES[word]
            place = place * scale
            is_scaled = True
            if scale >= 1000:
                total, current = total + (current or 1.0) * scale, 0.0
            else:
                current = (current or 1.0) * scale
            at += 1
            continue
        # "two hundred and five", "one thousand two hundred"
        next_word = at + 1 if word == "and" and is_scaled else at
        below_hundred = (
            _parse_below_hundred(tokens, next_word) if is_scaled and not figures else None
        )
        if below_hundred is None:
            break
        current += below_hundred[0]
        place = 10.0 if below_hundred[0] and below_hundred[0] % 10 == 0 else 1.0
        at = below_hundred[1]
    value = total + current
    half = _parse_half(tokens, at)
    if half is not None:
        value, place, at = value + half[0], min(place, 1.0) / 10, half[1]
    return Number(value, place if math.isfinite(place) else 1.0, at, figures)


def _parse_half(tokens: Sequence[Token], at: int) -> tuple[float, int] | None:
    """Return the value of "and a half" or of ½ at a token, and the next token; None if neither."""
    if at < len(tokens) and tokens[at].kind == MARK and tokens[at].text in _VULGAR:
        return _VULGAR[tokens[at].text], at + 1
    words = [one.lower for one in tokens[at : at + 3]]
    if words == ["and", "a", "half"]:
        return 0.5, at + 3
    if words == ["and", "a", "quarter"]:
        return 0.25, at + 3
    return None
