"""Tokens of a text, and the numbers, years and months among them.

Split a text into tokens (words, figures, marks), and find the clauses around them. Parse numbers
written in figures or in English words. Parse calendar years, decades, centuries and months in a
text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

FIGURE, WORD, MARK = "figure", "word", "mark"
# Figures of more characters are codes, or noise.
LONGEST_FIGURE = 24
# Characters of a word that count as its stem, and of the shortest word that says what it is about.
STEM, SHORTEST = 5, 4

_TOKEN = re.compile(
    r"(?P<figure>\d+(?:[.,'’\u00a0\u202f]\d+)*)"
    # Raised and broken figures are letters to Python; here each stands for itself.
    r"|(?P<word>[^\W\d_²³½¼¾⅓⅔⅛]+(?:['’][^\W\d_²³½¼¾⅓⅔⅛]+)*)"
    r"|(?P<mark>[^\w\s]|[_²³½¼¾⅓⅔⅛])"
)
_ENDS = frozenset(".!?;:,\n")
_JOINTS_WORDS = (
    "and but or while whereas because although though which that who whom whose "
    "where when since so then if"
)
_JOINTS = frozenset(_JOINTS_WORDS.split())
# Words of four letters and more that say nothing of what a clause is about.
_EMPTY_WORDS = (
    "about above after again also around been before being below between both "
    "could does down each even every exactly from have having here into just least "
    "less made make many more most much nearly only other over roughly same should "
    "some such than their them then there these they this those through under "
    "until upon very were what will with within would your"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


class Token(NamedTuple):
    """A word, figure or mark in a text, with its lower-case form and position.

    `glued` is True if no character is between it and the token before.
    """

    text: str
    lower: str
    kind: str
    start: int
    end: int
    glued: bool


def tokenise(text: str) -> list[Token]:
    """Return the tokens of a text (words, figures, marks), in their order."""
    tokens, last = [], -1
    for match in _TOKEN.finditer(text):
        token_text = match.group()
        start, end = match.span()
        tokens.append(
            Token(
                token_text, token_text.lower(), match.lastgroup or MARK, start, end, start == last
            )
        )
        last = end
    return tokens


def find_clause(tokens: Sequence[Token], position: int) -> tuple[int, int]:
    """Return the index of the first token of the clause around a token, and the clause's end.

    A clause has at most 40 tokens. Clauses end at punctuation, conjunctions and relatives.
    """
    begin = end = position
    while begin > 0 and position - begin < 20 and not _is_separator(tokens[begin - 1]):
        begin -= 1
    while end < len(tokens) and end - position < 20 and not _is_separator(tokens[end]):
        end += 1
    return begin, end


def collect_stems(tokens: Sequence[Token], begin: int, end: int) -> frozenset[str]:
    """Return the 5-letter stems of the content words in tokens `begin` to `end`."""
    return frozenset(
        token.lower[:STEM]
        for token in tokens[begin:end]
        if token.kind == WORD and len(token.lower) >= SHORTEST and token.lower not in _EMPTY
    )


def _is_separator(token: Token) -> bool:
    """Return whether a token separates clauses: punctuation or a conjunction."""
    return token.text in _ENDS or token.lower in _JOINTS


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
# A common misspelling.
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
    value : at least 0. place : last significant place, such as 100 for 1,200 or .1 for 12.5.
    end : the token after it. figures : its figures as written, "" for words.
    """

    value: float
    place: float
    end: int
    figures: str


def parse_number(tokens: Sequence[Token], position: int) -> Number | None:
    """Return the number that begins at token `position`, in figures or words; else None."""
    token = tokens[position]
    if token.kind == FIGURE:
        number = None if _is_number_list(tokens, position) else _parse_figure(token.text)
        if number is None:
            return None
        value, place = number
        return _extend_number(tokens, value, place, position + 1, token.text)
    if token.kind == WORD:
        return _parse_words(tokens, position)
    if token.text in _VULGAR:
        return Number(_VULGAR[token.text], 0.01, position + 1, token.text)
    return None


