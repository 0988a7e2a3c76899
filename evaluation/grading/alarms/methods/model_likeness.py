"""Workers whose answers are nearer to a language model's than to anybody else's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats

from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.methods.cells import Cells, Floats, Integers
from evaluation.methods.grams import Vectors, dense
from evaluation.methods.undefined import ratio

FEWEST_SHARED = 5
# A worker is told if it is nearer to the model than to the nearest worker by so many standard
# errors, as a normal quantile, ...
THRESHOLD = 3.0
# ... and if more than this share of the gap between the model and the crowd is closed: otherwise a
# model that answers as well as the best would make model-like whoever answers well.
CLOSED = 0.3
AT_ONCE = 20_000


@dataclass(frozen=True)
class ModelLikeness:
    """Who answers like one language model.

    Attributes
    ----------
    model : its label.
    statistic : (M,) z of a worker's mean cosine to the model above that to the nearest worker, by a
        paired t test over questions; NaN where fewer than 5 questions are shared, where the
        nearest worker is nearer than the model, or where `closed` is too small to matter.
    closed : (M,) share of the gap from the crowd's mean cosine with the model to 1 that the worker
        closes; NaN where undefined.
    workers : codes of those above both thresholds.
    """

    model: object
    statistic: Floats
    closed: Floats
    workers: Integers
    threshold: float = THRESHOLD


def model_cosines(
    cells: Cells, vectors: Vectors, questions: Integers, model_vectors: Vectors
) -> Floats:
    """Return (N,) cosine of each cell's answer to one model's answer to its question.

    Cells in cell order; NaN where the model has none; 0 where a vector is zero.

    Parameters
    ----------
    vectors : (rows, d) of the workers' answers. model_vectors : (R, d), one answer a question.
    questions : (R,) question codes of the model's answers, each at most once.
    """
    place = np.full(cells.n_questions, -1)
    place[questions] = np.arange(len(questions))
    at = np.flatnonzero(place[cells.question] >= 0)
    out = np.full(len(cells), np.nan)
    for begin in range(0, len(at), AT_ONCE):
        part = at[begin : begin + AT_ONCE]
        x = _units(vectors[cells.row[part]])
        y = _units(model_vectors[place[cells.question[part]]])
        out[part] = np.clip(_inner(x, y), -1.0, 1.0)
    return out


def model_likeness(model: object, pairs: Pairs, cells: Cells, to_model: Floats) -> ModelLikeness:
    """Compare workers with one model; `to_model` (N,) comes from `model_cosines`."""
    known = ~np.isnan(to_model)
    n = cells.sum_by_worker(known.astype(np.float64))
    value = np.where(known, to_model, 0.0)
    mean = ratio(cells.sum_by_worker(value), n)
    closed = _closed(cells, known, value, n)
    nearest = _nearest(pairs)
    statistic = np.full(cells.n_workers, np.nan)
    able = (n >= FEWEST_SHARED) & (nearest >= 0) & (np.nan_to_num(closed) > CLOSED)
    for worker in np.flatnonzero(able).tolist():
        pair = int(nearest[worker])
        if mean[worker] > pairs.total[pair] / pairs.shared[pair]:
            statistic[worker] = _paired(pairs, cells, to_model, worker, pair)
    found = np.flatnonzero(np.nan_to_num(statistic) > THRESHOLD)
    return ModelLikeness(model, statistic, closed, found)


def _closed(cells: Cells, known: np.ndarray, value: Floats, n: Floats) -> Floats:
    """Return (M,) shares of the gap closed, against the mean cosine of the others' answers."""
    here = known.astype(np.float64)
    count = cells.spread(cells.sum_by_question(here[:, None]))[:, 0] - here
    total = cells.spread(cells.sum_by_question(value[:, None]))[:, 0] - value
    usual = ratio(total, count, 0.0)
    used = here * (count > 0)
    above = cells.sum_by_worker(used * (value - usual))
    gap = cells.sum_by_worker(used * (1.0 - usual))
    return np.divide(above, gap, out=np.full(len(n), np.nan), where=gap > 1e-9)


def _nearest(pairs: Pairs) -> Integers:
    """Return (M,) the pair of each worker with the highest mean cosine; -1 without one."""
    able = np.flatnonzero(pairs.shared >= FEWEST_SHARED)
    order = able[np.argsort(pairs.total[able] / pairs.shared[able], kind="stable")]
    out = np.full(pairs.n_workers, -1)
    both = np.stack([pairs.left[order], pairs.right[order]], axis=1).ravel()
    # The last one written wins: the highest.
    out[both] = np.repeat(order, 2)
    return out


def _paired(pairs: Pairs, cells: Cells, to_model: Floats, worker: int, pair: int) -> float:
    """Return z of the paired differences on the questions shared with model and worker."""
    entries = np.flatnonzero(pairs.pair == pair)
    mine = np.flatnonzero(cells.worker == worker)
    to_worker = np.full(pairs.n_questions, np.nan)
    to_worker[pairs.question[entries]] = pairs.cosine[entries]
    difference = to_model[mine] - to_worker[cells.question[mine]]
    difference = difference[~np.isnan(difference)]
    n = len(difference)
    if n < FEWEST_SHARED:
        return float("nan")
    error = max(float(difference.std(ddof=1)) / np.sqrt(n), 1e-9)
    tail = max(float(stats.t.sf(difference.mean() / error, n - 1)), 1e-300)
    return float(stats.norm.isf(tail))


def _units(x: Vectors) -> Vectors:
    if not sparse.issparse(x):
        x = dense(x)
        norm = np.linalg.norm(x, axis=1, keepdims=True)
        return ratio(x, norm, 0.0)
    x = sparse.csr_array(x)  # of a matrix, * would be the product of matrices
    norm = np.sqrt((x * x).sum(axis=1))
    return sparse.csr_array(
        sparse.diags_array(np.where(norm > 0, 1 / np.where(norm > 0, norm, 1), 0)) @ x
    )


def _inner(x: Vectors, y: Vectors) -> Floats:
    if sparse.issparse(x) or sparse.issparse(y):
        return np.asarray((sparse.csr_array(x) * sparse.csr_array(y)).sum(axis=1))
    return np.einsum("nd,nd->n", x, y)
