"""Compare methods on held-out questions and on single answers; charts of correlations.

Measure how well a method's scores of single answers agree with known values of these answers.

A worker's score is a mean over many answers, and may be right although the single scores are not.
The single scores are examined here: do they increase with the answers' values within a question,
has the top-scored answer of a question a high value, and do they separate answers of two labels?

Choose a method on one half of the questions and report it on the other half.

The best of many methods looks better than it is on the data by which it was chosen. So the
questions are split at random (by the study's seed). The unsupervised method with the greatest mean
correlation over the settings is chosen on one half, and evaluated on the other.

Draw charts of the methods' correlations with the truth, one for each setting.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.core.charts.chart import Chart, EstimateRow, RowStyle, build_estimates_chart
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.inference.clustered import ClusteredEstimate, compute_clustered_interval
from evaluation.core.stats.statistics.descriptive import auc, pearson
from evaluation.evidence.baselines import CONTRADICTION, METHODS, Method, UnavailableError
from evaluation.evidence.labelled_crowd import DRAWS, Trial
from evaluation.evidence.tables import EvidenceRow, write_table

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
    """Measure of one method's answer scores, with its 95% interval over questions.

    Attributes
    ----------
    measure : `WITHIN`, `BEST` or the name of a contrast.
    """

    setting: str
    method: str
    measure: str
    estimate: ClusteredEstimate

    def list_cells(self) -> tuple[object, ...]:
        """Return the table row of the measure in the order of `HEADER`; None for an empty cell."""
        estimate = self.estimate
        return (
            self.setting,
            self.method,
            self.measure,
            estimate.value,
            estimate.low,
            estimate.high,
            estimate.n_clusters,
        )


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
    values : (R,) true values of the corpus's answers, NaN for unknown.
    contrasts : by name the corpus's answers (R,) that should score higher, and those (R,) that
        should score lower.

    There are three kinds of measures: Pearson's correlation of scores and values within a question,
    averaged over the questions with spread; the value of the question's top-scored answer, averaged
    over questions (ties by their mean); and for each contrast, the AUC over all pairs of answers,
    across questions. Intervals come from resampling questions, without scoring again.
    """
    for measure, estimate in _compute_measures(trial, values, method, contrasts, seed):
        yield AnswerMeasure(setting, method.name, measure, estimate)


def _compute_measures(
    trial: Trial,
    values: Floats,
    method: Method,
    contrasts: Mapping[str, tuple[Booleans, Booleans]],
    seed: int,
) -> Iterator[tuple[str, ClusteredEstimate]]:
    """Yield the name and the estimate of each measure of a method's answer scores.

    Estimates are empty, with a reason, without answer scores.
    """
    crowd = trial.crowd
    reason = NO_ANSWER_SCORES
    scores = None
    if method.score_answers is not None:
        try:
            scores = method.score_answers(crowd)
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
    # Scores that differ only by rounding are equal.
    return float(values[scores >= scores.max() - 1e-12].mean())


def _estimate_mean(by_question: Sequence[float], seed: int, reason: str) -> ClusteredEstimate:
    """Return the mean over questions with its bootstrap interval; `reason` without questions."""
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
        """Return the AUC of a draw of the answers."""
        return auc(scores[drawn[higher[drawn]]], scores[drawn[~higher[drawn]]])

    estimate = compute_clustered_interval(statistic, questions[rows], DRAWS, seed)
    return estimate if estimate.value is not None else replace(estimate, reason=NO_PAIRS)


# Not candidates: supervised methods know the key, and controls read no answer.
NOT_CHOSEN = frozenset({"control", "supervised"})
HELDOUT_HEADER = ("method", "setting", "pearson_mean", "mean_of_settings", "chosen")


