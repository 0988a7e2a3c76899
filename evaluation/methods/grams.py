"""Inner products of the answers to each question: all that AQER needs of the embeddings.

With G_j = X_j X_j' an exemplary answer need never be formed: cosines and distances to it, left-out
or not, follow from G_j and the voting weights. After one pass over the embeddings an iteration no
longer depends on their dimension, and every bootstrap draw is only another weight vector.
A question with more answers than dimensions keeps its vectors instead, which are smaller then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.methods.cells import Cells, Floats, Integers

Vectors: TypeAlias = NDArray[np.floating] | sparse.csr_array

# Numbers in a chunk of vectors converted to float64: small enough for the processor's cache.
CHUNK = 400_000
# Squared norms outside this range are computed again on vectors scaled by a power of two, so that
# neither an underflow nor an overflow changes a cosine.
SAFE = (1e-140, 1e140)


def dense(vectors: Vectors) -> Floats:
    """Return the vectors as a dense float64 array."""
    unpacked = vectors.toarray() if sparse.issparse(vectors) else vectors  # type: ignore[union-attr]
    return np.asarray(unpacked, dtype=np.float64)


class NonFiniteError(ValueError):
    """A vector holds NaN or infinity; `row` is the first such input row."""

    def __init__(self, row: int) -> None:
        super().__init__(f"the vector of row {row} is not finite")
        self.row = row


@dataclass(frozen=True)
class GramBlock:
    """B questions with m answers each.

    Attributes
    ----------
    inner : (B, m, m) inner products, or (B, m, d) vectors where `direct`.
    squared : (B, m) squared norms, of the centred vectors where `centred`.
    along_mean : (B, m) inner products of the centred vectors with their question's mean; zeros
        where not centred.
    mean_squared : (B,) squared norm of the question's mean; zeros where not centred.
    exponent : (B,) the vectors were multiplied by ``2 ** -exponent``.
    """

    inner: Floats
    squared: Floats
    along_mean: Floats
    mean_squared: Floats
    exponent: Integers
    direct: bool

    @property
    def size(self) -> int:
        """Number m of answers to each question."""
        return self.squared.shape[1]

    def __len__(self) -> int:
        return len(self.squared)

    def product(self, v: Floats) -> Floats:
        """Return G v for each question: (B, m, D) from (B, m, D)."""
        if self.direct:
            return np.asarray(self.inner @ (self.inner.transpose(0, 2, 1) @ v))
        if v.shape[2] == 1:
            return np.einsum("bij,bj->bi", self.inner, v[:, :, 0])[:, :, None]
        return np.asarray(self.inner @ v)

    def product_of(self, which: Integers, v: Floats) -> Floats:
        """Return G v for chosen questions, one vector each: (F, m) from (F,) and (F, m)."""
        chosen = self.inner[which]
        if self.direct:
            return np.einsum("fid,fd->fi", chosen, np.einsum("fid,fi->fd", chosen, v))
        return np.einsum("fij,fj->fi", chosen, v)

    def original_norm(self) -> Floats:
        """(B, m) norms of the vectors as they were before centring, up to the scaling."""
        squared = self.squared + 2 * self.along_mean + self.mean_squared[:, None]
        return np.sqrt(np.maximum(squared, 0.0))

    def original_square(self, v: Floats) -> Floats:
        """(B,) squared norm of the weighted sum of the vectors before centring; v is (B, m)."""
        inner = np.einsum("bi,bi->b", v, self.product(v[:, :, None])[:, :, 0])
        total = v.sum(axis=1)
        along = np.einsum("bi,bi->b", v, self.along_mean)
        return np.asarray(inner + 2 * total * along + total**2 * self.mean_squared)


def gram_blocks(vectors: Vectors, cells: Cells, *, centred: bool) -> list[GramBlock]:
    """Compute the blocks of all questions, in cell order.

    Parameters
    ----------
    vectors : (rows, d) dense, or sparse CSR; `cells.row` names the rows that are used. Any float
        type; products are accumulated in float64.
    centred : subtract each question's mean first. Distances then do not cancel under an offset.

    Raises
    ------
    NonFiniteError
        A used vector holds NaN or infinity.
    """
    blocks = []
    dimension = vectors.shape[1]
    for size, first, last in cells.runs():
        direct = size > dimension
        width = dimension if direct else size
        # A block holds questions of one size; a large one is cut so that its working arrays stay
        # small beside the data.
        most = max(1, 4_000_000 // (size * width))
        for begin in range(first, last, most):
            end = min(begin + most, last)
            start = int(cells.starts[begin])
            rows = cells.row[start : start + (end - begin) * size].reshape(end - begin, size)
            blocks.append(_block(vectors, rows, centred=centred, direct=direct))
    return blocks


def _block(vectors: Vectors, rows: Integers, *, centred: bool, direct: bool) -> GramBlock:
    count, size = rows.shape
    dimension = vectors.shape[1]
    inner = np.empty((count, size, dimension if direct else size))
    squared = np.empty((count, size))
    along = np.zeros((count, size))
    mean_squared = np.zeros(count)
    exponent = np.zeros(count, dtype=np.int64)
    make = _sparse_parts if sparse.issparse(vectors) and not direct else _dense_parts
    for part in _chunks(count, size * dimension):
        made = make(vectors, rows[part], centred, direct)
        inner[part], squared[part], along[part], mean_squared[part], exponent[part] = made
    return GramBlock(inner, squared, along, mean_squared, exponent, direct)


def _chunks(count: int, each: int) -> Iterator[slice]:
    step = max(1, CHUNK // max(each, 1))
    for begin in range(0, count, step):
        yield slice(begin, min(begin + step, count))


Parts = tuple[Floats, Floats, Floats, Floats, Integers]


def _dense_parts(vectors: Vectors, rows: Integers, centred: bool, direct: bool) -> Parts:
    count, size = rows.shape
    x = dense(vectors[rows.ravel()]).reshape(count, size, -1)
    exponent = np.zeros(count, dtype=np.int64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squared = np.einsum("bid,bid->bi", x, x)
    if not (squared.min(initial=1.0) > SAFE[0] and squared.max(initial=1.0) < SAFE[1]):
        _refuse_non_finite(x, rows)
        exponent = np.frexp(np.abs(x).max(axis=(1, 2)))[1].astype(np.int64)
        x = np.ldexp(x, -exponent[:, None, None])
        squared = np.einsum("bid,bid->bi", x, x)
    along, mean_squared = np.zeros((count, size)), np.zeros(count)
    if centred:
        mean = x.mean(axis=1)
        x = x - mean[:, None, :]
        along = np.einsum("bid,bd->bi", x, mean)
        mean_squared = np.einsum("bd,bd->b", mean, mean)
        squared = np.einsum("bid,bid->bi", x, x)
    inner = x if direct else np.matmul(x, x.transpose(0, 2, 1))
    return inner, squared, along, mean_squared, exponent


def _sparse_parts(vectors: Vectors, rows: Integers, centred: bool, direct: bool) -> Parts:
    count, size = rows.shape
    inner = np.empty((count, size, size))
    for at, chosen in enumerate(rows):
        x = vectors[chosen].astype(np.float64)
        if not np.isfinite(x.data).all():
            _refuse_non_finite(x.toarray()[None], chosen[None])
        inner[at] = (x @ x.T).toarray()
    along, mean_squared = np.zeros((count, size)), np.zeros(count)
    if centred:
        with_mean = inner.mean(axis=2)
        mean_squared = with_mean.mean(axis=1)
        along = with_mean - mean_squared[:, None]
        inner = inner - with_mean[:, :, None] - with_mean[:, None, :] + mean_squared[:, None, None]
    squared = np.maximum(np.einsum("bii->bi", inner), 0.0)
    return inner, squared, along, mean_squared, np.zeros(count, dtype=np.int64)


def _refuse_non_finite(x: Floats, rows: Integers) -> None:
    bad = ~np.isfinite(x).all(axis=2)
    if bad.any():
        raise NonFiniteError(int(rows[bad].min()))
