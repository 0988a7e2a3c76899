"""Compute the map of answers from their vectors, and the heat map from their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import ModelAnswers, Progress
from evaluation.consensus.methods.votes import convert_vectors
from evaluation.core.stats.cells import Cells, Floats, convert_nan_to_none, encode_labels
from evaluation.grading.methods.projection import (
    compute_exemplar_paths,
    compute_mean_by_code,
    compute_overview,
    compute_principal_axes,
    compute_question_maps,
    is_unit_length,
)
from evaluation.grading.run.grading import Grading

# Colours of the heat map, each for as many answers as another one.
SHARES = 7


@dataclass(frozen=True)
class Maps:
    """Map coordinates of the answers, models' answers and exemplary answers of a grading.

    Attributes
    ----------
    places, of_models : (N, 4), (R, 4) x and y on the run's axes, x and y on the question's own;
        float32, NaN for a model's answer without a text or to a question without workers' answers.
    paths : (Q, T, 4) the same of the exemplary answers after each of T iterations.
    own_share, run_share : (Q,) share of a question's variance on its own and on the run's axes.
    weights, grades : (T, M) voting weights and grades. about : map settings for the run's summary.
    """

    places: NDArray[np.float32]
    of_models: NDArray[np.float32]
    paths: NDArray[np.float32]
    own_share: Floats
    run_share: Floats
    weights: NDArray[np.float32]
    grades: NDArray[np.float32]
    about: dict[str, Any]


def compute_answer_maps(grading: Grading, progress: Progress) -> Maps:
    """Return the map coordinates of all answers and exemplary answers of a grading."""
    progress("map", 0, 1)
    aqer, embedded, answers = grading.graded.aqer, grading.embedded, grading.inputs.answered
    worker, _ = encode_labels(answers.workers)
    question, questions = encode_labels(answers.questions)
    model_answers = grading.inputs.models or ModelAnswers.from_rows([])
    cells = Cells.from_codes(worker, question, len(aqer.workers_), len(questions))
    vectors = convert_vectors(embedded.answers, unit_length=aqer.unit_length)
    targets = embedded.models
    if targets is not None:
        targets = convert_vectors(targets, unit_length=aqer.unit_length)
    run_projection = compute_principal_axes(vectors)
    run_places = run_projection(vectors)
    code_of = {label: code for code, label in enumerate(questions.tolist())}
    model_questions = np.array(
        [code_of.get(label, -1) for label in model_answers.questions], dtype=np.int64
    )
    is_text = np.array(
        [status is AnswerStatus.TEXT for status in model_answers.statuses], dtype=bool
    )
    own_maps = compute_question_maps(vectors, cells, run_places, targets, model_questions)
    of_models = np.full((len(model_questions), 4), np.nan)
    if targets is not None and len(model_questions):
        of_models = np.hstack([run_projection(targets), own_maps.of_targets])
    # An answer without a text has a vector of zeros, which is no place on the map.
    of_models[(model_questions < 0) | ~is_text] = np.nan
    places = np.hstack([run_places, own_maps.places])
    history = aqer.history_
    weights = history.weights
    paths = compute_exemplar_paths(places, cells, weights)
    shares = [convert_nan_to_none(share) for share in run_projection.shares]
    return Maps(
        places=_convert_to_float32(places),
        of_models=_convert_to_float32(of_models),
        paths=_convert_to_float32(paths),
        own_share=own_maps.shares,
        run_share=own_maps.shares_of_run,
        weights=weights,
        grades=history.grades,
        about={
            "shares": shares,
            "n_learned": run_projection.n_learned,
            "unit_length": is_unit_length(vectors),
            "iterations": history.iterations,
            "n_workers": len(aqer.workers_),
            "is_mean": _is_weighted_mean(
                paths[:, -1, :2], run_projection(aqer.compute_exemplars())
            ),
        },
    )


def build_heat_map(grading: Grading) -> dict[str, Any]:
    """Return mean leave-one-out scores by groups of workers and of questions, to be stored.

    Workers are sorted by grade (those without one last), questions by mean score, easiest first.
    `quantiles` are the six bounds that split all scores into seven equal shares, one per colour.
    """
    aqer, answers = grading.graded.aqer, grading.inputs.answered
    worker, _ = encode_labels(answers.workers)
    question, questions = encode_labels(answers.questions)
    scores = aqer.leave_one_out_scores_
    heat_overview = compute_overview(
        scores,
        worker,
        question,
        np.argsort(-np.nan_to_num(aqer.grades_, nan=-1.0), kind="stable"),
        np.argsort(
            -_replace_nan(compute_mean_by_code(scores, question, len(questions))), kind="stable"
        ),
    )
    return {
        "means": [[_round_or_none(value) for value in row] for row in heat_overview.means],
        "counts": heat_overview.counts.tolist(),
        "workers_to": heat_overview.workers_to.tolist(),
        "questions_to": heat_overview.questions_to.tolist(),
        "quantiles": _compute_quantiles(scores),
    }


def compute_question_means(grading: Grading) -> Floats:
    """Return the mean leave-one-out score of each question's answers (Q,); NaN if undefined."""
    question, questions = encode_labels(grading.inputs.answered.questions)
    scores = grading.graded.aqer.leave_one_out_scores_
    return compute_mean_by_code(scores, question, len(questions))


def convert_to_bytes(row: NDArray[np.float32]) -> bytes | None:
    """Return numbers as little-endian float32 bytes; None if a number is not finite."""
    return row.astype("<f4").tobytes() if bool(np.isfinite(row).all()) else None


def _convert_to_float32(values: Floats) -> NDArray[np.float32]:
    """Return values as float32; those beyond its range become infinite."""
    with np.errstate(over="ignore"):  # what float32 cannot hold has no place
        return values.astype(np.float32)


def _is_weighted_mean(means: Floats, exemplars: Floats) -> bool:
    """Return whether the exemplary answers lie at the weighted means of the answers on the map.

    They are not by majority vote, nor where they are those of the largest camp.
    """
    # The history's weights have 32 bits: means that are the same differ by rounding.
    return bool(np.allclose(means, exemplars, rtol=1e-4, atol=1e-4 * np.abs(means).max(initial=0)))


def _replace_nan(values: Floats) -> Floats:
    """Return values with NaN replaced by -inf, which sorts last."""
    return np.where(np.isnan(values), -np.inf, values)


def _compute_quantiles(scores: Floats) -> list[float]:
    """Return the six bounds that split the scores into seven equal shares; empty without any."""
    known = scores[~np.isnan(scores)]
    if not len(known):
        return []
    parts = np.quantile(known, [part / SHARES for part in range(1, SHARES)])
    return [round(float(value), 4) for value in parts]


def _round_or_none(value: float) -> float | None:
    """Return a number rounded to 4 digits; None for NaN."""
    return None if np.isnan(value) else round(float(value), 4)
