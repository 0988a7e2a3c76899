"""Where a worker is on the way from the first page to the last, told by what is stored.

A page holds the questions of one passage, or some of them. Who answers from memory reads the
passage first; the page of its questions opens when that is over. Practice comes first, and what
was right there is told before the next page. After the last page everything can be looked through,
and is then handed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from django.utils import timezone

from annotations.answering.wording import wording
from annotations.models import Assignment, Collection, Passage, Question, Reading, Submission

TEXT: Final = "text"
PAGE: Final = "page"
FEEDBACK: Final = "feedback"
REVIEW: Final = "review"


@dataclass(frozen=True, slots=True)
class Step:
    """What comes next: `kind` is one of the four above, `page` the number of its page."""

    kind: str
    page: int = 0


@dataclass(slots=True)
class AnswerPage:
    """The questions of one page, in their order; `number` counts from 1."""

    number: int
    assignments: list[Assignment]

    @property
    def passage(self) -> Passage | None:
        """What the questions are about; None for none, or for several without one."""
        return next(
            (one.question.passage for one in self.assignments if one.question.passage_id), None
        )

    @property
    def is_practice(self) -> bool:
        """Whether it is for practice."""
        return self.assignments[0].question.role == Question.Role.PRACTICE

    @property
    def is_answered(self) -> bool:
        """Whether all of it was handed in."""
        return all(one.answered_at is not None for one in self.assignments)

    @property
    def answers_are_final(self) -> bool:
        """Whether its answers may not change any more: practice tells then what was right."""
        return self.is_practice and self.is_answered


class Way:
    """The pages of one submission, and how far its worker is."""

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.collection: Collection = submission.version.collection
        self.now: datetime = timezone.now()

    @cached_property
    def pages(self) -> list[AnswerPage]:
        """All pages in their order; their questions and passages are shared, and only read."""
        pages: dict[int, AnswerPage] = {}
        rows = list(self.submission.assignments.order_by("position"))
        asked, language = (one.question_id for one in rows), self.submission.language
        questions = wording.of(self.submission.version, asked, language)
        for one in rows:
            one.question = questions[one.question_id]
            pages.setdefault(one.page, AnswerPage(one.page, [])).assignments.append(one)
        return list(pages.values())

    @cached_property
    def readings(self) -> dict[int, Reading]:
        """What was read, by the key of the passage."""
        return {one.passage_id: one for one in self.submission.readings.all()}

    def page(self, number: int) -> AnswerPage | None:
        """Return the page of that number; None if there is none."""
        return next((page for page in self.pages if page.number == number), None)

    def is_recall(self) -> bool:
        """Whether passages are gone when their questions are asked."""
        return self.collection.protocol == Collection.Protocol.RECALL

    def reading_of(self, page: AnswerPage) -> Reading | None:
        """Return the reading of a page's passage; None before it, and where nothing is read."""
        return self.readings.get(page.passage.pk) if page.passage is not None else None

    def deadline(self, reading: Reading) -> datetime:
        """Return when a passage that is being read is taken away."""
        return reading.opened_at + timedelta(seconds=self.collection.reading_seconds)

    def may_read(self, page: AnswerPage) -> bool:
        """Whether a passage is being read now: from its opening to "I have read it"."""
        reading = self.reading_of(page)
        return reading is not None and reading.read_at is None and self.now < self.deadline(reading)

    def was_read(self, page: AnswerPage) -> bool:
        """Whether there is nothing to read before the questions, now or ever."""
        if not self.is_recall() or page.passage is None:
            return True
        return self.reading_of(page) is not None and not self.may_read(page)

    def next_step(self) -> Step:
        """Return what the worker does next."""
        for page in self.pages:
            if not page.is_answered:
                return Step(PAGE if self.was_read(page) else TEXT, page.number)
            if page.is_practice and any(one.told_at is None for one in page.assignments):
                return Step(FEEDBACK, page.number)
        return Step(REVIEW)

    def has_reached(self, page: AnswerPage) -> bool:
        """Whether a page may be shown: all before it were handed in, and its passage is read."""
        step = self.next_step()
        return page.is_answered or (step.kind == PAGE and step.page == page.number)

    def n_done(self) -> int:
        """Return how many pages were handed in."""
        return sum(page.is_answered for page in self.pages)
