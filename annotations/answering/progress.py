"""The progress of one submission, from the first page to the last, derived from stored rows.

A page holds questions about one passage, or without one. Practice pages come first, each followed
by feedback. In the recall protocol the worker reads the passage before the page with its questions
opens. After the last page the worker reviews all answers and submits them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from django.utils import timezone

from annotations.answering.errors import AnsweringError
from annotations.answering.wording import wording
from annotations.models import Assignment, Collection, Passage, Question, Reading, Submission

TEXT: Final = "text"
PAGE: Final = "page"
FEEDBACK: Final = "feedback"
REVIEW: Final = "review"


@dataclass(frozen=True, slots=True)
class NextStep:
    """The worker's next step: `kind` is one of the four above, `page` its number, 0 for review."""

    kind: str
    page: int = 0


@dataclass(slots=True)
class AnswerPage:
    """The questions of one page, in their order; `number` counts from 1."""

    number: int
    assignments: list[Assignment]

    @property
    def passage(self) -> Passage | None:
        """The passage of the questions; None if they have none."""
        questions = (assignment.question for assignment in self.assignments)
        return next((question.passage for question in questions if question.passage_id), None)

    @property
    def is_practice(self) -> bool:
        """Whether the page is practice."""
        return self.assignments[0].question.role == Question.Role.PRACTICE

    @property
    def is_answered(self) -> bool:
        """Whether all questions were answered and the page was handed in."""
        return all(assignment.answered_at is not None for assignment in self.assignments)

    @property
    def answers_are_final(self) -> bool:
        """Whether the answers can no longer change: feedback on practice shows the right ones."""
        return self.is_practice and self.is_answered


class SurveyProgress:
    """The pages of one submission, and which of them its worker has finished.

    Rows are read once and cached: make a new instance after a change. `now` is the time of the
    request, with which deadlines are compared.
    """

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.collection: Collection = submission.version.collection
        self.now: datetime = timezone.now()

    @cached_property
    def pages(self) -> list[AnswerPage]:
        """All pages in their order. Questions and passages are shared objects: do not change them.

        Raises `AnsweringError` ("withdrawn") if the answers were withdrawn after `submission` was
        read: its assignments are deleted then, and "no such question" would be wrong.
        """
        pages: dict[int, AnswerPage] = {}
        assignments = list(self.submission.assignments.order_by("position"))
        if not assignments:
            self.submission.refresh_from_db(fields=["state", "withdrawn_at"])
            if self.submission.withdrawn_at is not None:
                raise AnsweringError("withdrawn")
        keys = (assignment.question_id for assignment in assignments)
        questions = wording.load_questions(self.submission.version, keys, self.submission.language)
        for assignment in assignments:
            assignment.question = questions[assignment.question_id]
            page = pages.setdefault(assignment.page, AnswerPage(assignment.page, []))
            page.assignments.append(assignment)
        return list(pages.values())

    @cached_property
    def readings(self) -> dict[int, Reading]:
        """The worker's readings, by the key of the passage."""
        return {reading.passage_id: reading for reading in self.submission.readings.all()}

    def find_page(self, number: int) -> AnswerPage | None:
        """Return the page with a number, from 1; None if there is no such page."""
        return next((page for page in self.pages if page.number == number), None)

    def is_recall(self) -> bool:
        """Return whether questions are answered from memory, without the passage."""
        return self.collection.protocol == Collection.Protocol.RECALL

    def find_reading(self, page: AnswerPage) -> Reading | None:
        """Return the reading of a page's passage; None if not opened yet or without a passage."""
        return self.readings.get(page.passage.pk) if page.passage is not None else None

    def compute_deadline(self, reading: Reading) -> datetime:
        """Return the time at which a reading ends at the latest."""
        return reading.opened_at + timedelta(seconds=self.collection.reading_seconds)

    def may_read(self, page: AnswerPage) -> bool:
        """Return whether a page's passage is being read now: opened, not finished, in time."""
        reading = self.find_reading(page)
        return (
            reading is not None
            and reading.read_at is None
            and self.now < self.compute_deadline(reading)
        )

    def was_read(self, page: AnswerPage) -> bool:
        """Return whether the questions may open: the passage was read, or none must be read."""
        if not self.is_recall() or page.passage is None:
            return True
        return self.find_reading(page) is not None and not self.may_read(page)

    def next_step(self) -> NextStep:
        """Return the worker's next step."""
        for page in self.pages:
            if not page.is_answered:
                return NextStep(PAGE if self.was_read(page) else TEXT, page.number)
            if page.is_practice and any(row.told_at is None for row in page.assignments):
                return NextStep(FEEDBACK, page.number)
        return NextStep(REVIEW)

    def has_reached(self, page: AnswerPage) -> bool:
        """Return whether a page may be shown: it was handed in, or it is the next step."""
        step = self.next_step()
        return page.is_answered or (step.kind == PAGE and step.page == page.number)

    def count_finished_pages(self) -> int:
        """Return the number of pages that were handed in."""
        return sum(page.is_answered for page in self.pages)
