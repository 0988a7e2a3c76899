"""Whether a question in other words still names the same numbers and the same things."""

from __future__ import annotations

import re
import unicodedata

from evaluation.texts.matching import numbers, spaced

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


def same_numbers(one: str, other: str) -> bool:
    """Return whether two texts name the same numbers, as digits or (up to 20, in English) words."""
    return numbers(one) | _spelled(one) == numbers(other) | _spelled(other)


def _spelled(text: str) -> set[str]:
    words = _WORD.findall(spaced(text).replace("-", " "))
    return {_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS}


def names(text: str) -> set[str]:
    """Return what a text names: words with a capital letter within a sentence, and quotations.

    In texts of which most words have one (titles), and in scripts without capitals, quotations
    alone count.
    """
    text = unicodedata.normalize("NFC", text)
    found = {spaced(quoted) for quoted in _QUOTED.findall(text)}
    words = list(_WORD.finditer(text))
    capitals = [word for word in words if word[0][0].isupper()]
    title = len(words) > FEW_WORDS and len(capitals) > MOST_CAPITALS * len(words)
    for word in capitals:
        name = _POSSESSIVE.sub("", word[0])
        begins = _BEGINS.search(text[: word.start()]) is not None
        acronym = len(name) > 1 and name.isupper()
        if not title and (acronym or not begins) and name not in ("I", "I'm"):
            found.add(spaced(name))
    return found


def same_names(original: str, rewording: str) -> bool:
    """Return whether a rewording names everything that the original does, and nothing else.

    A name of the one has to stand in the other in any case, as it may begin the sentence there.
    """
    first, second = _squashed(original), _squashed(rewording)
    return all(_squashed(name) in second for name in names(original)) and all(
        _squashed(name) in first for name in names(rewording)
    )


def _squashed(text: str) -> str:
    return f" {' '.join(_POSSESSIVE.sub('', word) for word in _WORD.findall(spaced(text)))} "
