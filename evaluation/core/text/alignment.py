"""Align two texts by the words that they share in the same order."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from evaluation.core.text.differences import WORD

# Words of a text that are compared; the rest of it is shown without a mark.
COMPARED = 600

Kind = Literal["same", "changed", "between"]


class AlignedPart(NamedTuple):
    """A segment of a text: shared words, differing words, or the blanks between two kinds."""

    text: str
    kind: Kind


@dataclass(frozen=True)
class Aligned:
    """Two texts in segments of shared and differing words, with counts of shared and all words.

    Attributes
    ----------
    same : words that both have in the same order. longer : words of the longer text.
    """

    left: list[AlignedPart]
    right: list[AlignedPart]
    same: int
    longer: int


def align(left: str, right: str) -> Aligned:
    """Return two texts in segments of shared and differing words (Ratcliff and Obershelp).

    Case and the form of letters do not count. In scripts without blanks every character is a word.
    """
    matches_by_text = [list(WORD.finditer(text))[:COMPARED] for text in (left, right)]
    words = [[_fold(match[0]) for match in matches] for matches in matches_by_text]
    blocks = SequenceMatcher(None, words[0], words[1], autojunk=False).get_matching_blocks()
    same = [
        {at for block in blocks for at in range(block[side], block[side] + block.size)}
        for side in (0, 1)
    ]
    parts = [
        list(_split_parts(text, [match.span() for match in matches], alike))
        for text, matches, alike in zip((left, right), matches_by_text, same, strict=True)
    ]
    return Aligned(parts[0], parts[1], len(same[0]), max(map(len, words)))


def _fold(word: str) -> str:
    """Return a word in NFC and without case, for comparison."""
    return unicodedata.normalize("NFC", word).casefold()


def _split_parts(
    text: str, spans: Sequence[tuple[int, int]], same: set[int]
) -> Iterator[AlignedPart]:
    """Yield a text's segments; consecutive words of one kind form one segment."""
    begin = end = 0
    kind: Kind = "between"
    for at, (start, stop) in enumerate(spans):
        own: Kind = "same" if at in same else "changed"
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
