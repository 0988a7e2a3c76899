"""Additive effects of workers and questions: s_ij = mu + a_i + b_j by least squares.

A worker that drew hard questions is not blamed for them: `mu + a_i` is its mean score after the
questions' effects b_j were taken out. Effects of questions sum to zero within each connected
component of the worker-question graph; several components have no common scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg

from evaluation.core.stats.cells import Cells, Floats, Integers
from evaluation.core.stats.undefined import divide_where_positive

# Up to this many unknowns the normal equations are solved by a dense pseudo-inverse, made once.
DENSE = 400


def find_components(cells: Cells, used: NDArray[np.bool_]) -> tuple[int, Integers, Integers]:
    """Return the number of connected components of the used answers and each node's component.

    Returns
    -------
    count : components that hold at least one used cell.
    of_worker : (M,) component of each worker, -1 without a used cell.
    of_question : (Q,) component of each question code, -1 without a used cell.
    """
    worker, question = cells.worker[used], cells.question[used]
    n = cells.n_workers + cells.n_questions
    graph = sparse.coo_array(
        (np.ones(len(worker)), (worker, cells.n_workers + question)), shape=(n, n)
    )
    _, labels = connected_components(graph, directed=False)
    seen, label = np.unique(labels[worker], return_inverse=True)
    of_worker = np.full(cells.n_workers, -1, dtype=np.int64)
    of_question = np.full(cells.n_questions, -1, dtype=np.int64)
    of_worker[worker] = label
    of_question[question] = label
    return len(seen), of_worker, of_question


@dataclass
class TwoWayEffects:
    """Least-squares fit of s = mu + a_worker + b_question for one column of cell weights.

    Parameters
    ----------
    cells : the answered cells.
    cell_weight : (N,) not negative; 0 leaves a cell out, a bootstrap multiplicity counts it
        repeatedly. It must not differ between the cells of a question, except for zeros.
    """

    cells: Cells
    cell_weight: Floats

    def __post_init__(self) -> None:
        """Eliminate the larger side and prepare the Laplacian of the smaller one."""
        cells, omega = self.cells, self.cell_weight
        used = omega > 0
        _, _, of_question = find_components(cells, used)
        self._used = used
        self._component = of_question
        # The unknowns are the smaller side; the other side follows from them.
        self._workers_left = cells.n_workers <= cells.n_questions
        left, right = cells.worker[used], cells.question[used]
        if not self._workers_left:
            left, right = right, left
        n_left = min(cells.n_workers, cells.n_questions)
        n_right = max(cells.n_workers, cells.n_questions)
        self._left, self._right = left, right
        self._incidence = sparse.csr_array((omega[used], (left, right)), shape=(n_left, n_right))
        self._left_degree = np.asarray(self._incidence.sum(axis=1))
        right_degree = np.asarray(self._incidence.sum(axis=0))
        self._inverse_right = divide_where_positive(1.0, right_degree, 0.0)
        self._inverse: Floats | None = None
        # The Laplacian is singular by one dimension a component: the pseudo-inverse fixes it.
        if n_left <= DENSE:
            scaled = self._incidence.multiply(self._inverse_right[None, :])
            laplacian = np.diag(self._left_degree) - (scaled @ self._incidence.T).toarray()
            self._inverse = np.linalg.pinv(laplacian, hermitian=True)
        self._start = np.zeros(n_left)

    def estimate_question_effects(self, scores: Floats) -> Floats:
        """Return one effect per question, in code order, from the answers' scores.

        0 where unused.
        """
        s, omega = scores[self._used], self.cell_weight[self._used]
        right_mean = self._inverse_right * np.bincount(
            self._right, weights=omega * s, minlength=len(self._inverse_right)
        )
        residual = omega * (s - right_mean[self._right])
        target = np.bincount(self._left, weights=residual, minlength=len(self._left_degree)).astype(
            np.float64, copy=False
        )
        left = self._solve(target)
        right = right_mean - self._inverse_right * (left @ self._incidence)
        effects = right if self._workers_left else left
        return self._center_by_component(np.asarray(effects))

    def _solve(self, target: Floats) -> Floats:
        """Solve for the effects of the smaller side (workers or questions), from its sums."""
        if self._inverse is not None:
            return np.asarray(self._inverse @ target)
        n = len(target)

        def laplacian(x: Floats) -> Floats:
            x = x.ravel()
            return np.asarray(
                self._left_degree * x
                - self._incidence @ (self._inverse_right * (x @ self._incidence))
            )

        degree = np.where(self._left_degree > 0, self._left_degree, 1.0)
        solution, _ = cg(
            LinearOperator((n, n), matvec=laplacian, dtype=np.float64),
            target,
            x0=self._start,
            rtol=1e-12,
            atol=0.0,
            maxiter=10_000,
            M=LinearOperator((n, n), matvec=lambda x: x.ravel() / degree, dtype=np.float64),
        )
        # Scores change little from one iteration to the next, so the last solution is a good start.
        self._start = solution
        return np.asarray(solution)

    def _center_by_component(self, effects: Floats) -> Floats:
        """Return effects less their mean within each connected component."""
        inside = self._component >= 0
        part = self._component[inside]
        # A question drawn c times counts c times in the sum of its component.
        times = np.zeros(self.cells.n_questions)
        times[self.cells.question[self._used]] = self.cell_weight[self._used]
        total = np.bincount(part, weights=(times * effects)[inside])
        weight = np.bincount(part, weights=times[inside])
        out = np.zeros_like(effects)
        out[inside] = effects[inside] - (total / weight)[part]
        return out
