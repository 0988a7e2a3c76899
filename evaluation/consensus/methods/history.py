"""Voting weights and grades after each iteration, for the chart of convergence."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from evaluation.core.stats.cells import Floats, Integers

# Iterations kept; of a longer run the first ones, where nearly all happens, and the last.
KEPT = 101
Small = NDArray[np.float32]


class History:
    """Weights and grades of all workers after each recorded iteration, in float32.

    Parameters
    ----------
    start : (M,) the weights before the first iteration.
    """

    def __init__(self, start: Floats) -> None:
        nothing = np.full(len(start), np.nan, dtype=np.float32)
        self._rows: list[tuple[Small, Small]] = [(start.astype(np.float32), nothing)]
        self._last = self._rows[0]
        self._n = 0

    def add(self, weights: Floats, grades: Floats) -> None:
        """Append the weights and grades after one more iteration, as one column each."""
        self._n += 1
        self._last = (weights[:, 0].astype(np.float32), grades[:, 0].astype(np.float32))
        # A long run records its first iterations and the last one, which bounds memory and storage.
        if len(self._rows) < KEPT - 1:
            self._rows.append(self._last)

    def of_members(self, unit: Integers) -> History:
        """Return the history per worker, from this history per unit (group that votes as one).

        `unit` (M,) is whose vote a worker has a part in; -1 for nobody's: weight 0, no grade. The
        members of a unit share its weight alike.
        """
        size = np.bincount(unit[unit >= 0], minlength=len(self._last[0]))

        def spread(row: tuple[Small, Small]) -> tuple[Small, Small]:
            weights, grades = row
            share = (weights / np.maximum(size, 1))[unit]
            nothing = unit < 0
            return (
                np.where(nothing, 0, share).astype(np.float32),
                np.where(nothing, np.nan, grades[unit]).astype(np.float32),
            )

        out = copy(self)
        out._rows, out._last = [spread(row) for row in self._rows], spread(self._last)
        return out

    @property
    def iterations(self) -> list[int]:
        """Numbers of the recorded iterations: 0 (the start), 1, ..., and always the last one."""
        kept = list(range(len(self._rows)))
        return kept if self._n == kept[-1] else [*kept, self._n]

    @property
    def weights(self) -> Small:
        """Voting weights: one row per recorded iteration, one column per worker."""
        return np.stack([weights for weights, _ in self._list_kept()])

    @property
    def grades(self) -> Small:
        """Grades from 0 to 1, one row per recorded iteration.

        NaN at the start and where undefined.
        """
        return np.stack([grades for _, grades in self._list_kept()])

    def _list_kept(self) -> list[tuple[Small, Small]]:
        return self._rows if self._n == len(self._rows) - 1 else [*self._rows, self._last]
