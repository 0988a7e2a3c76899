"""Mark the words in which several texts differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

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
    """A segment of a text; `differs` is True if not all compared texts have it."""

    text: str
    differs: bool


def mark_differences(texts: Sequence[str]) -> list[list[Piece]]:
    """Return each text in segments, marked where it differs from the others.

    A word is marked that another text has less often, case aside; where it stands does not count.
    Blanks and punctuation between two marked words are marked with them. One text alone, or equal
    texts, have no mark.
    """
    words = [Counter(word.casefold() for word in WORD.findall(text)) for text in texts]
    common = words[0].copy() if words else Counter()
    for word_counts in words[1:]:
        common &= word_counts
    return [_split_pieces(text, common.copy()) for text in texts]


def _split_pieces(text: str, left: Counter[str]) -> list[Piece]:
    """Return a text in segments; `left` counts how often each word may stay unmarked."""
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
