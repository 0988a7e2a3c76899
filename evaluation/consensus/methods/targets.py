"""Similarity of models' answers to exemplary answers, in which they have no vote (4.5)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from evaluation.consensus.methods.exemplary_answers import (
    MajorityVote,
    MeanVote,
    compute_cosines,
    compute_negative_distances,
    find_majority_words,
)
from evaluation.core.stats.cells import Cells, Floats, Integers, divide_where_positive
from evaluation.core.stats.grams import CHUNK, NonFiniteError, Vectors, convert_to_dense


class ComparedAnswers(Protocol):
    """Protocol of answers that are compared with exemplary answers but do not vote themselves."""

    def compute_similarities(self, weights: Floats) -> Floats:
        """Return each answer's similarity to its exemplary answer; a column per set of weights."""
        ...


@singledispatch
def build_compared_answers(
    vote: object, vectors: Vectors, targets: Vectors, question: Integers
) -> ComparedAnswers:
    """Return non-voting answers prepared for comparison with the exemplary answers of a vote.

    `targets` (R, d) are their vectors; `question` (R,) holds the question code of each.
    """
    raise TypeError(f"nothing can be compared with a {type(vote).__name__}")


class MeanVoteComparedAnswers:
    """Non-voting answers under mean vote: inner products with workers' answers to the question.

    Parameters
    ----------
    vote : the crowd.
    vectors : (rows, d) the crowd's vectors, the ones `vote` was made from.
    targets : (R, d) vectors of the answers.
    question : (R,) question code of each.
    """

    def __init__(
        self, vote: MeanVote, vectors: Vectors, targets: Vectors, question: Integers
    ) -> None:
        _refuse_non_finite(targets)
        cells = vote.cells
        self._vote, self._euclidean = vote, vote.euclidean
        place = np.empty(cells.n_questions, dtype=np.int64)
        place[cells.questions_in_order] = np.arange(cells.n_questions)
        self._place = place[question]
        exponents = np.concatenate([block.exponent for block in vote.blocks])
        self._exponent = exponents[self._place]
        sizes = cells.sizes[self._place]
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self._pairs = _concatenate_ranges(cells.starts[self._place], sizes)
        self._inner = np.empty(len(self._pairs))
        # Inner products are stored once; a change of weights then costs no pass over the vectors.
        self._squared = np.empty(len(question))
        self._fill_inner_products(vectors, targets, cells, sizes)

    def _fill_inner_products(
        self, vectors: Vectors, targets: Vectors, cells: Cells, sizes: Integers
    ) -> None:
        """Set the inner products of some answers with the workers' answers to their questions."""
        for part in _split_into_parts(sizes, vectors.shape[1]):
            first = self._starts[part.start]
            part_sizes = sizes[part]
            begins = self._starts[part] - first
            stop = first + int(part_sizes.sum())
            x = vectors[cells.row[self._pairs[first:stop]]]
            y = targets[part]
            x = scale_by_power_of_two(x, np.repeat(self._exponent[part], part_sizes))
            y = scale_by_power_of_two(y, self._exponent[part] if self._euclidean else None)
            # Centring would make sparse rows dense, so they stay sparse for cosines only.
            if sparse.issparse(x) and not self._euclidean:
                repeated = y[np.repeat(np.arange(len(part_sizes)), part_sizes)]
                self._inner[first:stop] = (x * repeated).sum(axis=1)
                self._squared[part] = (y * y).sum(axis=1)
                continue
            x, y = convert_to_dense(x), convert_to_dense(y)
            if self._euclidean:
                # Centred as in the Gram blocks: an offset that all answers share would cancel
                # digits.
                mean = np.add.reduceat(x, begins, axis=0) / part_sizes[:, None]
                x, y = x - np.repeat(mean, part_sizes, axis=0), y - mean
            self._inner[first:stop] = np.einsum("pd,pd->p", x, np.repeat(y, part_sizes, axis=0))
            self._squared[part] = np.einsum("rd,rd->r", y, y)

    def compute_similarities(self, weights: Floats) -> Floats:
        """Return each answer's similarity to its exemplary answer; a column per set of weights."""
        if not len(self._place):
            return np.empty((0, weights.shape[1]))
        v = self._vote.gather_votes(weights)
        square, total, lengths = (
            part[self._place] for part in self._vote.compute_exemplar_parts(v)
        )
        # Every target has a worker answer to its question: reduceat is wrong for empty segments.
        inner = np.add.reduceat(self._inner[:, None] * v[self._pairs], self._starts, axis=0)
        own = self._squared[:, None]
        if self._euclidean:
            exponent = self._exponent[:, None]
            return compute_negative_distances(own, inner / total, square / total**2, exponent)
        norm = np.sqrt(own)
        directions = divide_where_positive(inner, norm, 0.0)
        return compute_cosines(directions, square, lengths)


