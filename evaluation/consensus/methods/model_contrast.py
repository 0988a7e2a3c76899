"""Question contrast of language models' answers, empty and refused ones counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluation.consensus.methods.fitted import FittedCrowd
from evaluation.consensus.methods.question_contrast import Contrasts
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.inference.intervals import compute_t_interval
from evaluation.core.stats.undefined import divide_where_positive


def contrast_models(
    crowd: FittedCrowd,
    vectors: Vectors,
    model: Integers,
    question: Integers,
    compared: Booleans,
    silent: Booleans,
    n_models: int,
    other_reasons: Sequence[str | None],
) -> Contrasts:
    """Return the contrast of models' answers to the voters' exemplary answers, with their means.

    Parameters
    ----------
    vectors : (R, d). model, question : (R,) codes, -1 for a question that nobody answered.
    compared : (R,) answers with a text and an exemplary answer. silent : (R,) empty and refused
        answers to questions with one: they count as the lowest contrast of a worker's answer to
        the question, at most 0, and are undefined where no worker's answer has a contrast.
    other_reasons : (R,) why an answer has no score, for those that are neither.
    """
    r = len(model)
    if crowd.contrast_obstacle is not None:
        return Contrasts.undefined(r, n_models, crowd.contrast_obstacle)
    rows = np.flatnonzero(compared)
    exemplars = crowd.build_exemplars()
    found = exemplars.compare_others(vectors[rows], model[rows], question[rows], n_models)
    answers, pseudovalues = np.full((2, r), np.nan)
    answers[rows], pseudovalues[rows] = found.answers, found.pseudovalues
    reasons = list(other_reasons)
    for row, reason in zip(rows.tolist(), found.reasons, strict=True):
        reasons[row] = reason
    found = replace(found, answers=answers, reasons=reasons, pseudovalues=pseudovalues)
    return _count_silent_answers(crowd, found, model, question, np.flatnonzero(silent))


def _count_silent_answers(
    crowd: FittedCrowd, found: Contrasts, model: Integers, question: Integers, silent: Integers
) -> Contrasts:
    """Return the contrasts with empty and refused answers in the means of their models."""
    if not len(silent):
        return found
    answers, pseudovalues = found.answers.copy(), found.pseudovalues.copy()
    reasons = list(found.reasons)
    lowest = _find_lowest_contrasts(crowd)[question[silent]]
    answers[silent] = pseudovalues[silent] = lowest
    for row, value in zip(silent.tolist(), lowest.tolist(), strict=True):
        reasons[row] = "no_exemplar" if np.isnan(value) else None
    k = len(found.means)
    known = ~np.isnan(answers)
    n = np.bincount(model[known], minlength=k)
    means = divide_where_positive(np.bincount(model[known], answers[known], k), n)
    centre = divide_where_positive(np.bincount(model[known], pseudovalues[known], k), n)
    squares = np.where(known, (pseudovalues - centre[model]) ** 2, 0.0)
    spread = divide_where_positive(np.bincount(model, squares, k), np.where(n > 1, n * (n - 1), 0))
    affected = np.bincount(model[silent], minlength=k) > 0
    errors = np.where(affected, np.sqrt(spread), found.errors)
    interval = compute_t_interval(means, errors, n)
    return replace(
        found,
        answers=answers,
        reasons=reasons,
        means=means,
        errors=errors,
        low=interval.low,
        high=interval.high,
        owner_reasons=[
            None if count else reason
            for count, reason in zip(n.tolist(), found.owner_reasons, strict=True)
        ],
        interval_reasons=list(interval.reasons),
        n=n,
        pseudovalues=pseudovalues,
    )


def _find_lowest_contrasts(crowd: FittedCrowd) -> Floats:
    """Return the lowest contrast of a worker's answer to each question, at most 0; NaN for none."""
    cells = crowd.vote.cells
    lowest = np.fmin.reduceat(crowd.contrasts.answers[cells.row], cells.starts)
    return np.asarray(np.minimum(cells.to_questions(lowest), 0.0))
