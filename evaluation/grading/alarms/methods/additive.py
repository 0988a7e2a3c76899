"""Least-squares models of the cosines of worker pairs: additive effects, one-factor loadings."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from evaluation.core.stats.cells import Floats
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.grading.alarms.methods.pairs import Pairs

# Up to so many workers the equations are solved at once.
DENSE = 300
# A crowd whose pairs part it in two (two camps, where only pairs across them count) has no unique
# effects: the smallest are taken. In small crowds directions below this share of the largest count
# for nothing, in large ones so much is added to the diagonal.
RIDGE = 1e-10
PRECISION = 1e-6
MOST_ROUNDS = 200


def fit_worker_effects(pairs: Pairs, mean: Floats, times: Floats) -> Floats:
    """Return one additive effect per worker, fitted to the mean cosines of worker pairs.

    The effects b are the weighted least-squares fit of ``mean_ik = b_i + b_k``; shape (M,).

    Parameters
    ----------
    mean : (P,) of each pair of workers; with a constant mu it is spread over the two effects.
    times : (P,) its weight, 0 or more; a worker without weight has effect 0.
    """
    degree = np.bincount(pairs.left, times, pairs.n_workers)
    degree += np.bincount(pairs.right, times, pairs.n_workers)
    product = times * mean
    right_side = np.bincount(pairs.left, product, pairs.n_workers)
    right_side += np.bincount(pairs.right, product, pairs.n_workers)
    weights = pairs.build_symmetric(times)
    if pairs.n_workers <= DENSE:
        # Not solved with a ridge: that would make 1e-7 of what rounding leaves.
        matrix = weights.toarray() + np.diag(np.where(degree > 0, degree, 1.0))
        return np.asarray(np.linalg.lstsq(matrix, right_side, rcond=RIDGE)[0])
    ridge = RIDGE * max(1.0, float(degree.max(initial=0.0)))
    diagonal = np.where(degree > 0, degree + ridge, 1.0)
    shape = (pairs.n_workers, pairs.n_workers)
    normal_matrix = LinearOperator(shape, lambda b: weights @ b + diagonal * b, dtype=np.float64)
    inverse = LinearOperator(shape, lambda b: b / diagonal, dtype=np.float64)
    solution, _ = cg(normal_matrix, right_side, rtol=PRECISION, maxiter=MOST_ROUNDS, M=inverse)
    return np.asarray(solution)


def fit_loadings(pairs: Pairs, mean: Floats, times: Floats, rounds: int = 30) -> Floats:
    """Return one loading per worker: a one-factor model of the mean cosines of worker pairs.

    The loadings q fit ``mean_ik = q_i q_k`` by alternation; shape (M,).

    Parameters as in `fit_worker_effects`. A worker without weight has loading 0.
    """
    weights, product = pairs.build_symmetric(times), pairs.build_symmetric(times * mean)
    total = float(times.sum())
    start = np.sqrt(max(0.0, float(times @ mean) / total)) if total > 0 else 0.0
    answered = weights @ np.ones(pairs.n_workers) > 0
    q = np.where(answered, start, 0.0)
    for _ in range(rounds):
        denominator = weights @ q**2
        updated = divide_where_positive(product @ q, denominator, 0.0)
        # Half a step: whole ones swing where two groups only meet each other.
        updated = (q + updated) / 2
        if np.abs(updated - q).max(initial=0.0) < PRECISION:
            return updated
        q = updated
    return q
