"""Forecast the consensus error with more workers, by the planner's formulas.

With ten more workers the consensus of a question gets nearer to that of infinitely many workers.
They do not narrow the intervals of the present workers, which depend on how many questions each
worker answered.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from evaluation.core.stats.planner import (
    ErrorBounds,
    compute_error_bounds,
    compute_exemplar_error,
    estimate_similarity_to_truth,
)

TEN = 10
DELTA = 0.05
"""The worst error of a forecast is exceeded in this share of cases."""
LEAST_ANSWERS = 4
"""Median of answers per question below which no forecast was evaluated (evidence.md)."""
MOST_NAMED = 10
WITHIN = 0.05
"""Default for the largest expected error of a settled question."""


@dataclass(frozen=True)
class UnsettledQuestion:
    """A question whose expected error exceeds a limit: its error now and with `more` answers."""

    key: str
    name: str
    answers: int
    more: int
    off: float
    off_then: float


@dataclass(frozen=True)
class MoreWorkersForecast:
    """Forecast of the consensus error if `people` (by default ten) more workers answer.

    Attributes
    ----------
    people : number of further workers; answers : number of their answers.
    questions : number of questions with an answer; known : number with an estimate.
    off, off_then : median of the questions' expected errors now and then, 0 to 1.
    within : largest error of a settled question; n_wanting : number of questions above it.
    wanting : questions above it with the largest errors, the largest first.
    """

    people: int
    answers: int
    questions: int
    known: int
    off: float
    off_then: float
    within: float
    n_wanting: int
    wanting: tuple[UnsettledQuestion, ...]


def forecast_more_workers(
    questions: Sequence[GradedQuestion], each: int | None, within: float, people: int = TEN
) -> MoreWorkersForecast | None:
    """Return the forecast of the consensus error with more workers; None with too few answers.

    Parameters
    ----------
    questions : the questions with an answer. each : number of questions that a worker answers; None
        for all. Questions with the fewest answers are assigned first.
    within : largest expected error of a settled question, 0 to 1.
    """
    if not questions or median(question.answers for question in questions) < LEAST_ANSWERS:
        return None
    more = _distribute_answers([question.answers for question in questions], people, each)
    rows = []
    for question, n in zip(questions, more, strict=True):
        similar = estimate_question_similarity(question)
        if similar == similar:  # not NaN: two answers or more, and a measure with a truth
            off, then = (
                compute_exemplar_error(similar, question.answers),
                compute_exemplar_error(similar, question.answers + n),
            )
            rows.append(
                UnsettledQuestion(
                    str(question.key), question.name, question.answers, n, float(off), float(then)
                )
            )
    if not rows:
        return None
    unsettled = sorted((row for row in rows if row.off > within), key=lambda row: -row.off)
    return MoreWorkersForecast(
        people=people,
        answers=sum(more),
        questions=len(questions),
        known=len(rows),
        off=median(row.off for row in rows),
        off_then=median(row.off_then for row in rows),
        within=within,
        n_wanting=len(unsettled),
        wanting=tuple(unsettled[:MOST_NAMED]),
    )


def convert_forecast_to_dict(ten_more: MoreWorkersForecast) -> dict[str, Any]:
    """Return a forecast as plain values, ready for JSON."""
    return {**vars(ten_more), "wanting": [vars(row) for row in ten_more.wanting]}


def _distribute_answers(answers: Sequence[int], people: int, each: int | None) -> list[int]:
    """Return how many new answers each question gets, those with the fewest answers first."""
    more = [0] * len(answers)
    left = people * min(each or len(answers), len(answers))
    heap = [(n, index) for index, n in enumerate(answers)]
    # Each further answer goes to the question with the fewest, so a heap gives the next in log n.
    heapq.heapify(heap)
    while left and heap:
        n, index = heapq.heappop(heap)
        more[index] += 1
        left -= 1
        # One person answers a question once, so it gets at most one answer from each.
        if more[index] < people:
            heapq.heappush(heap, (n + 1, index))
    return more


@dataclass(frozen=True)
class GradedQuestion:
    """A graded question: its number of answers and mean leave-one-out score.

    Attributes
    ----------
    key, name : identifier and label of the question.
    answers : number of answers. left_out : mean similarity of an answer to the exemplary answer of
        the others; None for fewer than two answers.
    """

    key: Any
    name: str
    answers: int
    left_out: float | None


def estimate_question_similarity(question: GradedQuestion) -> float:
    """Return the estimated similarity of an answer to the truth, 0 to 1; NaN if unknown."""
    if question.left_out is None or question.answers < 2:
        return math.nan
    # Equal answers have a likeness of 1 and a rounding; below 0 there is nothing in common.
    # Minus 1: the score compares an answer with the consensus of the others only.
    return estimate_similarity_to_truth(min(1.0, max(0.0, question.left_out)), question.answers - 1)


@dataclass(frozen=True)
class ConsensusErrorForecast:
    """Expected error of the consensus now, with ten more answers, and by number of answers.

    Attributes
    ----------
    now, more : with as many answers as there are, and with ten more.
    curve : with 1 answer to at least 40, about 200 numbers; `now` and `more` are among them.
    """

    now: ErrorBounds
    more: ErrorBounds
    curve: list[ErrorBounds]


def forecast_consensus_error(similarity: float, answers: int) -> ConsensusErrorForecast:
    """Return the expected error of a consensus of so many answers, of ten more, and a curve.

    `similarity` is that of an answer to the truth, 0 to 1 (`estimate_similarity_to_truth`).
    """
    end = max(40, 2 * answers + TEN)
    # More than about 200 points would not be seen in the chart.
    step = max(1, end // 200)
    numbers = sorted({*range(1, end + 1, step), answers, answers + TEN})
    return ConsensusErrorForecast(
        now=compute_error_bounds(similarity, answers, DELTA),
        more=compute_error_bounds(similarity, answers + TEN, DELTA),
        curve=[compute_error_bounds(similarity, number, DELTA) for number in numbers],
    )


@dataclass(frozen=True)
class TypicalAnswer:
    """Means over the answers of a grading, from which the planner forecasts the error.

    Attributes
    ----------
    answers : mean number of answers to a question with two or more. left_out : mean leave-one-out
        score of these answers; None without any.
    similarity : of an answer to the truth, 0 to 1; None if the formulas do not hold.
    """

    answers: float
    left_out: float | None
    similarity: float | None


def estimate_typical_answer(questions: Sequence[GradedQuestion]) -> TypicalAnswer:
    """Return the means over the answers of a grading that the planner's forecast needs."""
    scored = [
        (question.answers, question.left_out)
        for question in questions
        if question.answers >= 2 and question.left_out is not None
    ]
    if not scored:
        return TypicalAnswer(0.0, None, None)
    total = sum(answers for answers, _ in scored)
    # Weighted by the answers of each question, so that it is the mean over answers.
    left_out = sum(answers * score for answers, score in scored) / total
    return build_typical_answer(total / len(scored), left_out)


def build_typical_answer(answers: float, left_out: float) -> TypicalAnswer:
    """Return these means with the similarity to the truth that they imply; None if undefined."""
    if left_out <= 0:
        return TypicalAnswer(answers, left_out, None)
    # Equal answers have a likeness of 1 and a rounding.
    similarity = estimate_similarity_to_truth(min(left_out, 1.0), answers - 1)
    return TypicalAnswer(answers, left_out, similarity)
