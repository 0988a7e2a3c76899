"""Which tokens are English words: by the dictionary of pyspellchecker (MIT, 160,000 words)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from spellchecker import SpellChecker

# The dictionary counts every letter, and many pairs of letters, as words that are rare.
LETTERS = frozenset({"a", "i"})
_COMMON = 1000


def is_word(token: str) -> bool:
    """Whether a token, in any case, is an English word (or a name that is common in English)."""
    word = token.lower().replace("’", "'")
    if len(word) == 1:
        return word in LETTERS
    return _dictionary().get(word, 0) >= (_COMMON if len(word) == 2 else 1)


@cache
def _dictionary() -> Mapping[str, int]:
    found: Mapping[str, int] = SpellChecker(language="en").word_frequency.dictionary
    return found
