"""Compare texts: short answers, shared and differing words, rewordings, mistyped ids.

`normalise_for_matching` removes case, punctuation, articles and spaces, as evaluations of
extractive questions do (Rajpurkar et al. 2016), but keeps the decimal point and the minus sign of
numbers.

`align_words` compares two texts by the words that they share in the same order. A rewording of a
question must have the same numbers and names as the original question.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from typing import Literal, NamedTuple

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
    """Table for `str.translate` that removes punctuation and caches each character."""

    def __missing__(self, code: int) -> int | None:
        letter = chr(code)
        taken_out = letter in _ASCII or unicodedata.category(letter).startswith("P")
        kept = self[code] = None if taken_out else code
        return kept


_PUNCTUATION = _WithoutPunctuation()


def fold_spaces(text: str) -> str:
    """Return a text in Unicode form NFKC, in lower case (casefold), with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def normalise_for_matching(text: str) -> str:
    """Return a text in lower case without punctuation, English articles and repeated spaces.

    Where nothing would be left ("the", "?!") only case and space are taken out.
    """
    plain = fold_spaces(text)
    words = plain.split(" ")
    if all(word.isalnum() and word.isascii() for word in words):  # most texts, and quickly
        return " ".join([word for word in words if word not in _OF_ARTICLES]) or plain
    # Points and minus signs of numbers are replaced first, so that they survive `_PUNCTUATION`.
    text_kept = _DECIMAL.sub(_POINT, _THOUSANDS.sub("", plain))
    text_kept = _NEGATIVE.sub(_MINUS, text_kept).translate(_PUNCTUATION).translate(_BACK)
    return " ".join(_ARTICLES.sub(" ", text_kept).split()) or plain


def extract_numbers(text: str) -> frozenset[str]:
    """Return the numbers in a text as digits: 1,250 is 1250, and .50 is 0.5."""
    numbers = _NUMBER.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text)))
    return frozenset(_normalise_number(number) for number in numbers)


def _normalise_number(number: str) -> str:
    """Return a number without leading zeros and trailing decimal zeros."""
    minus, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    whole, _, part = digits.partition(".")
    whole, part = whole.lstrip("0") or "0", part.rstrip("0")
    return minus + whole + (f".{part}" if part else "")


