"""Texts of written problems: names of the categories, validation, and comparison."""

from __future__ import annotations

import unicodedata
from typing import Final

from annotations.models import Category
from annotations.models.writing import MOST_CHARACTERS
from annotations.writing.errors import WritingError

MAX_NOTE_LENGTH = 2_000

# The categories are those of Sun et al. 2024 (UMWP), the descriptions our own.
CATEGORY_DESCRIPTIONS: Final = {
    Category.MISSING: "A number or a fact that the answer needs is not there.",
    Category.AMBIGUOUS: "A number or a fact is there, but is too vague: “some”, “fewer than "
    "53”, “between 4 and 9”.",
    Category.UNREALISTIC: "The text contradicts itself or is impossible: more is eaten than "
    "there was, half a child takes part.",
    Category.UNRELATED: "It asks about something that the rest does not mention.",
    Category.NO_QUESTION: "It describes a situation, and asks nothing that could be computed.",
}


def have_same_words(text: str, other: str) -> bool:
    """Return whether two texts are equal, ignoring case, white space and Unicode composition."""
    return _normalize_text(text) == _normalize_text(other)


def _normalize_text(text: str) -> str:
    """Return a text normalized for comparison: NFC, case-folded, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def clean_problem_text(text: str) -> str:
    """Return a problem's text, stripped; raise `WritingError` if it is empty or too long."""
    trimmed = text.replace("\r\n", "\n").strip()
    if not trimmed:
        raise WritingError("text_missing", "text")
    return check_text_length(trimmed)


def check_text_length(text: str) -> str:
    """Return a text unchanged; raise `WritingError` if it is too long to be stored."""
    if len(text) > MOST_CHARACTERS:
        raise WritingError("text_too_long", "text")
    return text


def clean_note(note: str, *, required: bool = False) -> str:
    """Return a note, stripped; raise `WritingError` if it is too long or missing."""
    trimmed = note.replace("\r\n", "\n").strip()
    if required and not trimmed:
        raise WritingError("note_missing", "note")
    if len(trimmed) > MAX_NOTE_LENGTH:
        raise WritingError("note_too_long", "note")
    return trimmed
