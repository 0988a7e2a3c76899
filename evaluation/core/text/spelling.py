"""Correct the spelling of texts by a dictionary; used for the embedding only.

A word is corrected if it is in no dictionary, is no term of these answers, looks like an ordinary
word, and is one typing mistake (a letter missing, added, changed or two swapped) away from a known
word. The most frequent such word replaces it, the first in the alphabet among equals. Words with
two mistakes are left alone: correcting them would turn technical terms into other words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from evaluation.core.backends.embedding.contract import import_library
from evaluation.core.backends.errors import SpellingError

WHAT = "correcting the spelling"
PACKAGE = "pyspellchecker"
LANGUAGES = ("ar", "de", "en", "es", "eu", "fa", "fr", "it", "lv", "nl", "pt", "ru")
# Shorter words are a letter away from too many.
SHORTEST = 4
# A word in so many answers, and in this share of them, is a term of the subject.
TERM = 3
TERM_SHARE = 0.01

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def correct_spelling(texts: Sequence[str], language: str) -> tuple[list[str], dict[str, Any]]:
    """Return texts with corrected spelling, and the counts of corrections.

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
    terms = _find_terms(texts)
    corrections: dict[str, str] = {}
    corrected_texts, n_words, n_texts = [], 0, 0

    def replace(match: re.Match[str]) -> str:
        nonlocal n_words
        word = match[0]
        if not _is_ordinary(word) or word.lower() in terms:
            return word
        if word not in corrections:
            corrections[word] = _find_nearest(spelling, word)
        n_words += corrections[word] != word
        return corrections[word]

    for text in texts:
        corrected_text = _WORD.sub(replace, text)
        n_texts += corrected_text != text
        corrected_texts.append(corrected_text)
    return corrected_texts, {
        "language": language,
        "words": n_words,
        "texts": n_texts,
        "library": PACKAGE,
        "version": metadata.version(PACKAGE),
    }


def _find_terms(texts: Sequence[str]) -> set[str]:
    """Return the words in at least 1% of the texts, and in at least 3 of them."""
    count = Counter(word for text in texts for word in {w.lower() for w in _WORD.findall(text)})
    least = max(TERM, TERM_SHARE * len(texts))
    return {word for word, times in count.items() if times >= least}


def _is_ordinary(word: str) -> bool:
    """Return whether a word has at least 4 letters, all lower case, and no apostrophe."""
    return len(word) >= SHORTEST and word.islower() and "'" not in word and "’" not in word


def _find_nearest(spelling: Any, word: str) -> str:
    """Return the most frequent known word one edit away; a known word unchanged."""
    if spelling.known([word]):
        return word
    # The library returns a set, whose order differs from process to process.
    candidates = sorted(spelling.candidates(word) or {word})
    return max(candidates, key=lambda candidate: spelling[candidate])