def compute_letter_similarity(one: str, other: str) -> float:
    """Return the similarity of two texts by common letters in order, 0 to 1; 1 if both are empty.

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
    for index, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << index
    # Python integers have no width: the mask cuts off carries beyond the text.
    mask = (1 << len(one)) - 1
    row = mask
    for letter in other:
        met = row & places.get(letter, 0)
        row = ((row + met) | (row - met)) & mask
    return 2 * (len(one) - row.bit_count()) / total


def is_similar(one: str, other: str, least: float) -> bool:
    """Return whether the letter similarity of two texts is at least `least`.

    See `compute_letter_similarity`.
    """
    shorter, longer = sorted((len(one), len(other)))
    if one == other:
        return True
    # The shorter one could be within the longer at best.
    return (
        2 * shorter >= least * (shorter + longer) and compute_letter_similarity(one, other) >= least
    )


NAMED = 3
# Beyond these ids only those that differ in case or space are looked for: comparing takes long.
COMPARED = 20_000


def find_similar_ids(typed: str, known: Collection[str]) -> list[str]:
    """Return up to three known ids that resemble the typed one, most similar first.

    Those that differ only in case, space and the form of their letters come before those with
    other letters (Ratcliff and Obershelp's ratio of 0.6 and more, as `difflib` has it).
    """
    folded = _fold_id(typed)
    same = [one for one in known if _fold_id(one) == folded]
    if len(known) > COMPARED or len(same) >= NAMED:
        return same[:NAMED]
    alike = [match for match in get_close_matches(typed, known, NAMED) if match not in same]
    return (same + alike)[:NAMED]


def format_suggestion(typed: str, known: Collection[str]) -> str:
    """Return the typed id with similar known ones, "ID (perhaps ONE or OTHER)", or alone."""
    suggestions = " or ".join(one[:60] for one in find_similar_ids(typed, known))
    return f"{typed[:60]} (perhaps {suggestions})" if suggestions else typed[:60]


def _fold_id(text: str) -> str:
    """Return an id for comparison: in NFKC, in lower case, without spaces."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


# Words, and of scripts that are written without blanks each character by itself, with the vowel
# signs and tones that stand on it. Marks on letters, and the joiners within a word, are part of it.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_ON_UNSPACED = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
_LETTER = rf"(?:[^\W{_UNSPACED}]|[{_MARKS}])"
WORD = re.compile(
    rf"[{_UNSPACED}][{_ON_UNSPACED}]*|[^\W{_UNSPACED}]{_LETTER}*(?:['’.,][^\W{_UNSPACED}]{_LETTER}*)*"
)


class Piece(NamedTuple):
    """A segment of a text; `differs` is True if not all compared texts contain it."""

    text: str
    differs: bool


def mark_differences(texts: Sequence[str]) -> list[list[Piece]]:
    """Return each text split into segments, marked where its words differ from the other texts.

    A word is marked if another text has it less often, case ignored; its position does not matter.
    Blanks and punctuation between two marked words are marked with them. One text alone, or equal
    texts, have no mark.
    """
    words = [Counter(word.casefold() for word in WORD.findall(text)) for text in texts]
    common = words[0].copy() if words else Counter()
    for word_counts in words[1:]:
        common &= word_counts
    return [_split_pieces(text, common.copy()) for text in texts]


def _split_pieces(text: str, left: Counter[str]) -> list[Piece]:
    """Return a text split into shared and differing segments.

    `left` is how often each word still counts as shared.
    """
    pieces: list[Piece] = []
    end = 0
    for match in WORD.finditer(text):
        word = match[0].casefold()
        differs = left[word] <= 0
        left[word] -= 1
        gap = text[end : match.start()]
        if pieces and pieces[-1].differs and differs:
            pieces[-1] = Piece(pieces[-1].text + gap + match[0], True)
        elif pieces and not pieces[-1].differs and not differs:
            pieces[-1] = Piece(pieces[-1].text + gap + match[0], False)
        elif differs:
            pieces += [Piece(gap, False)] if gap else []
            pieces.append(Piece(match[0], True))
        else:
            pieces.append(Piece(gap + match[0], False))
        end = match.end()
    rest = text[end:]
    if rest and pieces and not pieces[-1].differs:
        pieces[-1] = Piece(pieces[-1].text + rest, False)
    elif rest:
        pieces.append(Piece(rest, False))
    return pieces


# Words of a text that are compared; the rest of it is shown without a mark.
WORDS_COMPARED = 600

Kind = Literal["same", "changed", "between"]


class AlignedPart(NamedTuple):
    """Segment of a text: shared words, differing words, or the blanks between both kinds."""

    text: str
    kind: Kind


@dataclass(frozen=True)
class AlignedTexts:
    """Two texts split into shared and differing words, with the numbers of shared and all words.

    Attributes
    ----------
    same : words that both have in the same order. longer : words of the longer text.
    """

    left: list[AlignedPart]
    right: list[AlignedPart]
    same: int
    longer: int


def align_words(left: str, right: str) -> AlignedTexts:
    """Return two texts split into shared and differing words (Ratcliff and Obershelp).

    Case and the form of letters do not count. In scripts without blanks every character is a word.
    """
    matches_by_text = [list(WORD.finditer(text))[:WORDS_COMPARED] for text in (left, right)]
    words = [[_fold_word(match[0]) for match in matches] for matches in matches_by_text]
    # autojunk would ignore frequent words of texts with 200 words or more.
    blocks = SequenceMatcher(None, words[0], words[1], autojunk=False).get_matching_blocks()
    same = [
        {index for block in blocks for index in range(block[side], block[side] + block.size)}
        for side in (0, 1)
    ]
    parts = [
        list(_split_parts(text, [match.span() for match in matches], alike))
        for text, matches, alike in zip((left, right), matches_by_text, same, strict=True)
    ]
    return AlignedTexts(parts[0], parts[1], len(same[0]), max(map(len, words)))


def _fold_word(word: str) -> str:
    """Return a word for comparison: in NFC, in lower case."""
    return unicodedata.normalize("NFC", word).casefold()


def _split_parts(
    text: str, spans: Sequence[tuple[int, int]], same: set[int]
) -> Iterator[AlignedPart]:
    """Yield a text's segments of shared or differing words; `same` are the shared words' indices.

    Consecutive words of one kind form one segment.
    """
    begin = end = 0
    kind: Kind = "between"
    for index, (start, stop) in enumerate(spans):
        own: Kind = "same" if index in same else "changed"
        if own != kind:
            if end > begin:
                yield AlignedPart(text[begin:end], kind)
            if start > end:
                yield AlignedPart(text[end:start], "between")
            begin, kind = start, own
        end = stop
    if end > begin:
        yield AlignedPart(text[begin:end], kind)
    if len(text) > end:
        yield AlignedPart(text[end:], "between")


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
NUMBER_WORDS = {word: str(at) for at, word in enumerate(_UP_TO_20) if word}
NUMBER_WORDS |= {word: str(ten) for ten, word in zip(range(30, 100, 10), _TENS, strict=True)}
# Capital letters say nothing in a title or a shout.
MOST_CAPITALS = 0.6
FEW_WORDS = 4


def has_same_numbers(one: str, other: str) -> bool:
    """Return whether two texts have the same numbers, as digits or English words up to 99."""
    return extract_numbers(one) | _find_number_words(one) == extract_numbers(
        other
    ) | _find_number_words(other)


def _find_number_words(text: str) -> set[str]:
    """Return the numbers that a text writes as English words ("seven"), as digits ("7")."""
    words = _WORD.findall(fold_spaces(text).replace("-", " "))
    return {NUMBER_WORDS[word] for word in words if word in NUMBER_WORDS}


def extract_names(text: str) -> set[str]:
    """Return the names in a text: capitalised words within a sentence, and quotations.

    In texts of mostly capitalised words (titles), and in scripts without capitals, only quotations
    count.
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

    Case is ignored in the other text, where the name may begin a sentence.
    """
    first, second = _normalise_words(original), _normalise_words(rewording)
    return all(_normalise_words(name) in second for name in extract_names(original)) and all(
        _normalise_words(name) in first for name in extract_names(rewording)
    )


def _normalise_words(text: str) -> str:
    """Return a text's folded words between single spaces, without possessive endings."""
    return f" {' '.join(_POSSESSIVE.sub('', word) for word in _WORD.findall(fold_spaces(text)))} "
