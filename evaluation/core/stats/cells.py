"""Cells of the worker x question table, sorted by question, and undefined numbers.

A cell is one answer of one worker to one question; the cells of a question are adjacent. All
methods work on arrays over cells: weights are gathered to cells by worker, and sums go back to
workers or to questions.

Undefined numbers are NaN in arrays and None in results.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)


def encode_labels(labels: ArrayLike) -> tuple[Integers, NDArray[np.generic]]:
    """Return the integer code of each label, and the distinct labels in order of appearance.

    Parameters
    ----------
    labels : (N,) array of integers or strings.

    Returns
    -------
    codes : (N,) integers in 0..K-1.
    distinct : (K,) the labels; ``distinct[codes]`` gives ``labels`` back.
    """
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, got shape {labels.shape}")
    # numpy.unique sorts the labels; rows are to keep their order of first appearance.
    distinct, first, inverse = _find_distinct_labels(labels)
    order = np.argsort(first, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position[inverse], distinct[order]


def _find_distinct_labels(
    labels: NDArray[np.generic],
) -> tuple[NDArray[np.generic], Integers, Integers]:
    """Return sorted distinct labels, each one's first row, and each row's index among them.

    As `numpy.unique`, but whole numbers that lie close together are counted and not sorted, which
    is some ten times as fast.
    """
    n = len(labels)
    if n and np.can_cast(labels.dtype, np.int64):
        low, high = int(labels.min()), int(labels.max())
        if high - low < 2 * n:
            offset = labels.astype(np.int64) - low
            first = np.full(high - low + 1, n)
            # Backwards, so that the first row of a label is written last and stays.
            first[offset[::-1]] = np.arange(n - 1, -1, -1)
            there = np.flatnonzero(first < n)
            place = np.cumsum(first < n) - 1
            return labels[first[there]], first[there], place[offset]
    return np.unique(labels, return_index=True, return_inverse=True)


# Products of this many keys and as many values of a column still fit into 64 bits.
_MOST_KEYS = 2**31


def find_equal_rows(columns: Iterable[ArrayLike], count: int) -> tuple[Integers, Integers]:
    """Return the first row of each group of equal rows of a table, and each row's group number.

    Parameters
    ----------
    columns : (count,) arrays of numbers without NaN. count : rows of the table.

    Returns
    -------
    first : (K,) the first of each group of equal rows, in their order.
    place : (count,) numbers in 0..K-1; row i equals row ``first[place[i]]``.
    """
    key, n_keys = np.zeros(count, dtype=np.int64), 1
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        if n_keys * len(values) > _MOST_KEYS:
            found, key = np.unique(key, return_inverse=True)
            n_keys = len(found)
        key = key * len(values) + place
        n_keys *= len(values)
    place, distinct = encode_labels(key)
    first = np.empty(len(distinct), dtype=np.int64)
    # Backwards, so that the first row of a group is written last and stays.
    first[place[::-1]] = np.arange(count - 1, -1, -1)
    return first, place


@dataclass(frozen=True)
class Cells:
    """N answers (cells) by M workers to Q questions, sorted by the number of answers per question.

    Questions of equal size are adjacent, so that a run of them is one dense array.

    Attributes
    ----------
    worker, question, row : (N,) codes of the worker and of the question, and the input row.
    starts : (Q,) first cell of each question, in cell order.
    sizes : (Q,) answers to each question, in cell order (not decreasing).
    questions_in_order : (Q,) question code at each place of the cell order.
    """

    worker: Integers
    question: Integers
    row: Integers
    starts: Integers
    sizes: Integers
    questions_in_order: Integers
    n_workers: int
    n_questions: int

    @classmethod
    def from_codes(
        cls, worker: Integers, question: Integers, n_workers: int, n_questions: int
    ) -> Cells:
        """Build the cells from worker and question code of each answer (one or more a question).

        Raises
        ------
        ValueError
            Lengths differ, or a worker answered the same question twice.
        """
        if len(worker) != len(question):
            raise ValueError(f"{len(worker)} workers for {len(question)} questions: one each a row")
        counts = np.bincount(question, minlength=n_questions)
        # Stable, so that questions of one size keep the order of their codes.
        order = np.argsort(counts, kind="stable")
        place = np.empty(n_questions, dtype=np.int64)
        place[order] = np.arange(n_questions)
        row = np.argsort(place[question], kind="stable")
        sizes = counts[order]
        cells = cls(
            worker=worker[row],
            question=question[row],
            row=row,
            starts=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
            sizes=sizes,
            questions_in_order=order,
            n_workers=n_workers,
            n_questions=n_questions,
        )
        cells._refuse_repeats()
        return cells

    def renumber_rows(self, rows: Integers) -> Cells:
        """Return the same cells with input row i renumbered to `rows[i]`.

        Cells that were built from some rows of a table then name rows of the whole table.
        """
        return replace(self, row=rows[self.row])

    def _refuse_repeats(self) -> None:
        """Raise ValueError if a worker answered the same question twice."""
        key = np.sort(self.question * self.n_workers + self.worker)
        repeated = key[1:][key[1:] == key[:-1]]
        if len(repeated):
            raise ValueError(
                f"{len(repeated)} answers repeat a worker and question; keep one answer of a "
                "worker to a question"
            )

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def by_worker(self) -> sparse.csr_array:
        """Sparse 0/1 matrix, one row per worker, one column per answer, for sums by worker."""
        ones = np.ones(len(self))
        return sparse.csr_array(
            (ones, (self.worker, np.arange(len(self)))), shape=(self.n_workers, len(self))
        )

    @cached_property
    def answers_of_worker(self) -> Integers:
        """Number of answers of each worker."""
        return np.bincount(self.worker, minlength=self.n_workers).astype(np.int64)

    @cached_property
    def alone(self) -> Booleans:
        """Whether each answer is the only answer to its question."""
        return np.repeat(self.sizes == 1, self.sizes)

    def sum_by_worker(self, values: Floats) -> Floats:
        """Return each worker's sum of the values of their answers, for each column of values."""
        if values.ndim == 1:
            summed = np.bincount(self.worker, weights=values, minlength=self.n_workers)
            return summed.astype(np.float64, copy=False)
        if values.shape[1] == 1:
            return self.sum_by_worker(values[:, 0])[:, None]
        return np.asarray(self.by_worker @ values)

    def sum_by_question(self, values: Floats) -> Floats:
        """Return each question's sum of values: one row per question, in cell order."""
        # For an empty segment reduceat would return an element of the next: every question has
        # answers.
        return np.add.reduceat(values, self.starts, axis=0)

    def spread_to_answers(self, values: NDArray[T]) -> NDArray[T]:
        """Return each question's value once for each of its answers, in cell order."""
        return np.repeat(values, self.sizes, axis=0)

    def to_rows(self, values: NDArray[T]) -> NDArray[T]:
        """Return values per answer, reordered from cell order to the order of the input rows."""
        out = np.empty_like(values)
        out[self.row] = values
        return out

    def to_questions(self, values: NDArray[T]) -> NDArray[T]:
        """Return values per question, reordered from cell order to the order of question codes."""
        out = np.empty_like(values)
        out[self.questions_in_order] = values
        return out

    def list_blocks(self) -> list[tuple[int, int, int]]:
        """Return (size, start, stop) of each block of questions with `size` answers each.

        `start` and `stop` count questions in cell order.
        """
        edges = np.flatnonzero(np.diff(self.sizes)) + 1
        firsts = np.concatenate([[0], edges]).astype(int)
        lasts = np.concatenate([edges, [self.n_questions]]).astype(int)
        return [
            (int(self.sizes[a]), int(a), int(b))
            for a, b in zip(firsts, lasts, strict=True)
            if b > a
        ]


def divide_where_positive(part: ArrayLike, whole: ArrayLike, undefined: float = np.nan) -> Floats:
    """Return ``part / whole`` elementwise; `undefined` where the whole is not above 0.

    Parameters
    ----------
    part, whole : numbers or arrays that broadcast together.
    """
    above, below = np.asarray(part), np.asarray(whole)
    out = np.full(np.broadcast_shapes(above.shape, below.shape), undefined, dtype=np.float64)
    return np.divide(above, below, out=out, where=below > 0)


def convert_nan_to_none(value: float) -> float | None:
    """Return a number as a float; None for NaN."""
    return None if np.isnan(value) else float(value)
