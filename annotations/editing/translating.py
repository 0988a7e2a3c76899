"""The texts of a version in a further language: what there is, what is missing, storing it.

    add_language(draft, "ar")
    sheet = Sheet(draft, "ar", rows_of(draft))
    [piece for piece in sheet.pieces if not piece.is_done]     # what is still to be translated
    sheet.store({piece: "..."})

A piece is one text of one row: of the version itself, of a passage or of a question. The languages
of a version, and its translations, are copied with it and frozen with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotations.exchange.reading.questions import LONGEST_PASSAGE
from annotations.languages import LanguageError, canonical
from annotations.models import Passage, Question, QuestionSetVersion, Translation
from annotations.models.translations import TITLE, Row, is_whole, mark, to_translate

LABELS: Final = {
    TITLE: "Title",
    "guidelines": "Guidelines",
    "consent_text": "Consent text",
    "text": "Text",
    "image_alt": "The image in words",
    "choices": "Choices",
    "accepted_answers": "Right answers",
    "feedback": "Feedback",
}
MOST_LANGUAGES: Final = 40
LONGEST_TEXT: Final = 20_000
"""Characters of a text that people read, but those of a passage or question itself."""
LONGEST_TITLE: Final = 500
MOST_PARTS: Final = 1_000
"""Choices, or right answers, of one question."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One text: `original` as it was written, `said` in the language; lists for choices and keys.

    `was` is the mark of the original that was translated.
    """

    row: Row
    name: str
    original: Any
    said: Any
    was: str = ""

    @property
    def label(self) -> str:
        """What the text is called."""
        return LABELS[self.name]

    @property
    def key(self) -> str:
        """Its name in forms, by the id in files, which stays when a version is copied."""
        if isinstance(self.row, QuestionSetVersion):
            return f"v-{self.name}"
        letter = "p" if isinstance(self.row, Passage) else "q"
        return f"{letter}-{self.name}-{self.row.external_id}"

    @property
    def most(self) -> int:
        """How many characters it may have in a language."""
        if self.name == "text":
            return LONGEST_PASSAGE // 4
        return LONGEST_TITLE if self.name == TITLE else LONGEST_TEXT

    def why_too_long(self, text: str) -> str:
        """Return the reason why a text cannot be stored, "" if it can."""
        if len(text) <= self.most:
            return ""
        return f"it has {len(text):,} characters, more than {self.most:,}: nothing is saved yet"

    @property
    def is_optional(self) -> bool:
        """Whether people do without it: the title of the study then stays as it is."""
        return isinstance(self.row, QuestionSetVersion) and self.name == TITLE

    @property
    def is_done(self) -> bool:
        """Whether it is translated, or need not be."""
        return self.is_optional or is_whole(self.name, self.original, self.said)

    @property
    def is_old(self) -> bool:
        """Whether the original was changed since it was translated."""
        return bool(self.said) and not self.is_optional and self.was != mark(self.original)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a translation is: `done` of `total` texts, `old` of them of an original before."""

    language: str
    done: int
    total: int
    old: int


def rows_of(version: QuestionSetVersion) -> list[Row]:
    """Return the version, its passages with their questions, and the other questions, in order."""
    about: dict[int | None, list[Question]] = {}
    for question in version.questions.order_by("position", "pk"):
        about.setdefault(question.passage_id, []).append(question)
    rows: list[Row] = [version]
    for passage in version.passages.order_by("position", "pk"):
        rows += [passage, *about.get(passage.pk, [])]
    return [*rows, *about.get(None, [])]


class Sheet:
    """All texts of some rows of a version in one language, as they are stored now."""

    def __init__(self, version: QuestionSetVersion, language: str, rows: Sequence[Row]) -> None:
        self.version = version
        self.language = language
        found = version.translations.filter(language=language)
        self._stored = {(one.passage_id, one.question_id): one for one in found}
        self.pieces = [piece for row in rows for piece in self._of(row)]

    @property
    def seen(self) -> str:
        """A mark of what is stored of these rows: it changes when one of the texts does."""
        said = [[piece.key, piece.said] for piece in self.pieces]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]

    def store(self, texts: Mapping[Piece, Any]) -> None:
        """Store texts of pieces of this sheet; an empty one takes the translation away.

        The draft is locked by whoever calls this.
        """
        changed: dict[tuple[int | None, int | None], Translation] = {}
        for piece, text in texts.items():
            key = _key(piece.row)
            row = changed.get(key) or self._stored.get(key) or self._new(piece.row)
            changed[key] = row
            if text:
                row.texts[piece.name], row.originals[piece.name] = text, mark(piece.original)
            else:
                row.texts.pop(piece.name, None)
                row.originals.pop(piece.name, None)
        for key, row in changed.items():
            if row.texts:
                row.save()
                self._stored[key] = row
            elif row.pk:
                row.delete()
                self._stored.pop(key, None)

    def _of(self, row: Row) -> list[Piece]:
        stored = self._stored.get(_key(row))
        texts, were = (stored.texts, stored.originals) if stored else ({}, {})
        wanted = to_translate(row, self.language)
        if isinstance(row, QuestionSetVersion):
            wanted = {TITLE: row.question_set.name, **wanted}
        return [
            Piece(row, name, original, texts.get(name, type(original)()), were.get(name, ""))
            for name, original in wanted.items()
        ]

    def _new(self, row: Row) -> Translation:
        passage, question = _key(row)
        return Translation(
            version=self.version, language=self.language, passage_id=passage, question_id=question
        )


def progress(version: QuestionSetVersion, rows: Sequence[Row] | None = None) -> list[Progress]:
    """Return how far each further language of a version is, in their order."""
    if not version.languages:
        return []
    rows = rows_of(version) if rows is None else rows
    found = []
    for language in version.languages:
        pieces = [one for one in Sheet(version, language, rows).pieces if not one.is_optional]
        done = [one for one in pieces if one.is_done]
        old = sum(one.is_old for one in done)
        found.append(Progress(language, len(done), len(pieces), old))
    return found


def add_language(draft: QuestionSetVersion, tag: str) -> str:
    """Let people answer in one more language; return its tag as it is kept.

    The draft is locked by whoever calls this. Raises LanguageError for what is no
    language, for one that it has, and where nobody said in which the texts are.
    """
    if not draft.spoken:
        raise LanguageError("original_missing")
    language = canonical(tag)
    if language.lower() in map(str.lower, draft.every_language):
        raise LanguageError("there_already", language=language)
    if len(draft.languages) >= MOST_LANGUAGES:
        raise LanguageError("too_many", most=MOST_LANGUAGES)
    draft.languages = [*draft.languages, language]
    draft.save(update_fields=["languages"])
    return language


def remove_language(draft: QuestionSetVersion, language: str) -> int:
    """Take a language away with all that is said in it; return of how many things that was."""
    draft.languages = [one for one in draft.languages if one != language]
    draft.save(update_fields=["languages"])
    n, _ = draft.translations.filter(language=language).delete()
    return n


def _key(row: Row) -> tuple[int | None, int | None]:
    if isinstance(row, Passage):
        return (row.pk, None)
    return (None, row.pk) if isinstance(row, Question) else (None, None)
