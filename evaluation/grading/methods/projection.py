"""Vectors in two dimensions, for maps of answers: principal components, of all or of a question.

A projection is linear, so the exemplary answer of some voting weights stands on the map at the
weighted mean of its answers' places; nothing but two numbers an answer need be kept to see it
move. (The paper's figure 2 shows such a movement for simulated answers.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, svds

from evaluation.methods.cells import Cells, Floats, Integers
from evaluation.methods.grams import CHUNK, Vectors, dense
from evaluation.methods.undefined import ratio

AXES = 2
# Axes are learned from at most so many evenly spaced rows: more would not turn them visibly.
LEARNED = 100_000
LEARNED_OF_QUESTION = 1_000
# Up to this many rows or columns the eigenvectors are found exactly; beyond, by iteration.
EXACT = 2_048
# A length that differs less than this from 1 is 1: float32 and bfloat16 vectors are not exact.
UNIT = 0.01
# Questions with up to so many answers are taken together.
TOGETHER = 64


@dataclass(frozen=True)
class Projection:
    """Axes of a map.

    Attributes
    ----------
    centre : (d,) the mean of what they were learned from: the map's origin.
    axes : (d, 2) orthonormal columns, the entry of greatest size positive; zeros for an axis along
        which nothing varies.
    shares : (2,) part of the variance along each axis, 0 to 1; NaN where there is none at all.
    n_learned : rows they were learned from.
    """

    centre: Floats
    axes: Floats
    shares: Floats
    n_learned: int

    def __call__(self, vectors: Vectors) -> Floats:
        """Return (N, 2) places of N vectors, in the units of the vectors."""
        origin = self.centre @ self.axes
        if sparse.issparse(vectors):
            return np.asarray(vectors @ self.axes) - origin
        places = np.empty((vectors.shape[0], AXES))
        step = max(1, CHUNK // vectors.shape[1])
        for begin in range(0, len(places), step):
            part = slice(begin, begin + step)
            places[part] = np.asarray(vectors[part], dtype=np.float64) @ self.axes
        return places - origin


def principal_axes(vectors: Vectors, most: int = LEARNED) -> Projection:
    """Return the first two principal axes of (N, d) vectors, dense or sparse, all finite.

    Learned from at most `most` evenly spaced rows, in memory that does not grow with N. The same
    vectors give the same axes. Equal to scikit-learn's PCA up to the sign.
    """
    n, d = vectors.shape
    x = vectors if n <= most else vectors[np.linspace(0, n - 1, most).astype(np.int64)]
    # Multiplied by a power of two, so that no square over- or underflows.
    scale = float(np.ldexp(1.0, -max(-1000, int(np.frexp(_largest(x))[1]))))
    count = x.shape[0]
    centre = np.asarray(x.mean(axis=0, dtype=np.float64)).ravel() * scale
    total = max(_square(x, scale) - count * float(centre @ centre), 0.0)
    if min(count, d) <= EXACT:
        values, axes = _exactly(x, centre, scale)
    else:
        values, axes = _iterated(x, centre, scale)
    # What is left after taking out a mean of that size is rounding.
    rounding = 1e-12 * count * float(centre @ centre) + np.finfo(float).tiny
    varied = values > max(rounding, 1e-12 * total)
    axes = np.where(varied, _signed(axes), 0.0)
    shares = np.where(varied, values, 0.0) / total if total > rounding else np.full(AXES, np.nan)
    return Projection(centre / scale, axes, np.minimum(shares, 1.0), count)


def have_unit_length(vectors: Vectors) -> bool:
    """Whether all (N, d) vectors but zeros have length 1, to within a hundredth."""
    step = max(1, CHUNK // vectors.shape[1])
    if sparse.issparse(vectors):
        squares = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()  # type: ignore[union-attr]
        return _are_one(squares)
    parts = (vectors[at : at + step] for at in range(0, vectors.shape[0], step))
    return all(_are_one(np.einsum("nd,nd->n", x, x, dtype=np.float64)) for x in parts)


def _are_one(squares: Floats) -> bool:
    lengths = np.sqrt(squares[squares > 0])
    return bool((np.abs(lengths - 1) < UNIT).all())


@dataclass(frozen=True)
class QuestionMaps:
    """The answers to each question on the question's own principal axes.

    Attributes
    ----------
    places : (N, 2) in the order of the input rows, origin at the mean of the question's answers.
    of_targets : (R, 2) of further vectors, NaN where the question has no answers.
    shares : (Q,) part of the question's variance that its two axes show; NaN without any.
    shares_of_run : (Q,) the same for the axes of the run.
    """

    places: Floats
    of_targets: Floats
    shares: Floats
    shares_of_run: Floats


def question_maps(
    vectors: Vectors,
    cells: Cells,
    run: Floats,
    targets: Vectors | None = None,
    questions: Integers | None = None,
) -> QuestionMaps:
    """Lay each question's answers on axes of their own.

    Parameters
    ----------
    vectors : (N, d) the answers' vectors.
    run : (N, 2) their places on the run's axes, to compare how much both show.
    targets, questions : (R, d) further vectors (the models' answers), and the question code of
        each, -1 for none.
    """
    n_targets = 0 if targets is None else targets.shape[0]
    maps = QuestionMaps(
        places=np.empty((vectors.shape[0], AXES)),
        of_targets=np.full((n_targets, AXES), np.nan),
        shares=np.full(cells.n_questions, np.nan),
        shares_of_run=np.full(cells.n_questions, np.nan),
    )
    asked: dict[int, list[int]] = {}
    for row, question in enumerate([] if questions is None else questions.tolist()):
        asked.setdefault(question, []).append(row)
    for rows, codes in _groups(vectors, cells):
        for part, code, found in zip(rows, codes, _axes_of_each(vectors, rows), strict=True):
            mine, wanted = vectors[part], asked.get(int(code), [])
            theirs = targets[wanted] if targets is not None and wanted else None
            if found is None:
                if sparse.issparse(mine):
                    mine, theirs = _used_columns(mine, theirs)
                found = principal_axes(mine, LEARNED_OF_QUESTION)
            maps.places[part] = found(mine)
            if theirs is not None:
                maps.of_targets[wanted] = found(theirs)
            if not np.isnan(found.shares[0]):
                maps.shares[code] = found.shares.sum()
    shown, of_run = (_spread(places[cells.row], cells) for places in (maps.places, run))
    some = shown > 0
    share = np.divide(of_run, shown, out=np.zeros_like(shown), where=some) * maps.shares
    np.minimum(share, 1.0, out=maps.shares_of_run)
    return maps


def _spread(ordered: Floats, cells: Cells) -> Floats:
    """Return (Q,) summed squared distances of places (N, 2) in cell order from their means."""
    mean = np.add.reduceat(ordered, cells.starts, axis=0) / cells.sizes[:, None]
    far = ((ordered - cells.spread(mean)) ** 2).sum(axis=1)
    return cells.to_questions(np.add.reduceat(far, cells.starts))


def _groups(vectors: Vectors, cells: Cells) -> Iterator[tuple[Integers, Integers]]:
    """Yield questions with equally many answers: (B, m) their rows and (B,) their codes."""
    for size, first, last in cells.runs():
        most = max(1, CHUNK // (size * vectors.shape[1]))
        for begin in range(first, last, most):
            end = min(begin + most, last)
            start = int(cells.starts[begin])
            rows = cells.row[start : start + (end - begin) * size].reshape(end - begin, size)
            yield rows, cells.questions_in_order[begin:end]


def _axes_of_each(vectors: Vectors, rows: Integers) -> Iterator[Projection | None]:
    """Yield the principal axes of B questions with few answers each; None for any others."""
    count, size = rows.shape
    if sparse.issparse(vectors) or size > min(TOGETHER, vectors.shape[1]):
        yield from [None] * count
        return
    x = np.asarray(vectors[rows.ravel()], dtype=np.float64).reshape(count, size, -1)
    scale = float(np.ldexp(1.0, -max(-1000, int(np.frexp(_largest(x))[1]))))
    centre = x.mean(axis=1)
    x = (x - centre[:, None, :]) * scale
    inner = x @ x.transpose(0, 2, 1)
    values, left = np.linalg.eigh(inner)
    values, left = np.maximum(values[:, ::-1][:, :AXES], 0.0), left[:, :, ::-1][:, :, :AXES]
    axes = x.transpose(0, 2, 1) @ left
    total = np.einsum("bii->b", inner)
    rounding = 1e-12 * scale**2 * np.einsum("bd,bd->b", centre, centre) * size
    for b in range(count):
        # Few answers, or ones that do not differ along two axes, are for the careful way.
        if size <= AXES or values[b, 1] <= 1e-12 * total[b] + rounding[b]:
            yield None
            continue
        turned = _signed(axes[b] / np.sqrt(values[b]))
        yield Projection(centre[b], turned, np.minimum(values[b] / total[b], 1.0), size)


def exemplar_paths(
    places: Floats, cells: Cells, weights: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return (Q, T, 2) where the exemplary answers stand after each iteration, by question code.

    Parameters
    ----------
    places : (N, 2) of the answers, in the order of the input rows.
    weights : (T, M) voting weights, an iteration each. Where those of a question's answers sum
        to 0 they count equally, as in the vote.
    """
    path = np.empty((cells.n_questions, len(weights), places.shape[1]))
    ordered = places[cells.row]
    for at, w in enumerate(weights):
        v = w[cells.worker].astype(np.float64)
        total = np.add.reduceat(v, cells.starts)
        v = np.where(cells.spread(total <= 0), 1.0, v)
        total = np.add.reduceat(v, cells.starts)
        sums = np.add.reduceat(v[:, None] * ordered, cells.starts, axis=0)
        path[cells.questions_in_order, at] = sums / total[:, None]
    return path


def _largest(x: Vectors) -> float:
    if sparse.issparse(x):
        return float(np.abs(x.data).max(initial=0.0))
    return float(max(x.max(initial=0.0), -x.min(initial=0.0)))


def _parts(x: Vectors) -> list[Vectors]:
    step = max(1, CHUNK // x.shape[1])
    return [x[at : at + step] for at in range(0, x.shape[0], step)]


def _square(x: Vectors, scale: float) -> float:
    if sparse.issparse(x):
        return float(((x.data.astype(np.float64) * scale) ** 2).sum())  # type: ignore[union-attr]
    return sum(float(((dense(part) * scale) ** 2).sum()) for part in _parts(x))


def _exactly(x: Vectors, centre: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return two eigenvalues of the scatter matrix and (d, 2) eigenvectors, from the smaller side.

    Of N x N or d x d products. Vectors less than two dimensions get a second axis of zeros.
    """
    n, d = x.shape
    if d <= n:
        scatter = np.zeros((d, d))
        for part in _parts(x):
            rows = dense(part) * scale - centre
            scatter += rows.T @ rows
        values, vectors = _greatest(scatter)
        return values, vectors
    if sparse.issparse(x):
        scaled = x.astype(np.float64) * scale
        along = np.asarray(scaled @ centre)
        inner = dense(scaled @ scaled.T) - along[:, None] - along
        inner += float(centre @ centre)
        values, left = _greatest(inner)
        back = np.asarray(scaled.T @ left) - np.outer(centre, left.sum(axis=0))
    else:
        rows = dense(x) * scale - centre
        values, left = _greatest(rows @ rows.T)
        back = rows.T @ left
    length = np.linalg.norm(back, axis=0)
    return values, ratio(back, length, 0.0)


def _greatest(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the two greatest eigenvalues and eigenvectors of a symmetric matrix."""
    size = len(matrix)
    first = max(0, size - AXES)
    values, vectors = linalg.eigh(matrix, subset_by_index=[first, size - 1])
    out_values, out_vectors = np.zeros(AXES), np.zeros((size, AXES))
    out_values[: len(values)] = values[::-1]
    out_vectors[:, : len(values)] = vectors[:, ::-1]
    return np.maximum(out_values, 0.0), out_vectors


def _iterated(x: Vectors, centre: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return the same by ARPACK, which only multiplies the vectors; from a fixed start."""
    n, d = x.shape
    floats = x.astype(np.float64) * scale

    def times(v: Floats) -> Floats:
        v = v.ravel()
        return np.asarray(floats @ v) - float(centre @ v)

    def back(u: Floats) -> Floats:
        u = u.ravel()
        return np.asarray(floats.T @ u) - centre * u.sum()

    operator = LinearOperator((n, d), matvec=times, rmatvec=back, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(min(n, d))
    _, values, right = svds(operator, k=AXES, v0=start, solver="arpack")
    order = np.argsort(values)[::-1]
    return values[order] ** 2, np.asarray(right[order].T)


def _signed(axes: Floats) -> Floats:
    """Turn each axis so that its entry of greatest size is positive."""
    greatest = np.abs(axes).argmax(axis=0)
    sign = np.where(axes[greatest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return axes * sign


def _used_columns(x: Vectors, y: Vectors | None) -> tuple[Vectors, Vectors | None]:
    """Leave out the columns that no row of x uses; along those nothing varies."""
    x = sparse.csr_array(x)
    used = np.unique(x.indices)
    if not len(used):
        used = np.zeros(1, dtype=x.indices.dtype)
    return sparse.csr_array(x[:, used]), None if y is None else y[:, used]
