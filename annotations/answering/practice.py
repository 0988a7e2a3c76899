"""Practice questions: immediate feedback, and whether a worker may continue."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from annotations.answering.contained_answers import contains_answer
from annotations.answering.progress import AnswerPage, SurveyProgress
from annotations.models import Question


@dataclass(frozen=True, slots=True)
class PracticeResult:
    """Feedback on one practice question; `right` is None without an accepted answer."""

    question: Question
    text: str
    right: bool | None

    @property
    def accepted_answer(self) -> str:
        """One accepted answer for display; "" if there is none."""
        first = next(iter(self.question.accepted_answers), "")
        return self.question.format_answer(
            str(first[0] if isinstance(first, list) and first else first or "")
        )

    @property
    def displayed_answer(self) -> str:
        """The worker's answer for display; for choice questions the label of the choice."""
        return self.question.format_answer(self.text)


def grade_practice_page(progress: SurveyProgress, page: AnswerPage) -> list[PracticeResult]:
    """Return the feedback on each question of a practice page, in the order of the page."""
    texts = dict(progress.submission.responses.values_list("question_id", "text"))
    return [
        grade_practice_answer(assignment.question, texts.get(assignment.question_id, ""))
        for assignment in page.assignments
    ]


def grade_practice_answer(question: Question, text: str) -> PracticeResult:
    """Return the feedback on a worker's answer to one practice question.

    A text is right if it contains an accepted answer (`contains_answer`), a choice if it is one.
    """
    right = question.accepts_answer(text)
    if right is False and question.kind != Question.Kind.CHOICE:
        right = contains_answer(text, question.accepted_texts)
    return PracticeResult(question, text, right)


def record_feedback_read(progress: SurveyProgress, page: AnswerPage) -> None:
    """Store that the worker has read the feedback on a practice page."""
    now = timezone.now()
    progress.submission.assignments.filter(page=page.number, told_at=None).update(told_at=now)
    for assignment in page.assignments:
        assignment.told_at = assignment.told_at or now


def has_failed_practice(progress: SurveyProgress) -> bool:
    """Return whether the finished practice has fewer right answers than required.

    False if the collection requires none or the version has no practice.
    """
    needed = progress.collection.practice_needed
    pages = [page for page in progress.pages if page.is_practice]
    if needed is None or not pages or not all(page.is_answered for page in pages):
        return False
    right = sum(
        result.right is True for page in pages for result in grade_practice_page(progress, page)
    )
    return right < needed
