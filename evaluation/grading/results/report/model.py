"""Report of a language model in a run: its score, and every answer with its facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F

from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.core.messages.reasons import Reasoned
from evaluation.grading.facts.report.said import (
    FactOnQuestion,
    Marked,
    SaidFact,
    read_contradictions,
    read_facts,
)
from evaluation.grading.results.report.models import ModelRow, read_model_row
from evaluation.models import LLMAnswerScore, Run
from evaluation.runs.reports.about import RunAbout, build_about

ORDER = Keyset(
    "model_answer", ("llm_response__question__position", "llm_response__question__public_id")
)


@dataclass(frozen=True)
class AnswerOfModel(Marked, Reasoned):
    """A model's answer to a question, with its score (or a reason code) and facts.

    Attributes
    ----------
    text : at most 1,500 characters. facts : what it states, and how that stands to the crowd.
    """

    question: UUID
    question_name: str
    question_text: str
    status: str
    text: str
    score: float | None
    reason: str
    facts: list[SaidFact]


@dataclass(frozen=True)
class ModelReport:
    """A model's scores, and a page of its answers in the order of the questions.

    Attributes
    ----------
    contradictions : where an answer contradicts the crowd, at most 50.
    """

    about: RunAbout
    model: ModelRow
    contradictions: list[FactOnQuestion]
    answers: Page[AnswerOfModel]


def build_model_report(
    run: Run, model: UUID, after: str = "", size: int = PAGE
) -> ModelReport | None:
    """Return the report of a model; None if the run has no such model; two queries.

    A run with facts takes two more.
    """
    row = read_model_row(run, model)
    if row is None:
        return None
    return ModelReport(
        about=build_about(run),
        model=row,
        contradictions=read_contradictions(run, "model", model),
        answers=_read_answers(run, model, after, size),
    )


def _read_answers(run: Run, model: UUID, after: str, size: int) -> Page[AnswerOfModel]:
    """Return a page (of a paginated list) of the model's answers with their facts."""
    rows = (
        LLMAnswerScore.objects.filter(run=run, llm_response__model__public_id=model)
        .order_by()
        .values(
            *("score", "reason", "llm_response_id"),
            *("llm_response__question__public_id", "llm_response__question__position"),
            name=F("llm_response__question__external_id"),
            status=F("llm_response__status"),
            question_text=select_beginning("llm_response__question__text"),
            text_shown=select_beginning("llm_response__text", ANSWER_SHOWN),
        )
    )
    page = ORDER.take(rows, after, size, dict)
    _, facts = read_facts(run, replies=[row["llm_response_id"] for row in page.rows])
    answers = [_build_answer(row, facts.get(row["llm_response_id"], [])) for row in page.rows]
    return Page(answers, page.after, page.next)


def _build_answer(row: dict[str, Any], facts: list[SaidFact]) -> AnswerOfModel:
    """Convert a database row and its facts to a model's answer."""
    return AnswerOfModel(
        question=row["llm_response__question__public_id"],
        question_name=row["name"],
        question_text=shorten_text(row["question_text"], EXCERPT_SHOWN),
        status=row["status"],
        text=shorten_text(row["text_shown"], ANSWER_SHOWN),
        score=row["score"],
        reason=row["reason"],
        facts=facts,
    )
