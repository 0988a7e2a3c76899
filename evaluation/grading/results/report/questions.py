"""Reports of a run's questions, and of one question with its camps.

The two camps among the answers to a question: sizes, and typical answers. Report of a run's
questions, in their order, or by dispersion or difficulty. Report of a question in a run: answers by
score, models' answers, camps and facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.db.models import F, OuterRef, QuerySet, Subquery

from annotations.models import Question
from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.texts import ANSWER_SHOWN, select_beginning, shorten_text
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.grading.facts.report import (
    MarkedFactsMixin,
    QuestionFacts,
    StatedFact,
    read_facts_of_answers,
    read_question_facts,
)
from evaluation.grading.summary import read_summary
from evaluation.models import AnswerScore, ExemplaryAnswer, LLMAnswerScore, Run, WorkerGrade
from evaluation.runs.flow.forecast import GradedQuestion
from evaluation.runs.reports.about import RunAbout, build_run_about

NOT_COMPUTED = "not_computed"
TOO_FEW = "fewer_than_6_answers"
UNDIVIDED = "undivided"
WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Camp:
    """A camp (group of similar answers to a question): its size and its most typical answer."""

    size: int
    answer: str | None


def find_no_camps_reason(run: Run, separation: float | None, camps: list[Camp]) -> str:
    """Return the code of why a question has no two camps, or no example of one; "" if it has.

    A camp is a group of similar answers.
    """
    if camps:
        return WITHDRAWN if any(camp.answer is None for camp in camps) else ""
    if read_summary(run).question_camps is None:
        return NOT_COMPUTED
    return TOO_FEW if separation is None else UNDIVIDED


def build_camps(sizes: tuple[int | None, int | None], answers: list[str | None]) -> list[Camp]:
    """Return the larger and the smaller camp of similar answers; empty without sizes."""
    return [
        Camp(size, answer) for size, answer in zip(sizes, answers, strict=True) if size is not None
    ]


By = Literal["position", "dispersion", "difficulty"]
ORDERS: dict[By, Keyset] = {
    "position": Keyset("position", ("question__position", "question__public_id")),
    "dispersion": Keyset("dispersion", ("-dispersion", "question__public_id"), empty_last=True),
    # The lower the mean score, the harder.
    "difficulty": Keyset("difficulty", ("mean_score", "question__public_id"), empty_last=True),
}


@dataclass(frozen=True)
class QuestionRow:
    """A question's dispersion, difficulty and nearest answer (consensus) in one run.

    Attributes
    ----------
    name : the question's id in files. text, nearest : beginnings of the question and of the answer.
    dispersion : 0 if all answers agree, near 1 if they are unrelated.
    difficulty : mean distance of the answers to the other workers' exemplary answer: 1 minus the
        mean leave-one-out score, or the mean distance; None if only one worker answered.
    nearest_worker : author of the nearest answer; "" if it was withdrawn or there is none.
    """

    question: UUID
    name: str
    text: str
    n_answers: int
    dispersion: float | None
    difficulty: float | None
    nearest: str
    nearest_worker: str


def read_question_rows(
    run: Run, after: str = "", by: By = "position", size: int = PAGE, alarm: int | None = None
) -> Page[QuestionRow]:
    """Return a page of a run's questions, in the order `by`.

    `alarm` is the key of an alarm that names them.
    """
    rows = _query_questions(run)
    if alarm is not None:
        rows = rows.filter(question__alarms=alarm)
    return ORDERS[by].load_page(rows, after, size, build_row_builder(run))


def query_disputed_questions(run: Run) -> QuerySet[ExemplaryAnswer, Any]:
    """Return the query for the questions with a dispersion, most disagreement first."""
    rows = _query_questions(run).filter(dispersion__isnull=False)
    return rows.order_by("-dispersion", "question__public_id")


def build_row_builder(run: Run) -> Callable[[dict[str, Any]], QuestionRow]:
    """Return a function that builds a `QuestionRow` from a database row."""
    # The highest score there is: a negative distance of 0, or a cosine of 1.
    best = 0.0 if run.parameters.get("similarity") == "euclidean" else 1.0
    return lambda values: _build_row(values, best)


def _query_questions(run: Run) -> QuerySet[ExemplaryAnswer, Any]:
    """Return the query for a run's questions, with their nearest answers."""
    return (
        ExemplaryAnswer.objects.filter(run=run)
        .order_by()
        .values(
            "question__public_id",
            "question__external_id",
            "question__position",
            "n_answers",
            "dispersion",
            "mean_score",
            "nearest_response__submission__worker__external_id",
            text_shown=select_beginning("question__text"),
            nearest_shown=select_beginning("nearest_response__text"),
        )
    )


