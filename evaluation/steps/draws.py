"""Bootstrap draws put aside in the database, so that no turn is too short for a long bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evaluation.flow.inputs import GradingInput
from evaluation.flow.signatures import combined_hash, versions
from evaluation.models import DrawPart
from evaluation.steps.checkpoints import Turn

# Draws are put aside this often: what a worker that dies may lose. A short run never is.
SECONDS_BETWEEN_PARTS = 30.0
# Bytes of one column of one row, well below what the databases take.
LARGEST = 32_000_000


@dataclass
class DrawParts:
    """The draws of a run, kept by `evaluation.methods.aqer.resampling.resample`."""

    turn: Turn
    run_id: int
    input_hash: str
    _saved: int = field(default=0, init=False)
    _saved_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._saved_at = self.turn.clock()

    @classmethod
    def of(cls, given: GradingInput, turn: Turn) -> DrawParts:
        """Return the parts of a run; other answers or another version make them useless."""
        key = combined_hash([given.hash(), versions()["crowdgrade"]])
        return cls(turn, turn.run_id, key)

    def earlier(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return raw scores and votes, both (M, k), of the first k draws; None for none."""
        parts = []
        for part in DrawPart.objects.filter(run=self.run_id, input_hash=self.input_hash):
            if part.first != self._saved:
                break  # a part before it is missing
            parts.append([_matrix(part, part.raw), _matrix(part, part.votes)])
            self._saved += part.n_draws
        if not parts:
            return None
        raw, votes = (np.hstack(columns) for columns in zip(*parts, strict=True))
        return raw, votes

    def keep(self, raw: NDArray[np.float64], votes: NDArray[np.float64]) -> None:
        """Put new draws aside now and then, and end the turn when its time is up."""
        over = self.turn.is_over()
        if not over and self.turn.clock() - self._saved_at < SECONDS_BETWEEN_PARTS:
            return
        stop = raw.shape[1]
        step = max(1, LARGEST // (8 * len(raw)))
        bounds = [*range(self._saved, stop, step), stop]
        with self.turn.fenced():
            # Of other answers, or of a turn that lost its claim just now.
            DrawPart.objects.filter(run=self.run_id).exclude(
                input_hash=self.input_hash, first__lt=self._saved
            ).delete()
            for first, last in pairwise(bounds):
                DrawPart.objects.create(
                    run_id=self.run_id,
                    input_hash=self.input_hash,
                    first=first,
                    n_draws=last - first,
                    n_workers=len(raw),
                    raw=raw[:, first:last].astype("<f8").tobytes(),
                    votes=votes[:, first:last].astype("<f8").tobytes(),
                )
        self._saved, self._saved_at = stop, self.turn.clock()
        self.turn.between_parts()


def _matrix(part: DrawPart, column: bytes | memoryview) -> NDArray[np.float64]:
    return np.frombuffer(column, dtype="<f8").reshape(part.n_workers, part.n_draws)
