"""Texts of a version in a further language: read, check and store translations.

    add_language(draft, "ar")
    sheet = TranslationSheet(draft, "ar", load_translatable_items(draft))
    [piece for piece in sheet.pieces if not piece.is_done]     # texts without a translation
    sheet.store_translations({piece: "..."})

A piece is one text of one row: of the version itself, of a passage or of a question. Languages and
translations are copied and frozen together with their version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotations.exchange.reading.questions import LONGEST_PASSAGE
from annotations.languages import LanguageError, normalise_language_tag
from annotations.models import Passage, Question, QuestionSetVersion, Translation
from annotations.models.translations import (
    TITLE,
    Row,
    collect_translatable_texts,
    hash_original,
    is_fully_translated,
)

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
"""The label of each field, for editors."""
MOST_LANGUAGES: Final = 40
LONGEST_TEXT: Final = 20_000
"""Most characters of a text, except the text of a passage or question itself."""
LONGEST_TITLE: Final = 500
MOST_PARTS: Final = 1_000
"""Most choices, or right answers, of one question."""


# Compared by identity: pieces are keys of a dict, and their lists have no hash.
@dataclass(frozen=True, slots=True, eq=False)
class TranslatableText:
    """A text of a version and its translation; lists for choices and accepted answers.

    `original` is the text in the original language, `said` its translation. `was` is the hash of
    the original text at the time of the translation.
    """

    row: Row
    name: str
    original: Any
    said: Any
    was: str = ""

    @property
    def label(self) -> str:
        """Label of the kind of text, for editors."""
        return LABELS[self.name]

    @property
    def key(self) -> str:
        """Name of the text in forms, built from the item's id in files."""
        if isinstance(self.row, QuestionSetVersion):
            return f"v-{self.name}"
        letter = "p" if isinstance(self.row, Passage) else "q"
        return f"{letter}-{self.name}-{self.row.external_id}"

    @property
    def most(self) -> int:
        """Greatest permitted length of the translation in characters."""
        if self.name == "text":
            return LONGEST_PASSAGE // 4
        return LONGEST_TITLE if self.name == TITLE else LONGEST_TEXT

    def find_length_error(self, text: str) -> str:
        """Return why a translation is too long, as text; "" if it is short enough."""
        if len(text) <= self.most:
            return ""
        return f"it has {len(text):,} characters, more than {self.most:,}: nothing is saved yet"

    @property
    def is_optional(self) -> bool:
        """Whether the text needs no translation (the title of the study)."""
        return isinstance(self.row, QuestionSetVersion) and self.name == TITLE

    @property
    def is_done(self) -> bool:
        """Whether the text is translated or needs no translation."""
        return self.is_optional or is_fully_translated(self.name, self.original, self.said)

    @property
    def is_old(self) -> bool:
        """Whether the original was changed after it was translated."""
        return bool(self.said) and not self.is_optional and self.was != hash_original(self.original)


@dataclass(frozen=True, slots=True)
class TranslationProgress:
    """Numbers of translated, outdated and all texts of a version in one language.

    `done` of `total` texts are translated, `old` of these from an earlier original.
    """

    language: str
    done: int
    total: int
    old: int


def load_translatable_items(version: QuestionSetVersion) -> list[Row]:
    """Return the version, its passages each followed by its questions, then other questions."""
    return arrange_items(
        version,
        version.passages.order_by("position", "pk"),
        version.questions.order_by("position", "pk"),
    )


def arrange_items(
    version: QuestionSetVersion, passages: Iterable[Passage], questions: Iterable[Question]
) -> list[Row]:
    """Return the version, each passage followed by its questions, then the other questions."""
    by_passage: dict[int | None, list[Question]] = {}
    for question in questions:
        by_passage.setdefault(question.passage_id, []).append(question)
    rows: list[Row] = [version]
    for passage in passages:
        rows += [passage, *by_passage.get(passage.pk, [])]
    return [*rows, *by_passage.get(None, [])]