def _is_number_list(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a figure begins a list of numbers, such as "1,2, and 3"."""
    if "," not in tokens[position].text or _THOUSANDS.fullmatch(tokens[position].text):
        return False
    after = tokens[position + 1 : position + 3]
    return (
        len(after) == 2
        and after[0].text == ","
        and (after[1].kind == FIGURE or after[1].lower in ("and", "or"))
    )


def _parse_figure(text: str) -> tuple[float, float] | None:
    """Return a figure's value and its last significant place; None for a code such as 1.2.3."""
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
    return value, _find_last_significant_place(plain, decimals, value)


def _find_last_significant_place(plain: str, decimals: str, value: float) -> float:
    """Return the last significant place of a number: 100 for "1200", .1 for "12.5"."""
    if decimals:
        return 10.0 ** -len(decimals)
    if value == 0:
        return 1.0
    trailing = 0
    while trailing < len(plain) - 1 and int(plain[-1 - trailing]) == 0:
        trailing += 1
    return 10.0**trailing


def _parse_words(tokens: Sequence[Token], position: int) -> Number | None:
    """Return a number in words, such as "twenty-five" or "a million"; None for other words."""
    word = tokens[position].lower
    if word in ("a", "an"):
        after = tokens[position + 1].lower if position + 1 < len(tokens) else ""
        if after in _ALONE:
            return _extend_number(tokens, 1.0, 1.0, position + 1, "")
        return None
    if word in _ALONE:
        return _extend_number(tokens, 1.0, 1.0, position, "")
    value_and_end = _parse_below_hundred(tokens, position)
    if value_and_end is None:
        return None
    value, end = value_and_end
    return _extend_number(tokens, value, 10.0 if value and value % 10 == 0 else 1.0, end, "")


def _parse_below_hundred(tokens: Sequence[Token], position: int) -> tuple[float, int] | None:
    """Return a number below 100 in words, and the index after it; None for other words."""
    if position >= len(tokens):
        return None
    word = tokens[position].lower
    if word in _SMALL:
        return float(_SMALL[word]), position + 1
    if word not in _TENS:
        return None
    after = position + 1
    if after + 1 < len(tokens) and tokens[after].text in ("-", "‑", "–"):
        after += 1
    one = _SMALL.get(tokens[after].lower, 0) if after < len(tokens) else 0
    if 1 <= one <= 9:
        return float(_TENS[word] + one), after + 1
    return float(_TENS[word]), position + 1


def _extend_number(
    tokens: Sequence[Token], value: float, place: float, position: int, figures: str
) -> Number:
    """Return the number with the tokens that belong to it: "million", words, "and a half"."""
    total, current, is_scaled = 0.0, value, False
    while position < len(tokens):
        word = tokens[position].lower
        if word in _SCALES and (word not in _GLUED or (figures and tokens[position].glued)):
            scale = _SCALES[word]
            place = place * scale
            is_scaled = True
            if scale >= 1000:
                total, current = total + (current or 1.0) * scale, 0.0
            else:
                current = (current or 1.0) * scale
            position += 1
            continue
        # "two hundred and five", "one thousand two hundred"
        next_word = position + 1 if word == "and" and is_scaled else position
        below_hundred = (
            _parse_below_hundred(tokens, next_word) if is_scaled and not figures else None
        )
        if below_hundred is None:
            break
        current += below_hundred[0]
        place = 10.0 if below_hundred[0] and below_hundred[0] % 10 == 0 else 1.0
        position = below_hundred[1]
    value = total + current
    half = _parse_half(tokens, position)
    if half is not None:
        value, place, position = value + half[0], min(place, 1.0) / 10, half[1]
    # "million million million ..." multiplies to infinity.
    return Number(value, place if math.isfinite(place) else 1.0, position, figures)


def _parse_half(tokens: Sequence[Token], position: int) -> tuple[float, int] | None:
    """Return the value of "and a half" or ½ at a token, and the index after it; else None."""
    if (
        position < len(tokens)
        and tokens[position].kind == MARK
        and tokens[position].text in _VULGAR
    ):
        return _VULGAR[tokens[position].text], position + 1
    words = [token.lower for token in tokens[position : position + 3]]
    if words == ["and", "a", "half"]:
        return 0.5, position + 3
    if words == ["and", "a", "quarter"]:
        return 0.25, position + 3
    return None


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


def parse_year(tokens: Sequence[Token], position: int, number: Number, counts: bool) -> Year | None:
    """Return the year that a number means; None if it counts or measures something.

    Parameters
    ----------
    counts : whether the question asks for a number; then only an unmistakable year is a year.
    """
    after = tokens[number.end] if number.end < len(tokens) else None
    era = _ERAS.get(after.lower) if after is not None and after.kind == WORD else None
    if number.figures.isdecimal() and era is not None and number.end == position + 1:
        year = era * int(number.figures)
        return Year(year, year, f"{number.figures} {after.text}" if after else "", number.end + 1)
    if not is_year(number.figures) or number.end != position + 1:
        return None
    year = int(number.figures)
    if (
        after is not None
        and after.kind == WORD
        and after.lower in ("s", "'s", "’s")
        and after.glued
    ):
        return Year(year, year + (9 if year % 100 else 99), f"{year}s", number.end + 1)
    before = tokens[position - 1].lower if position else ""
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
    """Return whether figures look like a year from 1000 to 2099."""
    return len(figures) == 4 and figures.isdecimal() and FIRST <= int(figures) <= LAST


def parse_century(tokens: Sequence[Token], position: int) -> Year | None:
    """Return the century at token `position` ("19th century") as years; None if there is none."""
    token = tokens[position]
    number, end = _ORDINALS.get(token.lower, 0), position + 1
    if (
        token.lower == "twenty"
        and position + 2 < len(tokens)
        and tokens[position + 2].lower == "first"
    ):
        number, end = 21, position + 3
    if token.kind == FIGURE and token.text.isdecimal() and len(token.text) <= 2:
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if after is None or after.lower not in ("st", "nd", "rd", "th") or not after.glued:
            return None
        number, end = int(token.text), position + 2
    if end < len(tokens) and tokens[end].text == "-":
        end += 1
    if not number or end >= len(tokens) or tokens[end].lower not in ("century", "centuries"):
        return None
    # Both ways of counting fit: 1800 to 1899, and 1801 to 1900.
    return Year(100 * number - 100, 100 * number, f"{_format_ordinal(number)} century", end + 1)


def _format_ordinal(number: int) -> str:
    """Return a number as an ordinal: "1st", "12th", "21st"."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{ends.get(number % 10, 'th') if number // 10 != 1 else 'th'}"


def parse_month(tokens: Sequence[Token], position: int) -> int | None:
    """Return the number (1 to 12) of the month that token `position` names; None for no month."""
    token = tokens[position]
    number = _MONTHS.get(token.lower)
    if number is None or token.lower not in _AMBIGUOUS:
        return number
    near = [*tokens[max(0, position - 2) : position], *tokens[position + 1 : position + 2]]
    if any(token.kind == FIGURE for token in near):
        return number
    before = tokens[position - 1].lower if position else ""
    alone = len(tokens) <= 2
    if token.text[0].isupper() and (alone or before in _BEFORE) and len(token.text) > 2:
        return number
    return None
