"""Conclusions of the model overview: answered questions, evidence by model, table rows.

A conclusion is a message with its numbers; each interface formats it. The answer may be that the
data do not show it: an interval that contains 0, or fewer than 10 questions, prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.model_overview.methods import compute_detectable_correlation
from evaluation.model_overview.run.findings import (
    CorrelationRow,
    ModelResultRow,
    SummaryMeasure,
    ViewsSummary,
    compute_aspect_disagreement,
)
from evaluation.model_overview.run.gathering import AlignedMetrics
from evaluation.runs.flow.stored import Aspect, Measure

# With fewer questions there is no verdict, whatever the interval.
FEW = 10

Verdict = Literal["yes", "no", "untold", "few", "undefined"]
Against = Literal["better", "worse", "alike", "few", "alone", "neither"]


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question about the relation of two measures, with its answer as a message.

    Attributes
    ----------
    name : code of the question. view, other : names of the two views.
    said : the answer; its numbers have the sign for which a positive correlation means yes.
    """

    name: str
    view: str
    other: str
    said: Message


def answer_questions(summary: ViewsSummary) -> list[AnsweredQuestion]:
    """Return the answered questions about pairs of measures; none about a measure without data."""
    crowd, sure = (
        summary.find_main_measure(Aspect.CROWD),
        summary.find_main_measure(Aspect.UNCERTAINTY),
    )
    robust, apart = summary.find_main_measure(Aspect.ROBUSTNESS), summary.dispersion
    wanted = (
        ("uncertainty_distance", sure, crowd, 1),
        ("dispersion_distance", apart, crowd, -1),
        ("dispersion_uncertainty", apart, sure, -1),
        ("robustness_distance", robust, crowd, 1),
    )
    result = []
    for name, one, other, sign in wanted:
        if one is None or other is None:
            continue
        row = summary.find_correlation(one.view.name, other.view.name)
        if row is not None:
            # Each view whose lower values are better turns the correlation around.
            turned = sign * _get_direction_sign(one.view) * _get_direction_sign(other.view)
            answer = _answer_question(f"views.{name}", row, turned)
            result.append(AnsweredQuestion(name, one.view.name, other.view.name, answer))
    return result


def _get_direction_sign(view: Measure) -> int:
    """Return -1 if smaller values of a measure are better, else 1."""
    return -1 if view.better == "lower" else 1


def _answer_question(code: str, row: CorrelationRow, sign: int) -> Message:
    """Return the answer to a question on two measures: yes if correlation x `sign` is above 0."""
    value = None if row.spearman is None else sign * row.spearman
    ends = (
        None if row.low is None or row.high is None else sorted((sign * row.low, sign * row.high))
    )
    low, high = ends or (None, None)
    values = {
        "value": value,
        "low": low,
        "high": high,
        "questions": row.n_questions,
        "models": row.n_models,
        "smallest": compute_detectable_correlation(row.n_questions),
        "reason": row.reason or "",
    }
    return Message(f"{code}.{_choose_verdict(value, low, high, row.n_questions)}", values)


def _choose_verdict(value: float | None, low: float | None, high: float | None, n: int) -> Verdict:
    """Return the verdict on a correlation: yes, no, untold (undecided), few, or undefined."""
    if value is None:
        return "undefined"
    if n < FEW:
        return "few"
    if low is None or high is None or low <= 0 <= high:
        return "untold"
    return "yes" if low > 0 else "no"


@dataclass(frozen=True)
class ClaimEvidence:
    """A sentence about a model, and the measure that it is based on."""

    said: Message
    about: SummaryMeasure


@dataclass(frozen=True)
class Claim:
    """A question about one model (such as whether its confidence is justified), with evidence.

    Attributes
    ----------
    name : code of the question: knows, knows_that_not or says_the_same.
    evidence : sentences from the views that answer it; empty without any.
    missing : aspects without a result.
    """

    name: str
    evidence: list[ClaimEvidence]
    missing: list[Aspect]


@dataclass(frozen=True)
class ModelEvidence:
    """Evidence about one model from all measures; `place` is its index in the summary."""

    model: str
    place: int
    claims: list[Claim]


CLAIMS: tuple[tuple[str, tuple[Aspect, ...]], ...] = (
    ("knows", (Aspect.CROWD,)),
    ("knows_that_not", (Aspect.UNCERTAINTY, Aspect.ANSWERABILITY)),
    ("says_the_same", (Aspect.ROBUSTNESS,)),
)


def build_model_evidence(summary: ViewsSummary, place: int) -> ModelEvidence:
    """Return the evidence about the model at index `place` of the summary."""
    model = summary.models[place]
    claims = []
    for name, sides in CLAIMS:
        evidence: list[ClaimEvidence] = []
        missing = []
        for side in sides:
            evidences = list(_iterate_evidence(summary, model, side))
            evidence += evidences
            if not evidences:
                missing.append(side)
        claims.append(Claim(name, evidence, missing))
    return ModelEvidence(model, place, claims)


