"""A version's questions as those of MAQA: accepted answers are the right ones, each of them one.

A question may have several right answers and each several spellings; `metadata["answers"]` has
them as a list of lists where they were imported so. A question without any is open.
"""

from __future__ import annotations

import hashlib
import json
from string import ascii_uppercase

from annotations.exchange.importing.several_answers import SPELLINGS
from annotations.exchange.reading.several_answers import SeveralAnswersQuestion, Spellings
from annotations.models import Question, QuestionSetVersion


def questions_of(version: QuestionSetVersion) -> list[SeveralAnswersQuestion]:
    """Return the graded questions that have a text, in their order."""
    rows = version.questions.graded().exclude(text="").select_related("passage")
    return [_question(row) for row in rows.order_by("position", "pk")]


def _question(row: Question) -> SeveralAnswersQuestion:
    groups = {"category": row.category, "language": row.language}
    said = row.metadata if isinstance(row.metadata, dict) else {}
    groups |= {key: str(said[key]) for key in ("kind", "dataset", "source") if said.get(key)}
    return SeveralAnswersQuestion(
        row.external_id,
        _text(row),
        _answers(row, said.get(SPELLINGS)),
        tuple((key, value) for key, value in groups.items() if value),
        row.position,
    )


def _text(row: Question) -> str:
    """Return the question with its passage before and its choices behind it."""
    parts = [row.passage.text] if row.passage is not None and row.passage.text else []
    parts.append(row.text)
    parts += [f"{letter}) {one}" for letter, one in zip(ascii_uppercase, row.choices, strict=False)]
    return "\n".join(map(str, parts))


def _answers(row: Question, spellings: object) -> tuple[Spellings, ...]:
    if isinstance(spellings, list) and all(isinstance(one, list) and one for one in spellings):
        found = [tuple(str(text) for text in one) for one in spellings]
    else:
        found = [(str(one),) for one in row.accepted_answers if str(one).strip()]
    choices = [str(one) for one in row.choices]
    # Of a choice its letter will do, and the letter with the text.
    letters = dict(zip(choices, ascii_uppercase, strict=False))
    return tuple(
        (*one, letters[one[0]], f"{letters[one[0]]}) {one[0]}") if one[0] in letters else one
        for one in found
    )


def hash_of(questions: list[SeveralAnswersQuestion]) -> str:
    """Return SHA-256 of questions and right answers, by which a run names its input."""
    told = [[one.id, one.text, one.answers] for one in questions]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()
