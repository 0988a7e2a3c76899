"""Answers that only say that somebody does not know, and how they are folded first."""

import unicodedata

import pytest

from evaluation.core.text.quality import _APOSTROPHES, _WORD, fold_text, is_dont_know


def slowly_folded(text):
    """Fold without a short way for ASCII."""
    text = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
    return " ".join(word if word.strip("?") else "?" for word in _WORD.findall(text))


@pytest.mark.parametrize(
    "text",
    ["", "I DON'T know??", "x_y\x1c-x\tY`x", "what?no ???", "？？ Ｋ", "Straße’s ﬁn", "\x00~"],
)
def test_ascii_is_folded_by_its_short_way_as_by_the_long_one(text):
    assert fold_text(text) == slowly_folded(text)


def test_every_character_of_ascii_is_folded_as_by_the_long_way():
    for code in range(128):
        text = f"A{chr(code)}b {chr(code)}"
        assert fold_text(text) == slowly_folded(text), code


def test_a_phrase_with_five_other_words_counts_and_with_six_does_not():
    assert is_dont_know("sorry but I really do not know this")  # sorry but i really this: 5
    assert not is_dont_know("sorry but I really do not know this one")
    assert is_dont_know("x?no idea")  # a question mark ends a word
    assert not is_dont_know("the current is not known to be zero")
