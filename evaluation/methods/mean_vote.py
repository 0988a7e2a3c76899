"""Similarity of every answer to its exemplary answer, by mean vote (section 4.2, equation 1).

The exemplary answer of a question is the weighted mean of its answers' vectors. It is never
formed here: see `grams`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.methods.cells import Cells, Floats, Integers, codes_of
from evaluation.methods.grams import CHUNK, GramBlock, Vectors, gram_blocks

# A weighted sum shorter than this share of the summed lengths, squared, is a rounded zero.
ZERO = 1e-14
# Where one answer outweighs all others by this factor, subtracting it from the sum would lose
# digits: the sum over the others is formed anew.
DOMINANT = 1e3
# Numbers gathered at once when that is done.
REDO = 2_000_000


@dataclass(frozen=True)
class MeanVote:
    """The answers to all questions under one similarity.

    Attributes
    ----------
    cells : the answered cells.
    blocks : their inner products, in cell order.
    euclidean : negative Euclidean distance instead of the cosine.
    """

    cells: Cells
    blocks: list[GramBlock]
    euclidean: bool

    @classmethod
    def from_vectors(cls, vectors: Vectors, cells: Cells, similarity: str) -> MeanVote:
        """Pass over the vectors once."""
        euclidean = similarity == "euclidean"
        return cls(cells, gram_blocks(vectors, cells, centred=euclidean), euclidean)

    def votes(self, weights: Floats) -> Floats:
        """Return (N, D) weights of the cells; ones where those of a question sum to zero."""
        v = weights[self.cells.worker]
        nobody = self.cells.sum_by_question(v) <= 0
        return np.where(self.cells.spread(nobody), 1.0, v) if nobody.any() else v

    def exemplar_parts(self, v: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what the weighted sum of each question's vectors needs in a comparison.

        Parameters
        ----------
        v : (N, D) from `votes`.

        Returns
        -------
        square : (Q, D) squared norm of the weighted sum, questions in cell order.
        total : (Q, D) sum of the weights.
        lengths : (Q, D) sum of weight times norm.
        """
        square = np.empty((self.cells.n_questions, v.shape[1]))
        lengths = np.empty_like(square)
        start = first = 0
        for block in self.blocks:
            stop, last = start + len(block) * block.size, first + len(block)
            part = v[start:stop].reshape(len(block), block.size, -1)
            square[first:last] = np.einsum("bid,bid->bd", part, block.product(part))
            lengths[first:last] = np.einsum("bid,bi->bd", part, np.sqrt(block.squared))
            start, first = stop, last
        return square, self.cells.sum_by_question(v), lengths

    def similarity(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return (N, D) similarities in cell order for D weight vectors.

        Parameters
        ----------
        weights : (M, D), not negative. Where the weights of those who answered sum to zero they
            count equally.
        leave_one_out : compare each answer with the exemplary answer of the others; NaN where
            there are no others, equal weights where the others' weights sum to zero.
        """
        out = np.empty((len(self.cells), weights.shape[1]))
        start = 0
        for block in self.blocks:
            stop = start + len(block) * block.size
            v = self._votes(weights, start, stop, block)
            if not leave_one_out:
                part = self._full(block, v)
            elif block.size == 1:
                part = np.full(v.shape, np.nan)
            else:
                part = self._left_out(block, v)
            out[start:stop] = part.reshape(stop - start, -1)
            start = stop
        return out

    def _votes(self, weights: Floats, start: int, stop: int, block: GramBlock) -> Floats:
        v = weights[self.cells.worker[start:stop]].reshape(len(block), block.size, -1)
        nobody = ~(v > 0).any(axis=1, keepdims=True)
        return np.where(nobody, 1.0, v) if nobody.any() else v

    def _full(self, block: GramBlock, v: Floats) -> Floats:
        product = block.product(v)
        square = np.einsum("bid,bid->bd", v, product)[:, None, :]
        own = block.squared[:, :, None]
        if self.euclidean:
            total = v.sum(axis=1, keepdims=True)
            return self._distance(block, own, product / total, square / total**2)
        lengths = (v * np.sqrt(own)).sum(axis=1, keepdims=True)
        return _cosine(product, own, square, lengths)

    def _left_out(self, block: GramBlock, v: Floats) -> Floats:
        own = block.squared[:, :, None]
        product = block.product(v)
        square = np.einsum("bid,bid->bd", v, product)[:, None, :]
        rest = product - v * own
        rest_square = square - 2 * v * product + v**2 * own
        size_of = v if self.euclidean else v * np.sqrt(own)
        others = size_of.sum(axis=1, keepdims=True) - size_of
        positive = v > 0
        alone = (positive.sum(axis=1, keepdims=True) - positive) == 0
        redo = alone | (others * DOMINANT < size_of)
        if redo.any():
            self._redo(block, v, redo, alone, (rest, rest_square, others))
        if self.euclidean:
            # Not zero: `_redo` gave every cell whose others have no weight an equal vote of theirs.
            return self._distance(block, own, rest / others, rest_square / others**2)
        return _cosine(rest, own, rest_square, others)

    def _redo(
        self,
        block: GramBlock,
        v: Floats,
        redo: NDArray[np.bool_],
        alone: NDArray[np.bool_],
        results: tuple[Floats, Floats, Floats],
    ) -> None:
        """Form the sum over the others anew for chosen cells, writing into `results`."""
        rest, rest_square, others = results
        at = np.nonzero(redo)
        step = max(1, REDO // (block.size * block.inner.shape[2]))
        for begin in range(0, len(at[0]), step):
            b, i, d = (index[begin : begin + step] for index in at)
            mine = np.where(alone[b, i, d][:, None], 1.0, v[b, :, d])
            each = np.arange(len(b))
            mine[each, i] = 0.0
            product = block.product_of(b, mine)
            rest[b, i, d] = product[each, i]
            rest_square[b, i, d] = np.einsum("fi,fi->f", mine, product)
            size_of = mine if self.euclidean else mine * np.sqrt(block.squared[b])
            others[b, i, d] = size_of.sum(axis=1)

    def _distance(self, block: GramBlock, own: Floats, inner: Floats, square: Floats) -> Floats:
        squared = np.maximum(own - 2 * inner + square, 0.0)
        return np.asarray(-np.ldexp(np.sqrt(squared), block.exponent[:, None, None]))

    def exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return (Q, d) exemplary answers in float64, questions in code order.

        `vectors` are the ones this was made from; sparse vectors give sparse exemplary answers.
        """
        cells = self.cells
        v = self.votes(weights[:, None])[:, 0]
        v = v / np.repeat(np.add.reduceat(v, cells.starts), cells.sizes)
        if sparse.issparse(vectors):
            votes = sparse.csr_array(
                (v, (cells.question, cells.row)), shape=(cells.n_questions, vectors.shape[0])
            )
            return sparse.csr_array(votes @ vectors)
        out = np.empty((cells.n_questions, vectors.shape[1]))
        # Questions are taken in groups whose vectors fit the cache.
        step = max(1, CHUNK // (vectors.shape[1] * int(cells.sizes[-1])))
        for first in range(0, cells.n_questions, step):
            sizes = cells.sizes[first : first + step]
            start = cells.starts[first]
            part = slice(start, start + int(sizes.sum()))
            weighted = vectors[cells.row[part]].astype(np.float64) * v[part, None]
            sums = np.add.reduceat(weighted, cells.starts[first : first + step] - start, axis=0)
            out[cells.questions_in_order[first : first + step]] = sums
        return out

    def dispersion(self, weights: Floats) -> Floats:
        """Return (Q,) ``1 - |weighted mean of the unit vectors|`` of each question, 0 to 1.

        0 where all answers point the same way. `weights` is (M,); questions in code order. A zero
        vector has no direction and enters the mean as zero.
        """
        out = np.empty(self.cells.n_questions)
        start = first = 0
        for block in self.blocks:
            stop = start + len(block) * block.size
            v = self._votes(weights[:, None], start, stop, block)[:, :, 0]
            norm = block.original_norm()
            unit = np.divide(v, norm, out=np.zeros_like(v), where=norm > 0)
            length = np.sqrt(np.maximum(block.original_square(unit), 0.0)) / v.sum(axis=1)
            out[first : first + len(block)] = 1.0 - np.minimum(length, 1.0)
            start, first = stop, first + len(block)
        return self.cells.to_questions(out)


def _cosine(inner: Floats, own: Floats, square: Floats, lengths: Floats) -> Floats:
    """Cosines from inner products; 0 where either vector has no length."""
    norm = np.sqrt(own) * np.sqrt(np.maximum(square, 0.0))
    defined = (own > 0) & (square > ZERO * lengths**2)
    cosine = np.divide(inner, norm, out=np.zeros_like(inner), where=defined)
    return np.clip(cosine, -1.0, 1.0)


class MeanVoteBuilder:
    """Builds a `MeanVote` from blocks of answers that are not kept.

    Within `add`, all answers to a question come together; rows are counted over all blocks.
    """

    def __init__(self, similarity: str) -> None:
        self._euclidean = similarity == "euclidean"
        self._workers: dict[object, int] = {}
        self._questions: dict[object, int] = {}
        self._rows = 0
        # (size, block, worker, question, row), the last three over the cells of the block
        self._pieces: list[tuple[int, GramBlock, Integers, Integers, Integers]] = []

    def add(
        self, vectors: Vectors, workers: NDArray[np.generic], questions: NDArray[np.generic]
    ) -> None:
        """Take in some answers; see `AQER.fit` for shapes and errors."""
        worker, worker_labels = codes_of(workers)
        question, question_labels = codes_of(questions)
        if not len(worker) == len(question) == vectors.shape[0]:
            raise ValueError("a block needs as many workers and questions as vectors")
        known = self._questions.keys() & set(question_labels.tolist())
        if known:
            raise ValueError(f"question {min(map(str, known))} comes in more than one block")
        worker_code = _extend(self._workers, worker_labels)
        question_code = _extend(self._questions, question_labels)
        local = Cells.from_codes(worker, question, len(worker_labels), len(question_labels))
        start = 0
        for block in gram_blocks(vectors, local, centred=self._euclidean):
            part = slice(start, start + len(block) * block.size)
            self._pieces.append(
                (
                    block.size,
                    block,
                    worker_code[local.worker[part]],
                    question_code[local.question[part]],
                    local.row[part] + self._rows,
                )
            )
            start = part.stop
        self._rows += vectors.shape[0]

    def build(self) -> tuple[MeanVote, NDArray[np.generic], NDArray[np.generic]]:
        """Return the vote and the labels of its workers and questions."""
        if not self._pieces:
            raise ValueError("no answers: at least one is needed")
        # A stable sort by size keeps questions of one size in the order in which they came.
        pieces = sorted(self._pieces, key=lambda piece: piece[0])
        sizes = np.concatenate([np.full(len(piece[1]), piece[0]) for piece in pieces])
        question = np.concatenate([piece[3] for piece in pieces])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        cells = Cells(
            worker=np.concatenate([piece[2] for piece in pieces]),
            question=question,
            row=np.concatenate([piece[4] for piece in pieces]),
            starts=starts,
            sizes=sizes,
            questions_in_order=question[starts],
            n_workers=len(self._workers),
            n_questions=len(self._questions),
        )
        vote = MeanVote(cells, [piece[1] for piece in pieces], self._euclidean)
        return vote, np.array(list(self._workers)), np.array(list(self._questions))


def _extend(codes: dict[object, int], labels: NDArray[np.generic]) -> Integers:
    """Return the codes of labels, giving new ones the next numbers."""
    return np.array([codes.setdefault(label, len(codes)) for label in labels.tolist()])
