"""First voting weights of the iteration (Yahav et al. 2025, section 4.2 and appendix B.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Cells, Floats
from evaluation.core.stats.undefined import divide_where_positive


def compute_first_weights(init: str, cells: Cells, scores: ArrayLike | None, seed: int) -> Floats:
    """Return the first weight of each worker for the method "equal", "random" or "entailment".

    Raises ValueError where ``init="entailment"`` has not one score for each of N answers.
    """
    if init == "random":
        return draw_random_weights(cells.n_workers, seed)
    if init == "equal":
        return make_equal_weights(cells.n_workers)
    if scores is None:
        raise ValueError("the entailment initialisation needs initial_scores")
    of_rows = np.asarray(scores, dtype=float)
    if of_rows.shape != (len(cells),):
        raise ValueError(f"initial_scores must be one for each of {len(cells)} answers")
    return compute_weights_from_scores(of_rows, cells)


def make_equal_weights(n_workers: int) -> Floats:
    """Return the weight 1 / `n_workers` for every worker."""
    return np.full(n_workers, 1.0 / n_workers)


def draw_random_weights(n_workers: int, seed: int) -> Floats:
    """Return random weights of the workers: uniform, scaled to sum to 1."""
    weights = np.random.default_rng(seed).random(n_workers)
    return np.asarray(weights / weights.sum())


def compute_weights_from_scores(scores: Floats, cells: Cells) -> Floats:
    """Return worker weights that are proportional to the mean score of the worker's answers.

    Parameters
    ----------
    scores : (N,) one score a cell, in input order and not negative; for the entailment
        initialisation the mean probability that the other answers to the question entail this one
        (appendix B.1). NaN where a question has a single answer: left out of the mean.

    Notes
    -----
    Equal weights if no score is positive. A worker without a score gets weight 0.
    """
    in_cells = scores[cells.row]
    known = ~np.isnan(in_cells)
    if np.any(in_cells[known] < 0):
        raise ValueError("initial scores must not be negative")
    total = cells.sum_by_worker(np.where(known, in_cells, 0.0))
    count = cells.sum_by_worker(known.astype(float))
    mean = divide_where_positive(total, count, 0.0)
    if mean.sum() <= 0:
        return make_equal_weights(cells.n_workers)
    return np.asarray(mean / mean.sum())
