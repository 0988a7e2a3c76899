"""Recognise texts that vectors cannot compare: foreign, misspelt, "I don't know".

Answers that only mean "I don't know" are found by a short list of phrases in several languages; a
missing phrase flags no worker. A text matches if it equals one of `WHOLE`, or if it contains one of
`PHRASES` and few other words.

Corrected spelling is used for the embedding only. A word is corrected if it is in no dictionary, is
no term of these answers, looks like an ordinary word, and is one typing mistake (a letter missing,
added, changed or two swapped) away from a known word. The most frequent such word replaces it, the
first in the alphabet among equals. Words with two mistakes are not corrected: that would turn
technical terms into other words.

`find_language_warning` warns of answers in a language that an English-only model does not know. Two
signs count: more than a fifth of all letters belong to another script than the Latin one; or a
fifth of the sentences, five at least, are in another language. A sentence has five words or more,
half of them in lower case, so that lists of names, numbers and titles are never judged; short
answers in another language of the Latin script therefore pass.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from evaluation.core.backends.embedding.contract import EmbedderInfo, import_library
from evaluation.core.backends.errors import BackendError, SpellingError
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Floats

# Most words of a text besides the phrase: a longer text contains an answer after all.
MOST_OTHERS = 5

# The same for writing without spaces: characters of the whole.
MOST_CHARACTERS = 25

# "None" and "no" are not here: they may be what is right.
WHOLE = frozenset(
    """
    ?|idk|dk|dunno|n a|na|unknown|unsure|not sure|no answer|no idea|no clue|pass|skip|no comment
    |x|xx|xxx|test|asdf
    |weiß nicht|weiss nicht|keine ahnung|aucune idée|jsp|sais pas|ni idea|no sé|ns nc|boh|non so
    |não sei|nao sei|sei lá|geen idee|weet niet|nie wiem|bilmiyorum|vet ej|vet inte|ved ikke
    |en tiedä|nevím|neviem|не знаю|хз|لا اعرف|لا أعرف|不知道|不清楚|不会|わからない|分からない
    |わかりません|모르겠어요|모름
    """.replace("\n", "").split("|")
)
PHRASES = tuple(
    """
    i dont know|i do not know|i dont no|dont know|do not know|i have no idea|have no idea|no idea
    |no clue|i am not sure|im not sure|not sure about this|i cant answer|i cannot answer
    |cannot answer this|unable to answer|i dont remember|i do not remember|i cant remember
    |i forgot|i dont understand the question|i do not understand the question|never heard of
    |ich weiß nicht|ich weiss nicht|weiß ich nicht|weiss ich nicht|weiß es nicht|keine ahnung
    |kann ich nicht beantworten
    |je ne sais pas|je sais pas|aucune idée|aucune idee
    |no lo sé|no lo se|no sé|no tengo idea|ni idea|desconozco
    |non lo so|non saprei|nessuna idea
    |não sei|nao sei|não faço ideia
    |ik weet het niet|weet ik niet|geen idee
    |nie wiem|nie mam pojęcia
    |bilmiyorum|hiçbir fikrim yok
    |jag vet inte|ingen aning|det vet jag inte|jeg ved det ikke|jeg vet ikke|en tiedä
    |я не знаю|не знаю|понятия не имею|не знам|не знаю ответа|не знаю відповіді|nevím|neviem
    |لا أعرف|لا اعرف|لا أدري|不知道|不清楚|我不会|わからない|分からない|わかりません|知りません
    |모르겠|잘 모름
    """.replace("\n", "").split("|")
)

_WORD = re.compile(r"[\w?]+")
_APOSTROPHES = str.maketrans("", "", "'’`´")

# What `fold_text` makes of each character of ASCII: words in small letters, parted by spaces.
_OF_ASCII = {
    code: None if chr(code) in "'`" else chr(code).lower() if _WORD.match(chr(code)) else " "
    for code in range(128)
}


def fold_text(text: str) -> str:
    """Return a text in lower case, without punctuation and repeated spaces, to find phrases."""
    if text.isascii():  # most texts by far; the same in a tenth of the time
        words = text.translate(_OF_ASCII).split()
    else:
        text = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
        words = _WORD.findall(text)
    plain = " ".join(words)
    if "?" in plain:
        return " ".join(word if word.strip("?") else "?" for word in words)
    return plain


def _fold_phrases(phrases: Iterable[str]) -> tuple[str, ...]:
    """Return the phrases folded by `fold_text`, without duplicates and empty ones."""
    return tuple(dict.fromkeys(fold_text(phrase) for phrase in phrases if phrase.strip()))


_WHOLE = frozenset(_fold_phrases(WHOLE))

# Words of a script with spaces match as whole words, others anywhere.
_SPACED = re.compile(
    r"\b(?:" + "|".join(p for p in _fold_phrases(PHRASES) if ord(p[0]) < 0x2E80) + r")\b"
)
_UNSPACED = re.compile("|".join(p for p in _fold_phrases(PHRASES) if ord(p[0]) >= 0x2E80))

# Every spaced phrase has one of these words, its longest: a text without them is not searched,
# nor one with more words than the longest phrase and what may stand beside it.
_TELLING = frozenset(
    max(phrase.split(), key=len) for phrase in _fold_phrases(PHRASES) if ord(phrase[0]) < 0x2E80
)
_MOST_WORDS = MOST_OTHERS + max(len(phrase.split()) for phrase in _fold_phrases(PHRASES))


def is_dont_know(text: str) -> bool:
    """Return whether an answer says no more than "I don't know", in one of several languages."""
    plain = fold_text(text)
    if plain.replace("?", "").strip() in _WHOLE or plain in _WHOLE:
        return True
    words = plain.split()
    if len(words) <= _MOST_WORDS and not _TELLING.isdisjoint(plain.replace("?", " ").split()):
        match = _SPACED.search(plain)
        if match and len(words) - len(match[0].split()) <= MOST_OTHERS:
            return True
    return len(plain) <= MOST_CHARACTERS and _UNSPACED.search(plain) is not None


WHAT = "correcting the spelling"
PACKAGE = "pyspellchecker"
LANGUAGES = ("ar", "de", "en", "es", "eu", "fa", "fr", "it", "lv", "nl", "pt", "ru")

# Shorter words are a letter away from too many.
SHORTEST = 4

# A word in so many answers, and in this share of them, is a term of the subject.
TERM = 3
TERM_SHARE = 0.01

_SPELLED_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def correct_spelling(texts: Sequence[str], language: str) -> tuple[list[str], dict[str, Any]]:
    """Return the texts with corrected spelling, and the numbers of corrections.

    The counts are `language`, `words` (number of corrected words), `texts` (number of texts with
    one), `library` and its `version`.

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
        """Return the correction of a matched word; a name or term unchanged."""
        nonlocal n_words
        word = match[0]
        if not _is_ordinary(word) or word.lower() in terms:
            return word
        if word not in corrections:
            corrections[word] = _find_nearest(spelling, word)
        n_words += corrections[word] != word
        return corrections[word]

    for text in texts:
        corrected_text = _SPELLED_WORD.sub(replace, text)
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
    """Return the lower-case words that occur in at least 1% of the texts and in at least 3."""
    count = Counter(
        word for text in texts for word in {w.lower() for w in _SPELLED_WORD.findall(text)}
    )
    least = max(TERM, TERM_SHARE * len(texts))
    return {word for word, times in count.items() if times >= least}


