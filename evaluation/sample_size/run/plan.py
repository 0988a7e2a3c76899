"""Answer plan: how many more answers, to which questions, at what cost, from a grading.

The error of a question's consensus is 1 minus its similarity to the truth. It follows from the
similarity of its answers to the consensus of the others (`methods.planner`). The interval of a
score narrows with the root of the number of answered questions. Both are forecasts; evidence.md
reports their accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Any

import numpy as np

from evaluation.core.messages.message import Message
from evaluation.core.stats.planner import (
    compute_exemplar_error,
    find_answers_for_error,
    find_answers_for_width,
    predict_width,
)
from evaluation.runs.flow.forecast import GradedQuestion, estimate_question_similarity
from evaluation.sample_size.messages import format_money
from evaluation.sample_size.run.trial import PlanTargets


class Standing(StrEnum):
    """Status of a question in an answer plan, by the further answers that it needs."""

    SETTLED = "settled"
    WANTED = "wanted"
    ALONE = "alone"
    """Too few answers to estimate the error; gets as many as the median question needs."""
    BEYOND = "beyond"
    """Needs more answers than the limit, or no number is enough."""


@dataclass(frozen=True)
class CurrentScore:
    """Present score of a worker or model: number of answered questions, width of the interval."""

    key: Any
    name: str
    questions: int
    width: float


@dataclass(frozen=True)
class QuestionPlan:
    """Plan for one question: its answers now, further answers, expected error and cost.

    Attributes
    ----------
    answers : number of answers now.
    more : number of further answers to buy.
    needed : number of answers that would settle it; None if unknown or if no number is enough.
    off, off_then : expected error of the consensus now, and with `more` answers; None if unknown.
    cost : of the further answers; None without pay.
    """

    question: Any
    name: str
    answers: int
    more: int
    needed: int | None
    off: float | None
    off_then: float | None
    cost: float | None
    standing: Standing


@dataclass(frozen=True)
class ScorePlan:
    """Plan for a worker or model: further questions, and expected width of its interval."""

    of: Any
    name: str
    questions: int
    more: int
    width: float
    width_then: float


@dataclass(frozen=True)
class Widths:
    """Interval widths of workers' or models' scores, now and with the plan.

    Attributes
    ----------
    scores : number of scores with an interval.
    questions : number of questions answered by the respondent with the median width.
    now, widest : median and greatest width.
    narrow : number of intervals that are narrow enough.
    more : number of further questions until the median interval is narrow enough.
    then, widest_then, narrow_then : the same if everyone answers all further questions of the
        plan. These can be more than `more`, because workers and models get the same ones.
    """

    scores: int
    questions: int
    now: float
    widest: float
    narrow: int
    more: int
    then: float
    widest_then: float
    narrow_then: int


@dataclass(frozen=True)
class MoneyPlan:
    """Totals of an answer plan: targets, answers and workers to buy, and costs.

    Attributes
    ----------
    price : cost of an answer with the fee; None without pay, as all costs then are.
    answers, cost : number of answers now, and their cost at that price.
    n_questions, settled, wanted, beyond : number of questions, in all and by status. `wanted` are
        all that get further answers, also those with too few answers to estimate.
    off, off_then : median of the expected errors of the questions, now and with the plan.
    more_answers, more_cost : further answers to existing questions.
    new_people : smallest number of new workers; a worker cannot answer a question twice.
    workers, models : widths of their intervals; None without an interval.
    new_questions : further questions until the median interval is narrow enough, of workers, models
        or both, by `narrow`.
    answers_each : answers to each further question.
    new_answers, new_cost : answers to all further questions.
    total_answers, total_cost : all answers that the plan buys.
    """

    price: float | None
    currency: str | None
    width: float
    within: float
    most: int
    narrow: str
    answers: int
    cost: float | None
    n_questions: int
    settled: int
    wanted: int
    beyond: int
    off: float | None
    off_then: float | None
    more_answers: int
    more_cost: float | None
    new_people: int
    workers: Widths | None
    models: Widths | None
    new_questions: int
    answers_each: int
    new_answers: int
    new_cost: float | None
    total_answers: int
    total_cost: float | None

    @property
    def is_reached(self) -> bool:
        """Whether all targets are reached without further answers."""
        return not self.total_answers


@dataclass(frozen=True)
class PlanWithRows:
    """An answer plan with its rows of questions, workers and models."""

    plan: MoneyPlan
    questions: list[QuestionPlan]
    workers: list[ScorePlan]
    models: list[ScorePlan]

    @property
    def messages(self) -> list[Message]:
        """Messages for readers of the plan, most important first."""
        plan = self.plan
        settled = {"settled": plan.settled, "questions": plan.n_questions, "within": plan.within}
        messages = [Message("plan.settled", settled)]
        if plan.is_reached and not plan.beyond:
            messages.append(Message("plan.reached"))
        wanted = [row.more for row in self.questions if row.more]
        if wanted:
            counts = {"least": min(wanted), "most": max(wanted), "questions": len(wanted)}
            cost = format_money(plan.more_cost, plan.currency)
            messages.append(
                Message("plan.questions", {**counts, "more": plan.more_answers, "cost": cost})
            )
        if plan.new_people > 0:
            messages.append(Message("plan.people", {"newcomers": plan.new_people}))
        if plan.new_questions:
            messages.append(Message("plan.new", self._collect_new_question_values()))
        if plan.beyond:
            messages.append(Message("plan.beyond", self._collect_beyond_values()))
        return [*messages, Message("plan.forecast")]

    def _collect_new_question_values(self) -> dict[str, Any]:
        """Return the values for the message about new questions to add, by name."""
        plan = self.plan
        return {
            "questions": plan.new_questions,
            "each": plan.answers_each,
            "answers": plan.new_answers,
            "narrow": plan.narrow,
            "width": plan.width,
            "cost": format_money(plan.new_cost, plan.currency),
        }

    def _collect_beyond_values(self) -> dict[str, Any]:
        """Return the values for the message about questions beyond the limit, by name."""
        lacking = [
            row.needed - row.answers
            for row in self.questions
            if row.standing is Standing.BEYOND and row.needed is not None
        ]
        return {
            "questions": self.plan.beyond,
            "most": self.plan.most,
            "hopeless": not lacking,
            "least": min(lacking, default=0),
        }


def build_answer_plan(
    wishes: PlanTargets,
    questions: Sequence[GradedQuestion],
    workers: Sequence[CurrentScore],
    models: Sequence[CurrentScore],
    n_people: int,
) -> PlanWithRows:
    """Return the plan of further answers that reaches the targets in `wishes`.

    Parameters
    ----------
    questions : questions with an answer.
    workers, models : those with an interval of the score.
    n_people : number of all workers with an answer.
    """
    rows, typical = _plan_questions(wishes, questions)
    selected = {"workers": [workers], "models": [models]}.get(wishes.narrow, [workers, models])
    new_questions = max(_count_further_questions(wishes, scores) for scores in selected)
    mean_answers = round(sum(row.answers for row in questions) / len(questions)) if questions else 0
    # A new question is assumed to need as many answers as the median one, within the limit.
    answers_each = (
        max(mean_answers, typical) if typical <= mean_answers + wishes.most else mean_answers
    )
    worker_rows = _plan_scores(wishes, workers)
    model_rows = _plan_scores(wishes, models)
    more = sum(row.more for row in rows)
    new_answers = new_questions * answers_each
    n_answers = sum(row.answers for row in questions)
    known = [row for row in rows if row.off is not None]
    counts = {standing: sum(row.standing is standing for row in rows) for standing in Standing}
    price = wishes.price
    plan = MoneyPlan(
        price=None if price is None else float(price),
        currency=wishes.currency,
        width=wishes.width,
        within=wishes.within,
        most=wishes.most,
        narrow=wishes.narrow,
        answers=n_answers,
        cost=wishes.compute_cost(n_answers),
        n_questions=len(rows),
        settled=counts[Standing.SETTLED],
        wanted=sum(row.more > 0 for row in rows),
        beyond=counts[Standing.BEYOND],
        off=median(row.off for row in known if row.off is not None) if known else None,
        off_then=median(row.off_then for row in known if row.off_then is not None)
        if known
        else None,
        more_answers=more,
        more_cost=wishes.compute_cost(more),
        # A worker answers a question once: those who answered a question cannot answer it again.
        new_people=max((0, *(row.more - (n_people - row.answers) for row in rows if row.more))),
        workers=_summarize_widths(wishes, workers, new_questions),
        models=_summarize_widths(wishes, models, new_questions),
        new_questions=new_questions,
        answers_each=answers_each,
        new_answers=new_answers,
        new_cost=wishes.compute_cost(new_answers),
        total_answers=more + new_answers,
        total_cost=wishes.compute_cost(more + new_answers),
    )
    return PlanWithRows(plan, rows, worker_rows, model_rows)


def _plan_questions(
    wishes: PlanTargets, questions: Sequence[GradedQuestion]
) -> tuple[list[QuestionPlan], int]:
    """Return the questions' plans, and how many answers the median one needs (0 if unknown)."""
    similarity = np.array([estimate_question_similarity(question) for question in questions])
    known = ~np.isnan(similarity)
    needed = np.full(len(questions), np.nan)
    needed[known] = find_answers_for_error(similarity[known], wishes.within)
    middle = float(np.median(needed[known])) if known.any() else math.nan
    # The median is infinite if no number of answers is enough for half of the questions.
    typical = int(middle) if math.isfinite(middle) else 0
    rows = []
    triples = zip(questions, similarity.tolist(), needed.tolist(), strict=True)
    for question, similar, wanted in triples:
        alone = math.isnan(similar)
        if alone:
            more = min(wishes.most, max(0, typical - question.answers))
            standing = Standing.ALONE
        else:
            # Infinite if no number of answers is enough.
            lacking = max(0.0, wanted - question.answers)
            standing = Standing.WANTED if lacking else Standing.SETTLED
            if lacking > wishes.most:
                lacking, standing = 0.0, Standing.BEYOND
            # Finite here: an infinite number is beyond any limit.
            more = int(lacking)
        rows.append(
            QuestionPlan(
                question=question.key,
                name=question.name,
                answers=question.answers,
                more=more,
                needed=int(wanted) if math.isfinite(wanted) else None,
                off=None if alone else float(compute_exemplar_error(similar, question.answers)),
                off_then=None
                if alone
                else float(compute_exemplar_error(similar, question.answers + more)),
                cost=wishes.compute_cost(more),
                standing=standing,
            )
        )
    # Questions beyond the limit get no answers, but come before settled ones: they need a reader.
    rows.sort(key=lambda row: (-row.more, row.standing is not Standing.BEYOND, -(row.off or 0)))
    return rows, typical


