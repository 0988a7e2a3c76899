"""The form in which two spellings of one answer are equal.

Fixed rules: numbers by value; other answers without case, punctuation, articles and spaces. What
carries meaning stays: a fraction is no number (2/5 and 4/10 are two answers to "list fractions
equal to .4"), signs between digits and operators of a formula are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable
from decimal import Decimal, InvalidOperation
from math import isfinite

FIXED, PAPER = "fixed", "paper"
# Digits of a number that is not whole: what is computed in binary differs beyond them.
_DIGITS = 12
_NUMBER = re.compile(r"[+-]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_CURRENCY = "$€£¥₹₩₽¢"
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d", "-"))
_ARTICLE = re.compile(r"\b(?:a|an|the)\s+(?=\S)")
_FORMULA = re.compile(r"[=^+*<>√∞]|(?<![^\W_])[-/]\s*\d")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SPACED_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_LETTER = re.compile(r"\W*([A-Za-z])\W*(?:[.):,]\s.*)?", re.DOTALL)


def key_of(answer: str | float, rules: str = FIXED) -> Hashable:
    """Return what equal answers have in common.

    With the rules "paper" case does not matter, and what Python reads as a number is one.
    """
    return _plain(answer) if rules == PAPER else _form(answer)


def letter_of(answer: str) -> str | None:
    """Return the letter of a choice, such as "B", "(b)" or "B) Paris"; None if there is none."""
    found = _LETTER.fullmatch(answer.strip())
    return found[1].upper() if found else None


def _plain(answer: str | float) -> Hashable:
    text = str(answer).strip().lower()
    try:
        value = float(text)
    except ValueError:
        return text
    return value if isfinite(value) else text


def _form(answer: str | float) -> Hashable:
    text = unicodedata.normalize("NFKC", str(answer)).translate(_MINUS).casefold().strip()
    number = _number(text)
    if number is not None:
        return number
    if _FORMULA.search(text):
        return "".join(text.split()).rstrip(".;,") or text
    text = _ARTICLE.sub("", _THOUSANDS.sub("", text))
    return _letters(text) or text


def _number(text: str) -> Decimal | None:
    bare = _SPACED_THOUSANDS.sub("", text.rstrip(".;, %")) if len(text) <= 60 else text
    for sign in ("-", "+", ""):
        if bare.startswith(sign):
            bare = sign + bare[len(sign) :].lstrip(_CURRENCY + " ")
            break
    if not _NUMBER.fullmatch(bare):
        return None
    try:
        value = Decimal(bare.replace(",", ""))
    except InvalidOperation:
        return None
    if value == value.to_integral_value():
        return value.to_integral_value().normalize() + 0
    return Decimal(f"{value:.{_DIGITS}g}").normalize()


def _letters(text: str) -> str:
    """Drop what is neither letter nor digit, but not between two digits."""
    kept: list[str] = []
    between = ""
    for char in text:
        if char.isalnum() or unicodedata.category(char).startswith("M"):
            if between and kept and kept[-1].isdigit() and char.isdigit():
                kept.append(between.strip() or " ")
            kept.append(char)
            between = ""
        else:
            between += char
    return "".join(kept)
