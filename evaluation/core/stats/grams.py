"""Gram matrices (inner products) of the answers to each question, in one of three forms.

A block stores the products themselves, or the rows where these are fewer numbers, or sparse rows
where most numbers are zero. Results do not depend on the form.

With G_j = X_j X_j' an exemplary answer need never be formed: cosines and distances to it, left-out
or not, follow from G_j and the voting weights. After one pass over the embeddings an iteration no
longer depends on their dimension, and every bootstrap draw is only another weight vector.
A question with more answers than dimensions keeps its vectors instead, which are smaller then, and
so does one with many answers of few words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.core.stats.cells import Cells, Floats, Integers, divide_where_positive


@dataclass(frozen=True)
class GramBlock:
    """Inner products of the answers to B questions that have m answers each.

    Its rows are the answers' vectors: brought to unit length (a zero vector stays zero), or, where
    `centred`, less their question's mean.

    Attributes
    ----------
    inner : (B, m, m) inner products of the rows, or (B, m, d) the rows where `direct`.
    own : (B, m) squared norms of the rows.
    length : (B, m) norms of the vectors themselves.
    along_mean : (B, m) inner products of the rows with their question's mean; zeros where not
        centred. mean_squared : (B,) squared norm of that mean.
    exponent : (B,) vectors were multiplied by ``2 ** -exponent`` for all of the above.
    """

    inner: Floats
    own: Floats
    length: Floats
    along_mean: Floats
    mean_squared: Floats
    exponent: Integers
    direct: bool
    centred: bool

    @property
    def size(self) -> int:
        """Number of answers to each question (m)."""
        return self.own.shape[1]

    def __len__(self) -> int:
        return len(self.own)

    @property
    def width(self) -> int:
        """Largest number of values stored for one answer."""
        return self.inner.shape[2]

    def compute_gram(self, part: slice, chosen: Integers | None = None) -> Floats:
        """Return the inner products of all pairs of answers, for the questions in slice `part`.

        `chosen` are indices of some answers of each question, None for all. Do not write into the
        result, which may be a view.
        """
        inner = self.inner[part] if chosen is None else self.inner[part][:, chosen]
        if self.direct:
            return np.asarray(inner @ inner.transpose(0, 2, 1))
        return inner if chosen is None else inner[:, :, chosen]

    def multiply(self, v: Floats) -> Floats:
        """Return each question's Gram matrix times its part of v, of the shape of v.

        `v` has shape (questions, answers, columns).
        """
        if self.direct:
            return np.asarray(self.inner @ (self.inner.transpose(0, 2, 1) @ v))
        if v.shape[2] == 1:
            return np.einsum("bij,bj->bi", self.inner, v[:, :, 0])[:, :, None]
        return np.asarray(self.inner @ v)

    def multiply_chosen(self, which: Integers, v: Floats) -> Floats:
        """Return the Gram matrix of each question in `which` times one row of v.

        `which` has shape (F,), `v` and the result have shape (F, m).
        """
        chosen = self.inner[which]
        if self.direct:
            return np.einsum("fid,fd->fi", chosen, np.einsum("fid,fi->fd", chosen, v))
        return np.einsum("fij,fj->fi", chosen, v)

    def compute_squared_norms(self, v: Floats) -> Floats:
        """Return the squared norm of the weighted sum of each question's unit vectors.

        `v` are the weights.

        `v` has shape (B, m), the result (B,).
        """
        if self.centred:
            v = divide_where_positive(v, self.length, 0.0)
        square = np.einsum("bi,bi->b", v, self.multiply(v[:, :, None])[:, :, 0])
        if not self.centred:
            return square
        total, along = v.sum(axis=1), np.einsum("bi,bi->b", v, self.along_mean)
        return np.asarray(square + 2 * total * along + total**2 * self.mean_squared)


@dataclass(frozen=True)
class SparseGramBlock(GramBlock):
    """`GramBlock` for bags of words: keeps sparse unit rows in place of inner products.

    Attributes
    ----------
    inner : empty.
    rows : (B m, k) all rows; a column belongs to one question.
    """

    rows: sparse.csr_array

    @property
    def width(self) -> int:
        """Largest number of values stored for one answer."""
        return max(1, int(np.diff(self.rows.indptr).max(initial=0)))

    def compute_gram(self, part: slice, chosen: Integers | None = None) -> Floats:
        """Return the inner products of all pairs of answers, for the questions in slice `part`."""
        which = range(*part.indices(len(self)))
        answers = np.arange(self.size) if chosen is None else chosen
        out = np.empty((len(which), len(answers), len(answers)))
        for index, question in enumerate(which):
            x = self._get_question_rows(question)[answers]
            out[index] = (x @ x.T).toarray()
        return out

    def multiply(self, v: Floats) -> Floats:
        """Return each question's Gram matrix times its part of v, of the shape of v.

        `v` has shape (questions, answers, columns).
        """
        flat = v.reshape(-1, v.shape[2])
        return np.asarray(self.rows @ (self.rows.T @ flat)).reshape(v.shape)

    def multiply_chosen(self, which: Integers, v: Floats) -> Floats:
        """Return the Gram matrix of each question in `which` times one row of v.

        `which` has shape (F,), `v` and the result have shape (F, m).
        """
        out = np.empty(v.shape)
        for question in np.unique(which).tolist():
            mine, x = which == question, self._get_question_rows(question)
            out[mine] = (x @ (x.T @ v[mine].T)).T
        return out

    def _get_question_rows(self, question: int) -> sparse.csr_array:
        """Return a question's sparse rows, one per answer, without unused columns."""
        x = self.rows[question * self.size : (question + 1) * self.size]
        used, place = np.unique(x.indices, return_inverse=True)
        shape = (self.size, max(1, len(used)))
        return sparse.csr_array((x.data, place, x.indptr), shape=shape)


