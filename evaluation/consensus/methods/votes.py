"""Construction of votes from vectors: mean, majority, with camps, with left-out workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from evaluation.consensus.methods.camped_vote import CampedVote
from evaluation.consensus.methods.fixed_point import Vote
from evaluation.consensus.methods.majority_vote import MajorityVote
from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.consensus.methods.scale import TIE
from evaluation.consensus.methods.targets import Targets, build_targets
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers
from evaluation.core.stats.grams import Vectors


@dataclass(frozen=True)
class LeftOutVote:
    """Vote in which the answers flagged in `of_cells` are always compared leave-one-out."""

    vote: Vote
    of_cells: Booleans

    @property
    def cells(self) -> Cells:
        """Worker and question codes of the answers."""
        return self.vote.cells

    def similarity(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return each answer's similarity to its exemplary answer, one column per weighting.

        Answers flagged in `of_cells` are always left out of the vote.
        """
        found = self.vote.similarity(weights, leave_one_out=leave_one_out)
        if leave_one_out:
            return found
        left_out = self.vote.similarity(weights, leave_one_out=True)
        return np.where(self.of_cells[:, None], left_out, found)

    def exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return one exemplary answer per question, as rows, made from all answers."""
        return self.vote.exemplars(vectors, weights)

    def dispersion(self, weights: Floats) -> Floats:
        """Return one dispersion per question, over all answers."""
        return self.vote.dispersion(weights)


@build_targets.register
def _(vote: LeftOutVote, vectors: Vectors, targets: Vectors, question: Integers) -> Targets:
    return build_targets(vote.vote, vectors, targets, question)


def build_vote(
    vectors: Vectors,
    cells: Cells,
    similarity: str,
    aggregation: str,
    camps: Integers | None = None,
    left_out: Booleans | None = None,
) -> Vote:
    """Return the vote of the answers for a similarity, an aggregation and optional camps.

    Parameters
    ----------
    vectors : (rows, d). cells : which rows answer what.
    similarity, aggregation : see `AQER`.
    camps : (rows,) camp of each answer within its question; None where each question has one
        exemplary answer.
    left_out : (M,) workers who are compared with the others' exemplary answer in any case.
    """

    def plain(part: Cells) -> MeanVote | MajorityVote:
        make = MajorityVote if aggregation == "majority" else MeanVote
        return make.from_vectors(vectors, part, similarity)

    vote: Vote = plain(cells)
    # Order matters: the left-out rule must see the nearest camp's similarity, so it wraps the
    # camps.
    if camps is not None:
        vote = CampedVote.of(vote, vectors, camps[cells.row], plain)
    if left_out is not None and left_out.any():
        vote = LeftOutVote(vote, left_out[cells.worker])
    return vote


def get_mean_vote(vote: Vote) -> MeanVote:
    """Return the mean vote (inner products) of all answers that any kind of vote contains."""
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
    """Return the input row of the answer nearest to each question's exemplary answer.

    The first one wins a tie. `scores` (N,) are the similarities of the input rows under the voting
    weights (M,). Where a question has camps, the answer is one of the heaviest camp, whose
    exemplary answer stands for the question.
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
    """Return vectors as a float array or CSR matrix, one row per answer.

    ValueError for other shapes.
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
    """Return the rows scaled to unit length, in their own float type; zero rows stay zero."""
    # First by the largest number, so that squares neither underflow nor overflow. A value that is
    # not finite makes NaN here and is told by its row later.
    with np.errstate(invalid="ignore"):
        x = _divide_rows(vectors, abs(vectors).max(axis=1))
        return _divide_rows(x, np.sqrt((x * x).sum(axis=1)))


def _divide_rows(x: Vectors, by: Any) -> Vectors:
    """Divide each row by its element of `by`, where 0 counts as 1; for dense or sparse rows."""
    column = (by.toarray() if sparse.issparse(by) else np.asarray(by)).ravel()
    column = np.where(column == 0, 1, column).astype(x.dtype)
    if not sparse.issparse(x):
        return np.asarray(x / column[:, None])
    out = sparse.csr_array(x, copy=True)
    out.data = out.data / np.repeat(column, np.diff(out.indptr))
    return out