def _is_ordinary(word: str) -> bool:
    """Return whether a word has at least 4 letters, all lower case, and no apostrophe."""
    return len(word) >= SHORTEST and word.islower() and "'" not in word and "’" not in word


def _find_nearest(spelling: Any, word: str) -> str:
    """Return the correction of a word: the most frequent candidate; a known word unchanged."""
    if spelling.known([word]):
        return word
    # The library returns a set, whose order differs from process to process.
    candidates = sorted(spelling.candidates(word) or {word})
    return max(candidates, key=lambda candidate: spelling[candidate])


SAMPLE = 500
FOREIGN_SHARE = 0.2
FEWEST_SENTENCES = 5
FEWEST_LETTERS = 20
WORDS_OF_A_SENTENCE = 5

# Below it the identifier itself hesitates. On 2,113 and 1,818 English answers of two public
# data sets it gave no other language this probability.
SURE = 0.5


def find_language_warning(texts: Sequence[str], info: EmbedderInfo) -> Message | None:
    """Return a warning if the model knows only English but the texts are not English, else None.

    `info` describes the model. Checks up to 500 distinct texts, evenly spaced. None for models of
    other or unknown languages.
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
    """Return the code of the language of more than half of the sentences; "" without one.

    Only sentences of five words or more are judged, as in `find_language_warning`. At least five
    must be in the language, each with a probability of at least one half.
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
    """Return the share of non-Latin letters and their commonest script; None below a fifth."""
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
    """Return the numbers of foreign and all sentences and the language; None below the limits."""
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


# Chinese and Japanese have no spaces: each of their letters counts as a word.
_COUNTED_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u9fff]+")

_NUMBER = re.compile(r"[-+]?\d+(?:[.,:/]\d+)*")


def count_numbers(text: str) -> int:
    """Return how many numbers a text contains; 1:25 or 3.5 counts as one."""
    return len(_NUMBER.findall(text))


def count_words(text: str) -> int:
    """Return the number of words in a text, numbers included."""
    return len(_COUNTED_WORD.findall(_NUMBER.sub(" ", text))) + count_numbers(text)


def compute_log_words(texts: Sequence[str]) -> Floats:
    """Return the natural logarithm of each text's number of words; 0 for none. Shape (N,)."""
    return np.log(np.maximum([count_words(text) for text in texts], 1))


# How well cosine tells a paraphrase from a sentence with one wrong fact, on the project's 200
# minimal pairs: 1 always, .5 as a coin does. From `manage.py reproduce minimal-pairs`, kind all; a
# slow test measures it anew.
MINIMAL_PAIRS_AUC = {"minilm": 0.263, "tfidf-word": 0.009, "tfidf-char": 0.004, "bow": 0.003}

# Words of a short answer.
FEW = 3

# Characters beyond which no answer is short; it spares counting the words of long ones.
LONG = 60

# Share of short answers from which on they are most.
MOST = 0.5


def is_short_answer(text: str) -> bool:
    """Return whether an answer has at most 3 words, or is at least half numbers."""
    text = text.strip()
    if len(text) > LONG:
        return False
    words = count_words(text)
    return words <= FEW or 2 * count_numbers(text) >= words


def compute_short_share(texts: Sequence[str]) -> float | None:
    """Return the share of short or numeric answers, 0 to 1; None without answers."""
    return sum(map(is_short_answer, texts)) / len(texts) if texts else None


def find_short_answer_warning(texts: Sequence[str], embedder: str) -> Message | None:
    """Return a warning, with the embedder's AUC on short answers, if most are short; else None.

    `embedder` is the SPEC of the run.
    """
    share = compute_short_share(texts)
    if share is None or share <= MOST:
        return None
    auc = MINIMAL_PAIRS_AUC.get(embedder)
    if auc is None:
        return Message("short_answers_unmeasured", {"share": share})
    return Message("short_answers", {"share": share, "embedder": embedder, "auc": auc})
