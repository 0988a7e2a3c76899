"""Construction of votes from vectors: mean or majority, with camps, with left-out workers.

With camps (clusters of a question's answers) every camp has an exemplary answer, made from its own
answers by their workers' voting weights. An answer is compared with all of them; the nearest
counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from evaluation.consensus.methods.exemplary_answers import MajorityVote, MeanVote
from evaluation.consensus.methods.fixed_point import Vote
from evaluation.consensus.methods.percentiles import TIE
from evaluation.consensus.methods.targets import ComparedAnswers, build_compared_answers
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers, encode_labels
from evaluation.core.stats.grams import Vectors


@dataclass(frozen=True)
class CampedVote:
    """Vote with one exemplary answer for each camp (answers that agree) of a question.

    Attributes
    ----------
    whole : vote of all answers, with one exemplary answer per question.
    split : vote of the answers to questions with several camps, each camp as its own question.
    place : (S,) cell of `whole` for each cell of `split`.
    question : (V,) question code of each camp.
    across : answers compared with the exemplary answers of the other camps of their question;
        across_place : (T,) their cells in `whole`.
    """

    whole: Vote
    split: Vote | None
    place: Integers
    question: Integers
    across: ComparedAnswers | None
    across_place: Integers

    @classmethod
    def from_camps(
        cls, whole: Vote, vectors: Vectors, camps: Integers, make: Callable[[Cells], Vote]
    ) -> CampedVote:
        """Return the vote in which each camp of a question's answers has an exemplary answer.

        `camps` holds the camp label of each answer; `make` builds the vote of some cells.
        """
        cells = whole.cells
        low = np.minimum.reduceat(camps, cells.starts)
        several = cells.spread_to_answers(np.maximum.reduceat(camps, cells.starts) > low)
        indices = np.flatnonzero(several)
        empty = np.empty(0, dtype=np.int64)
        if not len(indices):
            return cls(whole, None, empty, empty, None, empty)
        # A camp is a question of its own; each gets a code.
        label, _ = encode_labels(camps)
        key = cells.question[indices] * (label.max() + 1) + label[indices]
        camp, keys = encode_labels(key)
        question = keys.astype(np.int64) // (label.max() + 1)
        local = Cells.from_codes(cells.worker[indices], camp, cells.n_workers, len(keys))
        place = indices[local.row]
        split = make(local.renumber_rows(cells.row[indices]))
        cell, other = _pair_answers_with_other_camps(cells.question[indices], camp, question)
        across = build_compared_answers(split, vectors, vectors[cells.row[indices[cell]]], other)
        return cls(whole, split, place, question, across, indices[cell])

    @property
    def cells(self) -> Cells:
        """Index of the answers by worker and question, sorted by question; see `Cells`."""
        return self.whole.cells

    def compute_similarities(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return each answer's similarity to its nearest camp; a column per set of weights.

        With `leave_one_out` an answer is left out of its own camp.
        """
        out = self.whole.compute_similarities(weights, leave_one_out=leave_one_out)
        if self.split is not None and self.across is not None:
            out[self.place] = self.split.compute_similarities(weights, leave_one_out=leave_one_out)
            # fmax: with leave-one-out, the only answer of a camp has NaN there and takes the
            # nearest other camp.
            np.fmax.at(out, self.across_place, self.across.compute_similarities(weights))
        return out

    def compute_exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return one exemplary answer vector per question, with camps that of the heaviest camp."""
        result = self.whole.compute_exemplars(vectors, weights)
        if self.split is None:
            return result
        of_camps = self.split.compute_exemplars(vectors, weights)
        chosen = self.find_heaviest_camps(weights)
        if not sparse.issparse(result):
            result[self.question[chosen]] = of_camps[chosen]
            return result
        row = np.arange(self.cells.n_questions)
        row[self.question[chosen]] = self.cells.n_questions + chosen
        return sparse.csr_array(sparse.vstack([result, of_camps], format="csr")[row])

    def find_heaviest_camps(self, weights: Floats) -> Integers:
        """Return the camp with the greatest voting weight of each question that has camps."""
        assert self.split is not None
        cells = self.split.cells
        total = np.bincount(cells.question, weights=weights[cells.worker])
        order = np.lexsort((-total, self.question))
        first = np.unique(self.question[order], return_index=True)[1]
        return np.asarray(order[first])

    def find_representative_cells(self, weights: Floats) -> Booleans:
        """Return flags of the answers that are in the heaviest camp of their question.

        Answers to a question without camps are flagged, too.
        """
        out = np.ones(len(self.cells), dtype=bool)
        if self.split is not None:
            out[self.place] = np.isin(self.split.cells.question, self.find_heaviest_camps(weights))
        return out

    def compute_dispersions(self, weights: Floats) -> Floats:
        """Return the dispersion of each question over all its answers, whatever their camp."""
        return self.whole.compute_dispersions(weights)


@dataclass(frozen=True)
class CampedComparedAnswers:
    """Non-voting answers, compared with the exemplary answer of the nearest camp."""

    whole: ComparedAnswers
    split: ComparedAnswers
    row: Integers

    def compute_similarities(self, weights: Floats) -> Floats:
        """Return each answer's similarity to the nearest camp; a column per set of weights."""
        out = self.whole.compute_similarities(weights)
        # Only the camps count here: the exemplary answer of all answers must not win.
        out[self.row] = -np.inf
        np.maximum.at(out, self.row, self.split.compute_similarities(weights))
        return out


