"""The order of a version: its passages, and the questions of each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from annotations.exchange.importing.target import BATCH
from annotations.models import Passage, Question, QuestionSetVersion

Place = int | None
"""The key of a passage, None for questions without one, which come last."""


@dataclass
class Order:
    """Primary keys in their order; `questions` has an entry for every passage, and for None."""

    passages: list[int]
    questions: dict[Place, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, version: QuestionSetVersion) -> Order:
        """Return the order as it is stored."""
        passages = list(version.passages.order_by("position", "pk").values_list("pk", flat=True))
        order = cls(passages, {key: [] for key in (*passages, None)})
        rows = version.questions.order_by("position", "pk").values_list("pk", "passage_id")
        for key, passage in rows:
            order.questions[passage].append(key)
        return order

    @property
    def seen(self) -> str:
        """A mark of this order: it changes when any other order is stored."""
        text = repr((self.passages, [self.questions[place] for place in self._places()]))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def move(self, item: Passage | Question, step: int) -> bool:
        """Move it one place up (-1) or down (1); False if there is no further place.

        A question at the edge of its passage goes on into the next one.
        """
        if isinstance(item, Passage):
            at = self.passages.index(item.pk)
            if not 0 <= at + step < len(self.passages):
                return False
            self.passages.insert(at + step, self.passages.pop(at))
            return True
        mine = self.questions[item.passage_id]
        at = mine.index(item.pk)
        if 0 <= at + step < len(mine):
            mine.insert(at + step, mine.pop(at))
            return True
        places = self._places()
        beside = places.index(item.passage_id) + step
        if not 0 <= beside < len(places):
            return False
        mine.remove(item.pk)
        there = self.questions[places[beside]]
        there.insert(len(there) if step < 0 else 0, item.pk)
        return True

    def put(self, item: Passage | Question, before: int | None, place: Place = None) -> None:
        """Put it before another, or last if `before` is None; a question into that passage.

        Raises ValueError for a neighbour that is not there.
        """
        if isinstance(item, Passage):
            self.passages.remove(item.pk)
            _insert(self.passages, item.pk, before)
            return
        if place not in self.questions:
            raise ValueError("there is no such passage")
        self.questions[item.passage_id].remove(item.pk)
        _insert(self.questions[place], item.pk, before)

    def save(self, version: QuestionSetVersion) -> None:
        """Store it; only what stands elsewhere than before is written."""
        placed = {key: number for number, key in enumerate(self.passages, 1)}
        passages = []
        for passage in version.passages.only("pk", "version", "position"):
            if passage.position != placed[passage.pk]:
                passage.position = placed[passage.pk]
                passages.append(passage)
        Passage.objects.bulk_update(passages, ["position"], batch_size=BATCH)
        at: dict[int, tuple[Place, int]] = {}
        for place in self._places():
            for key in self.questions[place]:
                at[key] = (place, len(at) + 1)
        questions = []
        for question in version.questions.only("pk", "version", "position", "passage"):
            if (question.passage_id, question.position) != at[question.pk]:
                question.passage_id, question.position = at[question.pk]
                questions.append(question)
        Question.objects.bulk_update(questions, ["position", "passage"], batch_size=BATCH)

    def _places(self) -> list[Place]:
        return [*self.passages, None]


def _insert(keys: list[int], key: int, before: int | None) -> None:
    keys.insert(len(keys) if before is None else keys.index(before), key)