def _iterate_evidence(summary: ViewsSummary, model: str, side: Aspect) -> Iterator[ClaimEvidence]:
    """Yield the sentences on one model in the measures of an aspect that have a value."""
    for model_view in summary.model_views:
        number = summary.find_model_value(model, model_view.view.name)
        if model_view.view.side == side and number is not None and number.value is not None:
            values = {
                "title": model_view.view.title,
                "value": number.value,
                **_get_range(model_view.view),
            }
            yield ClaimEvidence(Message(f"views.{model_view.view.name}", values), model_view)
    about = summary.find_main_measure(side)
    row = summary.find_model_result(model, about.view.name) if about is not None else None
    if about is None or row is None or row.mean is None:
        return
    if side != Aspect.UNCERTAINTY:
        yield ClaimEvidence(
            Message(f"views.mean_{side}", build_mean_sentence_values(row, about.view)), about
        )
        return
    # The level of confidence shows nothing; its correlation with the distance from the crowd does.
    own, crowd = summary.find_own_correlation(model), summary.find_main_measure(Aspect.CROWD)
    if own is not None and crowd is not None:
        turned = _get_direction_sign(about.view) * _get_direction_sign(crowd.view)
        yield ClaimEvidence(_answer_question("views.sure", own, turned), about)


def build_mean_sentence_values(row: ModelResultRow, view: Measure) -> dict[str, Any]:
    """Return the values for a sentence on a model's mean; a positive `gain` is better."""
    sign = _get_direction_sign(view)
    gain = None if row.gain is None else sign * row.gain
    ends = (
        None
        if row.gain_low is None or row.gain_high is None
        else sorted((sign * row.gain_low, sign * row.gain_high))
    )
    low, high = ends or (None, None)
    return {
        "title": view.title,
        "mean": row.mean,
        "low": row.low,
        "high": row.high,
        "questions": row.n,
        "gain": gain,
        "gain_low": low,
        "gain_high": high,
        "n_gain": row.n_gain,
        "place": row.place,
        "models": row.n_models,
        "against": compare_with_others(row, view),
        **_get_range(view),
    }


def compare_with_others(row: ModelResultRow, view: Measure) -> Against:
    """Return how a model's mean compares with the others' mean, or why that is not decided."""
    if not view.better:
        return "neither"
    if row.gain is None:
        return "alone"
    if row.n_gain < FEW:
        return "few"
    if row.gain_low is None or row.gain_high is None or row.gain_low <= 0 <= row.gain_high:
        return "alike"
    return "better" if (row.gain_low > 0) == (view.better == "higher") else "worse"


def _get_range(view: Measure) -> dict[str, float | None]:
    """Return the smallest and greatest possible value of a measure, by the names in sentences."""
    return {"lowest": view.lowest, "highest": view.highest}


# Why a number of a model over all questions has no interval, and a cell no number.
OVER_ALL = "over_all_questions"
NOT_LOOKED_AT = "not_looked_at"


def list_cell_columns(together: AlignedMetrics) -> tuple[str, ...]:
    """Return the column names of views.csv."""
    names = [view.name for view in together.views]
    return ("question", "model", *names, "disagreement", "best_view", "worst_view", "reason")


def iterate_cell_rows(together: AlignedMetrics) -> Iterator[tuple[object, ...]]:
    """Yield the rows of views.csv, one per question and model; a missing value is empty.

    `reason` names the views without a number and why, as VIEW: CODE, parted by semicolons.
    """
    disagreement = compute_aspect_disagreement(together)
    sides = [together.views[index].name for index in together.sides]
    names = [view.name for view in together.views]
    numbers = together.values.transpose(2, 1, 0).tolist()
    strength = disagreement.strength.T.tolist()
    for question, (of_models, strong) in enumerate(zip(numbers, strength, strict=True)):
        for model, (cells, apart) in enumerate(zip(of_models, strong, strict=True)):
            values = [convert_nan_to_none(cell) for cell in cells]
            missing = [
                f"{names[index]}: {together.reasons.get((index, model, question), NOT_LOOKED_AT)}"
                for index, value in enumerate(values)
                if value is None
            ]
            ends = (None, None)
            if not np.isnan(apart):
                best, worst = (
                    disagreement.highest[model, question],
                    disagreement.lowest[model, question],
                )
                ends = (sides[best], sides[worst])
            yield (
                together.questions[question],
                together.models[model],
                *values,
                convert_nan_to_none(apart),
                *ends,
                "; ".join(missing),
            )


def iterate_model_rows(summary: ViewsSummary) -> Iterator[ModelResultRow]:
    """Yield the rows of models.csv: each model's mean and rank in each measure."""
    for model in summary.models:
        yield from (row for row in summary.standings if row.model == model)
        for number in summary.of_models:
            if number.model == model:
                nothing = (None, None, 0, None, None, None, 0, None, 0)
                reason = number.reason or OVER_ALL
                yield ModelResultRow(model, number.view, number.value, *nothing, reason)
