"""Cosine matrices of the answers to each question, stored in full or as vectors.

Of many answers the matrix is larger than the vectors behind it. Then it is never formed: what is
asked of it are products, which their rows give in time that goes with the answers, not with the
square of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.gram_block import GramBlock
from evaluation.grading.alarms.methods.pairs import compute_cosines

# Numbers of matrices that a processor keeps at hand while it multiplies them again and again.
CACHED = 100_000


class Likeness(ABC):
    """Cosine matrix of the answers to each question of a batch, with zeros on the diagonal.

    Of m answers to each of B questions, (m, m) each.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of questions, and number of answers to each question."""

    @abstractmethod
    def times(self, v: Floats) -> Floats:
        """Multiply each question's cosine matrix by its row of `v`; one row per question.

        Shape (B, m).
        """

    @abstractmethod
    def sum_within(self, at: int, inside: Booleans) -> Floats:
        """Return each `inside` answer's cosine sum with the others; question at index `at`."""

    @abstractmethod
    def run_power_steps(self, v: Floats, steps: int) -> Floats:
        """Return the result of power iteration on each centred cosine matrix, started from `v`.

        Unit vectors, (B, m); the matrices are doubly centred.

        The ones on the diagonal are put back for that. A matrix without anything gives zeros.
        """

    @cached_property
    def sums(self) -> Floats:
        """Sum of each answer's cosines with the other answers, one row per question.

        Shape (B, m).
        """
        return self.times(np.ones(self.shape))


@dataclass(frozen=True)
class WholeLikeness(Likeness):
    """Cosine matrices stored in full: one square matrix of answers for each question.

    `cosine` is (B, m, m) for m answers to each of B questions.
    """

    cosine: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Number of questions, and number of answers to each question."""
        return self.cosine.shape[0], self.cosine.shape[1]

    @cached_property
    def sums(self) -> Floats:
        """Sum of each answer's cosines with the other answers, one row per question.

        Shape (B, m).
        """
        return self.cosine.sum(axis=2)

    def times(self, v: Floats) -> Floats:
        """Multiply each question's cosine matrix by its row of `v`; one row per question.

        Shape (B, m).
        """
        return np.asarray(np.einsum("bij,bj->bi", self.cosine, v))

    def sum_within(self, at: int, inside: Booleans) -> Floats:
        """Return each `inside` answer's cosine sum with the others; question at index `at`."""
        return np.asarray(self.cosine[at][np.ix_(inside, inside)].sum(axis=1))

    def run_power_steps(self, v: Floats, steps: int) -> Floats:
        """Return the result of power iteration from `v`, computed for a few questions at a time.

        Shape (B, m).
        """
        out = np.empty_like(v)
        n_at_once = max(1, CACHED // self.shape[1] ** 2)
        for begin in range(0, len(v), n_at_once):
            part = slice(begin, begin + n_at_once)
            cosines_of_part, vectors = self.cosine[part], v[part]
            for _ in range(steps):
                vectors = _centre(vectors)
                vectors = _normalise(
                    _centre(np.einsum("bij,bj->bi", cosines_of_part, vectors) + vectors)
                )
            out[part] = vectors
        return out


@dataclass(frozen=True)
class RowLikeness(Likeness):
    """Cosine matrices stored as the unit vectors of the answers, to save memory.

    `rows` is (B, m, d) for m answers to each of B questions; no vector is zero.
    """

    rows: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Number of questions, and number of answers to each question."""
        return self.rows.shape[0], self.rows.shape[1]

    def times(self, v: Floats) -> Floats:
        """Multiply each question's cosine matrix by its row of `v`; one row per question.

        Shape (B, m).
        """
        along = v[:, None, :] @ self.rows
        return np.asarray((self.rows @ along.transpose(0, 2, 1))[:, :, 0] - v)

    def sum_within(self, at: int, inside: Booleans) -> Floats:
        """Return each `inside` answer's cosine sum with the others; question at index `at`."""
        some = self.rows[at][inside]
        return np.asarray(some @ some.sum(axis=0) - 1.0)

    def run_power_steps(self, v: Floats, steps: int) -> Floats:
        """Return the result of power iteration from `v`, computed on the answers' vectors.

        Shape (B, m). With centred rows X a step is X X' v, so n of them are X (X' X)^(n-1) X' v.
        """
        out = np.empty_like(v)
        for at, x in enumerate(self.rows):
            x = x - x.mean(axis=0)
            square = x.T @ x
            along = x.T @ (v[at] - v[at].mean())
            for _ in range(steps - 1):
                along = square @ along
                norm = np.linalg.norm(along)
                along /= norm if norm > 0 else 1.0
            out[at] = x @ along
        return _normalise(_centre(out))


def build_likeness(block: GramBlock, part: slice, chosen: Integers | None = None) -> Likeness:
    """Return the cosine matrices of some questions of a block, in the smaller storage form.

    `chosen` names some of the answers of each. The rows stand for it where the block has them, a
    cosine is an inner product of them, and they are fewer numbers.
    """
    if block.direct and not block.centred:
        every = slice(None) if chosen is None else chosen
        rows = block.inner[part][:, every]
        if rows.shape[1] > rows.shape[2] and (block.own[part][:, every] > 0).all():
            return RowLikeness(rows)
    found = compute_cosines(block, part, chosen)
    np.einsum("bii->bi", found)[...] = 0.0
    return WholeLikeness(found)


def _centre(v: Floats) -> Floats:
    """Return the array with the mean of each row subtracted.

    `v` is (B, m).
    """
    return np.asarray(v - v.mean(axis=1, keepdims=True))


def _normalise(v: Floats) -> Floats:
    """Return the array with each row scaled to length 1; zero rows stay zero.

    `v` is (B, m).
    """
    norm = np.linalg.norm(v, axis=1, keepdims=True)
    return np.asarray(v / np.where(norm > 0, norm, 1.0))
