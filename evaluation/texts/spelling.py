"""Spelling corrected by a library's dictionary, for the embedding only.

A word is corrected if it is in no dictionary, is no term of these answers, looks like an ordinary
word, and is one typing mistake (a letter missing, added, changed or two swapped) away from a known
one; the most frequent such word replaces it, the first in the alphabet among equals. Everything
else stays as written. Two mistakes in a word are left alone: with them, terms of a trade that no
dictionary has would become other words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from evaluation.backends.embedding.contract import import_library
from evaluation.backends.errors import SpellingError

WHAT = "correcting the spelling"
PACKAGE = "pyspellchecker"
LANGUAGES = ("ar", "de", "en", "es", "eu", "fa", "fr", "it", "lv", "nl", "pt", "ru")
# Shorter words are a letter away from too many.
SHORTEST = 4
# A word in so many answers, and in this share of them, is a term of the subject.
TERM = 3
TERM_SHARE = 0.01

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def corrected(texts: Sequence[str], language: str) -> tuple[list[str], dict[str, Any]]:
    """Return the texts with their spelling corrected, and what was done.

    The second has `language`, `words` (how many were corrected), `texts` (in how many texts),
    `library` and its `version`.

    Raises
    ------
    BackendError
        The library is not installed, or has no dictionary of the language.
    """
    if language not in LANGUAGES:
        raise SpellingError(
            f"{WHAT}: there is no dictionary of the language {language}; there are "
            f"{', '.join(LANGUAGES)}"
        )
    library = import_library("spellchecker", WHAT, PACKAGE)
    spelling = library.SpellChecker(language=language, distance=1)
    terms = _terms(texts)
    known: dict[str, str] = {}
    out, n_words, n_texts = [], 0, 0

    def replace(match: re.Match[str]) -> str:
        nonlocal n_words
        word = match[0]
        if not _is_ordinary(word) or word.lower() in terms:
            return word
        if word not in known:
            known[word] = _nearest(spelling, word)
        n_words += known[word] != word
        return known[word]

    for text in texts:
        new = _WORD.sub(replace, text)
        n_texts += new != text
        out.append(new)
    return out, {
        "language": language,
        "words": n_words,
        "texts": n_texts,
        "library": PACKAGE,
        "version": metadata.version(PACKAGE),
    }


def _terms(texts: Sequence[str]) -> set[str]:
    count = Counter(word for text in texts for word in {w.lower() for w in _WORD.findall(text)})
    least = max(TERM, TERM_SHARE * len(texts))
    return {word for word, times in count.items() if times >= least}


def _is_ordinary(word: str) -> bool:
    """Whether a word is neither short nor a name, an acronym or the like."""
    return len(word) >= SHORTEST and word.islower() and "'" not in word and "’" not in word


def _nearest(spelling: Any, word: str) -> str:
    if spelling.known([word]):
        return word
    # The library returns a set, whose order differs from process to process.
    candidates = sorted(spelling.candidates(word) or {word})
    return max(candidates, key=lambda candidate: spelling[candidate])
