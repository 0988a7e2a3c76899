"""Questions and passages of published versions, kept in the memory of a process.

Every request of a worker needs them, and nobody can change them: once a version is published the
database refuses another text, kind, role, choice, length, image or translation
(`annotations.guards`). In another language a question is the same one with other words. What is
asked for again is therefore taken from memory; which questions somebody has, how far they are and
what they wrote is read from the database each time. The objects are shared by all threads: whoever
gets one reads it and writes nothing into it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Final
from uuid import UUID

from django.db.models import Q

from annotations.models import Passage, Question, QuestionSetVersion, Translation
from annotations.models.translations import TITLE, is_whole, to_translate

MOST_CHARACTERS: Final = 20_000_000
"""Of all texts that one process keeps; those that were not asked for longest go first."""

MOST_BEFORE: Final = 200
"""Languages of versions of which one process keeps what is told before the first question."""

Key = tuple[UUID, str, int]


@dataclass(frozen=True, slots=True)
class Words:
    """A text and its language as in BCP 47, "" for one that nobody said."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Before:
    """What people are told before the first question; `title` is "" where the study's own holds."""

    guidelines: Words
    consent: Words
    title: str = ""


class Wording:
    """Questions with their passages by version and key, at most so many characters of them."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self.most_characters = most_characters
        self.characters = 0
        self._kept: OrderedDict[Key, tuple[Question, int]] = OrderedDict()
        self._before: OrderedDict[tuple[UUID, str], Before] = OrderedDict()
        self._lock = Lock()

    def of(
        self, version: QuestionSetVersion, keys: Iterable[int], language: str = ""
    ) -> dict[int, Question]:
        """Return questions of a version by their keys, one query for those that are not here.

        In a further `language` of the version they come in its words, by one query more; what is
        not translated stands as it was written, and says its language. Keys that the version does
        not have are left out. Of a draft nothing is kept. Images come without their contents.
        """
        language = language if language in version.languages else ""
        wanted = list(dict.fromkeys(keys))
        found = self._known(version, wanted, language) if version.is_published else {}
        missing = [key for key in wanted if key not in found]
        if missing:
            read = _read(version, missing, language)
            if version.is_published:
                self._keep(version, read, language)
            found.update(read)
        return found

    def before(self, version: QuestionSetVersion, language: str = "") -> Before:
        """Return guidelines and consent text of a version, one query for those of a translation."""
        if language not in version.languages:
            return Before(
                Words(version.guidelines, version.spoken),
                Words(version.consent_text, version.spoken),
            )
        key = (version.public_id, language)
        with self._lock:
            if version.is_published and key in self._before:
                self._before.move_to_end(key)
                return self._before[key]
        made = _before(version, language)
        if version.is_published:
            with self._lock:
                self._before[key] = made
                while len(self._before) > MOST_BEFORE:
                    self._before.popitem(last=False)
        return made

    def title(self, version: QuestionSetVersion, language: str) -> str:
        """Return how the study is called in a further language, "" where its own name holds."""
        return self.before(version, language).title if language in version.languages else ""

    def _known(
        self, version: QuestionSetVersion, keys: Iterable[int], language: str
    ) -> dict[int, Question]:
        found = {}
        with self._lock:
            for key in keys:
                # By the public id too: a database may give the number of a deleted row again.
                kept = self._kept.get((version.public_id, language, key))
                if kept is not None:
                    self._kept.move_to_end((version.public_id, language, key))
                    found[key] = kept[0]
        return found

    def _keep(
        self, version: QuestionSetVersion, questions: dict[int, Question], language: str
    ) -> None:
        with self._lock:
            for key, question in questions.items():
                if not question.text:
                    continue  # the one thing that a published version may still be given
                if (version.public_id, language, key) in self._kept:
                    continue  # another thread was first
                n = len(question.text) + (len(question.passage.text) if question.passage else 0)
                self._kept[version.public_id, language, key] = (question, n)
                self.characters += n
            while self.characters > self.most_characters:
                self.characters -= self._kept.popitem(last=False)[1][1]


def _read(version: QuestionSetVersion, keys: list[int], language: str) -> dict[int, Question]:
    rows = (
        Question.objects.filter(version=version, pk__in=keys)
        .select_related("passage__image")
        .defer("passage__image__content")
    )
    found = {one.pk: one for one in rows}
    passages: dict[int, Passage] = {}
    for one in found.values():
        if one.passage is not None:  # one object for all questions about it
            one.passage = passages.setdefault(one.passage.pk, one.passage)
    if language:
        say_in(version, language, found.values())
    return found


def say_in(version: QuestionSetVersion, language: str, questions: Iterable[Question]) -> None:
    """Put the words of a further language into questions and their passages, which were just read.

    They are not to be stored. Right answers are added to those of the original: somebody may
    answer in either language.
    """
    asked = {one.pk: one for one in questions}
    passages = {one.passage.pk: one.passage for one in asked.values() if one.passage is not None}
    rows = Translation.objects.filter(
        Q(question__in=list(asked)) | Q(passage__in=list(passages)), language=language
    )
    texts = {(row.passage_id, row.question_id): row.texts for row in rows}
    for passage in passages.values():
        _put(passage, texts.get((passage.pk, None), {}), version, language)
    for question in asked.values():
        said = texts.get((None, question.pk), {})
        wanted = to_translate(question, language)
        if "choices" in wanted and is_whole("choices", wanted["choices"], said.get("choices")):
            question.choice_labels = said["choices"]
        if "accepted_answers" in wanted:
            said_right = said.get("accepted_answers", [])
            question.accepted_answers = [*said_right, *question.accepted_answers]
        _put(question, said, version, language)


def _put(
    item: Passage | Question, said: dict[str, str], version: QuestionSetVersion, language: str
) -> None:
    wanted = to_translate(item, language)
    own = item.language or version.spoken
    for name in ("title", "text", "image_alt", "feedback"):
        if name in wanted and is_whole(name, wanted[name], said.get(name, "")):
            setattr(item, name, said[name])
    # By its text; an item without one (an image alone) by anything that is said of it.
    main = "text" if "text" in wanted else next(iter(wanted), "")
    is_said = not main or is_whole(main, wanted[main], said.get(main, ""))
    item.language = language if wanted and is_said else own


def _before(version: QuestionSetVersion, language: str) -> Before:
    rows = Translation.objects.filter(
        version=version, language=language, passage=None, question=None
    )
    said = rows.values_list("texts", flat=True).first() or {}

    def words(name: str) -> Words:
        text = said.get(name, "")
        if text.strip():
            return Words(text, language)
        return Words(getattr(version, name), version.spoken)

    return Before(words("guidelines"), words("consent_text"), said.get(TITLE, "").strip())


wording = Wording()
"""The one of this process."""
