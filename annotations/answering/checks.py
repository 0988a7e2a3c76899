"""Attention checks: their number in a version, and whether a worker passed enough of them."""

from __future__ import annotations

from annotations.answering.progress import SurveyProgress
from annotations.models import Question, QuestionSetVersion

ATTENTION = Question.Role.ATTENTION


def count_checks(version: QuestionSetVersion) -> int:
    """Return the number of attention checks of a version that have accepted answers."""
    rows = version.questions.filter(role=ATTENTION)
    return sum(bool(answers) for answers in rows.values_list("accepted_answers", flat=True))


def has_failed_attention_checks(progress: SurveyProgress) -> bool:
    """Return whether the worker answered fewer attention checks correctly than required.

    Answers are compared in the language in which the worker read the question. False if the
    collection requires none.
    """
    needed = progress.collection.checks_needed
    if not needed:
        return False
    texts = dict(progress.submission.responses.values_list("question_id", "text"))
    right = sum(
        assignment.question.accepts_answer(texts.get(assignment.question_id, "")) is True
        for page in progress.pages
        for assignment in page.assignments
        if assignment.question.role == ATTENTION
    )
    return right < needed
