"""Two gradings of the same workers beside each other: what a remedy, or another run, changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evaluation.consensus import AQER
from evaluation.methods.statistics.correlation import spearman
from evaluation.methods.undefined import or_none


class Standing(NamedTuple):
    """How a worker came out of one grading; None where undefined."""

    grade: float | None
    raw: float | None
    rank: int | None


class GradeChange(NamedTuple):
    """A row of remedies.csv; `change` is positive for a better rank than before."""

    worker: Any
    plain_grade: float | None
    plain_rank: int | None
    grade: float | None
    rank: int | None
    change: int | None


@dataclass(frozen=True)
class GradeChanges:
    """A grading against an earlier one.

    Attributes
    ----------
    rows : one a worker, in the order of the caller.
    spearman : rank correlation of the raw scores of workers with a grade in both, -1 to 1; None
        with `reason`. n : how many they are.
    """

    rows: tuple[GradeChange, ...]
    spearman: float | None
    n: int
    reason: str | None = None

    @classmethod
    def between(
        cls,
        workers: Iterable[Hashable],
        before: Mapping[Any, Standing],
        after: Mapping[Any, Standing],
    ) -> GradeChanges:
        """Compare the standings of workers; one that is in neither mapping has empty cells."""
        nowhere = Standing(None, None, None)
        rows, raw = [], []
        for worker in workers:
            old, new = before.get(worker, nowhere), after.get(worker, nowhere)
            moved = None if old.rank is None or new.rank is None else old.rank - new.rank
            rows.append(GradeChange(worker, old.grade, old.rank, new.grade, new.rank, moved))
            if old.grade is not None and new.grade is not None:
                raw.append((old.raw, new.raw))
        known = np.array(raw, dtype=float).reshape(-1, 2)
        found = spearman(*known.T)
        reason = "fewer_than_2_workers" if len(known) < 2 else "no_spread"
        return cls(tuple(rows), found, len(known), reason if found is None else None)

    def movers(self, most: int = 5) -> Sequence[GradeChange]:
        """Return the workers whose rank changed most, by places, then by grade."""
        moved = [row for row in self.rows if row.change]

        def size(row: GradeChange) -> tuple[int, float]:
            return (-abs(row.change or 0), -abs((row.grade or 0.0) - (row.plain_grade or 0.0)))

        return sorted(moved, key=size)[:most]

    def summary(self) -> dict[str, Any]:
        """Return what summary.json says of it."""
        return {
            "spearman": self.spearman,
            "n": self.n,
            "reason": self.reason,
            "movers": [row._asdict() for row in self.movers()],
        }


def standings_of(aqer: AQER) -> dict[Any, Standing]:
    """Return how each worker came out of a fitted estimator."""
    columns = zip(
        aqer.workers_.tolist(), aqer.grades_, aqer.raw_, aqer.ranks_.tolist(), strict=True
    )
    return {
        worker: Standing(or_none(grade), or_none(raw), rank or None)
        for worker, grade, raw, rank in columns
    }
