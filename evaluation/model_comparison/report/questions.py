"""Questions with the score differences and answers of two models, in pages."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import F

from annotations.models import Question
from annotations.web.texts import ANSWER_SHOWN, select_beginning, shorten_text
from evaluation.core.stats.cells import Floats, Integers
from evaluation.grading.results.report.comparisons import QuestionDifference
from evaluation.model_comparison.report.scores import ScoreTable
from evaluation.models import ExemplaryAnswer, LLMAnswerScore, Run

SHOWN = 20
# Scores that differ by less are the same, but for rounding.
SAME = 1e-9
ORDERS = {
    "largest": "the largest differences",
    "first": "where the first is better",
    "second": "where the second is better",
}
"""Orders of the questions, and what people call them."""


@dataclass(frozen=True)
class Differences:
    """A page of the questions that two models were scored on, largest difference first.

    Attributes
    ----------
    order : "largest" for all questions; "first" or "second" for those on which that one scores
        higher. start : place of the first of `questions` among `total`.
    """

    order: str
    start: int
    total: int
    questions: list[QuestionDifference]

    @property
    def end(self) -> int:
        """Position of the last question on this page, counted from 1."""
        return self.start + len(self.questions)

    @property
    def next(self) -> int | None:
        """Start of the next page; None on the last one."""
        return self.end if self.end < self.total else None


def differences(
    run: Run,
    table: ScoreTable,
    first: UUID,
    second: UUID,
    order: str = "largest",
    start: int = 0,
    size: int = SHOWN,
) -> Differences:
    """Return a page of questions with both models' answers and the most consensual answer.

    By three queries; `table` holds the scores of both. Raises KeyError for an order or a model that
    is unknown.
    """
    one, other = table.of_model(first), table.of_model(second)
    ordered = _ordered(one - other, order)
    rows = ordered[start : start + size]
    keys = [table.questions[at].key for at in rows]
    texts = {
        (row["llm_response__question_id"], row["model"]): row["text"]
        for row in LLMAnswerScore.objects.filter(
            run=run,
            llm_response__question__in=keys,
            llm_response__model__public_id__in=(first, second),
        ).values(
            "llm_response__question_id",
            model=F("llm_response__model__public_id"),
            text=select_beginning("llm_response__text", ANSWER_SHOWN),
        )
    }
    nearest = dict(
        ExemplaryAnswer.objects.filter(run=run, question__in=keys).values_list(
            "question_id", select_beginning("nearest_response__text", ANSWER_SHOWN)
        )
    )
    asked = dict(Question.objects.filter(pk__in=keys).values_list("pk", select_beginning("text")))
    found = [
        QuestionDifference(
            question=table.questions[at].question,
            name=table.questions[at].name,
            text=shorten_text(asked.get(key)),
            first_score=float(one[at]),
            first_text=shorten_text(texts.get((key, first)), ANSWER_SHOWN),
            second_score=float(other[at]),
            second_text=shorten_text(texts.get((key, second)), ANSWER_SHOWN),
            nearest=shorten_text(nearest.get(key), ANSWER_SHOWN),
        )
        for at, key in zip(rows.tolist(), keys, strict=True)
    ]
    return Differences(order, start, len(ordered), found)


def _ordered(gaps: Floats, order: str) -> Integers:
    """Return question indices in the requested order, largest difference first."""
    wanted = {
        "largest": ~np.isnan(gaps),
        "first": gaps > SAME,
        "second": gaps < -SAME,
    }[order]
    columns = np.flatnonzero(wanted)
    return np.asarray(columns[np.argsort(-np.abs(gaps[columns]), kind="stable")], dtype=np.int64)
