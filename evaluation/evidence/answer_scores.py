"""Measure how well a method's scores of single answers agree with known values of these answers.

A worker's score is a mean over many answers, and may be right where the single scores are not. Here
the single ones are looked at: do they rise with the answers' values within a question, is the best
one of a question a good answer, and do they tell answers of two labels apart?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.inference.clustered_bootstrap import (
    ClusteredEstimate,
    compute_clustered_interval,
)
from evaluation.core.stats.statistics.correlation import pearson
from evaluation.core.stats.statistics.roc import auc
from evaluation.evidence.baselines import Method, UnavailableError
from evaluation.evidence.labelled_crowd import DRAWS
from evaluation.evidence.methods_table import Trial

HEADER = ("setting", "method", "measure", "value", "low", "high", "questions")
WITHIN = "correlation_within_questions"
BEST = "value_of_the_best_answer"
# Why a method has no number.
NO_ANSWER_SCORES = "no_scores_of_answers"
NO_SPREAD = "no_question_with_spread"
NO_ANSWERS = "no_answers"
NO_PAIRS = "no_answers_of_a_label"


@dataclass(frozen=True)
class AnswerMeasure:
    """One measure of a method's answer scores, with its 95% interval over questions.

    Attributes
    ----------
    measure : `WITHIN`, `BEST` or the name of a contrast. found : of so many questions.
    """

    setting: str
    method: str
    measure: str
    found: ClusteredEstimate

    def cells(self) -> tuple[object, ...]:
        """Return the table row of the measure in the order of `HEADER`; None for an empty cell."""
        of = self.found
        return (self.setting, self.method, self.measure, of.value, of.low, of.high, of.n_clusters)


def measure_answer_scores(
    setting: str,
    trial: Trial,
    values: Floats,
    method: Method,
    contrasts: Mapping[str, tuple[Booleans, Booleans]],
    seed: int = 0,
) -> Iterator[AnswerMeasure]:
    """Yield each measure of how well a method's answer scores agree with known values.

    Parameters
    ----------
    values : (R,) what the corpus's answers are worth, NaN for unknown.
    contrasts : by name the corpus's answers (R,) that should score higher, and those (R,) that
        should score lower.

    By three kinds of measures: Pearson's correlation of scores and values within a question, mean
    over the questions with spread; the value of the question's answer of greatest score, that is
    the one nearest to the exemplary answer, mean over the questions (of answers of equal score the
    mean); and of each contrast the AUC over all its pairs of answers, of any questions. Intervals:
    questions drawn with replacement, the scores as they are.
    """
    for measure, found in _compute_measures(trial, values, method, contrasts, seed):
        yield AnswerMeasure(setting, method.name, measure, found)


def _compute_measures(
    trial: Trial,
    values: Floats,
    method: Method,
    contrasts: Mapping[str, tuple[Booleans, Booleans]],
    seed: int,
) -> Iterator[tuple[str, ClusteredEstimate]]:
    """Yield (measure, estimate) pairs.

    Estimates are empty, with a reason, without answer scores.
    """
    crowd = trial.crowd
    reason = NO_ANSWER_SCORES
    scores = None
    if method.answers is not None:
        try:
            scores = method.answers(crowd)
        except UnavailableError as error:
            reason = error.reason
    if scores is None:
        empty = ClusteredEstimate(reason=reason)
        yield from ((measure, empty) for measure in (WITHIN, BEST, *contrasts))
        return
    worth, questions = values[crowd.rows], crowd.questions
    scored = ~np.isnan(scores)
    has_both = scored & ~np.isnan(worth)
    rows_by_question = [
        np.flatnonzero(has_both & (questions == question))
        for question in np.unique(questions[has_both])
    ]
    within = [pearson(scores[rows], worth[rows]) for rows in rows_by_question]
    yield WITHIN, _estimate_mean([one for one in within if one is not None], seed, NO_SPREAD)
    best = [_compute_best_value(scores[rows], worth[rows]) for rows in rows_by_question]
    yield BEST, _estimate_mean(best, seed, NO_ANSWERS)
    for name, (higher, lower) in contrasts.items():
        yield (
            name,
            _estimate_auc(scores, questions, higher[crowd.rows], lower[crowd.rows] & scored, seed),
        )


def _compute_best_value(scores: Floats, values: Floats) -> float:
    """Return the mean value of the question's top-scored answers (ties within 1e-12)."""
    # Rounding does not make answers unequal.
    return float(values[scores >= scores.max() - 1e-12].mean())


def _estimate_mean(by_question: Sequence[float], seed: int, reason: str) -> ClusteredEstimate:
    """Return the mean over questions with its bootstrap interval; empty for no question."""
    numbers = np.array(by_question)
    if not len(numbers):
        return ClusteredEstimate(reason=reason)
    n = np.arange(len(numbers))
    return compute_clustered_interval(lambda rows: float(numbers[rows].mean()), n, DRAWS, seed)


def _estimate_auc(
    scores: Floats, questions: Integers, higher: Booleans, lower: Booleans, seed: int
) -> ClusteredEstimate:
    """Return the AUC of scores of `higher` against `lower` answers, resampled by question."""
    higher = higher & ~np.isnan(scores)
    rows = np.flatnonzero(higher | lower)
    scores, higher = scores[rows], higher[rows]

    def statistic(drawn: Integers) -> float | None:
        return auc(scores[drawn[higher[drawn]]], scores[drawn[~higher[drawn]]])

    estimate = compute_clustered_interval(statistic, questions[rows], DRAWS, seed)
    return estimate if estimate.value is not None else replace(estimate, reason=NO_PAIRS)