Vectors: TypeAlias = NDArray[np.floating] | sparse.csr_array

# Numbers in a chunk of vectors converted to float64: small enough for the processor's cache.
CHUNK = 400_000
# Numbers in a block: its working arrays stay small beside the data.
BLOCK = 4_000_000
# Up to this many multiplications OpenBLAS leaves a product of matrices to one thread. Larger ones
# are cut along the dimension: on a busy machine its threads wait for each other, at times for 400
# times the product itself (40 x 1024, two cores). Above MANY answers, threads pay.
SERIAL = 400_000
MANY = 64
# numpy takes the product of an array with its own transpose for a symmetric one, which OpenBLAS
# computes in half the operations and, up to so many answers, in 1.3 to 2.5 times the time: they
# are multiplied with a copy.
FEW = 20
# Sparse rows of questions with more answers stay sparse where they have fewer numbers than this
# share of the inner products: 1,000 answers of ten words are 10,000 numbers, and not a million.
SPARSE = 4
# Squared norms outside this range are computed again on vectors scaled by powers of two, so that
# neither an underflow nor an overflow changes a similarity.
SAFE = (1e-140, 1e140)
# Exponent of a zero vector, below that of every other.
NO_EXPONENT = -2000


def convert_to_dense(vectors: Vectors) -> Floats:
    """Return the vectors as a dense float64 array."""
    unpacked = vectors.toarray() if sparse.issparse(vectors) else vectors  # type: ignore[union-attr]
    return np.asarray(unpacked, dtype=np.float64)


class NonFiniteError(ValueError):
    """A vector holds NaN or infinity; `row` is the first such input row."""

    def __init__(self, row: int) -> None:
        super().__init__(f"the vector of row {row} is not finite")
        self.row = row


def compute_gram_blocks(vectors: Vectors, cells: Cells, *, centred: bool) -> list[GramBlock]:
    """Return the Gram matrices of all questions, in blocks of equally many answers.

    Parameters
    ----------
    vectors : (rows, d) dense, or sparse CSR; `cells.row` names the rows that are used. Any float
        type; products are accumulated in float64.
    centred : subtract each question's mean, for distances, which then do not cancel under an
        offset; otherwise rows get unit length, for cosines.

    Raises
    ------
    NonFiniteError
        A used vector holds NaN or infinity.
    """
    try:
        return _compute_blocks_by_size(vectors, cells, centred)
    except NonFiniteError:
        # A block names its own first row; the message names the first row of the input.
        raise NonFiniteError(_find_first_non_finite(vectors, np.sort(cells.row))) from None


