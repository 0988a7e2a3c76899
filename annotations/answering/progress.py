"""Progress of one submission through its pages, derived from database rows.

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
    """Next step of a worker: kind of step, and page number (0 for the review)."""

    kind: str
    page: int = 0


@dataclass(slots=True)
class AnswerPage:
    """Questions of one page of a submission, in order; `number` counts from 1."""

    number: int
    assignments: list[Assignment]

    @property
    def passage(self) -> Passage | None:
        """Passage that the page's questions are about; None if they have none."""
        questions = (assignment.question for assignment in self.assignments)
        return next((question.passage for question in questions if question.passage_id), None)

    @property
    def is_practice(self) -> bool:
        """Whether the page has practice questions."""
        return self.assignments[0].question.role == Question.Role.PRACTICE

    @property
    def is_answered(self) -> bool:
        """Whether the worker answered all questions and submitted the page."""
        return all(assignment.answered_at is not None for assignment in self.assignments)

    @property
    def answers_are_final(self) -> bool:
        """Whether answers can no longer change, because the right ones were shown."""
        return self.is_practice and self.is_answered


class SurveyProgress:
    """Pages of one submission, and how far its worker has got.

    Rows are read once and cached: make a new instance after a change. `now` is the time of the
    request, with which deadlines are compared.
    """

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.collection: Collection = submission.version.collection
        self.now: datetime = timezone.now()

    @cached_property
    def pages(self) -> list[AnswerPage]:
        """All pages in order; their questions are shared objects and must not be changed.

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
        """Reading periods of the worker by passage key (recall protocol)."""
        return {reading.passage_id: reading for reading in self.submission.readings.all()}

    def find_page(self, number: int) -> AnswerPage | None:
        """Return the page with a number, counted from 1; None if there is none."""
        return next((page for page in self.pages if page.number == number), None)

    def is_recall(self) -> bool:
        """Return whether questions are answered from memory (recall protocol)."""
        return self.collection.protocol == Collection.Protocol.RECALL

    def find_reading(self, page: AnswerPage) -> Reading | None:
        """Return the reading period of the page's passage; None before the worker opened it."""
        return self.readings.get(page.passage.pk) if page.passage is not None else None

    def compute_reading_deadline(self, reading: Reading) -> datetime:
        """Return the latest time at which a reading period ends."""
        return reading.opened_at + timedelta(seconds=self.collection.reading_seconds)

    def is_being_read(self, page: AnswerPage) -> bool:
        """Return whether the worker is reading the page's passage now, within the time limit."""
        reading = self.find_reading(page)
        return (
            reading is not None
            and reading.read_at is None
            and self.now < self.compute_reading_deadline(reading)
        )

    def may_show_questions(self, page: AnswerPage) -> bool:
        """Return whether a page's questions may be shown: its passage needs no more reading."""
        if not self.is_recall() or page.passage is None:
            return True
        return self.find_reading(page) is not None and not self.is_being_read(page)

    def find_next_step(self) -> NextStep:
        """Return the worker's next step: a passage, a page, practice feedback, or the review."""
        for page in self.pages:
            if not page.is_answered:
                return NextStep(PAGE if self.may_show_questions(page) else TEXT, page.number)
            if page.is_practice and any(row.told_at is None for row in page.assignments):
                return NextStep(FEEDBACK, page.number)
        return NextStep(REVIEW)

    def may_show_page(self, page: AnswerPage) -> bool:
        """Return whether a page may be shown: it was submitted or is the next step."""
        step = self.find_next_step()
        return page.is_answered or (step.kind == PAGE and step.page == page.number)

    def count_finished_pages(self) -> int:
        """Return the number of pages that the worker has submitted."""
        return sum(page.is_answered for page in self.pages)
