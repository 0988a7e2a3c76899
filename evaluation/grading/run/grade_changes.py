"""Changes of grades and ranks between two gradings of the same workers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evaluation.consensus import AQER
from evaluation.core.stats.statistics.correlation import spearman
from evaluation.core.stats.undefined import convert_nan_to_none


class Standing(NamedTuple):
    """Grade, raw score and rank of a worker in one grading; None where undefined."""

    grade: float | None
    raw: float | None
    rank: int | None


class GradeChange(NamedTuple):
    """A row of remedies.csv: a worker's grade and rank without and with remedies."""

    worker: Any
    plain_grade: float | None
    plain_rank: int | None
    grade: float | None
    rank: int | None
    change: int | None


@dataclass(frozen=True)
class GradeChanges:
    """Changes of all workers' grades between two gradings, and their rank correlation.

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
    def from_standings(
        cls,
        workers: Iterable[Hashable],
        before: Mapping[Any, Standing],
        after: Mapping[Any, Standing],
    ) -> GradeChanges:
        """Return the changes between two gradings, one row per worker."""
        undefined = Standing(None, None, None)
        rows, raw = [], []
        for worker in workers:
            old, new = before.get(worker, undefined), after.get(worker, undefined)
            moved = None if old.rank is None or new.rank is None else old.rank - new.rank
            rows.append(GradeChange(worker, old.grade, old.rank, new.grade, new.rank, moved))
            if old.grade is not None and new.grade is not None:
                raw.append((old.raw, new.raw))
        raw_scores = np.array(raw, dtype=float).reshape(-1, 2)
        correlation = spearman(*raw_scores.T)
        reason = "fewer_than_2_workers" if len(raw_scores) < 2 else "no_spread"
        return cls(
            tuple(rows), correlation, len(raw_scores), reason if correlation is None else None
        )

    def movers(self, most: int = 5) -> Sequence[GradeChange]:
        """Return up to `most` workers whose rank changed most (ties: whose grade did)."""
        moved = [row for row in self.rows if row.change]

        def compute_size(row: GradeChange) -> tuple[int, float]:
            return (-abs(row.change or 0), -abs((row.grade or 0.0) - (row.plain_grade or 0.0)))

        return sorted(moved, key=compute_size)[:most]

    def summary(self) -> dict[str, Any]:
        """Return the correlation and the largest movers, as plain values for summary.json."""
        return {
            "spearman": self.spearman,
            "n": self.n,
            "reason": self.reason,
            "movers": [row._asdict() for row in self.movers()],
        }


def build_standings(aqer: AQER) -> dict[Any, Standing]:
    """Return grade, raw score and rank of each worker of a fitted estimator, by worker."""
    columns = zip(
        aqer.workers_.tolist(), aqer.grades_, aqer.raw_, aqer.ranks_.tolist(), strict=True
    )
    return {
        worker: Standing(convert_nan_to_none(grade), convert_nan_to_none(raw), rank or None)
        for worker, grade, raw, rank in columns
    }
