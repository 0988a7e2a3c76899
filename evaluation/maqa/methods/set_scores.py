"""Scores of an answer set (Yang, Yoo and Lee 2024, section 5), and equality of two answers.

The fixed rules compare numbers by value. They compare other answers without case, punctuation,
articles and spaces. Marks with a meaning stay: signs between digits, and operators of a formula.
A fraction is not a number: 2/5 and 4/10 are two answers to "list fractions equal to .4".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Sequence
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import NamedTuple


class SetScore(NamedTuple):
    """Scores of one reply's answers against the right answers, each from 0 to 1.

    `exact_set` is 1 if the reply has all right answers and no wrong one, else 0. All four scores
    of a reply without answers are 0: an empty reply is wrong.
    """

    precision: float
    recall: float
    f1: float
    exact_set: float


def compute_set_score(n_right: int, n_answers: int, n_found: int, n_gold: int) -> SetScore:
    """Return precision, recall, F1 and exact match of one reply, from its answer counts.

    The reply contains `n_found` of the question's `n_gold` right answers (1 or more). `n_found`
    equals `n_right` if answers and right answers match one to one. F1 is the harmonic mean of
    precision and recall.
    """
    # `n_gold` is at least 1, so only the precision can be undefined.
    precision = n_right / n_answers if n_answers else 0.0
    recall = n_found / n_gold
    f1 = 2 * precision * recall / (precision + recall) if n_right and n_found else 0.0
    exact = n_right == n_answers and n_found == n_gold
    return SetScore(precision, recall, f1, float(exact))


def match_answers_one_to_one(fits: Sequence[Sequence[int]]) -> list[int | None]:
    """Return the number of the right answer of each answer, matching as many as possible.

    A right answer has several spellings, so two answers may fit one right answer, and one answer
    two. Augmenting paths (Kuhn 1955, Berge 1957) find the largest matching. A matched answer stays
    matched, so the first of several repetitions counts.

    Parameters
    ----------
    fits : for each answer, the numbers of the right answers it fits.

    Returns
    -------
    For each answer the number of its right answer; None for an unmatched answer.
    """
    matches: dict[int, int] = {}

    def match(answer: int, tried: set[int]) -> bool:
        """Match one answer, rematching earlier answers if needed; return whether it succeeded."""
        for gold in fits[answer]:
            if gold in tried:
                continue
            tried.add(gold)
            if gold not in matches or match(matches[gold], tried):
                matches[gold] = answer
                return True
        return False

    for answer in range(len(fits)):
        match(answer, set())
    partners: list[int | None] = [None] * len(fits)
    for gold, answer in matches.items():
        partners[answer] = gold
    return partners


PRECISION, RECALL, F1 = "precision", "recall", "f1"


def is_right_score(score: float, above: float) -> bool:
    """Return whether a score is above the threshold `above`; at 1, whether the score is 1.

    The paper labels replies by precision above .5, and by recall and F1 at other thresholds
    (section 5.3). No score is above 1, so at 1 the label is a perfect score.
    """
    return score >= 1.0 if above >= 1.0 else score > above


FIXED, PAPER = "fixed", "paper"
# Significant digits of a decimal number that count; binary floats differ beyond them.
_DIGITS = 12
_NUMBER = re.compile(r"[+-]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_CURRENCY = "$€£¥₹₩₽¢"
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d", "-"))
_ARTICLE = re.compile(r"\b(?:a|an|the)\s+(?=\S)")
_FORMULA = re.compile(r"[=^+*<>√∞]|(?<![^\W_])[-/]\s*\d")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SPACED_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_LETTER = re.compile(r"\W*([A-Za-z])\W*(?:[.):,]\s.*)?", re.DOTALL)


def build_comparison_key(answer: str | float, rules: str = FIXED) -> Hashable:
    """Return the comparison key of an answer: two answers are equal if their keys are.

    With the rules "paper" the key is a float if Python reads one, else the text in lower case.
    With "fixed" it is a Decimal or a normalized text.
    """
    return _build_paper_key(answer) if rules == PAPER else _build_fixed_key(answer)


def read_choice_letter(answer: str) -> str | None:
    """Return the letter of a choice such as "B", "(b)" or "B) Paris"; None without a letter."""
    match = _LETTER.fullmatch(answer.strip())
    return match[1].upper() if match else None


def _build_paper_key(answer: str | float) -> Hashable:
    """Return an answer's comparison key by the paper's rules: a number or lower-case text."""
    text = str(answer).strip().lower()
    try:
        value = float(text)
    except ValueError:
        return text
    # NaN is not equal to itself, so "nan" must stay a text.
    return value if isfinite(value) else text


def _build_fixed_key(answer: str | float) -> Hashable:
    """Return an answer's comparison key by the fixed rules, which ignore case and punctuation."""
    # NFKC unites full-width and ordinary characters, and ligatures with their letters.
    text = unicodedata.normalize("NFKC", str(answer)).translate(_MINUS).casefold().strip()
    number = _parse_number(text)
    if number is not None:
        return number
    if _FORMULA.search(text):
        # In a formula punctuation has a meaning, so only white space and the final mark go.
        return "".join(text.split()).rstrip(".;,") or text
    text = _ARTICLE.sub("", _THOUSANDS.sub("", text))
    # An answer of punctuation alone would otherwise equal every other such answer.
    return _drop_punctuation(text) or text


def _parse_number(text: str) -> Decimal | None:
    """Return the number in a text that may have a currency sign or "%"; None for other texts."""
    # Longer texts are not numbers, so cleaning them is wasted time.
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
        # Adding 0 turns a negative zero into 0.
        return value.to_integral_value().normalize() + 0
    return Decimal(f"{value:.{_DIGITS}g}").normalize()


def _drop_punctuation(text: str) -> str:
    """Return the letters and digits of a text; punctuation between two digits stays."""
    chars: list[str] = []
    between = ""
    for char in text:
        if char.isalnum() or unicodedata.category(char).startswith("M"):
            if between and chars and chars[-1].isdigit() and char.isdigit():
                chars.append(between.strip() or " ")
            chars.append(char)
            between = ""
        else:
            between += char
    return "".join(chars)