def _compute_blocks_by_size(vectors: Vectors, cells: Cells, centred: bool) -> list[GramBlock]:
    """Return a Gram block for each number of answers per question, in its smallest form."""
    blocks: list[GramBlock] = []
    dimension = vectors.shape[1]
    for size, first, last in cells.list_blocks():
        # With more answers than dimensions the vectors themselves are fewer numbers than (m, m).
        direct = size > dimension
        width = dimension if direct else size
        most = max(1, BLOCK // (size * width))
        for begin in range(first, last, most):
            end = min(begin + most, last)
            start = int(cells.starts[begin])
            rows = cells.row[start : start + (end - begin) * size].reshape(end - begin, size)
            block: GramBlock | None = None
            if sparse.issparse(vectors) and size > MANY and not centred:
                block = _compute_sparse_block(vectors, rows, width)
            if block is None:
                block = _compute_block(vectors, rows, centred=centred, direct=direct)
            blocks.append(block)
    return blocks


def _compute_sparse_block(vectors: Vectors, rows: Integers, width: int) -> SparseGramBlock | None:
    """Return the sparse Gram block of questions; None where it would not be far smaller.

    None where that would not be far smaller than `width` numbers an answer, and for vectors whose
    squares are no safe numbers.
    """
    count, size = rows.shape
    x = sparse.csr_array(vectors[rows.ravel()], dtype=np.float64, copy=True)
    if x.nnz * SPARSE > rows.size * width:
        return None
    if not np.isfinite(x.data).all():
        raise NonFiniteError(0)
    # A row may name a column twice, and the square is that of the sum. A stored zero would pass for
    # a number whose square underflows.
    x.sum_duplicates()
    x.eliminate_zeros()
    row = np.repeat(np.arange(rows.size), np.diff(x.indptr))
    # Squares that overflow or underflow are found below; the caller then scales the vectors first.
    with np.errstate(over="ignore", under="ignore"):
        squared = np.bincount(row, weights=x.data**2, minlength=rows.size)
    if not _has_safe_squares(squared[np.diff(x.indptr) > 0]):
        return None
    length = np.sqrt(squared)
    # Each question gets columns of its own, so that one product serves all of the block.
    used, place = np.unique(row // size * x.shape[1] + x.indices, return_inverse=True)
    data = x.data * divide_where_positive(1.0, length, 0.0)[row]
    return SparseGramBlock(
        inner=np.empty((count, size, 0)),
        own=(squared > 0).astype(np.float64).reshape(count, size),
        length=length.reshape(count, size),
        along_mean=np.zeros((count, size)),
        mean_squared=np.zeros(count),
        exponent=np.zeros(count, dtype=np.int64),
        direct=False,
        centred=False,
        rows=sparse.csr_array((data, place, x.indptr), shape=(rows.size, max(1, len(used)))),
    )


def _compute_block(vectors: Vectors, rows: Integers, *, centred: bool, direct: bool) -> GramBlock:
    """Return the dense Gram block of questions, given the input rows of each one's answers."""
    count, size = rows.shape
    block = GramBlock(
        inner=np.empty((count, size, vectors.shape[1] if direct else size)),
        own=np.empty((count, size)),
        length=np.empty((count, size)),
        along_mean=np.zeros((count, size)),
        mean_squared=np.zeros(count),
        exponent=np.zeros(count, dtype=np.int64),
        direct=direct,
        centred=centred,
    )
    fill = _fill_centred_products if centred else _fill_unit_products
    packed = sparse.issparse(vectors) and not direct
    width = _count_most_used_columns(vectors, rows) if packed else vectors.shape[1]
    step = max(1, CHUNK // (size * width))
    for begin in range(0, count, step):
        part = slice(begin, min(begin + step, count))
        chosen = _take_rows(vectors, rows[part].ravel())
        x = (
            _pack_rows(chosen, size)
            if packed
            else convert_to_dense(chosen).reshape(-1, size, width)
        )
        fill(block, part, x, rows[part])
    return block


def _count_most_used_columns(vectors: Vectors, rows: Integers) -> int:
    """Return the largest number of columns that the answers to one question use."""
    return max(1, int(np.diff(vectors.indptr)[rows].sum(axis=1).max()))  # type: ignore[union-attr]


def _pack_rows(x: Vectors, size: int) -> Floats:
    """Return the sparse rows of each question's answers as a dense array, unused columns dropped.

    Each question has the columns that it uses, in their order; k is the most that one of them uses.
    """
    x = sparse.csr_array(x)
    count, dimension = x.shape[0] // size, x.shape[1]
    row = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    question = row // size
    used, place = np.unique(question * dimension + x.indices, return_inverse=True)
    firsts = np.searchsorted(used, np.arange(count + 1) * dimension)
    width = max(1, int(np.diff(firsts).max(initial=0)))
    indices = row * width + place - firsts[question]
    # A row may name a column twice: both count.
    summed = np.bincount(indices, x.data, x.shape[0] * width).astype(np.float64, copy=False)
    return summed.reshape(count, size, width)


def _take_rows(vectors: Vectors, rows: Integers) -> Vectors:
    """Return the given rows of `vectors`; a view, not a copy, if they are consecutive."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    if last - first == len(rows) and bool((np.diff(rows) == 1).all()):
        return vectors[first:last]
    return vectors[rows]


def _fill_unit_products(block: GramBlock, part: slice, x: Floats, rows: Integers) -> None:
    """Write the products of answers' vectors, scaled to unit length, into the block."""
    inner = block.inner[part]
    squared = _write_products(x, inner, direct=block.direct)
    length = np.sqrt(squared)
    if not _has_safe_squares(squared):
        _refuse_non_finite(x, rows)
        # Each row by its own power of two; its length by the greatest one of the question.
        own = _compute_exponents(np.abs(x).max(axis=2))
        greatest = own.max(axis=1)
        squared = _write_products(np.ldexp(x, -own[:, :, None]), inner, direct=block.direct)
        length = np.ldexp(np.sqrt(squared), own - greatest[:, None])
        block.exponent[part] = np.where(greatest == NO_EXPONENT, 0, greatest)
    inverse = divide_where_positive(1.0, np.sqrt(squared), 0.0)
    inner *= inverse[:, :, None]
    if not block.direct:
        inner *= inverse[:, None, :]
        np.einsum("bii->bi", inner)[...] = squared > 0
    block.own[part], block.length[part] = squared > 0, length


def _fill_centred_products(block: GramBlock, part: slice, x: Floats, rows: Integers) -> None:
    """Write the products of answers' vectors, less their question's mean, into the block."""
    # Squares that overflow or underflow are taken again of scaled rows.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squared = np.einsum("bid,bid->bi", x, x)
    if not _has_safe_squares(squared):
        _refuse_non_finite(x, rows)
        greatest = _compute_exponents(np.abs(x).max(axis=(1, 2)))
        exponent = np.where(greatest == NO_EXPONENT, 0, greatest)
        x = np.ldexp(x, -exponent[:, None, None])
        squared = np.einsum("bid,bid->bi", x, x)
        block.exponent[part] = exponent
    mean = x.mean(axis=1)
    x = x - mean[:, None, :]
    block.length[part] = np.sqrt(squared)
    block.along_mean[part] = np.einsum("bid,bd->bi", x, mean)
    block.mean_squared[part] = np.einsum("bd,bd->b", mean, mean)
    block.own[part] = _write_products(x, block.inner[part], direct=block.direct)


def _write_products(x: Floats, inner: Floats, *, direct: bool) -> Floats:
    """Write inner products (if `direct`, the rows) into `inner`; return the squared norms."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if direct:
            inner[...] = x
            return np.einsum("bid,bid->bi", x, x)
        size, dimension = x.shape[1:]
        step = SERIAL // size**2 if size <= MANY else dimension
        other = (x.copy() if size <= FEW else x).transpose(0, 2, 1)
        np.matmul(x[:, :, :step], other[:, :step], out=inner)
        for begin in range(step, dimension, step):
            inner += np.matmul(x[:, :, begin : begin + step], other[:, begin : begin + step])
    return np.einsum("bii->bi", inner).copy()


def _has_safe_squares(squared: Floats) -> bool:
    """Return whether no squared norm is near underflow to 0 or overflow to infinity."""
    return bool(squared.min(initial=1.0) > SAFE[0] and squared.max(initial=1.0) < SAFE[1])


def _compute_exponents(largest: Floats) -> Integers:
    """Return the exponent of the power of two above each number; `NO_EXPONENT` for 0 or less."""
    exponents = np.frexp(largest)[1].astype(np.int64)
    return np.where(largest > 0, exponents, NO_EXPONENT)


def _refuse_non_finite(x: Floats, rows: Integers) -> None:
    """Raise NonFiniteError with the first input row that has NaN or infinity."""
    bad = ~np.isfinite(x).all(axis=2)
    if bad.any():
        raise NonFiniteError(int(rows[bad].min()))


def _find_first_non_finite(vectors: Vectors, rows: Integers) -> int:
    """Return the first of `rows` whose vector has NaN or infinity; at least one must."""
    step = max(1, CHUNK // vectors.shape[1])
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        bad = ~np.isfinite(convert_to_dense(vectors[some])).all(axis=1)
        if bad.any():
            return int(some[bad.argmax()])
    raise AssertionError("all vectors are finite")


def compact_vectors(vectors: Vectors, members: Sequence[Integers]) -> Floats:
    """Return shorter vectors of the answers, with the same inner products within each question.

    They have k numbers, the greatest number of answers to a question. Products of answers to
    different questions are meaningless. `members` holds the rows of each question.
    """
    short = np.zeros((sum(map(len, members)), max(map(len, members))))
    for rows in members:
        x = vectors[rows]
        if sparse.issparse(x):
            x = sparse.csr_array(x)
            x = x[:, np.unique(x.indices)]
        # x' = Q R gives x x' = R' R; R is the triangle.
        triangle = np.asarray(np.linalg.qr(convert_to_dense(x).T, mode="r"))
        short[rows, : len(triangle)] = triangle.T
    return short