class TranslationSheet:
    """Texts of a version, or of some of its items, with translations into one language.

    Pass the `translations` into that language if they are loaded already.
    """

    def __init__(
        self,
        version: QuestionSetVersion,
        language: str,
        rows: Sequence[Row],
        translations: Iterable[Translation] | None = None,
    ) -> None:
        self.version = version
        self.language = language
        if translations is None:
            translations = version.translations.filter(language=language)
        self._stored = {
            (translation.passage_id, translation.question_id): translation
            for translation in translations
        }
        self.pieces = [piece for row in rows for piece in self._build_pieces(row)]

    @property
    def seen(self) -> str:
        """Short hash of the stored translations, to detect a change by another editor."""
        texts = [[piece.key, piece.said] for piece in self.pieces]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]

    def store_translations(self, texts: Mapping[TranslatableText, Any]) -> None:
        """Store translations by their text; an empty one deletes the stored translation.

        The caller holds the lock of the draft.
        """
        changed: dict[tuple[int | None, int | None], Translation] = {}
        for piece, text in texts.items():
            key = _get_translation_key(piece.row)
            # Several pieces share the row of their passage or question.
            row = changed.get(key) or self._stored.get(key) or self._create_translation(piece.row)
            changed[key] = row
            if text:
                row.texts[piece.name], row.originals[piece.name] = (
                    text,
                    hash_original(piece.original),
                )
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

    def _build_pieces(self, row: Row) -> list[TranslatableText]:
        """Return the translatable texts of one version, passage or question."""
        stored = self._stored.get(_get_translation_key(row))
        texts, originals = (stored.texts, stored.originals) if stored else ({}, {})
        texts_to_translate = collect_translatable_texts(row, self.language)
        if isinstance(row, QuestionSetVersion):
            texts_to_translate = {TITLE: row.question_set.name, **texts_to_translate}
        return [
            TranslatableText(
                row, name, original, texts.get(name, type(original)()), originals.get(name, "")
            )
            for name, original in texts_to_translate.items()
        ]

    def _create_translation(self, row: Row) -> Translation:
        """Return a new, unsaved translation of a version, passage or question."""
        passage, question = _get_translation_key(row)
        return Translation(
            version=self.version, language=self.language, passage_id=passage, question_id=question
        )


def build_sheets(version: QuestionSetVersion, rows: Sequence[Row]) -> list[TranslationSheet]:
    """Return a sheet of the rows' translations for each further language; one query."""
    if not version.languages:
        return []
    translations: dict[str, list[Translation]] = {language: [] for language in version.languages}
    for translation in version.translations.filter(language__in=version.languages):
        translations[translation.language].append(translation)
    return [
        TranslationSheet(version, language, rows, translations[language])
        for language in version.languages
    ]


def measure_translation_progress(
    version: QuestionSetVersion, sheets: Sequence[TranslationSheet] | None = None
) -> list[TranslationProgress]:
    """Return the progress of the translation into each further language, in order.

    Pass as `sheets` those of all its rows (`build_sheets`) if they are loaded already.
    """
    if not version.languages:
        return []
    sheets = build_sheets(version, load_translatable_items(version)) if sheets is None else sheets
    results = []
    for sheet in sheets:
        pieces = [piece for piece in sheet.pieces if not piece.is_optional]
        done = [piece for piece in pieces if piece.is_done]
        old = sum(piece.is_old for piece in done)
        results.append(TranslationProgress(sheet.language, len(done), len(pieces), old))
    return results


def add_language(draft: QuestionSetVersion, tag: str) -> str:
    """Add a further language to a draft; return its tag in canonical form.

    The caller holds the lock of the draft. Raises LanguageError for an invalid tag, for a language
    that the draft has already, and if the language of the originals is not set.
    """
    if not draft.text_language:
        raise LanguageError("original_missing")
    language = normalise_language_tag(tag)
    # BCP 47 tags differ in case only by convention.
    if language.lower() in map(str.lower, draft.all_languages):
        raise LanguageError("there_already", language=language)
    if len(draft.languages) >= MOST_LANGUAGES:
        raise LanguageError("too_many", most=MOST_LANGUAGES)
    draft.languages = [*draft.languages, language]
    draft.save(update_fields=["languages"])
    return language


def remove_language(draft: QuestionSetVersion, language: str) -> int:
    """Remove a language and its translations from a draft; return the number of deleted rows."""
    draft.languages = [other for other in draft.languages if other != language]
    draft.save(update_fields=["languages"])
    n, _ = draft.translations.filter(language=language).delete()
    return n


def _get_translation_key(row: Row) -> tuple[int | None, int | None]:
    """Return (passage key, question key), by which the translation of a row is found."""
    if isinstance(row, Passage):
        return (row.pk, None)
    return (None, row.pk) if isinstance(row, Question) else (None, None)
