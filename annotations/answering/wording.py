"""Questions and passages of published versions, kept in the memory of a process.

Every request of a worker needs them, and nobody can change them: once a version is published the
database refuses another text, kind, role, choice, length or image (`annotations.guards`). What is
asked for again is therefore taken from memory; which questions somebody has, how far they are and
what they wrote is read from the database each time. The objects are shared by all threads: whoever
gets one reads it and writes nothing into it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final
from uuid import UUID

from annotations.models import Passage, Question, QuestionSetVersion

MOST_CHARACTERS: Final = 20_000_000
"""Of all texts that one process keeps; those that were not asked for longest go first."""

Key = tuple[UUID, int]


class Wording:
    """Questions with their passages by version and key, at most so many characters of them."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self.most_characters = most_characters
        self.characters = 0
        self._kept: OrderedDict[Key, tuple[Question, int]] = OrderedDict()
        self._lock = Lock()

    def of(self, version: QuestionSetVersion, keys: Iterable[int]) -> dict[int, Question]:
        """Return questions of a version by their keys, one query for those that are not here.

        Keys that the version does not have are left out. Of a draft nothing is kept. Images come
        without their contents.
        """
        wanted = list(dict.fromkeys(keys))
        found = self._known(version, wanted) if version.is_published else {}
        missing = [key for key in wanted if key not in found]
        if missing:
            read = _read(version, missing)
            if version.is_published:
                self._keep(version, read)
            found.update(read)
        return found

    def _known(self, version: QuestionSetVersion, keys: Iterable[int]) -> dict[int, Question]:
        found = {}
        with self._lock:
            for key in keys:
                # By the public id too: a database may give the number of a deleted row again.
                kept = self._kept.get((version.public_id, key))
                if kept is not None:
                    self._kept.move_to_end((version.public_id, key))
                    found[key] = kept[0]
        return found

    def _keep(self, version: QuestionSetVersion, questions: dict[int, Question]) -> None:
        with self._lock:
            for key, question in questions.items():
                if not question.text:
                    continue  # the one thing that a published version may still be given
                if (version.public_id, key) in self._kept:
                    continue  # another thread was first
                n = len(question.text) + (len(question.passage.text) if question.passage else 0)
                self._kept[version.public_id, key] = (question, n)
                self.characters += n
            while self.characters > self.most_characters:
                self.characters -= self._kept.popitem(last=False)[1][1]


def _read(version: QuestionSetVersion, keys: list[int]) -> dict[int, Question]:
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
    return found


wording = Wording()
"""The one of this process."""