@build_compared_answers.register
def _build_for_camped_vote(
    vote: CampedVote, vectors: Vectors, targets: Vectors, question: Integers
) -> ComparedAnswers:
    """Return the answers prepared for comparison with each camp's exemplary answer."""
    whole = build_compared_answers(vote.whole, vectors, targets, question)
    if vote.split is None:
        return whole
    row, camp = _pair_answers_with_camps(question, vote.question)
    return CampedComparedAnswers(
        whole, build_compared_answers(vote.split, vectors, targets[row], camp), row
    )


def _pair_answers_with_camps(
    question_of_answer: Integers, question_of_camp: Integers
) -> tuple[Integers, Integers]:
    """Return the indices of each answer and of every camp of its question, as two arrays."""
    order = np.argsort(question_of_camp, kind="stable")
    first = np.searchsorted(question_of_camp[order], question_of_answer, side="left")
    count = np.searchsorted(question_of_camp[order], question_of_answer, side="right") - first
    row = np.repeat(np.arange(len(question_of_answer)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, order[np.repeat(first, count) + within]


def _pair_answers_with_other_camps(
    question_of_answer: Integers, own_camp: Integers, question_of_camp: Integers
) -> tuple[Integers, Integers]:
    """Return the indices of each answer and of its question's other camps, as two arrays."""
    row, camp = _pair_answers_with_camps(question_of_answer, question_of_camp)
    other = camp != own_camp[row]
    return row[other], camp[other]


@dataclass(frozen=True)
class LeftOutVote:
    """Vote in which flagged answers are left out of their own exemplary answer."""

    vote: Vote
    of_cells: Booleans

    @property
    def cells(self) -> Cells:
        """Worker and question codes of the answers, grouped by question."""
        return self.vote.cells

    def compute_similarities(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return each answer's similarity to its exemplary answer; a column per set of weights.

        Answers flagged in `of_cells` are always left out of the vote.
        """
        cosines = self.vote.compute_similarities(weights, leave_one_out=leave_one_out)
        if leave_one_out:
            return cosines
        left_out = self.vote.compute_similarities(weights, leave_one_out=True)
        return np.where(self.of_cells[:, None], left_out, cosines)

    def compute_exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return one exemplary answer vector per question, made from all answers."""
        return self.vote.compute_exemplars(vectors, weights)

    def compute_dispersions(self, weights: Floats) -> Floats:
        """Return the dispersion of each question over all its answers."""
        return self.vote.compute_dispersions(weights)


@build_compared_answers.register
def _build_for_left_out_vote(
    vote: LeftOutVote, vectors: Vectors, targets: Vectors, question: Integers
) -> ComparedAnswers:
    """Return the answers prepared for comparison with the exemplary answers of the inner vote."""
    return build_compared_answers(vote.vote, vectors, targets, question)


def build_vote(
    vectors: Vectors,
    cells: Cells,
    similarity: str,
    aggregation: str,
    camps: Integers | None = None,
    left_out: Booleans | None = None,
) -> Vote:
    """Return the voting rule over answers, for a similarity, an aggregation and optional camps.

    Parameters
    ----------
    vectors : (rows, d) vectors. cells : worker, question and row of each answer.
    similarity, aggregation : see `AQER`.
    camps : (rows,) camp of each answer within its question; None where each question has one
        exemplary answer.
    left_out : (M,) whether a worker is always compared with the others' exemplary answer.
    """

    def build_plain_vote(part: Cells) -> MeanVote | MajorityVote:
        """Return the mean or majority vote of the answers in `part`, without camps."""
        make = MajorityVote if aggregation == "majority" else MeanVote
        return make.from_vectors(vectors, part, similarity)

    vote: Vote = build_plain_vote(cells)
    # Order matters: the left-out rule must see the nearest camp's similarity, so it wraps the
    # camps.
    if camps is not None:
        vote = CampedVote.from_camps(vote, vectors, camps[cells.row], build_plain_vote)
    if left_out is not None and left_out.any():
        vote = LeftOutVote(vote, left_out[cells.worker])
    return vote


def get_mean_vote(vote: Vote) -> MeanVote:
    """Return the mean vote (inner products of answers) that is inside a vote of any kind."""
    while not isinstance(vote, MeanVote):
        if isinstance(vote, CampedVote):
            vote = vote.whole
        elif isinstance(vote, LeftOutVote):
            vote = vote.vote
        else:
            assert isinstance(vote, MajorityVote)
            return vote.mean_vote
    return vote


def find_nearest_rows(vote: Vote, scores: Floats, weights: Floats) -> Integers:
    """Return the input row of each question's answer nearest to its exemplary answer.

    The first one wins a tie. `scores` (N,) are the similarities of the input rows under the voting
    weights (M,). Where a question has camps, the answer is one of the heaviest camp, whose
    exemplary answer represents the question.
    """
    cells = vote.cells
    # A lone answer that may only be compared with others has no score, and is the nearest.
    found = np.nan_to_num(scores[cells.row])
    camped = vote.vote if isinstance(vote, LeftOutVote) else vote
    if isinstance(camped, CampedVote):
        found = np.where(camped.find_representative_cells(weights), found, -np.inf)
    best = np.maximum.reduceat(found, cells.starts)
    near = found >= np.repeat(best - TIE * np.maximum(1.0, np.abs(best)), cells.sizes)
    row = np.where(near, cells.row, np.iinfo(np.int64).max)
    return cells.to_questions(np.minimum.reduceat(row, cells.starts))


def convert_vectors(vectors: ArrayLike | Vectors, *, unit_length: bool) -> Vectors:
    """Return vectors as a float array or CSR matrix, one row per answer, scaled if asked.

    With `unit_length` each row is scaled to length 1.

    Raises ValueError for arrays of other shapes.
    """
    if sparse.issparse(vectors):
        x: Vectors = sparse.csr_array(vectors)
    else:
        x = np.asarray(vectors)
        if x.ndim != 2 or not x.shape[1]:
            raise ValueError(f"vectors must be (answers, dimensions), got shape {x.shape}")
        x = x if np.issubdtype(x.dtype, np.floating) else x.astype(np.float64)
    return scale_to_unit_length(x) if unit_length else x


def scale_to_unit_length(vectors: Vectors) -> Vectors:
    """Return the rows scaled to length 1, in their own float type; zero rows stay zero."""
    # First by the largest number, so that squares neither underflow nor overflow. A value that is
    # not finite makes NaN here; `NonFiniteError` names its row later.
    with np.errstate(invalid="ignore"):
        x = _divide_rows(vectors, abs(vectors).max(axis=1))
        return _divide_rows(x, np.sqrt((x * x).sum(axis=1)))


def _divide_rows(x: Vectors, by: Any) -> Vectors:
    """Return each row divided by its element of `by`, where 0 counts as 1."""
    column = (by.toarray() if sparse.issparse(by) else np.asarray(by)).ravel()
    column = np.where(column == 0, 1, column).astype(x.dtype)
    if not sparse.issparse(x):
        return np.asarray(x / column[:, None])
    out = sparse.csr_array(x, copy=True)
    out.data = out.data / np.repeat(column, np.diff(out.indptr))
    return out
