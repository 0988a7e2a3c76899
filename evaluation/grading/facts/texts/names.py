"""Find names of people, places and things, learnt from the capital letters in all answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from spellchecker import SpellChecker

from evaluation.grading.facts.texts.numbers import MONTHS, WORD, Token

# Share of the words of a run that begin with a capital beyond which capitals tell no names: German,
# or a crowd that shouts.
MOST_CAPITALS = 0.35
# Words of an answer that may be nothing but a name, which says nothing of how capitals are used.
FEW = 3
# Times that the dictionary met a word from which on it is no name at the start of a sentence: names
# that are common in English stand in it, too, up to there.
COMMON = 1200
# Letters of a name in which a typing mistake is forgiven.
LONG = 5
_ENDS = frozenset('.!?:\n"“”‘(•-–')
_TITLES_WORDS = (
    "mr mrs ms miss dr prof professor sir lord lady king queen prince princess "
    "duke duchess count countess emperor empress president captain general colonel "
    "major judge saint st pope minister senator the"
)
_TITLES = frozenset(_TITLES_WORDS.split())
_NEVER = (
    _TITLES
    | {month.lower() for month in MONTHS}
    | frozenset(("i'm", "i'll", "i've", "i'd", "ok", "bc", "bce", "ad", "ce"))
)


class NameInText(NamedTuple):
    """A name in a text: the index of its token, and the key that all its spellings share."""

    at: int
    key: str


@dataclass
class WordCounts:
    """Counts of each word with and without a capital, inside and at the start of sentences.

    Attributes
    ----------
    inside, first : number of uses with a capital, inside and at the start of a sentence.
    small : number of uses without a capital.
    capitals, words : words with a capital, and all words, in texts of more than 3 words.
    """

    inside: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)
    small: Counter[str] = field(default_factory=Counter)
    capitals: int = 0
    words: int = 0

    def add_text(self, tokens: Sequence[Token]) -> None:
        """Add the words of one text to the counts."""
        is_at_start = True
        words_of_text = [token for token in tokens if token.kind == WORD]
        if len(words_of_text) > FEW:
            self.words += len(words_of_text)
            self.capitals += sum(token.text[0].isupper() for token in words_of_text)
        for token in tokens:
            if token.kind != WORD:
                is_at_start = is_at_start or token.text in _ENDS
                continue
            word = _strip_genitive(token.lower)
            if not token.text[0].isupper():
                self.small[word] += 1
            elif is_at_start:
                self.first[word] += 1
            else:
                self.inside[word] += 1
            is_at_start = False

    def copy_counts(self) -> WordCounts:
        """Return an independent copy of the counts."""
        inside, first, small = (
            Counter(counter) for counter in (self.inside, self.first, self.small)
        )
        return WordCounts(inside, first, small, self.capitals, self.words)

    def select_words(self, words: Collection[str]) -> WordCounts:
        """Return the counts of these words only; the totals stay those of all texts."""
        inside, first, small = (
            Counter({word: n for word, n in counter.items() if word in words})
            for counter in (self.inside, self.first, self.small)
        )
        return WordCounts(inside, first, small, self.capitals, self.words)

    def find_names(self) -> dict[str, int]:
        """Return the words that are names, each with the number of its uses with a capital."""
        return {
            word: self.inside[word] + self.first[word]
            for word in (*self.inside, *self.first)
            if _is_possible_name(word)
            and (
                self.inside[word] > self.small[word]
                or (not self.small[word] and not self.inside[word] and not is_common_word(word))
            )
        }


class Lexicon:
    """Names in the answers of a run, recognised by their capital letters.

    A word is a name if inside sentences it has a capital more often than not; if it only begins
    sentences, it must never be small and be no common word of the dictionary. Its other spellings
    (small, with one typing mistake, with an ending) are found then as well.

    Parameters
    ----------
    texts : the tokens of each text of the run.
    known : counts of the words of further texts.
    """

    def __init__(self, texts: Iterable[Sequence[Token]], known: WordCounts | None = None) -> None:
        counts = WordCounts() if known is None else known.copy_counts()
        for tokens in texts:
            counts.add_text(tokens)
        # German, or text in capitals only: then a capital does not mark a name.
        self.is_off = counts.capitals > MOST_CAPITALS * counts.words
        self._counts: dict[str, int] = {} if self.is_off else counts.find_names()
        self._near = _SpellingIndex(self._counts)
        self._keys: dict[str, str] = {}

    def __len__(self) -> int:
        """Return the number of known names."""
        return len(self._counts)

    def find_key(self, token: Token) -> str:
        """Return the key that all spellings of a name share; "" if the word is not a name."""
        key = self._keys.get(token.lower)
        if key is None:
            key = self._keys[token.lower] = self._find_key_of_word(_strip_genitive(token.lower))
        return key

    def _find_key_of_word(self, word: str) -> str:
        """Return the key of a word in lower case, also of a misspelt name; "" for no name."""
        if not self._counts:
            return ""
        if word in self._counts:
            return self._near.find_frequent_spelling(word) or word
        if len(word) < LONG or not _is_possible_name(word):
            return ""
        if word.endswith("s") and word[:-1] in self._counts:
            return self._find_key_of_word(word[:-1])
        # A word that the dictionary knows is itself, and no misspelt name.
        if _get_frequency(word):
            return ""
        return self._near.find_frequent_spelling(word) or ""

    def iterate_names(self, tokens: Sequence[Token]) -> Iterator[NameInText]:
        """Yield the names in a text, in their order."""
        if self._counts:
            for index, token in enumerate(tokens):
                if token.kind == WORD and len(token.text) > 1:
                    key = self.find_key(token)
                    if key:
                        yield NameInText(index, key)


class _SpellingIndex:
    """Index of names by spelling, to find a more frequent name one typing mistake away."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts
        self.by_part: dict[str, list[str]] = {}
        for word in counts:
            if LONG <= len(word) <= 30:
                # Two words one edit apart share a variant with a letter left out: candidates are
                # looked up, and names are not compared all with all.
                for part in _build_deletions(word):
                    self.by_part.setdefault(part, []).append(word)

    def find_frequent_spelling(self, word: str) -> str:
        """Return the most frequent name, at least twice as frequent, one edit away; "" if none."""
        if not LONG <= len(word) <= 30:
            return ""
        own = self.counts.get(word, 0)
        # 50 bound the work for a part that very many names share.
        candidates = {
            candidate
            for part in _build_deletions(word)
            for candidate in self.by_part.get(part, ())[:50]
        }
        frequent = [
            candidate
            for candidate in candidates
            if self.counts[candidate] >= max(2 * own, 1)
            and candidate != word
            and _is_one_edit_apart(candidate, word)
        ]
        # The word as well, because a set has no fixed order to break ties by.
        return max(frequent, key=lambda candidate: (self.counts[candidate], candidate), default="")


