"""What the answers to an item say together: how often each was given, and the modal one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evaluation.methods.multiqa.panel import Ints, Panel
from evaluation.methods.undefined import ratio

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Votes:
    """The votes of each of n items. Refused and empty replies have none.

    Attributes
    ----------
    n_votes : (n,) replies that vote.
    times : (n, R) how often the answer of each reply was given; 0 where it has no vote.
    mode : (n,) the column of a reply that gave the modal answer, -1 without a vote. Of tied ones
        that of the original wording is taken, else the earliest.
    n_modes : (n,) how many answers were given most often; 0 without a vote.
    right_modes : (n,) how many of these are right.
    """

    n_votes: Ints
    times: Ints
    mode: Ints
    n_modes: Ints
    right_modes: Ints

    @classmethod
    def of(cls, panel: Panel) -> Self:
        """Count the votes of a panel."""
        said = panel.answers
        votes = said >= 0
        times = np.zeros(said.shape, dtype=np.int64)
        first = votes.copy()  # whether nobody before gave the answer
        for column in range(said.shape[1]):
            same = (said == said[:, column, None]) & votes[:, column, None]
            times[:, column] = same.sum(axis=1)
            first[:, column] &= ~same[:, :column].any(axis=1)
        most = times.max(axis=1, initial=0)
        modal = votes & (times == most[:, None])
        # Column 0 is the original, so the first column that is modal serves both rules.
        mode = np.where(modal.any(axis=1), modal.argmax(axis=1), -1) if said.size else most - 1
        distinct = modal & first
        right = np.take_along_axis(panel.right, panel.stands, axis=1)
        return cls(
            votes.sum(axis=1, dtype=np.int64),
            times,
            mode.astype(np.int64),
            distinct.sum(axis=1, dtype=np.int64),
            (distinct & right).sum(axis=1, dtype=np.int64),
        )

    def sum_of_squares(self) -> Ints:
        """Return (n,) the sum of f^2 over the different answers, f how often each was given."""
        return self.times.sum(axis=1)

    def negative_entropy(self) -> Floats:
        """Return (n,) the sum of p log p over the different answers; NaN without a vote."""
        share = ratio(self.times, self.n_votes[:, None])
        logs = np.log(share, out=np.zeros_like(share), where=share > 0)
        # Every one of the f replies of an answer holds log p, and p is f over the votes.
        return ratio(np.where(self.times > 0, logs, 0.0).sum(axis=1), self.n_votes)

    def plurality(self, panel: Panel) -> Floats:
        """Return (n,) whether the reply that stands for the modal answer is right; 0 without."""
        at, mode = np.arange(len(self.mode)), np.maximum(self.mode, 0)
        right = panel.right[at, panel.stands[at, mode]] if panel.right.size else self.mode > 0
        return np.where(self.mode >= 0, right, False).astype(np.float64)
