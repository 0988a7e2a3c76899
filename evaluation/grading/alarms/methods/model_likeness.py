"""Find workers whose answers are nearer to a language model's than to any other worker's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats

from evaluation.core.stats.cells import Cells, Floats, Integers
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.grading.alarms.methods.pairs import Pairs

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
    """Test of all workers against one language model: whose answers resemble the model's.

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


def compute_model_cosines(
    cells: Cells, vectors: Vectors, questions: Integers, model_vectors: Vectors
) -> Floats:
    """Return the cosine of each worker answer to the model's answer to the same question.

    Shape (N,). Cells in cell order; NaN where the model has none; 0 where a vector is zero.

    Parameters
    ----------
    vectors : (rows, d) of the workers' answers. model_vectors : (R, d), one answer a question.
    questions : (R,) question codes of the model's answers, each at most once.
    """
    place = np.full(cells.n_questions, -1)
    place[questions] = np.arange(len(questions))
    cells_with_model = np.flatnonzero(place[cells.question] >= 0)
    cosines = np.full(len(cells), np.nan)
    for begin in range(0, len(cells_with_model), AT_ONCE):
        part = cells_with_model[begin : begin + AT_ONCE]
        x = _normalise_rows(vectors[cells.row[part]])
        y = _normalise_rows(model_vectors[place[cells.question[part]]])
        cosines[part] = np.clip(_compute_inner_products(x, y), -1.0, 1.0)
    return cosines


def find_model_likeness(
    model: object, pairs: Pairs, cells: Cells, to_model: Floats
) -> ModelLikeness:
    """Test which workers answer like a model; `to_model` has one cosine per worker answer.

    `to_model` (N,) is the result of `compute_model_cosines`.
    """
    known = ~np.isnan(to_model)
    n = cells.sum_by_worker(known.astype(np.float64))
    known_cosines = np.where(known, to_model, 0.0)
    mean = divide_where_positive(cells.sum_by_worker(known_cosines), n)
    closed = _compute_gap_closed(cells, known, known_cosines, n)
    nearest = _find_nearest_pair(pairs)
    statistic = np.full(cells.n_workers, np.nan)
    is_testable = (n >= FEWEST_SHARED) & (nearest >= 0) & (np.nan_to_num(closed) > CLOSED)
    for worker in np.flatnonzero(is_testable).tolist():
        pair = int(nearest[worker])
        if mean[worker] > pairs.total[pair] / pairs.shared[pair]:
            statistic[worker] = _compute_paired_z(pairs, cells, to_model, worker, pair)
    model_like = np.flatnonzero(np.nan_to_num(statistic) > THRESHOLD)
    return ModelLikeness(model, statistic, closed, model_like)


def _compute_gap_closed(cells: Cells, known: np.ndarray, value: Floats, n: Floats) -> Floats:
    """Return how much nearer each worker is to the model than the others, as share of the gap.

    The gap is that from the others' mean cosine to 1; shape (M,).
    """
    is_known = known.astype(np.float64)
    count = cells.spread(cells.sum_by_question(is_known[:, None]))[:, 0] - is_known
    total = cells.spread(cells.sum_by_question(value[:, None]))[:, 0] - value
    others_mean = divide_where_positive(total, count, 0.0)
    counts = is_known * (count > 0)
    above = cells.sum_by_worker(counts * (value - others_mean))
    gap = cells.sum_by_worker(counts * (1.0 - others_mean))
    return np.divide(above, gap, out=np.full(len(n), np.nan), where=gap > 1e-9)


def _find_nearest_pair(pairs: Pairs) -> Integers:
    """Return the index of each worker's most similar pair (highest mean cosine); -1 if none.

    Shape (M,).
    """
    comparable = np.flatnonzero(pairs.shared >= FEWEST_SHARED)
    order = comparable[
        np.argsort(pairs.total[comparable] / pairs.shared[comparable], kind="stable")
    ]
    nearest = np.full(pairs.n_workers, -1)
    both = np.stack([pairs.left[order], pairs.right[order]], axis=1).ravel()
    # The last one written wins: the highest.
    nearest[both] = np.repeat(order, 2)
    return nearest


def _compute_paired_z(
    pairs: Pairs, cells: Cells, to_model: Floats, worker: int, pair: int
) -> float:
    """Return z of a worker's cosines to the model less those to the worker of `pair`, paired."""
    answer_pairs = np.flatnonzero(pairs.pair == pair)
    own_cells = np.flatnonzero(cells.worker == worker)
    to_worker = np.full(pairs.n_questions, np.nan)
    to_worker[pairs.question[answer_pairs]] = pairs.cosine[answer_pairs]
    difference = to_model[own_cells] - to_worker[cells.question[own_cells]]
    difference = difference[~np.isnan(difference)]
    n = len(difference)
    if n < FEWEST_SHARED:
        return float("nan")
    # Equal differences have no spread; the floor keeps z finite.
    error = max(float(difference.std(ddof=1)) / np.sqrt(n), 1e-9)
    tail = max(float(stats.t.sf(difference.mean() / error, n - 1)), 1e-300)
    return float(stats.norm.isf(tail))


def _normalise_rows(x: Vectors) -> Vectors:
    """Return the vectors, dense or sparse, scaled to length 1; zero rows stay zero.

    `x` is (n, d).
    """
    if not sparse.issparse(x):
        x = convert_to_dense(x)
        norm = np.linalg.norm(x, axis=1, keepdims=True)
        return divide_where_positive(x, norm, 0.0)
    x = sparse.csr_array(x)  # of a matrix, * would be the product of matrices
    norm = np.sqrt((x * x).sum(axis=1))
    return sparse.csr_array(
        sparse.diags_array(np.where(norm > 0, 1 / np.where(norm > 0, norm, 1), 0)) @ x
    )


def _compute_inner_products(x: Vectors, y: Vectors) -> Floats:
    """Return the inner product of each row of x with the same row of y.

    Shape (n,).
    """
    if sparse.issparse(x) or sparse.issparse(y):
        return np.asarray((sparse.csr_array(x) * sparse.csr_array(y)).sum(axis=1))
    return np.einsum("nd,nd->n", x, y)
