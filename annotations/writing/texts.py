"""Texts of problems: what the kinds mean, and when two are the same."""

from __future__ import annotations

import unicodedata
from typing import Final

from annotations.models import Category
from annotations.models.writing import MOST_CHARACTERS
from annotations.writing.refused import WritingError

MOST_OF_A_NOTE = 2_000

# The kinds are those of Sun et al. 2024; the words are ours.
WHAT_CATEGORIES_MEAN: Final = {
    Category.MISSING: "A number or a fact that the answer needs is not there.",
    Category.AMBIGUOUS: "A number or a fact is there, but says too little: “some”, “fewer than "
    "53”, “between 4 and 9”.",
    Category.UNREALISTIC: "What is told contradicts itself or cannot be: more is eaten than there "
    "was, half a child comes along.",
    Category.UNRELATED: "It asks about something that the rest does not tell of.",
    Category.NO_QUESTION: "It tells a situation, and asks nothing that could be computed.",
}


def same_words(one: str, other: str) -> bool:
    """Whether two texts are the same but for case, white space, and how letters are composed."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def checked_text(text: str) -> str:
    """Return a problem's text, trimmed; `WritingError` if there is none or it is too long."""
    trimmed = text.replace("\r\n", "\n").strip()
    if not trimmed:
        raise WritingError("text_missing", "text")
    return within(trimmed)


def within(text: str) -> str:
    """Return a text that may be stored; `WritingError` if it is too long."""
    if len(text) > MOST_CHARACTERS:
        raise WritingError("text_too_long", "text")
    return text


def checked_note(note: str, *, required: bool = False) -> str:
    """Return a note, trimmed; `WritingError` if it is too long, or is missing and required."""
    trimmed = note.replace("\r\n", "\n").strip()
    if required and not trimmed:
        raise WritingError("note_missing", "note")
    if len(trimmed) > MOST_OF_A_NOTE:
        raise WritingError("note_too_long", "note")
    return trimmed