def _build_row(row: dict[str, Any], best: float) -> QuestionRow:
    """Return a question of the report from a database row; `best` is the highest score."""
    mean = row["mean_score"]
    return QuestionRow(
        question=row["question__public_id"],
        name=row["question__external_id"],
        text=shorten_text(row["text_shown"]),
        n_answers=row["n_answers"],
        dispersion=row["dispersion"],
        difficulty=None if mean is None else best - mean,
        nearest=shorten_text(row["nearest_shown"]),
        nearest_worker=row["nearest_response__submission__worker__external_id"] or "",
    )


def read_answered_questions(run: Run) -> list[GradedQuestion]:
    """Return the questions of a run with at least one answer, in their order."""
    # A distance has no likeness to a truth that could be worked out.
    cosine = run.parameters.get("similarity", "cosine") == "cosine"
    return [
        GradedQuestion(key, name, answers, score if cosine else None)
        for key, name, answers, score in ExemplaryAnswer.objects.filter(run=run, n_answers__gte=1)
        .order_by("question__position", "pk")
        .values_list("question__public_id", "question__external_id", "n_answers", "mean_score")
    ]


ORDER = Keyset("score", ("-score", "response__public_id"), empty_last=True)
# More models than this are on the models' page only.
MODELS_SHOWN = 100


@dataclass(frozen=True)
class QuestionAnswer(MarkedFactsMixin):
    """A worker's answer to a question with scores and facts, and the worker's grade."""

    worker: UUID
    worker_name: str
    grade: float | None
    text: str
    score: float | None
    score_leave_one_out: float | None
    is_nearest: bool
    facts: list[StatedFact] = field(default_factory=list)
    contrast: float | None = None


@dataclass(frozen=True)
class ModelAnswer(MarkedFactsMixin, RecordWithReason):
    """A model's answer with its score and facts; `reason` explains a missing or zero score."""

    model: UUID
    name: str
    notice: str
    status: str
    text: str
    score: float | None
    reason: str
    facts: list[StatedFact] = field(default_factory=list)


@dataclass(frozen=True)
class QuestionReport:
    """A question in a run: a page of workers' answers, models' answers, camps and facts.

    Attributes
    ----------
    name : the question's id in files. text : "" if only the id is known.
    n_answers : workers who answered. dispersion : 0 (all answers agree) to 1 (unrelated).
    separation : how clearly the answers fall into two camps, 0 to 1; None below 6 answers.
    camps : the larger and the smaller camp; none, with `camps_reason`, up to a separation of .4.
    answers : by score, best first. models : by score, at most 100 of `n_models`.
    facts : values on which workers agree, and on which they are divided.
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
        """The notices that the models require to be shown, without repetitions."""
        return list(dict.fromkeys(model.notice for model in self.models if model.notice))


@dataclass(frozen=True)
class QuestionInRun:
    """Database rows of a question, its exemplary answer and its models' answers.

    Attributes
    ----------
    exemplar : None where the run has no exemplary answer. replies : models' answers by score.
    """

    question: Question
    exemplar: Any
    replies: list[dict[str, Any]]


def read_question(run: Run, question: UUID) -> QuestionInRun | None:
    """Return a question with its exemplary answer and models' answers; None if unknown."""
    exemplar = (
        ExemplaryAnswer.objects.filter(run=run, question__public_id=question)
        .select_related("question__passage")
        # Hundreds of numbers that no page shows.
        .defer("vector")
        .annotate(
            larger_text=select_beginning("larger_nearest__text", ANSWER_SHOWN),
            smaller_text=select_beginning("smaller_nearest__text", ANSWER_SHOWN),
        )
        .first()
    )
    if exemplar is None:
        questions = Question.objects.filter(version=run.version_id, public_id=question)
        question_row = questions.select_related("passage").first()
    else:
        question_row = exemplar.question
    return (
        None
        if question_row is None
        else QuestionInRun(question_row, exemplar, _read_replies(run, question_row))
    )


def build_question_report(
    run: Run,
    question: UUID,
    after: str = "",
    size: int = PAGE,
    question_in_run: QuestionInRun | None = None,
    page: Page[dict[str, Any]] | None = None,
) -> QuestionReport | None:
    """Return the report on a question; None if the run does not have it. Up to four queries.

    A run with facts takes two more. `question_in_run` is the question and `page` the
    `answer_page`, where they were read.
    """
    question_in_run = question_in_run or read_question(run, question)
    if question_in_run is None:
        return None
    question_row, exemplar, replies = (
        question_in_run.question,
        question_in_run.exemplar,
        question_in_run.replies[:MODELS_SHOWN],
    )
    page = page or read_answer_page(run, question, after, size)
    facts_of_answers, facts_of_replies = read_facts_of_answers(
        run,
        [row["response_id"] for row in page.rows],
        [row["llm_response_id"] for row in replies],
    )
    separation = exemplar.separation if exemplar else None
    camps = _build_camps(exemplar) if exemplar else []
    return QuestionReport(
        about=build_run_about(run),
        question=question_row.public_id,
        name=question_row.external_id,
        text=question_row.text,
        category=question_row.category,
        passage_title=question_row.passage.title if question_row.passage else "",
        passage_text=question_row.passage.text if question_row.passage else "",
        n_answers=exemplar.n_answers if exemplar else 0,
        dispersion=exemplar.dispersion if exemplar else None,
        separation=separation,
        camps=camps,
        camps_reason=find_no_camps_reason(run, separation, camps),
        answers=_build_answers(
            page, facts_of_answers, exemplar.nearest_response_id if exemplar else None
        ),
        models=[_build_model_answer(row, facts_of_replies) for row in replies],
        n_models=len(question_in_run.replies),
        facts=read_question_facts(run, exemplar),
    )


