"""Map of answers in two dimensions, and the heat map's overview.

Project answers' vectors to two dimensions by principal components, per run or question.

A projection is linear, so the exemplary answer of some voting weights lies at the weighted mean of
its answers' places. Two numbers an answer are enough to show how it moves (the paper's figure 2).

Average the worker x question table of scores, in at most 40 x 40 cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, svds

from evaluation.core.stats.cells import Cells, Floats, Integers, divide_where_positive
from evaluation.core.stats.grams import CHUNK, Vectors, convert_to_dense

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
    """Linear map of vectors to two coordinates: their centre and two principal axes.

    Attributes
    ----------
    centre : (d,) mean of the vectors from which the axes were computed: the map's origin.
    axes : (d, 2) orthonormal columns, the largest entry positive; zeros for an axis without
        variance.
    shares : (2,) share of the variance along each axis, 0 to 1; NaN without any variance.
    n_learned : number of vectors from which the axes were computed.
    """

    centre: Floats
    axes: Floats
    shares: Floats
    n_learned: int

    def __call__(self, vectors: Vectors) -> Floats:
        """Return the two map coordinates of each vector, in the units of the vectors (N, 2).

        `vectors` is (N, d), the result (N, 2).
        """
        # Subtracted after the product: centred vectors of a sparse matrix would be dense.
        origin = self.centre @ self.axes
        if sparse.issparse(vectors):
            return np.asarray(vectors @ self.axes) - origin
        places = np.empty((vectors.shape[0], AXES))
        step = max(1, CHUNK // vectors.shape[1])
        for begin in range(0, len(places), step):
            part = slice(begin, begin + step)
            places[part] = np.asarray(vectors[part], dtype=np.float64) @ self.axes
        return places - origin


def compute_principal_axes(vectors: Vectors, most: int = LEARNED) -> Projection:
    """Return the first two principal axes of vectors, one row per answer.

    Learned from at most `most` evenly spaced rows, in memory that does not grow with N. The same
    vectors give the same axes. Equal to scikit-learn's PCA up to the sign.
    """
    n, d = vectors.shape
    x = vectors if n <= most else vectors[np.linspace(0, n - 1, most).astype(np.int64)]
    # Multiplied by a power of two, so that no square over- or underflows.
    scale = float(np.ldexp(1.0, -max(-1000, int(np.frexp(_find_largest_absolute(x))[1]))))
    count = x.shape[0]
    centre = np.asarray(x.mean(axis=0, dtype=np.float64)).ravel() * scale
    total = max(_sum_squares(x, scale) - count * float(centre @ centre), 0.0)
    if min(count, d) <= EXACT:
        # The Gram or scatter matrix of the smaller side has the same eigenvalues.
        values, axes = _compute_exact_axes(x, centre, scale)
    else:
        values, axes = _compute_iterated_axes(x, centre, scale)
    # What is left after taking out a mean of that size is rounding.
    rounding = 1e-12 * count * float(centre @ centre) + np.finfo(float).tiny
    varied = values > max(rounding, 1e-12 * total)
    axes = np.where(varied, _fix_signs(axes), 0.0)
    shares = np.where(varied, values, 0.0) / total if total > rounding else np.full(AXES, np.nan)
    return Projection(centre / scale, axes, np.minimum(shares, 1.0), count)


def is_unit_length(vectors: Vectors) -> bool:
    """Return whether all vectors (N, d) but the zero ones have length 1, to 0.01."""
    step = max(1, CHUNK // vectors.shape[1])
    if sparse.issparse(vectors):
        squares = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()  # type: ignore[union-attr]
        return _is_all_ones(squares)
    parts = (vectors[index : index + step] for index in range(0, vectors.shape[0], step))
    return all(_is_all_ones(np.einsum("nd,nd->n", x, x, dtype=np.float64)) for x in parts)


def _is_all_ones(squares: Floats) -> bool:
    """Return whether all nonzero squared lengths are 1 (tolerance 0.01 on the length)."""
    lengths = np.sqrt(squares[squares > 0])
    return bool((np.abs(lengths - 1) < UNIT).all())


@dataclass(frozen=True)
class QuestionMaps:
    """Map coordinates of the answers to each question, on that question's principal axes.

    Attributes
    ----------
    places : (N, 2) coordinates by input row; the origin is the mean of the question's answers.
    of_targets : (R, 2) coordinates of further vectors, NaN if the question has no answers.
    shares : (Q,) share of the question's variance on its two axes; NaN without variance.
    shares_of_run : (Q,) the same for the axes of the run.
    """

    places: Floats
    of_targets: Floats
    shares: Floats
    shares_of_run: Floats


def compute_question_maps(
    vectors: Vectors,
    cells: Cells,
    run: Floats,
    targets: Vectors | None = None,
    questions: Integers | None = None,
) -> QuestionMaps:
    """Return the map coordinates of each question's answers, on the question's own axes.

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
    target_rows: dict[int, list[int]] = {}
    for row, question in enumerate([] if questions is None else questions.tolist()):
        target_rows.setdefault(question, []).append(row)
    for rows, codes in _iterate_groups(vectors, cells):
        for part, code, projection in zip(rows, codes, _iterate_axes(vectors, rows), strict=True):
            own_vectors, rows_of_targets = vectors[part], target_rows.get(int(code), [])
            target_vectors = (
                targets[rows_of_targets] if targets is not None and rows_of_targets else None
            )
            if projection is None:
                if sparse.issparse(own_vectors):
                    own_vectors, target_vectors = _select_used_columns(own_vectors, target_vectors)
                projection = compute_principal_axes(own_vectors, LEARNED_OF_QUESTION)
            maps.places[part] = projection(own_vectors)
            if target_vectors is not None:
                maps.of_targets[rows_of_targets] = projection(target_vectors)
            if not np.isnan(projection.shares[0]):
                maps.shares[code] = projection.shares.sum()
    spread_of_own, spread_of_run = (
        _compute_spread(places[cells.row], cells) for places in (maps.places, run)
    )
    has_spread = spread_of_own > 0
    share = (
        np.divide(spread_of_run, spread_of_own, out=np.zeros_like(spread_of_own), where=has_spread)
        * maps.shares
    )
    np.minimum(share, 1.0, out=maps.shares_of_run)
    return maps


