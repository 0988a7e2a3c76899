"""A question in a run: its answers, nearest to the consensus first, and the models' answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import F

from annotations.models import Question
from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.texts import ANSWER_SHOWN, beginning, shortened
from evaluation.models import AnswerScore, ExemplaryAnswer, LLMAnswerScore, Run, WorkerGrade
from evaluation.reports.about import RunAbout, about
from evaluation.reports.camps import Camp, camps_of, why_no_camps
from evaluation.reports.facts.crowd import QuestionFacts, question_facts
from evaluation.reports.facts.said import (
    Marked,
    SaidFact,
    facts_of_replies,
    facts_of_responses,
)
from evaluation.words.reasons import Reasoned

ORDER = Keyset("score", ("-score", "response__public_id"), empty_last=True)
# More models than this are on the models' page only.
MODELS_SHOWN = 100


@dataclass(frozen=True)
class QuestionAnswer(Marked):
    """A worker's answer with its scores, its facts, and the worker's grade in the run."""

    worker: UUID
    worker_name: str
    grade: float | None
    text: str
    score: float | None
    score_leave_one_out: float | None
    is_nearest: bool
    facts: list[SaidFact] = field(default_factory=list)


@dataclass(frozen=True)
class ModelAnswer(Marked, Reasoned):
    """A model's answer; `reason` is a code where the score is None, or 0 without a text."""

    model: UUID
    name: str
    notice: str
    status: str
    text: str
    score: float | None
    reason: str
    facts: list[SaidFact] = field(default_factory=list)


@dataclass(frozen=True)
class QuestionReport:
    """A question with its answers.

    Attributes
    ----------
    name : its id in files. text : "" where only the id is known.
    n_answers : workers who answered. dispersion : 0 (all the same) to 1 (nothing in common).
    separation : how clearly the answers fall into two camps, 0 to 1; None below 6 answers.
    camps : the larger and the smaller one; none, with `camps_reason`, up to a separation of .4.
    answers : by score, best first. models : by score, at most 100 of `n_models`.
    facts : what people agree on and contest, fact by fact.
    """

    about: RunAbout
    question: UUID
    name: str
    text: str
    category: str
    passage_title: str
    passage_text: str
    n_answers: int
    dispersion: float | None
    separation: float | None
    camps: list[Camp]
    camps_reason: str
    answers: Page[QuestionAnswer]
    models: list[ModelAnswer]
    n_models: int
    facts: QuestionFacts

    @property
    def notices(self) -> list[str]:
        """The models' notices, each once."""
        return list(dict.fromkeys(model.notice for model in self.models if model.notice))


def question_report(
    run: Run, question: UUID, after: str = "", size: int = PAGE
) -> QuestionReport | None:
    """Return a question of a run's version, by five queries; None if there is none.

    Over 100 models take one query more, to count them; a run with facts takes three more.
    """
    asked = (
        Question.objects.filter(version=run.version_id, public_id=question)
        .select_related("passage")
        .first()
    )
    if asked is None:
        return None
    exemplar = (
        ExemplaryAnswer.objects.filter(run=run, question=asked)
        .defer("vector")
        .annotate(
            larger_text=beginning("larger_nearest__text", ANSWER_SHOWN),
            smaller_text=beginning("smaller_nearest__text", ANSWER_SHOWN),
        )
        .first()
    )
    separation = exemplar.separation if exemplar else None
    camps = _camps(exemplar) if exemplar else []
    models, n_models = _models(run, asked)
    return QuestionReport(
        about=about(run),
        question=asked.public_id,
        name=asked.external_id,
        text=asked.text,
        category=asked.category,
        passage_title=asked.passage.title if asked.passage else "",
        passage_text=asked.passage.text if asked.passage else "",
        n_answers=exemplar.n_answers if exemplar else 0,
        dispersion=exemplar.dispersion if exemplar else None,
        separation=separation,
        camps=camps,
        camps_reason=why_no_camps(run, separation, camps),
        answers=answer_rows(
            run, question, after, size, exemplar.nearest_response_id if exemplar else None
        ),
        models=models,
        n_models=n_models,
        facts=question_facts(run, exemplar),
    )


def answer_rows(
    run: Run, question: UUID, after: str = "", size: int = PAGE, nearest: int | None = None
) -> Page[QuestionAnswer]:
    """Return workers' answers to a question by score, by two queries, with facts by three.

    `nearest` is the primary key of the nearest one, where the caller has it.
    """
    rows = (
        AnswerScore.objects.filter(run=run, response__question__public_id=question)
        .order_by()
        .values(
            "score",
            "score_leave_one_out",
            "response_id",
            "response__public_id",
            worker=F("response__submission__worker_id"),
            worker_public=F("response__submission__worker__public_id"),
            worker_name=F("response__submission__worker__external_id"),
            text_shown=beginning("response__text", ANSWER_SHOWN),
        )
    )
    page = ORDER.take(rows, after, size, dict)
    grades = dict(
        WorkerGrade.objects.filter(
            run=run, worker__in=[row["worker"] for row in page.rows]
        ).values_list("worker_id", "grade")
    )
    facts = facts_of_responses(run, [row["response_id"] for row in page.rows])
    answers = [
        QuestionAnswer(
            worker=row["worker_public"],
            worker_name=row["worker_name"],
            grade=grades.get(row["worker"]),
            text=shortened(row["text_shown"], ANSWER_SHOWN),
            score=row["score"],
            score_leave_one_out=row["score_leave_one_out"],
            is_nearest=row["response_id"] == nearest,
            facts=facts.get(row["response_id"], []),
        )
        for row in page.rows
    ]
    return Page(answers, page.after, page.next)


def _camps(exemplar: Any) -> list[Camp]:
    return camps_of(
        (exemplar.larger_camp, exemplar.smaller_camp),
        [
            None if text is None else shortened(text, ANSWER_SHOWN)
            for text in (exemplar.larger_text, exemplar.smaller_text)
        ],
    )


def _models(run: Run, question: Question) -> tuple[list[ModelAnswer], int]:
    scores = LLMAnswerScore.objects.filter(run=run, llm_response__question=question)
    rows: list[Any] = list(
        scores.order_by(F("score").desc(nulls_last=True), "llm_response__model__name").values(
            "score",
            "reason",
            "llm_response_id",
            status=F("llm_response__status"),
            model=F("llm_response__model__public_id"),
            name=F("llm_response__model__name"),
            notice=F("llm_response__model__notice"),
            text_shown=beginning("llm_response__text", ANSWER_SHOWN),
        )[: MODELS_SHOWN + 1]
    )
    facts = facts_of_replies(run, [row["llm_response_id"] for row in rows[:MODELS_SHOWN]])
    shown = [
        ModelAnswer(
            model=row["model"],
            name=row["name"],
            notice=row["notice"],
            status=row["status"],
            text=shortened(row["text_shown"], ANSWER_SHOWN),
            score=row["score"],
            reason=row["reason"],
            facts=facts.get(row["llm_response_id"], []),
        )
        for row in rows[:MODELS_SHOWN]
    ]
    return shown, scores.count() if len(rows) > MODELS_SHOWN else len(rows)
