"""Order of the passages in a version, and of the questions of each passage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from annotations.exchange.importing.target import BATCH
from annotations.models import Passage, Question, QuestionSetVersion

PassageKey = int | None
"""The key of a passage; None for questions without one, which come last."""


@dataclass
class ItemOrder:
    """Order of a version's passages and questions, stored as primary keys.

    `questions` has an entry for every passage, and for None.
    """

    passages: list[int]
    questions: dict[PassageKey, list[int]] = field(default_factory=dict)

    @classmethod
    def from_version(cls, version: QuestionSetVersion) -> ItemOrder:
        """Return the order of a version's passages and questions as stored."""
        passages = version.passages.order_by("position", "pk").only("pk")
        return cls.from_rows(passages, version.questions.order_by("position", "pk").only("passage"))

    @classmethod
    def from_rows(cls, passages: Iterable[Passage], questions: Iterable[Question]) -> ItemOrder:
        """Return the order of the passages and questions, given sorted as in their version."""
        keys = [passage.pk for passage in passages]
        order = cls(keys, {key: [] for key in (*keys, None)})
        for question in questions:
            order.questions[question.passage_id].append(question.pk)
        return order

    @property
    def seen(self) -> str:
        """Short hash of the order, to detect a change by another editor."""
        # Listed by passage, because the order of a dict's keys does not follow a move of passages.
        text = repr((self.passages, [self.questions[key] for key in self._list_passage_keys()]))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def move_by(self, item: Passage | Question, step: int) -> bool:
        """Move a passage or question one position up (-1) or down (1); return False at an end.

        A question at the edge of its passage moves into the next passage.
        """
        if isinstance(item, Passage):
            index = self.passages.index(item.pk)
            if not 0 <= index + step < len(self.passages):
                return False
            self.passages.insert(index + step, self.passages.pop(index))
            return True
        siblings = self.questions[item.passage_id]
        index = siblings.index(item.pk)
        if 0 <= index + step < len(siblings):
            siblings.insert(index + step, siblings.pop(index))
            return True
        passage_keys = self._list_passage_keys()
        new_index = passage_keys.index(item.passage_id) + step
        if not 0 <= new_index < len(passage_keys):
            return False
        siblings.remove(item.pk)
        target = self.questions[passage_keys[new_index]]
        # Upwards it comes last in the passage before, downwards first in the next: one step in all.
        target.insert(len(target) if step < 0 else 0, item.pk)
        return True

    def move_before(
        self, item: Passage | Question, before: int | None, passage: PassageKey = None
    ) -> None:
        """Move a passage or question before the one with the key `before`; to the end if None.

        A question moves into that `passage`. Raises ValueError if the other item is not there.
        """
        if isinstance(item, Passage):
            self.passages.remove(item.pk)
            _insert_key(self.passages, item.pk, before)
            return
        if passage not in self.questions:
            raise ValueError("there is no such passage")
        self.questions[item.passage_id].remove(item.pk)
        _insert_key(self.questions[passage], item.pk, before)

    def save(self, version: QuestionSetVersion) -> None:
        """Store the order in the database, writing only rows whose position changed."""
        numbers = {key: number for number, key in enumerate(self.passages, 1)}
        passages = []
        for passage in version.passages.only("pk", "version", "position"):
            if passage.position != numbers[passage.pk]:
                passage.position = numbers[passage.pk]
                passages.append(passage)
        Passage.objects.bulk_update(passages, ["position"], batch_size=BATCH)
        positions: dict[int, tuple[PassageKey, int]] = {}
        for passage_key in self._list_passage_keys():
            # Positions run through the whole version, not within each passage.
            for key in self.questions[passage_key]:
                positions[key] = (passage_key, len(positions) + 1)
        questions = []
        for question in version.questions.only("pk", "version", "position", "passage"):
            if (question.passage_id, question.position) != positions[question.pk]:
                question.passage_id, question.position = positions[question.pk]
                questions.append(question)
        Question.objects.bulk_update(questions, ["position", "passage"], batch_size=BATCH)

    def _list_passage_keys(self) -> list[PassageKey]:
        """Return the keys of the passages, then None for questions without a passage."""
        return [*self.passages, None]


def _insert_key(keys: list[int], key: int, before: int | None) -> None:
    """Insert a key before another key; at the end if that is None."""
    keys.insert(len(keys) if before is None else keys.index(before), key)