def _compute_spread(ordered: Floats, cells: Cells) -> Floats:
    """Return each question's sum of squared distances of its answers from their mean (Q,)."""
    mean = np.add.reduceat(ordered, cells.starts, axis=0) / cells.sizes[:, None]
    squared_distance = ((ordered - cells.spread_to_answers(mean)) ** 2).sum(axis=1)
    return cells.to_questions(np.add.reduceat(squared_distance, cells.starts))


def _iterate_groups(vectors: Vectors, cells: Cells) -> Iterator[tuple[Integers, Integers]]:
    """Yield the questions with equally many answers, as answer rows and question codes.

    Shapes (B, m) and (B,).
    """
    for size, first, last in cells.list_blocks():
        most = max(1, CHUNK // (size * vectors.shape[1]))
        for begin in range(first, last, most):
            end = min(begin + most, last)
            start = int(cells.starts[begin])
            rows = cells.row[start : start + (end - begin) * size].reshape(end - begin, size)
            yield rows, cells.questions_in_order[begin:end]


def _iterate_axes(vectors: Vectors, rows: Integers) -> Iterator[Projection | None]:
    """Yield each question's principal axes by a fast method; None where that method fails."""
    count, size = rows.shape
    if sparse.issparse(vectors) or size > min(TOGETHER, vectors.shape[1]):
        yield from [None] * count
        return
    x = np.asarray(vectors[rows.ravel()], dtype=np.float64).reshape(count, size, -1)
    scale = float(np.ldexp(1.0, -max(-1000, int(np.frexp(_find_largest_absolute(x))[1]))))
    centre = x.mean(axis=1)
    x = (x - centre[:, None, :]) * scale
    gram = x @ x.transpose(0, 2, 1)
    values, left_vectors = np.linalg.eigh(gram)
    values, left_vectors = (
        np.maximum(values[:, ::-1][:, :AXES], 0.0),
        left_vectors[:, :, ::-1][:, :, :AXES],
    )
    axes = x.transpose(0, 2, 1) @ left_vectors
    total = np.einsum("bii->b", gram)
    rounding = 1e-12 * scale**2 * np.einsum("bd,bd->b", centre, centre) * size
    for b in range(count):
        # Few answers, or ones that do not differ along two axes, are for the careful way.
        if size <= AXES or values[b, 1] <= 1e-12 * total[b] + rounding[b]:
            yield None
            continue
        signed_axes = _fix_signs(axes[b] / np.sqrt(values[b]))
        yield Projection(centre[b], signed_axes, np.minimum(values[b] / total[b], 1.0), size)


def compute_exemplar_paths(
    places: Floats, cells: Cells, weights: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return the map position of each question's exemplary answer after each iteration.

    Shape (Q, T, 2).

    Parameters
    ----------
    places : (N, 2) of the answers, in the order of the input rows.
    weights : (T, M) voting weights, one row per iteration. If those of a question's answers sum
        to 0 they count equally, as in the vote.
    """
    path = np.empty((cells.n_questions, len(weights), places.shape[1]))
    ordered = places[cells.row]
    for iteration, weights_now in enumerate(weights):
        # Histories are stored in 32 bits; sums over many answers are taken in 64.
        answer_weights = weights_now[cells.worker].astype(np.float64)
        total = np.add.reduceat(answer_weights, cells.starts)
        answer_weights = np.where(cells.spread_to_answers(total <= 0), 1.0, answer_weights)
        total = np.add.reduceat(answer_weights, cells.starts)
        sums = np.add.reduceat(answer_weights[:, None] * ordered, cells.starts, axis=0)
        path[cells.questions_in_order, iteration] = sums / total[:, None]
    return path


def _find_largest_absolute(x: Vectors) -> float:
    """Return the largest absolute value of a dense or sparse array."""
    if sparse.issparse(x):
        return float(np.abs(x.data).max(initial=0.0))
    return float(max(x.max(initial=0.0), -x.min(initial=0.0)))


def _split_rows(x: Vectors) -> list[Vectors]:
    """Return the rows of an array in parts of at most `CHUNK` numbers each."""
    step = max(1, CHUNK // x.shape[1])
    return [x[index : index + step] for index in range(0, x.shape[0], step)]


def _sum_squares(x: Vectors, scale: float) -> float:
    """Return the sum of squares of all values after multiplication by `scale`."""
    if sparse.issparse(x):
        return float(((x.data.astype(np.float64) * scale) ** 2).sum())  # type: ignore[union-attr]
    return sum(float(((convert_to_dense(part) * scale) ** 2).sum()) for part in _split_rows(x))


def _compute_exact_axes(x: Vectors, centre: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return the two largest eigenvalues of the vectors' scatter matrix, and their eigenvectors.

    Of N x N or d x d products. Vectors less than two dimensions get a second axis of zeros.
    """
    n, d = x.shape
    if d <= n:
        scatter = np.zeros((d, d))
        for part in _split_rows(x):
            rows = convert_to_dense(part) * scale - centre
            scatter += rows.T @ rows
        values, vectors = _find_largest_eigenpairs(scatter)
        return values, vectors
    if sparse.issparse(x):
        scaled = x.astype(np.float64) * scale
        to_centre = np.asarray(scaled @ centre)
        gram = convert_to_dense(scaled @ scaled.T) - to_centre[:, None] - to_centre
        gram += float(centre @ centre)
        values, left_vectors = _find_largest_eigenpairs(gram)
        unscaled = np.asarray(scaled.T @ left_vectors) - np.outer(centre, left_vectors.sum(axis=0))
    else:
        rows = convert_to_dense(x) * scale - centre
        values, left_vectors = _find_largest_eigenpairs(rows @ rows.T)
        unscaled = rows.T @ left_vectors
    # X'u of a unit eigenvector u has the length of a singular value; of a zero one no direction.
    length = np.linalg.norm(unscaled, axis=0)
    return values, divide_where_positive(unscaled, length, 0.0)


def _find_largest_eigenpairs(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the two largest eigenvalues of a symmetric matrix, and their eigenvectors.

    Shapes (2,) and (n, 2).
    """
    size = len(matrix)
    first = max(0, size - AXES)
    values, vectors = linalg.eigh(matrix, subset_by_index=[first, size - 1])
    out_values, out_vectors = np.zeros(AXES), np.zeros((size, AXES))
    out_values[: len(values)] = values[::-1]
    out_vectors[:, : len(values)] = vectors[:, ::-1]
    # A Gram matrix has no negative eigenvalue; rounding may leave one just below 0.
    return np.maximum(out_values, 0.0), out_vectors


def _compute_iterated_axes(x: Vectors, centre: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return the values of `_compute_exact_axes`, computed by iteration (ARPACK)."""
    n, d = x.shape
    # Centred inside the products only, so that sparse vectors stay sparse.
    floats = x.astype(np.float64) * scale

    def multiply(v: Floats) -> Floats:
        """Return the product of the centred matrix with a vector."""
        v = v.ravel()
        return np.asarray(floats @ v) - float(centre @ v)

    def multiply_transposed(u: Floats) -> Floats:
        """Return the product of the transposed centred matrix with a vector."""
        u = u.ravel()
        return np.asarray(floats.T @ u) - centre * u.sum()

    operator = LinearOperator(
        (n, d), matvec=multiply, rmatvec=multiply_transposed, dtype=np.float64
    )
    # ARPACK starts at random otherwise, and the same vectors would not give the same axes.
    start = np.random.default_rng(0).standard_normal(min(n, d))
    _, values, right = svds(operator, k=AXES, v0=start, solver="arpack")
    # svds promises no order of its singular values; their squares are the eigenvalues.
    order = np.argsort(values)[::-1]
    return values[order] ** 2, np.asarray(right[order].T)


def _fix_signs(axes: Floats) -> Floats:
    """Return the axes (d, 2) with signs that make the largest entry of each positive."""
    greatest = np.abs(axes).argmax(axis=0)
    # An eigenvector's sign is arbitrary: without a rule two runs of one data set may be mirrored.
    sign = np.where(axes[greatest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return axes * sign


def _select_used_columns(x: Vectors, y: Vectors | None) -> tuple[Vectors, Vectors | None]:
    """Return x and y without the columns that are zero throughout x."""
    x = sparse.csr_array(x)
    # A column that no answer uses is 0 on both axes: dropping it from y changes no place.
    used = np.unique(x.indices)
    if not len(used):
        used = np.zeros(1, dtype=x.indices.dtype)
    return sparse.csr_array(x[:, used]), None if y is None else y[:, used]


# Rows and columns of the overview at most.
MOST = 40


@dataclass(frozen=True)
class Overview:
    """Mean scores of groups of workers (rows) on groups of questions (columns).

    Attributes
    ----------
    means : (R, C) mean score of the answers in a cell; NaN without any.
    counts : (R, C) number of answers with a score in a cell.
    workers_to, questions_to : (R,), (C,) cumulative numbers of workers (best first) and questions
        (easiest first) at the end of each group.
    """

    means: Floats
    counts: Integers
    workers_to: Integers
    questions_to: Integers


def compute_overview(
    scores: Floats,
    worker: Integers,
    question: Integers,
    workers_in_order: Integers,
    questions_in_order: Integers,
    most: int = MOST,
) -> Overview:
    """Return the mean scores of up to `most` groups of workers on up to `most` of questions.

    Parameters
    ----------
    scores : (N,) NaN for an answer without one.
    worker, question : (N,) codes.
    workers_in_order, questions_in_order : (M,), (Q,) all codes, in the order they are shown.
    """
    row_of, rows_to = _split_into_groups(workers_in_order, most)
    column_of, columns_to = _split_into_groups(questions_in_order, most)
    known = ~np.isnan(scores)
    shape = (len(rows_to), len(columns_to))
    field = row_of[worker[known]] * shape[1] + column_of[question[known]]
    size = shape[0] * shape[1]
    counts = np.bincount(field, minlength=size)
    sums = np.bincount(field, weights=scores[known], minlength=size)
    means = divide_where_positive(sums, counts)
    return Overview(means.reshape(shape), counts.reshape(shape), rows_to, columns_to)


def compute_mean_by_code(scores: Floats, codes: Integers, n: int) -> Floats:
    """Return the mean of the known scores of each worker or question code (n,); NaN if none."""
    known = ~np.isnan(scores)
    counts = np.bincount(codes[known], minlength=n)
    sums = np.bincount(codes[known], weights=scores[known], minlength=n)
    return divide_where_positive(sums, counts)


def _split_into_groups(in_order: Integers, most: int) -> tuple[Integers, Integers]:
    """Return the group of each code, and the ends of at most `most` equal groups in this order."""
    n = len(in_order)
    groups = min(n, most)
    # Whole numbers, so that group sizes differ by one at most.
    ends = (np.arange(1, groups + 1) * n) // groups
    rank = np.empty(n, dtype=np.int64)
    rank[in_order] = np.arange(n)
    return np.searchsorted(ends, rank, side="right").astype(np.int64), ends
