"""How many more answers, to which questions, at what cost: a plan out of a grading's own rows.

A question's consensus is off by 1 less its likeness to the truth, which follows from how like its
answers are to the consensus of the others (`methods.planner`). An interval of a score narrows with
the root of the number of questions that were answered. Both are forecasts: evidence.md has how
near they came where the answer was known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Any

import numpy as np

from evaluation.flow.plan.wishes import Wishes
from evaluation.methods.planner import (
    answers_for_error,
    answers_for_width,
    error,
    similarity_to_truth,
    width_after,
)
from evaluation.words.message import Message
from evaluation.words.plan import money


class Standing(StrEnum):
    """How a question stands: what the plan does about it."""

    SETTLED = "settled"
    WANTED = "wanted"
    ALONE = "alone"
    """Too few answers to know how far apart they are: it gets what a question usually needs."""
    BEYOND = "beyond"
    """It would take more answers than may be bought, or no number would do."""


@dataclass(frozen=True)
class QuestionNow:
    """A question as it was graded.

    Attributes
    ----------
    key, name : whatever names it to programs and to people.
    answers : how many people answered it. left_out : mean likeness of an answer to the consensus
        of the others; None for fewer than two answers.
    """

    key: Any
    name: str
    answers: int
    left_out: float | None


@dataclass(frozen=True)
class ScoreNow:
    """A worker or a model as graded: on how many questions, with an interval of what width."""

    key: Any
    name: str
    questions: int
    width: float


@dataclass(frozen=True)
class QuestionPlan:
    """What is wanted of a question.

    Attributes
    ----------
    more : further answers to buy. needed : answers in all that would settle it; None where that is
        unknown, or no number would do.
    off : by how much the consensus is expected to be off the truth now, and `off_then` with `more`
        answers; None where that is unknown.
    cost : of the further answers; None without a pay.
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
    """How many more questions a worker or model has to answer, and what interval is expected."""

    of: Any
    name: str
    questions: int
    more: int
    width: float
    width_then: float


@dataclass(frozen=True)
class Widths:
    """Intervals of the scores of workers, or of models.

    Attributes
    ----------
    scores : how many have one. questions : how many questions the middle one answered.
    now, widest : width of the middle one, and of the widest. narrow : how many are narrow enough.
    more : further questions until the middle one is narrow enough.
    then, widest_then, narrow_then : the same as above if all answered all further questions of
        the plan, which may be more than these: people and models get the same ones.
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
    """The plan.

    Attributes
    ----------
    price : of an answer, with the fee; None without a pay, and so are all costs.
    answers, cost : how many there are, and what they have cost at that price.
    n_questions, settled, wanted, beyond : questions, by how they stand (wanted : those that get
        further answers, alone or not).
    off, off_then : by how much the consensus of the middle question is expected to be off.
    more_answers, more_cost : to questions that there are.
    new_people : at least so many have to be found, because everybody has answered some question.
    workers, models : their intervals; None where nobody has one.
    new_questions : further questions until the middle interval is narrow, of workers, models or
        both, as `narrow` says; answers_each : answers to
        each, as many as a question has now, or needs; new_answers, new_cost : all of these.
    total_answers, total_cost : everything that the plan buys.
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
        """Whether nothing has to be bought."""
        return not self.total_answers


@dataclass(frozen=True)
class Planned:
    """The plan with its rows: questions that want most first, widest intervals first."""

    plan: MoneyPlan
    questions: list[QuestionPlan]
    workers: list[ScorePlan]
    models: list[ScorePlan]

    @property
    def messages(self) -> list[Message]:
        """What to do, and what to know of it, most important first."""
        plan = self.plan
        settled = {"settled": plan.settled, "questions": plan.n_questions, "within": plan.within}
        found = [Message("plan.settled", settled)]
        if plan.is_reached and not plan.beyond:
            found.append(Message("plan.reached"))
        wanted = [row.more for row in self.questions if row.more]
        if wanted:
            range_of = {"least": min(wanted), "most": max(wanted), "questions": len(wanted)}
            cost = money(plan.more_cost, plan.currency)
            found.append(
                Message("plan.questions", {**range_of, "more": plan.more_answers, "cost": cost})
            )
        if plan.new_people > 0:
            found.append(Message("plan.people", {"newcomers": plan.new_people}))
        if plan.new_questions:
            found.append(Message("plan.new", self._new_questions()))
        if plan.beyond:
            found.append(Message("plan.beyond", self._beyond()))
        return [*found, Message("plan.forecast")]

    def _new_questions(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "questions": plan.new_questions,
            "each": plan.answers_each,
            "answers": plan.new_answers,
            "narrow": plan.narrow,
            "width": plan.width,
            "cost": money(plan.new_cost, plan.currency),
        }

    def _beyond(self) -> dict[str, Any]:
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