@dataclass(frozen=True)
class MethodChoice:
    """The method chosen on one half of the questions, and the means it was chosen by.

    Attributes
    ----------
    method : name of the chosen method; None if none could be computed.
    rows : table rows of the choosing half. means : mean correlation by method.
    questions : labels of the questions in that half. seed : seed of the split.
    """

    method: str | None
    rows: Sequence[EvidenceRow]
    means: dict[str, float]
    questions: Sequence[object]
    seed: int

    def describe(self) -> dict[str, object]:
        """Return the entries about the choice for summary.json."""
        return {
            "chosen": self.method,
            "chosen_by": "greatest mean over settings, on the questions listed",
            "questions": [str(label) for label in self.questions],
            "seed": self.seed,
        }


def draw_choosing_half(n_questions: int, seed: int) -> Booleans:
    """Return flags of a random half of the questions (rounded down), for choosing a method."""
    half = np.zeros(n_questions, dtype=bool)
    half[np.random.default_rng(seed).permutation(n_questions)[: n_questions // 2]] = True
    return half


def choose_method(
    rows: Sequence[EvidenceRow], methods: Sequence[Method], questions: Sequence[object], seed: int
) -> MethodChoice:
    """Return the unsupervised method of greatest mean correlation; the first of ties."""
    means: dict[str, float] = {}
    for method in methods:
        found = [row.pearson_mean for row in rows if row.method == method.name]
        if method.kind not in NOT_CHOSEN and found and not np.isnan(found).any():
            means[method.name] = float(np.mean(found))
    best = max(means, key=means.__getitem__) if means else None
    return MethodChoice(best, rows, means, questions, seed)


def write_choice_table(folder: OutputFolder, choice: MethodChoice) -> None:
    """Write choosing.csv and choosing.md: all candidates on the half used for choosing."""
    cells = [
        (
            row.method,
            row.setting,
            row.pearson_mean,
            choice.means[row.method],
            "yes" if row.method == choice.method else "no",
        )
        for row in choice.rows
        if row.method in choice.means
    ]
    write_table(folder, "choosing", HELDOUT_HEADER, cells)


ROW_STYLES: dict[str, RowStyle] = {
    "aqer": "",
    "baseline": "-weak",
    "control": "-weak",
    "supervised": "-model",
}


def build_method_charts(rows: Sequence[EvidenceRow], axis: str) -> list[Chart]:
    """Return a chart of methods for each setting, in table order."""
    return [
        build_method_chart(setting, [row for row in rows if row.setting == setting], axis)
        for setting in dict.fromkeys(row.setting for row in rows)
    ]


def build_method_chart(setting: str, rows: Sequence[EvidenceRow], axis: str) -> Chart:
    """Return the chart of the methods in one setting, best on top, without empty rows."""
    known = [row for row in rows if not math.isnan(row.pearson_mean)]
    known.sort(key=lambda row: -row.pearson_mean)
    chart = build_estimates_chart(
        name=f"table-{setting}",
        title=f"Agreement with the truth, {setting}",
        explanation=(
            "Each row is a method; the further to the right, the better its scores of workers "
            "agree with the truth. Lines are one standard deviation over simulated crowds to "
            "either side. Filled dots are AQER and its variants, open ones what it is compared "
            "with; the diamond knows the answers."
        ),
        axis=axis,
        rows=[_build_chart_row(row) for row in known],
    )
    return replace(
        chart,
        note="Filled dots: AQER and its variants. Open dots: baselines. Diamond: knows the key. "
        "Lines: one standard deviation over crowds.",
    )


def _build_chart_row(row: EvidenceRow) -> EstimateRow:
    """Return the chart row of a method: mean, one standard deviation to either side, and a tip."""
    mean, sd = row.pearson_mean, row.pearson_sd
    return EstimateRow(
        name=row.method,
        value=mean,
        low=None if sd is None else mean - sd,
        high=None if sd is None else min(1.0, mean + sd),
        tip=f"{row.method}\nr {mean:.3f}" + ("" if sd is None else f", sd {sd:.3f}"),
        style=ROW_STYLES[METHODS.get(row.method, CONTRADICTION).kind],
    )
