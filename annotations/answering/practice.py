"""Practice: what was right is told at once, and where wanted decides who goes on."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from annotations.answering.way import AnswerPage, Way
from annotations.models import Question


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker is told of one practice question; `right` is None where no answer is known."""

    question: Question
    text: str
    right: bool | None

    @property
    def shown(self) -> str:
        """A right answer to show, "" for none."""
        first = next(iter(self.question.accepted_answers), "")
        return self.question.read_as(
            str(first[0] if isinstance(first, list) and first else first or "")
        )

    @property
    def written(self) -> str:
        """What was answered, as it is read: of a choice the words that stood there."""
        return self.question.read_as(self.text)


def told(way: Way, page: AnswerPage) -> list[Told]:
    """Return what is told after a page of practice."""
    texts = dict(way.submission.responses.values_list("question_id", "text"))
    return [
        Told(one.question, text, one.question.accepts(text))
        for one in page.assignments
        for text in (texts.get(one.question_id, ""),)
    ]


def note_told(way: Way, page: AnswerPage) -> None:
    """Note that the worker read it."""
    now = timezone.now()
    way.submission.assignments.filter(page=page.number, told_at=None).update(told_at=now)
    for one in page.assignments:
        one.told_at = one.told_at or now


def has_failed(way: Way) -> bool:
    """Whether the practice is over with fewer right answers than are needed to go on."""
    needed = way.collection.practice_needed
    pages = [page for page in way.pages if page.is_practice]
    if needed is None or not pages or not all(page.is_answered for page in pages):
        return False
    right = sum(one.right is True for page in pages for one in told(way, page))
    return right < needed
