"""A vote in which some workers never have a share in what they are compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.methods.aqer.fixed_point import Vote
from evaluation.methods.aqer.targets import Targets, targets_of
from evaluation.methods.cells import Booleans, Cells, Floats, Integers
from evaluation.methods.grams import Vectors


@dataclass(frozen=True)
class LeftOutVote:
    """`vote`, but the cells in `of_cells` (N,) are compared with the others' exemplary answer."""

    vote: Vote
    of_cells: Booleans

    @property
    def cells(self) -> Cells:
        """The answered cells."""
        return self.vote.cells

    def similarity(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return (N, D) similarities; see `MeanVote.similarity`."""
        found = self.vote.similarity(weights, leave_one_out=leave_one_out)
        if leave_one_out:
            return found
        left_out = self.vote.similarity(weights, leave_one_out=True)
        return np.where(self.of_cells[:, None], left_out, found)

    def exemplars(self, vectors: Vectors, weights: Floats) -> Vectors:
        """Return (Q, d) exemplary answers, in which everybody has their share."""
        return self.vote.exemplars(vectors, weights)

    def dispersion(self, weights: Floats) -> Floats:
        """Return (Q,) dispersions."""
        return self.vote.dispersion(weights)


@targets_of.register
def _(vote: LeftOutVote, vectors: Vectors, targets: Vectors, question: Integers) -> Targets:
    return targets_of(vote.vote, vectors, targets, question)
