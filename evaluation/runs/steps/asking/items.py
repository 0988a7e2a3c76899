"""Build the conversations in which a model is asked the questions of a version."""

from __future__ import annotations

from collections.abc import Sequence

from annotations.models import Question, QuestionSetVersion
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.prompts import Prompt, build_item_fields


def load_questions(version: QuestionSetVersion) -> list[Question]:
    """Return a version's graded questions in their order, with their passages."""
    return list(version.questions.graded().select_related("passage").order_by("position", "pk"))


def build_items(questions: Sequence[Question], prompt: Prompt, samples: int) -> list[Item]:
    """Return one item to ask for each question: a conversation under its external id."""
    return [Item(one.external_id, prompt.messages(build_fields(one)), samples) for one in questions]


def build_fields(question: Question) -> dict[str, str]:
    """Return the values for the fields of a prompt template from a question."""
    passage = question.passage
    beside = {"passage": passage.text, "title": passage.title} if passage else {}
    return build_item_fields(
        question.text, question.choices, question.category, question.language, **beside
    )
