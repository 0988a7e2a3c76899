"""How many more answers a run's set needs, to which questions, and what they cost."""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import F

from evaluation.flow.plan.plan import Planned, QuestionNow, ScoreNow, planned
from evaluation.flow.plan.rows import (
    QUESTIONS_HEADER,
    WORKERS_HEADER,
    question_rows,
    worker_rows,
)
from evaluation.flow.plan.wishes import Wishes
from evaluation.models import ExemplaryAnswer, LLMScore, Run, WorkerGrade
from evaluation.reports.spreadsheet import Table


def plan_of(run: Run, wishes: Wishes) -> Planned:
    """Return the plan of a run that is done, by three queries; keys are public ids."""
    questions = questions_of(run)
    people = list(
        WorkerGrade.of_crowd(run)
        .filter(n_answers__gte=1)
        .order_by("pk")
        .values_list(
            *("worker__public_id", "worker__external_id", "n_answers", "raw_low", "raw_high"),
            "support",
        )
    )
    workers = [
        ScoreNow(key, name, n, high - low)
        for key, name, n, low, high, support in people
        if support and low is not None and high is not None
    ]
    models = [
        ScoreNow(key, name, n, high - low)
        for key, name, n, low, high in LLMScore.objects.filter(run=run, n__gte=1)
        .order_by(F("score").desc(nulls_last=True), "pk")
        .values_list("model__public_id", "model__name", "n", "score_low", "score_high")
        if low is not None and high is not None
    ]
    return planned(wishes, questions, workers, models, len(people))


def questions_of(run: Run) -> list[QuestionNow]:
    """Return the questions of a run with an answer, in their order; keys are public ids."""
    # A distance has no likeness to a truth that could be worked out.
    cosine = run.parameters.get("similarity", "cosine") == "cosine"
    return [
        QuestionNow(key, name, answers, score if cosine else None)
        for key, name, answers, score in ExemplaryAnswer.objects.filter(run=run, n_answers__gte=1)
        .order_by("question__position", "pk")
        .values_list("question__public_id", "question__external_id", "n_answers", "mean_score")
    ]


PLAN_TABLES: dict[str, Callable[[Planned], Table]] = {
    "questions": lambda found: Table(QUESTIONS_HEADER, question_rows(found)),
    "workers": lambda found: Table(WORKERS_HEADER, worker_rows(found)),
}
