"""Vectors to the map of answers, and scores to the overview of workers and questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import ModelAnswers
from evaluation.consensus.methods.votes import usable
from evaluation.consensus.vectors import Progress
from evaluation.grading.methods.overview import compute_mean_by_code, compute_overview
from evaluation.grading.methods.projection import (
    compute_exemplar_paths,
    compute_principal_axes,
    compute_question_maps,
    is_unit_length,
)
from evaluation.grading.run.grading import Grading
from evaluation.methods.cells import Cells, Floats, codes_of
from evaluation.methods.undefined import or_none

# Colours of the heat map, each for as many answers as another one.
SHARES = 7


@dataclass(frozen=True)
class Maps:
    """Where everything stands; rows of N answers, R models' answers, Q questions, M workers.

    Attributes
    ----------
    places, of_models : (N, 4), (R, 4) x and y on the run's axes, x and y on the question's own;
        float32, NaN where a model's answer has no text or no question to stand with.
    paths : (Q, T, 4) of the exemplary answers after each of T iterations.
    own_share, run_share : (Q,) part of a question's variance that the axes show.
    weights, grades : (T, M) voting weights and grades. about : the run's part, for its summary.
    """

    places: NDArray[np.float32]
    of_models: NDArray[np.float32]
    paths: NDArray[np.float32]
    own_share: Floats
    run_share: Floats
    weights: NDArray[np.float32]
    grades: NDArray[np.float32]
    about: dict[str, Any]


def map_answers(grading: Grading, progress: Progress) -> Maps:
    """Project the answers of a grading."""
    progress("map", 0, 1)
    aqer, embedded, answers = grading.graded.aqer, grading.embedded, grading.given.answered
    worker, _ = codes_of(answers.workers)
    question, questions = codes_of(answers.questions)
    spoken_to = grading.given.models or ModelAnswers.of([])
    cells = Cells.from_codes(worker, question, len(aqer.workers_), len(questions))
    vectors = usable(embedded.answers, unit_length=aqer.unit_length)
    targets = embedded.models
    if targets is not None:
        targets = usable(targets, unit_length=aqer.unit_length)
    axes = compute_principal_axes(vectors)
    of_run = axes(vectors)
    code_of = {label: code for code, label in enumerate(questions.tolist())}
    asked = np.array([code_of.get(label, -1) for label in spoken_to.questions], dtype=np.int64)
    spoken = np.array([status is AnswerStatus.TEXT for status in spoken_to.statuses], dtype=bool)
    own = compute_question_maps(vectors, cells, of_run, targets, asked)
    of_models = np.full((len(asked), 4), np.nan)
    if targets is not None and len(asked):
        of_models = np.hstack([axes(targets), own.of_targets])
    of_models[(asked < 0) | ~spoken] = np.nan
    places = np.hstack([of_run, own.places])
    history = aqer.history_
    weights = history.weights
    paths = compute_exemplar_paths(places, cells, weights)
    shares = [or_none(share) for share in axes.shares]
    return Maps(
        places=_small(places),
        of_models=_small(of_models),
        paths=_small(paths),
        own_share=own.shares,
        run_share=own.shares_of_run,
        weights=weights,
        grades=history.grades,
        about={
            "shares": shares,
            "n_learned": axes.n_learned,
            "unit_length": is_unit_length(vectors),
            "iterations": history.iterations,
            "n_workers": len(aqer.workers_),
            "is_mean": _ends_at(paths[:, -1, :2], axes(aqer.exemplars())),
        },
    )


def heat_map(grading: Grading) -> dict[str, Any]:
    """Return mean leave-one-out scores by groups of workers and of questions, ready for JSON.

    Workers stand by grade (those without one last), questions by their mean score, easiest first.
    `quantiles` part all scores into seven equal shares: bounds of colours.
    """
    aqer, answers = grading.graded.aqer, grading.given.answered
    worker, _ = codes_of(answers.workers)
    question, questions = codes_of(answers.questions)
    scores = aqer.leave_one_out_scores_
    found = compute_overview(
        scores,
        worker,
        question,
        np.argsort(-np.nan_to_num(aqer.grades_, nan=-1.0), kind="stable"),
        np.argsort(-_last(compute_mean_by_code(scores, question, len(questions))), kind="stable"),
    )
    return {
        "means": [[_or_none(value) for value in row] for row in found.means],
        "counts": found.counts.tolist(),
        "workers_to": found.workers_to.tolist(),
        "questions_to": found.questions_to.tolist(),
        "quantiles": _quantiles(scores),
    }


def question_means(grading: Grading) -> Floats:
    """Return (Q,) mean leave-one-out score of the answers to each question; NaN without one."""
    question, questions = codes_of(grading.given.answered.questions)
    scores = grading.graded.aqer.leave_one_out_scores_
    return compute_mean_by_code(scores, question, len(questions))


def as_bytes(row: NDArray[np.float32]) -> bytes | None:
    """Return numbers as little-endian float32; None where one of them is not finite."""
    return row.astype("<f4").tobytes() if bool(np.isfinite(row).all()) else None


def _small(values: Floats) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # what float32 cannot hold has no place
        return values.astype(np.float32)


def _ends_at(means: Floats, exemplars: Floats) -> bool:
    """Whether the exemplary answers are weighted means of the answers, and not only near them.

    By majority or of the largest camp they are not.
    """
    return bool(np.allclose(means, exemplars, rtol=1e-4, atol=1e-4 * np.abs(means).max(initial=0)))


def _last(values: Floats) -> Floats:
    return np.where(np.isnan(values), -np.inf, values)


def _quantiles(scores: Floats) -> list[float]:
    known = scores[~np.isnan(scores)]
    if not len(known):
        return []
    parts = np.quantile(known, [part / SHARES for part in range(1, SHARES)])
    return [round(float(value), 4) for value in parts]


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)