class MajorityVoteComparedAnswers:
    """Non-voting answers under majority vote: their words, to compare with the majority's words."""

    def __init__(
        self, vote: MajorityVote, vectors: Vectors, targets: Vectors, question: Integers
    ) -> None:
        values = targets.data if sparse.issparse(targets) else np.asarray(targets)
        if not np.isin(values, (0, 1)).all():
            raise ValueError("majority vote needs binary bags of words (zeros and ones)")
        self._vote = vote
        cells = vote.cells
        self._of_place: list[tuple[int, Integers, Floats, Floats]] = []
        place = np.empty(cells.n_questions, dtype=np.int64)
        place[cells.questions_in_order] = np.arange(cells.n_questions)
        self._n = len(question)
        for index in np.unique(place[question]):
            rows = np.flatnonzero(place[question] == index)
            bags = convert_to_dense(targets[rows])
            self._of_place.append((int(index), rows, bags[:, vote.words[index]], bags.sum(axis=1)))

    def compute_similarities(self, weights: Floats) -> Floats:
        """Return each answer's similarity to the majority's words; a column per set of weights."""
        out = np.empty((self._n, weights.shape[1]))
        for index, rows, known, sizes in self._of_place:
            exemplar = find_majority_words(
                self._vote.bags[index], self._vote.gather_question_votes(index, weights)
            )
            out[rows] = self._vote.compare_with_exemplars(known, exemplar, sizes)
        return out


@build_compared_answers.register
def _build_for_mean_vote(
    vote: MeanVote, vectors: Vectors, targets: Vectors, question: Integers
) -> ComparedAnswers:
    """Return the answers prepared for comparison with the exemplary answers of a mean vote."""
    return MeanVoteComparedAnswers(vote, vectors, targets, question)


@build_compared_answers.register
def _build_for_majority_vote(
    vote: MajorityVote, vectors: Vectors, targets: Vectors, question: Integers
) -> ComparedAnswers:
    """Return the answers prepared for comparison with the majority's words of each question."""
    return MajorityVoteComparedAnswers(vote, vectors, targets, question)


def _concatenate_ranges(starts: Integers, sizes: Integers) -> Integers:
    """Return the integer ranges ``start, ..., start+size-1`` of all starts joined in one array."""
    if not len(sizes):
        return np.empty(0, dtype=np.int64)
    offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(np.repeat(starts, sizes) + offsets)


def _split_into_parts(sizes: Integers, dimension: int) -> Iterator[slice]:
    """Yield slices of non-voting answers whose workers' answer vectors fit in memory."""
    most = max(1, CHUNK // dimension)
    begin, filled = 0, 0
    for index, size in enumerate(sizes):
        if filled and filled + size > most:
            yield slice(begin, index)
            begin, filled = index, 0
        filled += int(size)
    if filled:
        yield slice(begin, len(sizes))


def scale_by_power_of_two(x: Vectors, exponent: Integers | None) -> Vectors:
    """Return x in float64 times ``2 ** -exponent``; by each row's own exponent for None.

    A cosine does not see a row's length, so its own scale keeps it from under- or overflowing.
    """
    values: Any = x.astype(np.float64)
    if exponent is None:
        largest = abs(values).max(axis=1)
        largest = largest.toarray() if sparse.issparse(largest) else largest
        exponent = np.frexp(largest)[1].astype(np.int64)
    if not sparse.issparse(values):
        # ldexp scales by powers of two, which does not round.
        return np.asarray(np.ldexp(values, -exponent[:, None]))
    values.data = np.ldexp(values.data, -np.repeat(exponent, np.diff(values.indptr)))
    return values


def _refuse_non_finite(targets: Vectors) -> None:
    """Raise NonFiniteError that names the first row with NaN or infinity."""
    if sparse.issparse(targets):
        bad = np.unique(targets.nonzero()[0][~np.isfinite(targets.data)])
    else:
        bad = np.flatnonzero(~np.isfinite(targets).all(axis=1))
    if len(bad):
        raise NonFiniteError(int(bad[0]))
