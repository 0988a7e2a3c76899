"""Cache of the questions and passages of published versions, in the memory of one process.

Every request of a worker needs them, and they cannot change. Once a version is published, the
database refuses changes of texts, kinds, roles, choices, lengths, images and translations
(`annotations.guards`). Assignments and answers are not cached. The cached objects are shared by
all threads and must not be changed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Final
from uuid import UUID

from django.db.models import Count, Q

from annotations.models import GRADED, Passage, Question, QuestionSetVersion, Translation
from annotations.models.translations import TITLE, collect_translatable_texts, is_fully_translated

MAX_CHARACTERS: Final = 20_000_000
"""Most characters in the cache; the least recently used questions are dropped first."""

MAX_INTROS: Final = 200
"""Most introductions in the cache, one for each version and further language; most outlines."""

Key = tuple[UUID, str, int]


@dataclass(frozen=True, slots=True)
class LocalizedText:
    """Text together with its language (BCP 47 tag, "" if unknown)."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class IntroTexts:
    """Guidelines, consent text and title of a version; `title` is "" if it is not translated."""

    guidelines: LocalizedText
    consent: LocalizedText
    title: str = ""


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """Numbers of a version's graded questions, of those about a passage, and of practice ones."""

    n_graded: int
    n_about_passages: int
    n_practice: int


class WordingCache:
    """Cache of questions with their passages; the least recently used ones are dropped.

    Holds at most `most_characters` characters of texts.
    """

    def __init__(self, most_characters: int = MAX_CHARACTERS) -> None:
        self.most_characters = most_characters
        self.characters = 0
        self._questions: OrderedDict[Key, tuple[Question, int]] = OrderedDict()
        self._intros: OrderedDict[tuple[UUID, str], IntroTexts] = OrderedDict()
        self._outlines: OrderedDict[UUID, QuestionCounts] = OrderedDict()
        self._lock = Lock()

    def load_question_counts(self, version: QuestionSetVersion) -> QuestionCounts:
        """Return how many questions of which kind a version has; drafts are never cached."""
        with self._lock:
            if version.is_published and version.public_id in self._outlines:
                self._outlines.move_to_end(version.public_id)
                return self._outlines[version.public_id]
        graded = Q(role__in=GRADED)
        outline = QuestionCounts(
            **version.questions.aggregate(
                n_graded=Count("pk", filter=graded),
                n_about_passages=Count("passage", filter=graded),
                n_practice=Count("pk", filter=Q(role=Question.Role.PRACTICE)),
            )
        )
        if version.is_published:
            with self._lock:
                self._outlines[version.public_id] = outline
                while len(self._outlines) > MAX_INTROS:
                    self._outlines.popitem(last=False)
        return outline

    def load_questions(
        self, version: QuestionSetVersion, keys: Iterable[int], language: str = ""
    ) -> dict[int, Question]:
        """Return questions of a version in a language, by key; unknown keys are left out.

        Questions that are not cached cost one query, and a further `language` one more. A text
        without a translation stays in its own language. Drafts are never cached. Images come
        without their content.
        """
        language = language if language in version.languages else ""
        keys = list(dict.fromkeys(keys))
        questions = (
            self._find_cached_questions(version, keys, language) if version.is_published else {}
        )
        missing = [key for key in keys if key not in questions]
        if missing:
            loaded = _read_questions(version, missing, language)
            if version.is_published:
                self._store_questions(version, loaded, language)
            questions.update(loaded)
        return questions

    def load_intro(self, version: QuestionSetVersion, language: str = "") -> IntroTexts:
        """Return guidelines, consent text and title in a language, else the originals."""
        if language not in version.languages:
            return IntroTexts(
                LocalizedText(version.guidelines, version.text_language),
                LocalizedText(version.consent_text, version.text_language),
            )
        key = (version.public_id, language)
        with self._lock:
            if version.is_published and key in self._intros:
                self._intros.move_to_end(key)
                return self._intros[key]
        # Outside the lock: if another thread reads the same now, no harm is done.
        intro = _read_intro(version, language)
        if version.is_published:
            with self._lock:
                self._intros[key] = intro
                while len(self._intros) > MAX_INTROS:
                    self._intros.popitem(last=False)
        return intro

    def load_title(self, version: QuestionSetVersion, language: str) -> str:
        """Return the study's title in a further language; "" if it is not translated."""
        return self.load_intro(version, language).title if language in version.languages else ""

    def _find_cached_questions(
        self, version: QuestionSetVersion, keys: Iterable[int], language: str
    ) -> dict[int, Question]:
        """Return those of the questions that are cached, by key, and mark them as used."""
        questions = {}
        with self._lock:
            for key in keys:
                # With the version's public id: a database may reuse the key of a deleted row.
                entry = self._questions.get((version.public_id, language, key))
                if entry is not None:
                    self._questions.move_to_end((version.public_id, language, key))
                    questions[key] = entry[0]
        return questions

    def _store_questions(
        self, version: QuestionSetVersion, questions: dict[int, Question], language: str
    ) -> None:
        """Add questions to the cache; drop the least recently used ones above the limit."""
        with self._lock:
            for key, question in questions.items():
                if not question.text:
                    continue  # a missing text may still be added to a published version
                if (version.public_id, language, key) in self._questions:
                    continue  # another thread was first
                n = len(question.text) + (len(question.passage.text) if question.passage else 0)
                self._questions[version.public_id, language, key] = (question, n)
                self.characters += n
            while self.characters > self.most_characters:
                self.characters -= self._questions.popitem(last=False)[1][1]


