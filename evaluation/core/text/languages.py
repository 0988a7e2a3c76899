"""Warn about answers in a language that an English-only model does not know.

Two signs count: more than a fifth of all letters belong to another script than the Latin one; or a
fifth of the sentences, five at least, are in another language. A sentence has five words or more,
half of them in lower case, so that lists of names, numbers and titles are never judged; short
answers in another language of the Latin script therefore pass.
"""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from evaluation.core.backends.embedding.contract import EmbedderInfo, import_library
from evaluation.core.backends.errors import BackendError
from evaluation.core.messages.message import Message

SAMPLE = 500
FOREIGN_SHARE = 0.2
FEWEST_SENTENCES = 5
FEWEST_LETTERS = 20
WORDS_OF_A_SENTENCE = 5
# Below it the identifier itself hesitates. On 2,113 and 1,818 English answers of two public
# data sets it gave no other language this probability.
SURE = 0.5


def check_language(texts: Sequence[str], info: EmbedderInfo) -> Message | None:
    """Return a warning if the model knows only English and the texts are not English, else None.

    Judged are up to 500 distinct texts, evenly taken. None for models of other or unknown
    languages.
    """
    if info.languages != "en":
        return None
    unique = list(dict.fromkeys(texts))
    sample = unique[:: -(-len(unique) // SAMPLE)] if unique else []
    evidence = _find_other_script(sample)
    if evidence is None:
        try:
            evidence = _find_other_language(sample)
        except BackendError as error:
            return Message("language_not_checked", {"why": str(error)})
    if evidence is None:
        return None
    return Message("english_only", {"model": info.model, **evidence})


def detect_main_language(texts: Sequence[str]) -> str:
    """Return the code of the language of most sentences; "" if too few are clear.

    Judged as in `check_language`: sentences of five words and more, each with the identifier's
    probability of one half and more, of which five are needed.
    """
    unique = list(dict.fromkeys(texts))
    sentences = [text for text in unique[:: -(-len(unique) // SAMPLE) or 1] if _is_sentence(text)]
    language_counts: Counter[str] = Counter()
    if len(sentences) >= FEWEST_SENTENCES:
        for text in sentences:
            language, probability = _load_identifier().classify(text)
            language_counts[str(language)] += probability >= SURE
    [(language, count)] = language_counts.most_common(1) or [("", 0)]
    return language if count >= FEWEST_SENTENCES and 2 * count > len(sentences) else ""


def _find_other_script(texts: Iterable[str]) -> dict[str, Any] | None:
    """Return share and name of a non-Latin script in over a fifth of the letters, else None."""
    scripts = Counter(_get_script(letter) for text in texts for letter in text if letter.isalpha())
    letters = scripts.total()
    foreign = letters - scripts["LATIN"]
    if letters < FEWEST_LETTERS or foreign <= FOREIGN_SHARE * letters:
        return None
    del scripts["LATIN"]
    name = scripts.most_common(1)[0][0].title()
    return {"share": foreign / letters, "script": name}


@functools.cache
def _get_script(letter: str) -> str:
    """Return the script of a letter, such as LATIN, CYRILLIC, HANGUL or CJK; cached."""
    # The first word of a letter's Unicode name is its script: LATIN, CYRILLIC, HANGUL, CJK ...
    # Modifier and mathematical letters and signs such as ª and µ are no script of their own.
    name = unicodedata.name(unicodedata.normalize("NFKC", letter)[0], "LATIN").partition(" ")[0]
    return "LATIN" if name in {"MODIFIER", "FEMININE", "MASCULINE"} else name


def _find_other_language(texts: Iterable[str]) -> dict[str, Any] | None:
    """Return number and language of foreign sentences if above the limits, else None."""
    sentences = [text for text in texts if _is_sentence(text)]
    if len(sentences) < FEWEST_SENTENCES:
        return None
    identifier = _load_identifier()
    foreign: Counter[str] = Counter()
    for text in sentences:
        language, probability = identifier.classify(text)
        if language != "en" and probability >= SURE:
            foreign[str(language)] += 1
    count = foreign.total()
    if count < max(FEWEST_SENTENCES, FOREIGN_SHARE * len(sentences)):
        return None
    language = foreign.most_common(1)[0][0]
    return {"foreign": count, "sentences": len(sentences), "language": language}


def _is_sentence(text: str) -> bool:
    """Return whether a text has 5 words or more, half of them in lower case."""
    words = [word for word in text.split() if any(letter.isalpha() for letter in word)]
    lower = sum(word == word.lower() for word in words)
    return len(words) >= WORDS_OF_A_SENTENCE and 2 * lower >= len(words)


@functools.cache
def _load_identifier() -> Any:
    """Return the library's language identifier, loaded once. Raises BackendError."""
    langid = import_library("py3langid.langid", "the check of the answers' language")
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