def build_answers_of_page(page: Page[dict[str, Any]]) -> list[QuestionAnswer]:
    """Return the answers of a page of database rows, without their facts; no query."""
    return _build_answers(page, {}).rows


def build_first_page(page: Page[dict[str, Any]], size: int = PAGE) -> Page[dict[str, Any]]:
    """Return the first page of answer rows, cut from a longer page."""
    return ORDER.cut_first_page(page, size)


def read_answer_page(
    run: Run, question: UUID, after: str = "", size: int = PAGE
) -> Page[dict[str, Any]]:
    """Return a page of database rows of workers' answers by score; one query."""
    grades = WorkerGrade.objects.filter(run=run, worker=OuterRef("response__submission__worker"))
    rows = (
        AnswerScore.objects.filter(run=run, response__question__public_id=question)
        .order_by()
        .values(
            "score",
            "score_leave_one_out",
            "contrast",
            "response_id",
            "response__public_id",
            "place",
            # A subquery, because no key leads from a score to the grade of its worker in the run.
            grade=Subquery(grades.values("grade")[:1]),
            **build_history_columns(run),
            worker_public=F("response__submission__worker__public_id"),
            worker_name=F("response__submission__worker__external_id"),
            text_shown=select_beginning("response__text", ANSWER_SHOWN),
        )
    )
    return ORDER.load_page(rows, after, size, dict)


def build_history_columns(run: Run) -> dict[str, Subquery]:
    """Return the query columns with the voting weights and grades of an answer's author."""
    grades = WorkerGrade.objects.filter(run=run, worker=OuterRef("response__submission__worker"))
    return {column: Subquery(grades.values(column)[:1]) for column in ("weights", "grades")}


def _build_answers(
    page: Page[dict[str, Any]], facts: Mapping[int, list[StatedFact]], nearest: int | None = None
) -> Page[QuestionAnswer]:
    """Return a page of answers with their facts, from a page of database rows."""
    answers = [
        QuestionAnswer(
            worker=row["worker_public"],
            worker_name=row["worker_name"],
            grade=row["grade"],
            text=shorten_text(row["text_shown"], ANSWER_SHOWN),
            score=row["score"],
            score_leave_one_out=row["score_leave_one_out"],
            is_nearest=row["response_id"] == nearest,
            facts=facts.get(row["response_id"], []),
            contrast=row["contrast"],
        )
        for row in page.rows
    ]
    return Page(answers, page.after, page.next)


def _build_camps(exemplar: Any) -> list[Camp]:
    """Return a question's two camps of similar answers with sizes and examples."""
    return build_camps(
        (exemplar.larger_camp, exemplar.smaller_camp),
        [
            None if text is None else shorten_text(text, ANSWER_SHOWN)
            for text in (exemplar.larger_text, exemplar.smaller_text)
        ],
    )


def _read_replies(run: Run, question: Question) -> list[dict[str, Any]]:
    """Return the database rows of the models' answers to a question, best score first."""
    scores = LLMAnswerScore.objects.filter(run=run, llm_response__question=question)
    rows: Any = scores.order_by(F("score").desc(nulls_last=True), "llm_response__model__name")
    return list(
        rows.values(
            "score",
            "reason",
            "place",
            "llm_response_id",
            status=F("llm_response__status"),
            model=F("llm_response__model__public_id"),
            name=F("llm_response__model__name"),
            notice=F("llm_response__model__notice"),
            text_shown=select_beginning("llm_response__text", ANSWER_SHOWN),
        )
    )


def _build_model_answer(row: dict[str, Any], facts: Mapping[int, list[StatedFact]]) -> ModelAnswer:
    """Return a model's answer with its facts, from a database row."""
    return ModelAnswer(
        model=row["model"],
        name=row["name"],
        notice=row["notice"],
        status=row["status"],
        text=shorten_text(row["text_shown"], ANSWER_SHOWN),
        score=row["score"],
        reason=row["reason"],
        facts=facts.get(row["llm_response_id"], []),
    )