def planned(
    wishes: Wishes,
    questions: Sequence[QuestionNow],
    workers: Sequence[ScoreNow],
    models: Sequence[ScoreNow],
    n_people: int,
) -> Planned:
    """Return the plan.

    Parameters
    ----------
    questions : those with an answer. workers, models : those whose score has an interval.
    n_people : how many people answered anything.
    """
    rows, typical = _questions(wishes, questions)
    whose = {"workers": [workers], "models": [models]}.get(wishes.narrow, [workers, models])
    asked = max(_further(wishes, scores) for scores in whose)
    usual = round(sum(row.answers for row in questions) / len(questions)) if questions else 0
    # A new question is taken to be like the middle one, where that may be settled at all.
    each = max(usual, typical) if typical <= usual + wishes.most else usual
    of_workers = _scores(wishes, workers)
    of_models = _scores(wishes, models)
    more = sum(row.more for row in rows)
    new = asked * each
    have = sum(row.answers for row in questions)
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
        answers=have,
        cost=wishes.cost(have),
        n_questions=len(rows),
        settled=counts[Standing.SETTLED],
        wanted=sum(row.more > 0 for row in rows),
        beyond=counts[Standing.BEYOND],
        off=median(row.off for row in known if row.off is not None) if known else None,
        off_then=median(row.off_then for row in known if row.off_then is not None)
        if known
        else None,
        more_answers=more,
        more_cost=wishes.cost(more),
        new_people=max((0, *(row.more - (n_people - row.answers) for row in rows if row.more))),
        workers=_widths(wishes, workers, asked),
        models=_widths(wishes, models, asked),
        new_questions=asked,
        answers_each=each,
        new_answers=new,
        new_cost=wishes.cost(new),
        total_answers=more + new,
        total_cost=wishes.cost(more + new),
    )
    return Planned(plan, rows, of_workers, of_models)


def _questions(wishes: Wishes, questions: Sequence[QuestionNow]) -> tuple[list[QuestionPlan], int]:
    """Return a row for each, and how many answers the middle question needs (0 if unknown)."""
    alike = np.array([likeness(question) for question in questions])
    there = ~np.isnan(alike)
    needed = np.full(len(questions), np.nan)
    needed[there] = answers_for_error(alike[there], wishes.within)
    middle = float(np.median(needed[there])) if there.any() else math.nan
    typical = int(middle) if math.isfinite(middle) else 0
    rows = []
    for question, similar, wanted in zip(questions, alike.tolist(), needed.tolist(), strict=True):
        alone = math.isnan(similar)
        if alone:
            more = min(wishes.most, max(0, typical - question.answers))
            standing = Standing.ALONE
        else:
            lacking = max(0.0, wanted - question.answers)
            standing = Standing.WANTED if lacking else Standing.SETTLED
            if lacking > wishes.most:
                lacking, standing = 0.0, Standing.BEYOND
            more = int(lacking)
        rows.append(
            QuestionPlan(
                question=question.key,
                name=question.name,
                answers=question.answers,
                more=more,
                needed=int(wanted) if math.isfinite(wanted) else None,
                off=None if alone else float(error(similar, question.answers)),
                off_then=None if alone else float(error(similar, question.answers + more)),
                cost=wishes.cost(more),
                standing=standing,
            )
        )
    rows.sort(key=lambda row: (-row.more, row.standing is not Standing.BEYOND, -(row.off or 0)))
    return rows, typical


def likeness(question: QuestionNow) -> float:
    """Return S, how like an answer to the question is to the truth; NaN where nobody knows."""
    if question.left_out is None or question.answers < 2:
        return math.nan
    # Equal answers have a likeness of 1 and a rounding; below 0 there is nothing in common.
    return similarity_to_truth(min(1.0, max(0.0, question.left_out)), question.answers - 1)


def _scores(wishes: Wishes, scores: Sequence[ScoreNow]) -> list[ScorePlan]:
    rows = []
    for score in scores:
        needed = int(answers_for_width(score.width, score.questions, wishes.width))
        width = float(width_after(score.width, score.questions, needed))
        more = needed - score.questions
        rows.append(ScorePlan(score.key, score.name, score.questions, more, score.width, width))
    return sorted(rows, key=lambda row: -row.width)


def _middle(scores: Sequence[ScoreNow]) -> ScoreNow:
    """Return the score whose interval is the middle one; the wider of two."""
    return sorted(scores, key=lambda score: score.width)[len(scores) // 2]


def _further(wishes: Wishes, scores: Sequence[ScoreNow]) -> int:
    """Return how many further questions make the middle interval narrow enough."""
    if not scores:
        return 0
    middle = _middle(scores)
    needed = answers_for_width(middle.width, middle.questions, wishes.width)
    return int(needed) - middle.questions


def _widths(wishes: Wishes, scores: Sequence[ScoreNow], asked: int) -> Widths | None:
    if not scores:
        return None
    middle = _middle(scores)
    widths = np.array([score.width for score in scores])
    answered = np.array([score.questions for score in scores])
    then = width_after(widths, answered, answered + asked)
    # A width that was asked for is reached, whatever the last digit says.
    enough = wishes.width * (1 + 1e-9)
    return Widths(
        scores=len(scores),
        questions=middle.questions,
        now=middle.width,
        widest=float(widths.max()),
        narrow=int((widths <= enough).sum()),
        more=_further(wishes, scores),
        then=float(width_after(middle.width, middle.questions, middle.questions + asked)),
        widest_then=float(then.max()),
        narrow_then=int((then <= enough).sum()),
    )
