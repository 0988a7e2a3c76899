"""Gram matrices (inner products of answers) of questions with equally many answers, in three forms.

What follows from them does not depend on the form: the products themselves, the rows where they
are fewer numbers, and the rows as sparse ones where most of these are zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.undefined import divide_where_positive


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
        """Number of answers to each question, called m."""
        return self.own.shape[1]

    def __len__(self) -> int:
        return len(self.own)

    @property
    def width(self) -> int:
        """Most numbers stored for one answer."""
        return self.inner.shape[2]

    def gram(self, part: slice, chosen: Integers | None = None) -> Floats:
        """Return inner products of all pairs of answers to each question in the slice `part`.

        `chosen` names some of the answers of each. Not to be written into.
        """
        inner = self.inner[part] if chosen is None else self.inner[part][:, chosen]
        if self.direct:
            return np.asarray(inner @ inner.transpose(0, 2, 1))
        return inner if chosen is None else inner[:, :, chosen]

    def multiply(self, v: Floats) -> Floats:
        """Return each question's Gram matrix times its slice of v (questions, answers, columns)."""
        if self.direct:
            return np.asarray(self.inner @ (self.inner.transpose(0, 2, 1) @ v))
        if v.shape[2] == 1:
            return np.einsum("bij,bj->bi", self.inner, v[:, :, 0])[:, :, None]
        return np.asarray(self.inner @ v)

    def multiply_chosen(self, which: Integers, v: Floats) -> Floats:
        """Return Gram matrix times vector, for question numbers `which` and one row of v each.

        `which` has shape (F,), `v` and the result have shape (F, m).
        """
        chosen = self.inner[which]
        if self.direct:
            return np.einsum("fid,fd->fi", chosen, np.einsum("fid,fi->fd", chosen, v))
        return np.einsum("fij,fj->fi", chosen, v)

    def compute_squared_norms(self, v: Floats) -> Floats:
        """Return each question's squared norm of its unit vectors' sum with weights v.

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
        """Most numbers stored for one answer."""
        return max(1, int(np.diff(self.rows.indptr).max(initial=0)))

    def gram(self, part: slice, chosen: Integers | None = None) -> Floats:
        """Return inner products of all pairs of answers to each question in the slice `part`."""
        which = range(*part.indices(len(self)))
        answers = np.arange(self.size) if chosen is None else chosen
        out = np.empty((len(which), len(answers), len(answers)))
        for at, question in enumerate(which):
            x = self._select_rows(question)[answers]
            out[at] = (x @ x.T).toarray()
        return out

    def multiply(self, v: Floats) -> Floats:
        """Return each question's Gram matrix times its slice of v (questions, answers, columns)."""
        flat = v.reshape(-1, v.shape[2])
        return np.asarray(self.rows @ (self.rows.T @ flat)).reshape(v.shape)

    def multiply_chosen(self, which: Integers, v: Floats) -> Floats:
        """Return Gram matrix times vector, for question numbers `which`, one row of v each.

        `which` has shape (F,), `v` and the result have shape (F, m).
        """
        out = np.empty(v.shape)
        for question in np.unique(which).tolist():
            mine, x = which == question, self._select_rows(question)
            out[mine] = (x @ (x.T @ v[mine].T)).T
        return out

    def _select_rows(self, question: int) -> sparse.csr_array:
        """Return a question's sparse rows, one per answer, without unused columns."""
        x = self.rows[question * self.size : (question + 1) * self.size]
        used, place = np.unique(x.indices, return_inverse=True)
        shape = (self.size, max(1, len(used)))
        return sparse.csr_array((x.data, place, x.indptr), shape=shape)
