"""Attention checks: how many there are, and whether somebody got enough of them right."""

from __future__ import annotations

from annotations.answering.way import Way
from annotations.models import Question, QuestionSetVersion

ATTENTION = Question.Role.ATTENTION


def n_checks(version: QuestionSetVersion) -> int:
    """Return how many attention checks everybody gets whose right answer is written down."""
    rows = version.questions.filter(role=ATTENTION)
    return sum(bool(one) for one in rows.values_list("accepted_answers", flat=True))


def has_failed(way: Way) -> bool:
    """Whether fewer attention checks are answered as they ask for than the collection needs.

    An answer counts in the language in which its question was read.
    """
    needed = way.collection.checks_needed
    if not needed:
        return False
    texts = dict(way.submission.responses.values_list("question_id", "text"))
    right = sum(
        one.question.accepts(texts.get(one.question_id, "")) is True
        for page in way.pages
        for one in page.assignments
        if one.question.role == ATTENTION
    )
    return right < needed
