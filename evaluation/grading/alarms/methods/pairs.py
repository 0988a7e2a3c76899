"""Cosines of every two answers to a question, summed by pair of workers; additive models.

Everything the alarms say about groups rests on these. Pairs of workers are kept only where they
share a question, so that a crowd of 20,000 workers with some hundred neighbours each stays small.

Least-squares models of the cosines of worker pairs: additive effects, one-factor loadings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers, divide_where_positive
from evaluation.core.stats.grams import GramBlock

# Pairs of answers kept; a larger crowd is judged by a random sample of its workers.
# Three columns of 8 bytes: 600 MB.
MOST_PAIRS = 25_000_000
# Numbers in a working array.
AT_ONCE = 4_000_000


@dataclass(frozen=True)
class PairMatrix:
    """Symmetric sparse matrix with a value for each pair of workers; the diagonal is zero.

    It stores the upper triangle.
    """

    upper: sparse.csr_array

    def __matmul__(self, x: Floats) -> Floats:
        """Return the product of the matrix with a vector or matrix that has a row per worker.

        `x` is (M,) or (M, D), and so is the product.
        """
        # The transpose is the same numbers read by columns.
        return np.asarray(self.upper @ x + self.upper.T @ x)

    def toarray(self) -> Floats:
        """Return the matrix as a dense array (M, M).

        Shape (M, M).
        """
        half = self.upper.toarray()
        return np.asarray(half + half.T)


@dataclass(frozen=True)
class Pairs:
    """Cosines of all pairs of answers to the same question, with the two workers of each pair.

    E pairs of answers belong to P pairs of workers.

    Attributes
    ----------
    left, right : (P,) worker codes, left < right, sorted.
    pair : (E,) which of the P pairs; question : (E,) question codes; cosine : (E,) -1 to 1, 0 where
        an answer's vector is zero.
    n_workers, n_questions : of the whole crowd.
    sampled : number of workers in the sample where the crowd has too many pairs, else None.
    """

    left: Integers
    right: Integers
    pair: Integers
    question: Integers
    cosine: Floats
    n_workers: int
    n_questions: int
    sampled: int | None = None

    @classmethod
    def from_vote(cls, vote: MeanVote, seed: int = 0, most: int = MOST_PAIRS) -> Pairs:
        """Return the cosines of all pairs of answers to the same question, from their mean vote.

        With more than `most` pairs of answers, those of a seeded random sample of workers.
        """
        cells = vote.cells
        is_sampled = _sample_workers(cells, seed, most)
        m = cells.n_workers
        n = _count_answer_pairs(cells, is_sampled)
        code, questions = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        cosine, begin = np.empty(n), 0
        for worker, question, similarities in _iterate_pairs(vote, is_sampled):
            part = slice(begin, begin + len(similarities))
            # The same code whichever of the two stands first in the block.
            code[part] = worker.min(axis=0) * m + worker.max(axis=0)
            questions[part], cosine[part] = question, similarities
            begin = part.stop
        distinct, pair = _find_distinct_codes(code, m)
        return cls(
            left=distinct // m,
            right=distinct % m,
            pair=pair,
            question=questions,
            cosine=cosine,
            n_workers=m,
            n_questions=cells.n_questions,
            sampled=None if is_sampled.all() else int(np.count_nonzero(is_sampled)),
        )

    def __len__(self) -> int:
        """Return the number of pairs of workers."""
        return len(self.left)

    @cached_property
    def shared(self) -> Floats:
        """Number of questions that both workers of each pair answered.

        Shape (P,).
        """
        return self.sum_by_pair(np.ones(len(self.pair)))

    @cached_property
    def total(self) -> Floats:
        """Sum of cosines of each pair of workers over the questions that both answered.

        Shape (P,). The mean cosine S_ik is `total / shared`.
        """
        return self.sum_by_pair(self.cosine)

    @cached_property
    def pairs_of_question(self) -> Integers:
        """Number of pairs of answers to each question.

        Shape (Q,).
        """
        return np.bincount(self.question, minlength=self.n_questions).astype(np.int64)

    def sum_by_pair(self, values: Floats) -> Floats:
        """Return the sum of values (one per pair of answers) for each pair of workers (P,).

        Shape (P,).
        """
        return np.bincount(self.pair, weights=values, minlength=len(self)).astype(np.float64)

    def sum_by_question(self, values: Floats) -> Floats:
        """Return the sum of values (one per pair of answers) for each question (Q,).

        Shape (Q,).
        """
        summed = np.bincount(self.question, weights=values, minlength=self.n_questions)
        return summed.astype(np.float64)

    def build_symmetric_matrix(self, values: Floats) -> PairMatrix:
        """Return the symmetric matrix over workers that holds a value for each worker pair.

        `values` is (P,), the matrix (M, M) with zeros on the diagonal.
        """
        columns, indptr = self._sparse_structure
        shape = (self.n_workers, self.n_workers)
        return PairMatrix(sparse.csr_array((values, columns, indptr), shape=shape))

    @cached_property
    def _sparse_structure(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Column indices and row pointers of the sparse matrix of worker pairs (32 bits)."""
        counts = np.bincount(self.left, minlength=self.n_workers)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return self.right.astype(np.int32), indptr.astype(np.int32)

    def select_pairs(self, chosen: Booleans) -> Pairs:
        """Return the chosen pairs of workers, without the cosines of their answers.

        `chosen` is (P,).
        """
        none = np.zeros(0, dtype=np.int64)
        return replace(
            self,
            left=self.left[chosen],
            right=self.right[chosen],
            pair=none,
            question=none,
            cosine=np.zeros(0),
        )

    def select_workers(self, chosen: Booleans) -> Pairs:
        """Return the pairs of two chosen workers; worker codes stay the same.

        `chosen` is (M,).
        """
        is_chosen_pair = chosen[self.left] & chosen[self.right]
        new_index = np.cumsum(is_chosen_pair) - 1
        is_chosen_answer = is_chosen_pair[self.pair]
        return Pairs(
            left=self.left[is_chosen_pair],
            right=self.right[is_chosen_pair],
            pair=new_index[self.pair[is_chosen_answer]],
            question=self.question[is_chosen_answer],
            cosine=self.cosine[is_chosen_answer],
            n_workers=self.n_workers,
            n_questions=self.n_questions,
            sampled=self.sampled,
        )


