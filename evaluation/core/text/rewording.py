"""Check that a reworded question has the same numbers and names as the original question."""

from __future__ import annotations

import re
import unicodedata

from evaluation.core.text.matching import extract_numbers, fold_spaces

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_QUOTED = re.compile(r"[\"“„«]([^\"“”«»]{1,200})[\"”»]")
_BEGINS = re.compile(r"(?:^|[.!?:]\s+|[\"“„«(]\s*)$")
_POSSESSIVE = re.compile(r"['’]s?$")
# "one" is left out: it seldom counts ("which one").
_UP_TO_20 = (
    *("zero", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen", "twenty"),
)
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER_WORDS = {word: str(at) for at, word in enumerate(_UP_TO_20) if word}
_NUMBER_WORDS |= {word: str(ten) for ten, word in zip(range(30, 100, 10), _TENS, strict=True)}
# Capital letters say nothing in a title or a shout.
MOST_CAPITALS = 0.6
FEW_WORDS = 4


def has_same_numbers(one: str, other: str) -> bool:
    """Return whether two texts have the same numbers, as digits or English words up to 99."""
    return extract_numbers(one) | _find_number_words(one) == extract_numbers(
        other
    ) | _find_number_words(other)


def _find_number_words(text: str) -> set[str]:
    """Return the numbers that a text writes as English words, as digits."""
    words = _WORD.findall(fold_spaces(text).replace("-", " "))
    return {_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS}


def extract_names(text: str) -> set[str]:
    """Return the names in a text: capitalised words within a sentence, and quotations.

    In texts of which most words have one (titles), and in scripts without capitals, quotations
    alone count.
    """
    text = unicodedata.normalize("NFC", text)
    names_found = {fold_spaces(quoted) for quoted in _QUOTED.findall(text)}
    words = list(_WORD.finditer(text))
    capitals = [word for word in words if word[0][0].isupper()]
    is_title = len(words) > FEW_WORDS and len(capitals) > MOST_CAPITALS * len(words)
    for word in capitals:
        name = _POSSESSIVE.sub("", word[0])
        is_first = _BEGINS.search(text[: word.start()]) is not None
        is_acronym = len(name) > 1 and name.isupper()
        if not is_title and (is_acronym or not is_first) and name not in ("I", "I'm"):
            names_found.add(fold_spaces(name))
    return names_found


def has_same_names(original: str, rewording: str) -> bool:
    """Return whether original and rewording contain each other's names (capitalised words).

    A name of the one has to stand in the other in any case, as it may begin the sentence there.
    """
    first, second = _normalise_words(original), _normalise_words(rewording)
    return all(_normalise_words(name) in second for name in extract_names(original)) and all(
        _normalise_words(name) in first for name in extract_names(rewording)
    )


def _normalise_words(text: str) -> str:
    """Return a text's folded words between single spaces, without possessive endings."""
    return f" {' '.join(_POSSESSIVE.sub('', word) for word in _WORD.findall(fold_spaces(text)))} "
