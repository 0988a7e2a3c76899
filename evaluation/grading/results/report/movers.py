"""Workers of two runs: who is in both and how far they moved, who left and who came."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from evaluation.grading.storage.what_if import Outcome
from evaluation.models import Run, WorkerGrade

# Names of those who left or came that a page spells out.
NAMED = 30


@dataclass(frozen=True)
class WorkerChange:
    """A worker in both runs; None where one of them gave no grade or rank.

    Attributes
    ----------
    rank_before, rank_after : as each run has them, among all of its own.
    place_before, place_after : ranks among those whom both runs rank, so that nobody moves because
        others left or came.
    """

    worker: UUID
    name: str
    grade_before: float | None
    grade_after: float | None
    rank_before: int | None
    rank_after: int | None
    place_before: int | None = None
    place_after: int | None = None

    @property
    def moved(self) -> int | None:
        """Places gained (positive) or lost among common workers; None without two ranks."""
        if self.place_before is None or self.place_after is None:
            return None
        return self.place_before - self.place_after

    @property
    def grade_change(self) -> float:
        """Grade after less grade before; 0 where one is missing."""
        if self.grade_before is None or self.grade_after is None:
            return 0.0
        return self.grade_after - self.grade_before


@dataclass(frozen=True)
class WorkerOfOne:
    """A worker of one run only, with what that run found.

    `excluded` says that the other run left the worker out; else there was no answer to grade.
    """

    worker: UUID
    name: str
    grade: float | None
    rank: int | None
    excluded: bool


@dataclass(frozen=True)
class Crowds:
    """The workers of two runs.

    Attributes
    ----------
    common : greatest move first. left, came : only in the earlier, only in the later run, by rank.
    """

    common: list[WorkerChange]
    left: list[WorkerOfOne]
    came: list[WorkerOfOne]

    @property
    def n_graded(self) -> int:
        """Common workers with two grades."""
        pairs = ((one.grade_before, one.grade_after) for one in self.common)
        return sum(None not in pair for pair in pairs)


@dataclass(frozen=True)
class _Row:
    worker: UUID
    name: str
    grade: float | None
    rank: int | None


def crowds(before: Run, after: Run) -> Crowds:
    """Compare the workers of two runs, by one query.

    Whom a run excluded is none of its workers, though it has a row with scores.
    """
    (one, out_of_one), (other, out_of_other) = _workers(before, after)
    return _compared(one, out_of_one, other, out_of_other)


def crowd_without(run: Run, worker: UUID, outcomes: Mapping[UUID, Outcome]) -> Crowds:
    """Compare a run with what it would be without one more worker, by one query.

    `outcomes` are those of all others whom the run does not exclude.
    """
    ((one, out),) = _workers(run)
    other = {
        id: _Row(id, one[id].name, found.grade, found.rank)
        for id, found in outcomes.items()
        if id in one
    }
    return _compared(one, out, other, {worker})


def _compared(
    one: Mapping[UUID, _Row],
    out_of_one: set[UUID],
    other: Mapping[UUID, _Row],
    out_of_other: set[UUID],
) -> Crowds:
    both = one.keys() & other.keys()
    places = _places(one, other)
    common = [
        WorkerChange(
            id,
            other[id].name,
            one[id].grade,
            other[id].grade,
            one[id].rank,
            other[id].rank,
            *places.get(id, (None, None)),
        )
        for id in both
    ]
    common.sort(key=lambda row: (-abs(row.moved or 0), -abs(row.grade_change), row.name))
    return Crowds(common, _only(one, other, out_of_other), _only(other, one, out_of_one))


def _workers(*runs: Run) -> list[tuple[dict[UUID, _Row], set[UUID]]]:
    """Return the workers of each run by id, and those whom it excluded, by one query."""
    found: dict[int, dict[UUID, _Row]] = {run.pk: {} for run in runs}
    rows = WorkerGrade.objects.filter(run__in=found).values_list(
        "run_id", "worker__public_id", "worker__external_id", "grade", "rank"
    )
    for key, worker, name, grade, rank in rows:
        found[key][worker] = _Row(worker, name, grade, rank)
    return [_without_excluded(run, found[run.pk]) for run in runs]


def _without_excluded(run: Run, found: dict[UUID, _Row]) -> tuple[dict[UUID, _Row], set[UUID]]:
    out = set(run.parameters.get("exclude_workers") or ())
    excluded = {id for id, row in found.items() if out & {row.name, str(id)}}
    return {id: row for id, row in found.items() if id not in excluded}, excluded


def _places(one: Mapping[UUID, _Row], other: Mapping[UUID, _Row]) -> dict[UUID, tuple[int, int]]:
    """Return both ranks of each worker among those whom both runs rank; ties the better rank."""
    ranked = [
        (id, before.rank, other[id].rank)
        for id, before in one.items()
        if before.rank is not None and id in other and other[id].rank is not None
    ]
    firsts, seconds = sorted(row[1] for row in ranked), sorted(row[2] or 0 for row in ranked)
    return {
        id: (bisect_left(firsts, first) + 1, bisect_left(seconds, second or 0) + 1)
        for id, first, second in ranked
    }


def _only(
    here: Mapping[UUID, _Row], there: Mapping[UUID, _Row], excluded: set[UUID]
) -> list[WorkerOfOne]:
    rows = [row for id, row in here.items() if id not in there]
    rows.sort(key=lambda row: (row.rank is None, row.rank or 0, row.name))
    return [
        WorkerOfOne(row.worker, row.name, row.grade, row.rank, row.worker in excluded)
        for row in rows
    ]