def _sample_workers(cells: Cells, seed: int, most: int) -> Booleans:
    """Return flags of randomly drawn workers who have at most `most` pairs of answers.

    Shape (M,).
    """
    is_sampled = np.ones(cells.n_workers, dtype=bool)
    order = np.random.default_rng(seed).permutation(cells.n_workers)
    while True:
        pairs = _count_answer_pairs(cells, is_sampled)
        if pairs <= most:
            return is_sampled
        # Pairs go with the square of the share of the workers.
        # A little fewer, because workers have different numbers of pairs; at least 2% leave each
        # time, so that this ends.
        share = min(0.98, 0.98 * np.sqrt(most / pairs))
        is_sampled[order[int(share * np.count_nonzero(is_sampled)) :]] = False


def _count_answer_pairs(cells: Cells, is_sampled: Booleans) -> int:
    """Return the number of pairs of answers by sampled workers to the same question."""
    answers = np.add.reduceat(is_sampled[cells.worker].astype(np.int64), cells.starts)
    return int((answers * (answers - 1) // 2).sum())


def _find_distinct_codes(code: Integers, m: int) -> tuple[Integers, Integers]:
    """Return the distinct codes of worker pairs, ascending, and the index of each code in them.

    `m` is the number of workers; all codes are below m².
    """
    if m * m > max(4 * len(code), 1_000_000):
        distinct, place = np.unique(code, return_inverse=True)
        return distinct, place
    # A table of all possible codes is faster than sorting while it is small.
    present = np.zeros(m * m, dtype=bool)
    present[code] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[code]


def _iterate_pairs(
    vote: MeanVote, is_sampled: Booleans
) -> Iterator[tuple[Integers, Integers, Floats]]:
    """Yield batches of answer pairs: both workers' codes, the question codes and the cosines.

    Shapes (2, e), (e,) and (e,) for the e pairs of a batch; `is_sampled` is (M,).
    """
    cells, everyone_kept = vote.cells, bool(is_sampled.all())
    start = 0
    for block in vote.blocks:
        size = block.size
        step = max(1, AT_ONCE // size**2)
        for begin in range(0, len(block) if size > 1 else 0, step):
            count = min(step, len(block) - begin)
            span = slice(start + begin * size, start + (begin + count) * size)
            worker = cells.worker[span].reshape(count, size)
            question = cells.question[span].reshape(count, size)[:, 0]
            part = slice(begin, begin + count)
            if everyone_kept:
                yield _flatten_pairs(compute_block_cosines(block, part), worker, question)
                continue
            for b in range(count):
                chosen = np.flatnonzero(is_sampled[worker[b]])
                if len(chosen) > 1:
                    block_cosines = compute_block_cosines(
                        block, slice(begin + b, begin + b + 1), chosen
                    )
                    yield _flatten_pairs(
                        block_cosines, worker[b : b + 1, chosen], question[b : b + 1]
                    )
        start += len(block) * size


def _flatten_pairs(
    cosine: Floats, worker: Integers, question: Integers
) -> tuple[Integers, Integers, Floats]:
    """Return flat arrays of a batch's answer pairs: both workers, questions and cosines.

    `cosine` is (B, m, m), `worker` (B, m) and `question` (B,).
    """
    i, k = np.triu_indices(worker.shape[1], 1)
    workers = np.stack([worker[:, i].ravel(), worker[:, k].ravel()])
    return workers, np.repeat(question, len(i)), cosine[:, i, k].ravel()


def compute_block_cosines(block: GramBlock, part: slice, chosen: Integers | None = None) -> Floats:
    """Return the cosines between all answers to each question in the slice `part` of a block.

    Shape (B, m, m): questions, answers, answers.

    `chosen` selects some of each question's answers. In blocks of centred vectors, the offset is
    added back first. A zero vector has cosine 0 with every answer, also with itself.
    """
    answers = slice(None) if chosen is None else chosen
    inner = block.compute_gram(part, chosen)
    if not block.centred:
        # Rounding puts the product of equal unit vectors above 1.
        return np.clip(inner, -1.0, 1.0)
    along, length = block.along_mean[part][:, answers], block.length[part][:, answers]
    uncentred = (
        inner + along[:, :, None] + along[:, None, :] + block.mean_squared[part][:, None, None]
    )
    inverse = divide_where_positive(1.0, length, 0.0)
    return np.clip(uncentred * inverse[:, :, None] * inverse[:, None, :], -1.0, 1.0)


# Up to so many workers the equations are solved at once.
DENSE = 300
# A crowd whose pairs part it in two (two camps, where only pairs across them count) has no unique
# effects: the smallest are taken. In small crowds directions below this share of the largest count
# for nothing, in large ones so much is added to the diagonal.
RIDGE = 1e-10
PRECISION = 1e-6
MOST_ROUNDS = 200


def fit_worker_effects(pairs: Pairs, mean: Floats, times: Floats) -> Floats:
    """Return an additive effect per worker (M,), fitted to mean cosines of worker pairs.

    The effects b are the weighted least-squares fit of ``mean_ik = b_i + b_k``; shape (M,).

    Parameters
    ----------
    mean : (P,) mean cosine of each pair of workers.
    times : (P,) weight of each pair, 0 or more; a worker without weight has effect 0.
    """
    degree = np.bincount(pairs.left, times, pairs.n_workers)
    degree += np.bincount(pairs.right, times, pairs.n_workers)
    product = times * mean
    right_side = np.bincount(pairs.left, product, pairs.n_workers)
    right_side += np.bincount(pairs.right, product, pairs.n_workers)
    # Normal equations of the fit: (diag(degree) + weights) b = right side.
    weights = pairs.build_symmetric_matrix(times)
    if pairs.n_workers <= DENSE:
        # Not solved with a ridge: that would make 1e-7 of what rounding leaves.
        # A 1 for a worker without weight, whose row of zeros would make the matrix singular.
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
    """Return a loading per worker (M,) of a one-factor model of mean cosines of worker pairs.

    The loadings q fit ``mean_ik = q_i q_k`` by alternation; shape (M,).

    Parameters as in `fit_worker_effects`. A worker without weight has loading 0.
    """
    weights, product = (
        pairs.build_symmetric_matrix(times),
        pairs.build_symmetric_matrix(times * mean),
    )
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