def _read_questions(
    version: QuestionSetVersion, keys: list[int], language: str
) -> dict[int, Question]:
    """Return questions of a version from the database, in a language ("" for the original)."""
    rows = (
        Question.objects.filter(version=version, pk__in=keys)
        .select_related("passage__image")
        .defer("passage__image__content")
    )
    questions = {question.pk: question for question in rows}
    passages: dict[int, Passage] = {}
    for question in questions.values():
        # One passage object for all its questions, so that it is translated once.
        if question.passage is not None:
            question.passage = passages.setdefault(question.passage.pk, question.passage)
    if language:
        apply_translation(version, language, questions.values())
    return questions


def apply_translation(
    version: QuestionSetVersion, language: str, questions: Iterable[Question]
) -> None:
    """Replace the texts of questions and passages by their translations.

    The objects are changed and must not be saved. Accepted answers of the translation are added to
    the original ones, because workers may answer in either language.
    """
    by_key = {question.pk: question for question in questions}
    passages = {
        question.passage.pk: question.passage
        for question in by_key.values()
        if question.passage is not None
    }
    rows = Translation.objects.filter(
        Q(question__in=list(by_key)) | Q(passage__in=list(passages)), language=language
    )
    texts = {(row.passage_id, row.question_id): row.texts for row in rows}
    for passage in passages.values():
        _translate_item(passage, texts.get((passage.pk, None), {}), version, language)
    for question in by_key.values():
        translated = texts.get((None, question.pk), {})
        originals = collect_translatable_texts(question, language)
        if "choices" in originals and is_fully_translated(
            "choices", originals["choices"], translated.get("choices")
        ):
            question.choice_labels = translated["choices"]
        if "accepted_answers" in originals:
            accepted = translated.get("accepted_answers", [])
            question.accepted_answers = [*accepted, *question.accepted_answers]
        _translate_item(question, translated, version, language)


def _translate_item(
    item: Passage | Question, texts: dict[str, str], version: QuestionSetVersion, language: str
) -> None:
    """Replace the texts of a question or passage by translations, and set its language."""
    originals = collect_translatable_texts(item, language)
    own_language = item.language or version.text_language
    for name in ("title", "text", "image_alt", "feedback"):
        if name in originals and is_fully_translated(name, originals[name], texts.get(name, "")):
            setattr(item, name, texts[name])
    # The text decides the language; of an item without one (an image alone) its first other text.
    main = "text" if "text" in originals else next(iter(originals), "")
    is_translated = not main or is_fully_translated(main, originals[main], texts.get(main, ""))
    item.language = language if originals and is_translated else own_language


def _read_intro(version: QuestionSetVersion, language: str) -> IntroTexts:
    """Return guidelines, consent text and title in a language from the database; else originals."""
    rows = Translation.objects.filter(
        version=version, language=language, passage=None, question=None
    )
    texts = rows.values_list("texts", flat=True).first() or {}

    def choose_text(name: str) -> LocalizedText:
        """Return the translation of the text `name`; the original if there is no translation."""
        translated = texts.get(name, "")
        if translated.strip():
            return LocalizedText(translated, language)
        return LocalizedText(getattr(version, name), version.text_language)

    return IntroTexts(
        choose_text("guidelines"), choose_text("consent_text"), texts.get(TITLE, "").strip()
    )


wording = WordingCache()
"""The cache of this process."""
