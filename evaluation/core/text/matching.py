"""Compare short answers: normalise them, or measure how similar their letters are.

`normalise` removes case, punctuation, articles and spaces, as evaluations of extractive questions
do (Rajpurkar et al. 2016), but keeps the decimal point and the minus sign of numbers.
"""

from __future__ import annotations

import re
import string
import unicodedata

_POINT, _MINUS = "\ue000", "\ue001"  # for private use: in no text
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)|(?<![\w.])\.(?=\d)")
_NEGATIVE = re.compile(r"(?<![\w)\].])[-\u2212\u2013](?=[.\d])")
_OF_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_ASCII = frozenset(string.punctuation)
_BACK = str.maketrans({_POINT: ".", _MINUS: "-"})
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?|-?\.\d+")


class _WithoutPunctuation(dict[int, int | None]):
    """Table for `str.translate` that removes punctuation; looks each letter up once."""

    def __missing__(self, code: int) -> int | None:
        letter = chr(code)
        taken_out = letter in _ASCII or unicodedata.category(letter).startswith("P")
        kept = self[code] = None if taken_out else code
        return kept


_PUNCTUATION = _WithoutPunctuation()


def fold_spaces(text: str) -> str:
    """Return a text in NFKC without case, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def normalise(text: str) -> str:
    """Return a text without case, punctuation, English articles and repeated space.

    Where nothing would be left ("the", "?!") only case and space are taken out.
    """
    plain = fold_spaces(text)
    words = plain.split(" ")
    if all(word.isalnum() and word.isascii() for word in words):  # most texts, and quickly
        return " ".join([word for word in words if word not in _OF_ARTICLES]) or plain
    text_kept = _DECIMAL.sub(_POINT, _THOUSANDS.sub("", plain))
    text_kept = _NEGATIVE.sub(_MINUS, text_kept).translate(_PUNCTUATION).translate(_BACK)
    return " ".join(_ARTICLES.sub(" ", text_kept).split()) or plain


def extract_numbers(text: str) -> frozenset[str]:
    """Return the numbers in a text as digits: 1,250 is 1250, and .50 is 0.5."""
    found = _NUMBER.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text)))
    return frozenset(_normalise_number(number) for number in found)


def _normalise_number(number: str) -> str:
    """Return a number without leading zeros and trailing decimal zeros."""
    minus, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    whole, _, part = digits.partition(".")
    whole, part = whole.lstrip("0") or "0", part.rstrip("0")
    return minus + whole + (f".{part}" if part else "")


def compute_ratio(one: str, other: str) -> float:
    """Return the similarity of two texts' letters, 0 to 1; 1 for two empty texts.

    It is 2 L / (a + b), with L the length of their longest common subsequence and a, b their
    lengths: 1 minus the Levenshtein distance in which a replaced letter counts twice, over a + b
    (the ratio of the libraries of that name).
    """
    total = len(one) + len(other)
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    # Bit i of `row` is 0 where the i-th letter of `one` ends a longer subsequence (Hyyrö 2004).
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    mask = (1 << len(one)) - 1
    row = mask
    for letter in other:
        met = row & places.get(letter, 0)
        row = ((row + met) | (row - met)) & mask
    return 2 * (len(one) - row.bit_count()) / total


def is_similar(one: str, other: str, least: float) -> bool:
    """Return whether the letter similarity (`compute_ratio`) of two texts is at least `least`."""
    shorter, longer = sorted((len(one), len(other)))
    if one == other:
        return True
    # The shorter one could be within the longer at best.
    return 2 * shorter >= least * (shorter + longer) and compute_ratio(one, other) >= least