def _plan_scores(wishes: PlanTargets, scores: Sequence[CurrentScore]) -> list[ScorePlan]:
    """Return a plan for the interval of each worker or model, widest planned interval first."""
    rows = []
    for score in scores:
        needed = int(find_answers_for_width(score.width, score.questions, wishes.width))
        width = float(predict_width(score.width, score.questions, needed))
        more = needed - score.questions
        rows.append(ScorePlan(score.key, score.name, score.questions, more, score.width, width))
    return sorted(rows, key=lambda row: -row.width)


def _find_middle_score(scores: Sequence[CurrentScore]) -> CurrentScore:
    """Return the worker or model with the median interval width, of two the wider one."""
    return sorted(scores, key=lambda score: score.width)[len(scores) // 2]


def _count_further_questions(wishes: PlanTargets, scores: Sequence[CurrentScore]) -> int:
    """Return how many more questions make the median interval narrow enough; 0 without scores."""
    if not scores:
        return 0
    middle = _find_middle_score(scores)
    needed = find_answers_for_width(middle.width, middle.questions, wishes.width)
    return int(needed) - middle.questions


def _summarize_widths(
    wishes: PlanTargets, scores: Sequence[CurrentScore], new_questions: int
) -> Widths | None:
    """Return interval widths now and after `new_questions` more; None without scores."""
    if not scores:
        return None
    middle = _find_middle_score(scores)
    widths = np.array([score.width for score in scores])
    answered = np.array([score.questions for score in scores])
    then = predict_width(widths, answered, answered + new_questions)
    # Rounding errors must not keep a width just above its target.
    enough = wishes.width * (1 + 1e-9)
    return Widths(
        scores=len(scores),
        questions=middle.questions,
        now=middle.width,
        widest=float(widths.max()),
        narrow=int((widths <= enough).sum()),
        more=_count_further_questions(wishes, scores),
        then=float(predict_width(middle.width, middle.questions, middle.questions + new_questions)),
        widest_then=float(then.max()),
        narrow_then=int((then <= enough).sum()),
    )


QUESTIONS_HEADER = (
    *("question", "answers", "more_answers", "needed", "cost", "off_now", "off_then", "standing"),
)
WORKERS_HEADER = ("worker", "questions", "more_questions", "width_now", "width_then")


def build_question_rows(plan: PlanWithRows) -> Iterator[tuple[object, ...]]:
    """Yield a table row for each question, most further answers first."""
    for row in plan.questions:
        yield (
            *(row.name, row.answers, row.more, row.needed, row.cost, row.off, row.off_then),
            str(row.standing),
        )


def build_worker_rows(plan: PlanWithRows) -> Iterator[tuple[object, ...]]:
    """Yield a table row for each worker, widest interval first."""
    for row in plan.workers:
        yield (row.name, row.questions, row.more, row.width, row.width_then)
