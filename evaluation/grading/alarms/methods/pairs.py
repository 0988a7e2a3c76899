"""Cosines of every two answers to the same question, and their means by pair of workers.

Everything the alarms say about groups rests on these. Pairs of workers are kept only where they
share a question, so that a crowd of 20,000 workers with some hundred neighbours each stays small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.methods.cells import Booleans, Cells, Floats, Integers
from evaluation.methods.gram_block import GramBlock
from evaluation.methods.undefined import ratio

# Pairs of answers kept; a larger crowd is judged by a random sample of its workers.
MOST_PAIRS = 25_000_000
# Numbers in a working array.
AT_ONCE = 4_000_000


@dataclass(frozen=True)
class PairMatrix:
    """A symmetric (M, M) matrix with zeros on the diagonal, of which the half above it is kept."""

    upper: sparse.csr_array

    def __matmul__(self, x: Floats) -> Floats:
        """Multiply with (M,) or (M, D)."""
        # The transpose is the same numbers read by columns.
        return np.asarray(self.upper @ x + self.upper.T @ x)

    def toarray(self) -> Floats:
        """Return all of it."""
        half = self.upper.toarray()
        return np.asarray(half + half.T)


@dataclass(frozen=True)
class Pairs:
    """E pairs of answers to the same question, belonging to P pairs of workers.

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
    def of(cls, vote: MeanVote, seed: int = 0, most: int = MOST_PAIRS) -> Pairs:
        """Take the cosines out of the Gram blocks of a vote, whatever its similarity.

        With more than `most` pairs of answers, those of a seeded random sample of workers.
        """
        cells = vote.cells
        kept = _sample(cells, seed, most)
        m = cells.n_workers
        n = _count(cells, kept)
        code, questions = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        cosine, begin = np.empty(n), 0
        for worker, question, found in _of_blocks(vote, kept):
            part = slice(begin, begin + len(found))
            code[part] = worker.min(axis=0) * m + worker.max(axis=0)
            questions[part], cosine[part] = question, found
            begin = part.stop
        distinct, pair = _distinct(code, m)
        return cls(
            left=distinct // m,
            right=distinct % m,
            pair=pair,
            question=questions,
            cosine=cosine,
            n_workers=m,
            n_questions=cells.n_questions,
            sampled=None if kept.all() else int(np.count_nonzero(kept)),
        )

    def __len__(self) -> int:
        """P, the number of pairs of workers."""
        return len(self.left)

    @cached_property
    def shared(self) -> Floats:
        """(P,) N_ik, the number of questions that both answered."""
        return self.sum_by_pair(np.ones(len(self.pair)))

    @cached_property
    def total(self) -> Floats:
        """(P,) sum of the cosines; S_ik is `total / shared`."""
        return self.sum_by_pair(self.cosine)

    @cached_property
    def pairs_of_question(self) -> Integers:
        """(Q,) number of pairs of answers."""
        return np.bincount(self.question, minlength=self.n_questions).astype(np.int64)

    def sum_by_pair(self, values: Floats) -> Floats:
        """Sum values (E,) to pairs of workers (P,)."""
        return np.bincount(self.pair, weights=values, minlength=len(self)).astype(np.float64)

    def sum_by_question(self, values: Floats) -> Floats:
        """Sum values (E,) to questions (Q,), in code order."""
        summed = np.bincount(self.question, weights=values, minlength=self.n_questions)
        return summed.astype(np.float64)

    def symmetric(self, values: Floats) -> PairMatrix:
        """Return the symmetric (M, M) matrix, zeros on the diagonal, of values (P,)."""
        columns, indptr = self._structure
        shape = (self.n_workers, self.n_workers)
        return PairMatrix(sparse.csr_array((values, columns, indptr), shape=shape))

    @cached_property
    def _structure(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Columns and row pointers of the upper half; 32 bits are half as much to read."""
        counts = np.bincount(self.left, minlength=self.n_workers)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return self.right.astype(np.int32), indptr.astype(np.int32)

    def only_pairs(self, chosen: Booleans) -> Pairs:
        """Return some of the pairs of workers (P,), without their pairs of answers."""
        none = np.zeros(0, dtype=np.int64)
        return replace(
            self,
            left=self.left[chosen],
            right=self.right[chosen],
            pair=none,
            question=none,
            cosine=np.zeros(0),
        )

    def only_workers(self, chosen: Booleans) -> Pairs:
        """Return the pairs among some workers (M,); codes stay those of the whole crowd."""
        inside = chosen[self.left] & chosen[self.right]
        place = np.cumsum(inside) - 1
        here = inside[self.pair]
        return Pairs(
            left=self.left[inside],
            right=self.right[inside],
            pair=place[self.pair[here]],
            question=self.question[here],
            cosine=self.cosine[here],
            n_workers=self.n_workers,
            n_questions=self.n_questions,
            sampled=self.sampled,
        )


def _sample(cells: Cells, seed: int, most: int) -> Booleans:
    """Return (M,) which workers to look at, so that their pairs of answers are at most `most`."""
    kept = np.ones(cells.n_workers, dtype=bool)
    order = np.random.default_rng(seed).permutation(cells.n_workers)
    while True:
        pairs = _count(cells, kept)
        if pairs <= most:
            return kept
        # Pairs go with the square of the share of the workers.
        share = min(0.98, 0.98 * np.sqrt(most / pairs))
        kept[order[int(share * np.count_nonzero(kept)) :]] = False


def _count(cells: Cells, kept: Booleans) -> int:
    """Return the number of pairs of answers of some workers (M,)."""
    answers = np.add.reduceat(kept[cells.worker].astype(np.int64), cells.starts)
    return int((answers * (answers - 1) // 2).sum())


def _distinct(code: Integers, m: int) -> tuple[Integers, Integers]:
    """Return the distinct codes, sorted, and the place of each code among them."""
    if m * m > max(4 * len(code), 1_000_000):
        distinct, place = np.unique(code, return_inverse=True)
        return distinct, place
    present = np.zeros(m * m, dtype=bool)
    present[code] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[code]


def _of_blocks(vote: MeanVote, kept: Booleans) -> Iterator[tuple[Integers, Integers, Floats]]:
    """Yield workers (2, e), questions (e,) and cosines (e,) of pairs of answers."""
    cells, everybody = vote.cells, bool(kept.all())
    start = 0
    for block in vote.blocks:
        size = block.size
        step = max(1, AT_ONCE // size**2)
        for begin in range(0, len(block) if size > 1 else 0, step):
            count = min(step, len(block) - begin)
            at = slice(start + begin * size, start + (begin + count) * size)
            worker = cells.worker[at].reshape(count, size)
            question = cells.question[at].reshape(count, size)[:, 0]
            part = slice(begin, begin + count)
            if everybody:
                yield _all_pairs(cosines(block, part), worker, question)
                continue
            for b in range(count):
                mine = np.flatnonzero(kept[worker[b]])
                if len(mine) > 1:
                    found = cosines(block, slice(begin + b, begin + b + 1), mine)
                    yield _all_pairs(found, worker[b : b + 1, mine], question[b : b + 1])
        start += len(block) * size


def _all_pairs(
    found: Floats, worker: Integers, question: Integers
) -> tuple[Integers, Integers, Floats]:
    """Flatten (B, m, m) cosines, (B, m) workers and (B,) questions to pairs of answers."""
    i, k = np.triu_indices(worker.shape[1], 1)
    both = np.stack([worker[:, i].ravel(), worker[:, k].ravel()])
    return both, np.repeat(question, len(i)), found[:, i, k].ravel()


def cosines(block: GramBlock, part: slice, chosen: Integers | None = None) -> Floats:
    """Return (B, m, m) cosines of the answers to some questions of a block.

    `chosen` names some of the answers of each. Of blocks of centred vectors the offset is put back
    first. A zero vector has cosine 0 with everything, 1 stands on no diagonal of such a one.
    """
    every = slice(None) if chosen is None else chosen
    inner = block.gram(part, chosen)
    if not block.centred:
        return np.clip(inner, -1.0, 1.0)
    along, length = block.along_mean[part][:, every], block.length[part][:, every]
    whole = inner + along[:, :, None] + along[:, None, :] + block.mean_squared[part][:, None, None]
    inverse = ratio(1.0, length, 0.0)
    return np.clip(whole * inverse[:, :, None] * inverse[:, None, :], -1.0, 1.0)
