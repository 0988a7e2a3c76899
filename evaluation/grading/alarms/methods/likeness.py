"""How alike the answers to a question are: a matrix of cosines that is only multiplied with.

Of many answers the matrix is larger than the vectors behind it. Then it is never formed: what is
asked of it are products, which their rows give in time that goes with the answers, not with the
square of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.grading.alarms.methods.pairs import cosines
from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.gram_block import GramBlock

# Numbers of matrices that a processor keeps at hand while it multiplies them again and again.
CACHED = 100_000


class Likeness(ABC):
    """The (m, m) cosines, zeros on the diagonal, of the m answers to each of B questions."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """B and m."""

    @abstractmethod
    def times(self, v: Floats) -> Floats:
        """Multiply each matrix with its vector: (B, m) from (B, m)."""

    @abstractmethod
    def sums_within(self, at: int, inside: Booleans) -> Floats:
        """Return the sums of cosines among some answers (m,) to the question `at`, one for each."""

    @abstractmethod
    def after_steps(self, v: Floats, steps: int) -> Floats:
        """Return (B, m) what power steps of the doubly centred matrices make of v, of length 1.

        The ones on the diagonal are put back for that. A matrix without anything gives zeros.
        """

    @cached_property
    def sums(self) -> Floats:
        """(B, m) sum of the cosines of each answer with the others."""
        return self.times(np.ones(self.shape))


@dataclass(frozen=True)
class WholeLikeness(Likeness):
    """The matrices themselves; `cosine` is (B, m, m)."""

    cosine: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """B and m."""
        return self.cosine.shape[0], self.cosine.shape[1]

    @cached_property
    def sums(self) -> Floats:
        """(B, m) sum of the cosines of each answer with the others."""
        return self.cosine.sum(axis=2)

    def times(self, v: Floats) -> Floats:
        """Multiply each matrix with its vector."""
        return np.asarray(np.einsum("bij,bj->bi", self.cosine, v))

    def sums_within(self, at: int, inside: Booleans) -> Floats:
        """Return the sums of cosines among some answers to one question."""
        return np.asarray(self.cosine[at][np.ix_(inside, inside)].sum(axis=1))

    def after_steps(self, v: Floats, steps: int) -> Floats:
        """Return what power steps make of v, a few matrices at a time."""
        out = np.empty_like(v)
        each = max(1, CACHED // self.shape[1] ** 2)
        for begin in range(0, len(v), each):
            part = slice(begin, begin + each)
            found, some = self.cosine[part], v[part]
            for _ in range(steps):
                some = _centred(some)
                some = _unit(_centred(np.einsum("bij,bj->bi", found, some) + some))
            out[part] = some
        return out


@dataclass(frozen=True)
class RowLikeness(Likeness):
    """The unit vectors behind the cosines; `rows` is (B, m, d), none of them zero."""

    rows: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """B and m."""
        return self.rows.shape[0], self.rows.shape[1]

    def times(self, v: Floats) -> Floats:
        """Multiply each matrix with its vector; an answer's own cosine of 1 is no part of it."""
        along = v[:, None, :] @ self.rows
        return np.asarray((self.rows @ along.transpose(0, 2, 1))[:, :, 0] - v)

    def sums_within(self, at: int, inside: Booleans) -> Floats:
        """Return the sums of cosines among some answers to one question."""
        some = self.rows[at][inside]
        return np.asarray(some @ some.sum(axis=0) - 1.0)

    def after_steps(self, v: Floats, steps: int) -> Floats:
        """Return what power steps make of v, in the space of the vectors.

        With centred rows X a step is X X' v, so n of them are X (X' X)^(n-1) X' v.
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
        return _unit(_centred(out))


def likeness_of(block: GramBlock, part: slice, chosen: Integers | None = None) -> Likeness:
    """Return the likeness of the answers to some questions of a block.

    `chosen` names some of the answers of each. The rows stand for it where the block has them, a
    cosine is an inner product of them, and they are fewer numbers.
    """
    if block.direct and not block.centred:
        every = slice(None) if chosen is None else chosen
        rows = block.inner[part][:, every]
        if rows.shape[1] > rows.shape[2] and (block.own[part][:, every] > 0).all():
            return RowLikeness(rows)
    found = cosines(block, part, chosen)
    np.einsum("bii->bi", found)[...] = 0.0
    return WholeLikeness(found)


def _centred(v: Floats) -> Floats:
    return np.asarray(v - v.mean(axis=1, keepdims=True))


def _unit(v: Floats) -> Floats:
    norm = np.linalg.norm(v, axis=1, keepdims=True)
    return np.asarray(v / np.where(norm > 0, norm, 1.0))
