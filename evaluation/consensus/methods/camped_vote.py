"""A vote with more than one exemplary answer to some questions: one for each camp of answers.

An answer is compared with the exemplary answer of every camp of its question; the nearest counts.
An exemplary answer of a camp is made of the answers in it, by their workers' voting weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from evaluation.consensus.methods.fixed_point import Vote
from evaluation.consensus.methods.targets import Targets, targets_of
from evaluation.methods.cells import Booleans, Cells, Floats, Integers, codes_of
from evaluation.methods.grams import Vectors


@dataclass(frozen=True)
class CampedVote:
    """The answers to all questions, those to some questions in camps.

    Attributes
    ----------
    whole : all answers, one exemplary answer a question.
    split : the answers to questions with several camps, each camp as a question of its own.
    place : (S,) cell of `whole` behind each cell of `split`.
    question : (V,) question code of each camp.
    across : answers against the exemplary answers of the other camps of their question, and
        `across_place` (T,) their cells in `whole`.
    """

    whole: Vote
    split: Vote | None
    place: Integers
    question: Integers
    across: Targets | None
    across_place: Integers

    @classmethod
    def of(
        cls, whole: Vote, vectors: Vectors, camps: Integers, make: Callable[[Cells], Vote]
    ) -> CampedVote:
        """Split the questions whose cells have different labels in `camps` (N,), in cell order."""
        cells = whole.cells
        low = np.minimum.reduceat(camps, cells.starts)
        several = cells.spread(np.maximum.reduceat(camps, cells.starts) > low)
        at = np.flatnonzero(several)
        empty = np.empty(0, dtype=np.int64)
        if not len(at):
            return cls(whole, None, empty, empty, None, empty)
        # A camp is a question of its own; each gets a code.
        label, _ = codes_of(camps)
        key = cells.question[at] * (label.max() + 1) + label[at]
        camp, keys = codes_of(key)
        question = keys.astype(np.int64) // (label.max() + 1)
        local = Cells.from_codes(cells.worker[at], camp, cells.n_workers, len(keys))
        place = at[local.row]
        split = make(local.of_rows(cells.row[at]))
        cell, other = _pair_answers_with_other_camps(cells.question[at], camp, question)
        across = targets_of(split, vectors, vectors[cells.row[at[cell]]], other)
        return cls(whole, split, place, question, across, at[cell])

    @property
    def cells(self) -> Cells:
        """The answered cells."""
        return self.whole.cells

    def similarity(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return (N, D) similarities to the nearest camp; see `MeanVote.similarity`.

        With `leave_one_out` an answer is left out of its own camp.
        """
        out = self.whole.similarity(weights, leave_one_out=leave_one_out)
        if self.split is not None and self.across is not None:
            out[self.place] = self.split.similarity(weights, leave_one_out=leave_one_out)
            np.fmax.at(out, self.across_place, self.across.similarity(weights))
        return out

    def exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return (Q, d) exemplary answers; of camps that of the heaviest, by voting weight."""
        found = self.whole.exemplars(vectors, weights)
        if self.split is None:
            return found
        of_camps = self.split.exemplars(vectors, weights)
        chosen = self.heaviest(weights)
        if not sparse.issparse(found):
            found[self.question[chosen]] = of_camps[chosen]
            return found
        row = np.arange(self.cells.n_questions)
        row[self.question[chosen]] = self.cells.n_questions + chosen
        return sparse.csr_array(sparse.vstack([found, of_camps], format="csr")[row])

    def heaviest(self, weights: Floats) -> Integers:
        """Return the camp with the most voting weight, for each question that has camps."""
        assert self.split is not None
        cells = self.split.cells
        total = np.bincount(cells.question, weights=weights[cells.worker])
        order = np.lexsort((-total, self.question))
        first = np.unique(self.question[order], return_index=True)[1]
        return np.asarray(order[first])

    def stands(self, weights: Floats) -> Booleans:
        """(N,) whether a cell may stand for its question: all but those of its lighter camps."""
        out = np.ones(len(self.cells), dtype=bool)
        if self.split is not None:
            out[self.place] = np.isin(self.split.cells.question, self.heaviest(weights))
        return out

    def dispersion(self, weights: Floats) -> Floats:
        """Return (Q,) dispersions of all answers to a question, the camps together."""
        return self.whole.dispersion(weights)


@dataclass(frozen=True)
class CampedTargets:
    """Answers that do not vote against the nearest camp of their question."""

    whole: Targets
    split: Targets
    row: Integers

    def similarity(self, weights: Floats) -> Floats:
        """Return (R, D) similarities for voting weights (M, D)."""
        out = self.whole.similarity(weights)
        out[self.row] = -np.inf
        np.maximum.at(out, self.row, self.split.similarity(weights))
        return out


@targets_of.register
def _(vote: CampedVote, vectors: Vectors, targets: Vectors, question: Integers) -> Targets:
    whole = targets_of(vote.whole, vectors, targets, question)
    if vote.split is None:
        return whole
    row, camp = _pair_answers_with_camps(question, vote.question)
    return CampedTargets(whole, targets_of(vote.split, vectors, targets[row], camp), row)


def _pair_answers_with_camps(asked: Integers, of_camp: Integers) -> tuple[Integers, Integers]:
    """Return all pairs of an answer and a camp of its question, by (R,) and (V,) question codes."""
    order = np.argsort(of_camp, kind="stable")
    first = np.searchsorted(of_camp[order], asked, side="left")
    count = np.searchsorted(of_camp[order], asked, side="right") - first
    row = np.repeat(np.arange(len(asked)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, order[np.repeat(first, count) + within]


def _pair_answers_with_other_camps(
    asked: Integers, own: Integers, of_camp: Integers
) -> tuple[Integers, Integers]:
    """Return the pairs of an answer and a camp of its question that is not its own."""
    row, camp = _pair_answers_with_camps(asked, of_camp)
    other = camp != own[row]
    return row[other], camp[other]
