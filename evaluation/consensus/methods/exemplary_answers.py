"""Similarity of answers to exemplary answers, under mean vote and under majority vote.

Mean vote (section 4.2, equation 1): the exemplary answer of a question is the weighted mean of its
answers' vectors. Similarities come from inner products (see `grams`), without forming it.

Majority vote (appendix G), for binary bags of words: a word belongs to the exemplary answer of a
question if the answers that contain it carry more than half of the voting weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.core.stats.cells import (
    Cells,
    Floats,
    Integers,
    divide_where_positive,
    encode_labels,
)
from evaluation.core.stats.grams import (
    CHUNK,
    GramBlock,
    NonFiniteError,
    Vectors,
    compute_gram_blocks,
    convert_to_dense,
)

# A weighted sum shorter than this share of the summed lengths, squared, is a rounded zero.
ZERO = 1e-14
# Leaving one answer out subtracts it from the sum. Where what remains is this small beside the
# whole, squared (one answer outweighs the others, or they cancel), that loses digits, and the sum
# over the others is formed anew.
SMALL = 1e-6
# The same under Euclidean distance, where the others' share of the weights decides.
SMALL_SHARE = 0.1
# A squared distance below this share of the squared lengths it is the difference of is rounding:
# the answer is the exemplary answer.
NO_DISTANCE = 32 * float(np.finfo(np.float64).eps)
# Numbers gathered at once when that is done.
REDO = 2_000_000


@dataclass(frozen=True)
class MeanVote:
    """Mean vote: similarities to weighted mean answers, from inner products of answer pairs.

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
        """Return the mean vote of answers, from one pass over their vectors (one row per answer).

        Only inner products are kept.
        """
        euclidean = similarity == "euclidean"
        return cls(cells, compute_gram_blocks(vectors, cells, centred=euclidean), euclidean)

    def gather_votes(self, weights: Floats) -> Floats:
        """Return the voting weight of each answer, its worker's; one column per bootstrap draw.

        Where the weights of a question's answers sum to 0 or less, each answer has weight 1.
        """
        v = weights[self.cells.worker]
        is_empty = self.cells.sum_by_question(v) <= 0
        return np.where(self.cells.spread_to_answers(is_empty), 1.0, v) if is_empty.any() else v

    def compute_exemplar_parts(self, v: Floats) -> tuple[Floats, Floats, Floats]:
        """Return three parts of each question's weighted sum: squared norm, weights, and lengths.

        Parameters
        ----------
        v : (N, D) from `votes`.

        Returns
        -------
        square : (Q, D) squared norm of the weighted sum, questions in cell order.
        total : (Q, D) sum of the weights.
        lengths : (Q, D) sum of weight times norm, under cosine.
        """
        square = np.empty((self.cells.n_questions, v.shape[1]))
        lengths = np.empty_like(square)
        start = first = 0
        for block in self.blocks:
            stop, last = start + len(block) * block.size, first + len(block)
            u = self._scale_votes(block, v[start:stop].reshape(len(block), block.size, -1))
            square[first:last] = np.einsum("bid,bid->bd", u, block.multiply(u))
            lengths[first:last] = _sum_over_answers(u)
            start, first = stop, last
        return square, self.cells.sum_by_question(v), lengths

    def compute_similarities(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return each answer's similarity to its exemplary answer; a column per set of weights.

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
            v = self._gather_votes(weights, start, stop, block)
            if not leave_one_out:
                part = self._compare_with_all(block, v)
            elif block.size == 1:
                part = np.full(v.shape, np.nan)
            else:
                part = self._compare_with_others(block, v)
            out[start:stop] = part.reshape(stop - start, -1)
            start = stop
        return out

    def _gather_votes(self, weights: Floats, start: int, stop: int, block: GramBlock) -> Floats:
        """Return the voting weights of a block's answers, as questions x answers x draws.

        Ones if a question's sum is <= 0.
        """
        v = weights[self.cells.worker[start:stop]].reshape(len(block), block.size, -1)
        is_empty = _sum_over_answers(v) <= 0
        return np.where(is_empty[:, None, :], 1.0, v) if is_empty.any() else v

    def _scale_votes(self, block: GramBlock, v: Floats) -> Floats:
        """Return the block's voting weights, under cosine multiplied by the vector lengths."""
        return v if self.euclidean else v * block.length[:, :, None]

    def _compare_with_all(self, block: GramBlock, v: Floats) -> Floats:
        """Return each answer's similarity to the weighted mean of all answers to its question.

        Shape: questions x answers x draws.
        """
        u = self._scale_votes(block, v)
        product = block.multiply(u)
        square = np.einsum("bid,bid->bd", u, product)[:, None, :]
        total = _sum_over_answers(u)[:, None, :]
        if self.euclidean:
            return self._compute_negative_distances(block, product / total, square / total**2)
        return compute_cosines(product, square, total)

    def _compare_with_others(self, block: GramBlock, v: Floats) -> Floats:
        """Return each answer's similarity to the weighted mean of the other answers.

        Shape: questions x answers x draws.
        """
        own = block.own[:, :, None]
        u = self._scale_votes(block, v)
        product = block.multiply(u)
        square = np.einsum("bid,bid->bd", u, product)[:, None, :]
        total = _sum_over_answers(u)[:, None, :]
        # The others' sum is the full sum less the own term, which costs no further matrix product.
        rest = product - u * own
        rest_square = square - 2 * u * product + u**2 * own
        others = total - u
        positive = v > 0
        redo = positive.sum(axis=1, keepdims=True) - positive == 0
        if self.euclidean:
            redo |= others < SMALL_SHARE * total
        else:
            redo |= rest_square < SMALL * total**2
        # Where the own term is nearly the whole sum, the subtraction cancels: these cells are
        # summed anew.
        if redo.any():
            self._recompute_exactly(block, v, redo, (rest, rest_square, others))
        if self.euclidean:
            # Not zero: the others have equal votes where their weights sum to 0.
            return self._compute_negative_distances(block, rest / others, rest_square / others**2)
        return compute_cosines(rest, rest_square, others)

    def _recompute_exactly(
        self,
        block: GramBlock,
        v: Floats,
        redo: NDArray[np.bool_],
        results: tuple[Floats, Floats, Floats],
    ) -> None:
        """Replace the `results` of answers flagged in `redo` by exact sums of the other answers.

        The similarities in `results` are replaced.
        """
        rest, rest_square, others = results
        indices = np.nonzero(redo)
        step = max(1, REDO // (block.size * block.width))
        for begin in range(0, len(indices[0]), step):
            b, i, d = (index[begin : begin + step] for index in indices)
            each = np.arange(len(b))
            other_votes = v[b, :, d]
            other_votes[each, i] = 0.0
            other_votes[other_votes.sum(axis=1) <= 0] = 1.0
            # Again: the line above also gave the left-out answer a vote.
            other_votes[each, i] = 0.0
            if not self.euclidean:
                other_votes = other_votes * block.length[b]
            product = block.multiply_chosen(b, other_votes)
            rest[b, i, d] = product[each, i]
            rest_square[b, i, d] = np.einsum("fi,fi->f", other_votes, product)
            others[b, i, d] = other_votes.sum(axis=1)

    def _compute_negative_distances(
        self, block: GramBlock, inner: Floats, square: Floats
    ) -> Floats:
        """Return negative distances of answers to exemplary answers, from their inner products.

        Shape: questions x answers x draws.
        """
        own = block.own[:, :, None]
        return compute_negative_distances(own, inner, square, block.exponent[:, None, None])

    def compute_exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return one exemplary answer vector per question, in the order of question codes.

        `vectors` (N, d) must be those of `from_vectors`; sparse vectors give sparse exemplars.
        """
        cells = self.cells
        v = self.gather_votes(weights[:, None])[:, 0]
        v = v / np.repeat(np.add.reduceat(v, cells.starts), cells.sizes)
        if sparse.issparse(vectors):
            votes = sparse.csr_array(
                (v, (cells.question, cells.row)), shape=(cells.n_questions, vectors.shape[0])
            )
            return sparse.csr_array(votes @ vectors)
        out = np.empty((cells.n_questions, vectors.shape[1]))
        # Questions are taken in groups whose vectors fit the cache.
        # Cells are sorted by size: the last question has the most answers.
        step = max(1, CHUNK // (vectors.shape[1] * int(cells.sizes[-1])))
        for first in range(0, cells.n_questions, step):
            sizes = cells.sizes[first : first + step]
            start = cells.starts[first]
            part = slice(start, start + int(sizes.sum()))
            weighted = vectors[cells.row[part]].astype(np.float64) * v[part, None]
            sums = np.add.reduceat(weighted, cells.starts[first : first + step] - start, axis=0)
            out[cells.questions_in_order[first : first + step]] = sums
        return out

    def compute_dispersions(self, weights: Floats) -> Floats:
        """Return each question's dispersion: 1 minus the length of the weighted mean unit vector.

        0 where all answers point the same way. `weights` is (M,); questions in code order. A zero
        vector has no direction and enters the mean as zero.
        """
        out = np.empty(self.cells.n_questions)
        start = first = 0
        for block in self.blocks:
            stop = start + len(block) * block.size
            v = self._gather_votes(weights[:, None], start, stop, block)[:, :, 0]
            length = np.sqrt(np.maximum(block.compute_squared_norms(v), 0.0)) / v.sum(axis=1)
            out[first : first + len(block)] = 1.0 - np.minimum(length, 1.0)
            start, first = stop, first + len(block)
        return self.cells.to_questions(out)


def compute_cosines(inner: Floats, square: Floats, lengths: Floats) -> Floats:
    """Return cosines of unit vectors with weighted sums of vectors; 0 where either is zero.

    Parameters
    ----------
    inner : (B, m, D) inner products of the vectors with the sums.
    square, lengths : (B, 1 or m, D) squared norms of the sums; sums of the summed lengths.
    """
    norm = np.sqrt(np.where(square > ZERO * lengths**2, square, np.inf))
    cosines = inner * (1.0 / norm)
    # Rounding brings cosines of parallel vectors slightly above 1.
    return cosines.clip(-1.0, 1.0, out=cosines)


def compute_negative_distances(
    own: Floats, inner: Floats, square: Floats, exponent: NDArray[np.integer]
) -> Floats:
    """Return negative distances ``-|x - y|`` from ``x'x``, ``x'y`` and ``y'y``.

    The inner products are of vectors that were scaled by 2^-exponent.
    """
    squared = own - 2 * inner + square
    squared = np.where(squared > NO_DISTANCE * (own + square), squared, 0.0)
    # Subtracted from zero, so that no distance is 0 and not -0.
    return np.asarray(0.0 - np.ldexp(np.sqrt(squared), exponent))


def _sum_over_answers(v: Floats) -> Floats:
    """Return an array of questions x answers x draws summed over its answers."""
    return np.einsum("bid->bd", v)


class MeanVoteBuilder:
    """Builder of a `MeanVote` from batches of answers; it stores no vectors.

    Within `add`, all answers to a question come together; rows are counted over all blocks.
    """

    def __init__(self, similarity: str) -> None:
        self._euclidean = similarity == "euclidean"
        self._workers: dict[object, int] = {}
        self._questions: dict[object, int] = {}
        self._rows = 0
        # (size, block, worker, question, row), the last three over the cells of the block
        self._pieces: list[tuple[int, GramBlock, Integers, Integers, Integers]] = []

    def add_answers(
        self, vectors: Vectors, workers: NDArray[np.generic], questions: NDArray[np.generic]
    ) -> None:
        """Add a batch of answers, with all answers to each of its questions; store inner products.

        Shapes and errors are those of `AQER.fit`.
        """
        worker, worker_labels = encode_labels(workers)
        question, question_labels = encode_labels(questions)
        if not len(worker) == len(question) == vectors.shape[0]:
            raise ValueError("a block needs as many workers and questions as vectors")
        # A question in two blocks would have two exemplary answers, each of a part of its answers.
        known = self._questions.keys() & set(question_labels.tolist())
        if known:
            raise ValueError(f"question {min(map(str, known))} comes in more than one block")
        worker_code = _encode_labels(self._workers, worker_labels)
        question_code = _encode_labels(self._questions, question_labels)
        local = Cells.from_codes(worker, question, len(worker_labels), len(question_labels))
        start = 0
        try:
            blocks = compute_gram_blocks(vectors, local, centred=self._euclidean)
        except NonFiniteError as error:
            raise NonFiniteError(error.row + self._rows) from None
        for block in blocks:
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

    def build_vote(self) -> tuple[MeanVote, NDArray[np.generic], NDArray[np.generic]]:
        """Return the vote, the workers' labels and the questions' labels, by first appearance."""
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


def _encode_labels(codes: dict[object, int], labels: NDArray[np.generic]) -> Integers:
    """Return the integer codes of labels; add a new label to `codes` with the next number."""
    return np.array([codes.setdefault(label, len(codes)) for label in labels.tolist()])


# Above this share of the weight a word is in; the margin keeps a rounded tie a tie.
MAJORITY = 0.5 + 1e-12


@dataclass(frozen=True)
class MajorityVote:
    """Majority vote on words: an exemplary answer has the words with over half of the votes.

    Attributes
    ----------
    cells : the answered cells.
    bags : for each question in cell order (m, words of that question), zeros and ones.
    words : for each question in cell order, the columns that its words have in the vectors.
    mean_vote : the same answers under the mean vote, for what does not depend on the vote.
    """

    cells: Cells
    bags: list[Floats]
    words: list[Integers]
    mean_vote: MeanVote
    euclidean: bool

    @classmethod
    def from_vectors(cls, vectors: Vectors, cells: Cells, similarity: str) -> MajorityVote:
        """Return the majority vote of answers, from vectors that count words as zeros and ones.

        Each question keeps only the columns of words that its answers use.

        Raises
        ------
        ValueError
            The vectors hold something else than zeros and ones.
        """
        values = vectors.data if sparse.issparse(vectors) else np.asarray(vectors)
        # Counts or TF-IDF values would make the sums in `compare` wrong norms.
        if not np.isin(values, (0, 1)).all():
            raise ValueError("majority vote needs binary bags of words (zeros and ones)")
        bags, words = [], []
        for start, size in zip(cells.starts, cells.sizes, strict=True):
            bag = convert_to_dense(vectors[cells.row[start : start + size]])
            words.append(np.flatnonzero(bag.any(axis=0)))
            bags.append(bag[:, words[-1]])
        mean_vote = MeanVote.from_vectors(vectors, cells, similarity)
        return cls(cells, bags, words, mean_vote, similarity == "euclidean")

    def compute_similarities(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return each answer's similarity to the majority's words; a column per set of weights."""
        out = np.empty((len(self.cells), weights.shape[1]))
        for place, bag in enumerate(self.bags):
            start, size = self.cells.starts[place], self.cells.sizes[place]
            part = slice(start, start + size)
            v = self.gather_question_votes(place, weights)
            if not leave_one_out:
                exemplar = find_majority_words(bag, v)
                out[part] = self.compare_with_exemplars(bag, exemplar)
            elif size == 1:
                out[part] = np.nan
            else:
                for i in range(size):
                    others = _use_equal_votes_if_none(np.delete(v, i, axis=0), axis=0)
                    exemplar = find_majority_words(np.delete(bag, i, axis=0), others)
                    out[start + i] = self.compare_with_exemplars(bag[i : i + 1], exemplar)[0]
        return out

    def compute_exemplars(self, vectors: Vectors, weights: Floats) -> sparse.csr_array:
        """Return the majority's words of each question, as sparse rows of zeros and ones."""
        cells, dimension = self.cells, vectors.shape[1]
        rows = []
        for place, (bag, words) in enumerate(zip(self.bags, self.words, strict=True)):
            chosen = words[
                find_majority_words(bag, self.gather_question_votes(place, weights[:, None]))[:, 0]
                > 0
            ]
            rows.append(
                sparse.csr_array(
                    (np.ones(len(chosen)), (np.zeros_like(chosen), chosen)), shape=(1, dimension)
                )
            )
        stacked = sparse.vstack(rows, format="csr")
        return sparse.csr_array(stacked[np.argsort(cells.questions_in_order)])

    def compute_dispersions(self, weights: Floats) -> Floats:
        """Return each question's dispersion, computed from the vectors as under mean vote."""
        return self.mean_vote.compute_dispersions(weights)

    def gather_question_votes(self, place: int, weights: Floats) -> Floats:
        """Return the voting weights of the answers to one question, as answers x draws.

        `place` is the question's position in cell order. Weights are 1 where all are 0.
        """
        start = self.cells.starts[place]
        part = slice(start, start + self.cells.sizes[place])
        return _use_equal_votes_if_none(weights[self.cells.worker[part]], axis=0)

    def compare_with_exemplars(
        self, bag: Floats, exemplar: Floats, words: Floats | None = None
    ) -> Floats:
        """Return each answer's similarity to its question's exemplary words, as answers x draws.

        `bag` (m, words) has the answers' words, `exemplar` (words, draws) the majority's.

        `words` (m,) is the number of words of each whole bag, if `bag` holds only some of them.
        """
        inner = bag @ exemplar
        # Of zeros and ones the sum is the squared norm.
        own = (bag.sum(axis=1) if words is None else words)[:, None]
        others = exemplar.sum(axis=0)[None, :]
        if self.euclidean:
            return np.asarray(0.0 - np.sqrt(own + others - 2 * inner))
        norm = np.sqrt(own * others)
        return divide_where_positive(inner, norm, 0.0)


def _use_equal_votes_if_none(v: Floats, axis: int) -> Floats:
    """Return the votes, with 1 in place of 0 where no vote along `axis` is above 0."""
    is_empty = ~(v > 0).any(axis=axis, keepdims=True)
    return np.where(is_empty, 1.0, v)


def find_majority_words(bag: Floats, v: Floats) -> Floats:
    """Return 1 for each word that more than half of the votes use, else 0; words x draws."""
    return ((bag.T @ v) / v.sum(axis=0) > MAJORITY).astype(np.float64)