def is_common_word(word: str) -> bool:
    """Return whether an English word is frequent in the spelling dictionary."""
    return _get_frequency(word) > COMMON


def _get_frequency(word: str) -> int:
    """Return how often the dictionary's corpus has a word; 0 for an unknown word."""
    return _load_dictionary().get(word, 0)


@cache
def _load_dictionary() -> dict[str, int]:
    """Return the word frequencies of the English spelling dictionary, which is loaded once."""
    dictionary: dict[str, int] = SpellChecker(language="en").word_frequency.dictionary
    return dictionary


def _strip_genitive(word: str) -> str:
    """Return a word in lower case without its genitive ending: "anna" for "Anna's"."""
    plain = word.replace("’", "'")
    return plain[:-2] if plain.endswith("'s") else plain.rstrip("'")


def _is_possible_name(word: str) -> bool:
    """Return whether a word may be a name: more than one letter, not a title, not a month."""
    return len(word) > 1 and word not in _NEVER


def _build_deletions(word: str) -> set[str]:
    """Return the word and all its variants with one letter left out."""
    return {word, *(word[:index] + word[index + 1 :] for index in range(len(word)))}


def _is_one_edit_apart(word: str, other: str) -> bool:
    """Return whether two words differ by one edit: a letter more, less, other, or two swapped.

    Both must share a variant of `_build_deletions`.
    """
    if word[0] != other[0] or abs(len(word) - len(other)) > 1:
        return False
    if len(word) != len(other):
        return True
    position = [place for place, (a, b) in enumerate(zip(word, other, strict=True)) if a != b]
    if len(position) == 1:
        return True
    return (
        len(position) == 2
        and position[1] == position[0] + 1
        and word[position[0]] == other[position[1]]
        and word[position[1]] == other[position[0]]
    )
