"""A version's questions with their variants, as items that are put in several wordings."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict

from annotations.exchange.reading.prompts import PromptItem, PromptVariant
from annotations.models import Question, QuestionSetVersion, Variant

# Of a wording whose language nobody named (BCP 47: undetermined).
UNDETERMINED = "und"


def items_of(version: QuestionSetVersion) -> tuple[PromptItem, ...]:
    """Return the questions that have other wordings, in their order.

    The question itself is the first wording. The kind of variation is the question's category,
    else the kinds of its variants, such as "dialect and translation".
    """
    variants: dict[int, list[Variant]] = defaultdict(list)
    rows = Variant.objects.filter(question__version=version).order_by("position", "pk")
    for row in rows:
        variants[row.question_id].append(row)
    questions = version.questions.graded().exclude(text="")
    return tuple(
        _item(question, variants[question.pk])
        for question in questions.order_by("position", "pk")
        if variants[question.pk]
    )


def _item(question: Question, others: list[Variant]) -> PromptItem:
    # A variant without a language is in that of its question.
    own = question.language.lower() or UNDETERMINED
    wordings = [(own, question.text)]
    wordings += [(row.language.lower() or own, row.text) for row in others]
    kinds = sorted({str(row.get_kind_display()) for row in others})
    return PromptItem(
        question.external_id,
        question.category or " and ".join(kinds),
        tuple(
            PromptVariant(place, language, text, place)
            for place, (language, text) in enumerate(wordings)
        ),
        question.position,
    )


def can_be_compared(items: tuple[PromptItem, ...]) -> bool:
    """Return whether any item has two wordings in one language."""
    return any(len(item.variants_in(one)) > 1 for item in items for one in item.languages)


def hash_of(items: tuple[PromptItem, ...]) -> str:
    """Return SHA-256 of all wordings, by which a run names its input."""
    told = [
        [item.id, item.variation, [[one.language, one.prompt] for one in item.variants]]
        for item in items
    ]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()
