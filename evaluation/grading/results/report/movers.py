"""Compare the workers of two runs: changes of grade and rank, and workers of one run only."""

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
    """Grades and ranks of a worker in two compared runs; None where a run has none.

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
        """Ranks gained (positive) or lost among common workers; None without two ranks."""
        if self.place_before is None or self.place_after is None:
            return None
        return self.place_before - self.place_after

    @property
    def grade_change(self) -> float:
        """Later minus earlier grade; 0 if one is missing."""
        if self.grade_before is None or self.grade_after is None:
            return 0.0
        return self.grade_after - self.grade_before


@dataclass(frozen=True)
class WorkerOfOne:
    """A worker who is in one run only, with grade and rank in that run.

    `excluded` says that the other run left the worker out; else there was no answer to grade.
    """

    worker: UUID
    name: str
    grade: float | None
    rank: int | None
    excluded: bool


@dataclass(frozen=True)
class Crowds:
    """The workers of two runs: common ones, and those of one run only.

    Attributes
    ----------
    common : greatest move first. left, came : only in the earlier, only in the later run, by rank.
    """

    common: list[WorkerChange]
    left: list[WorkerOfOne]
    came: list[WorkerOfOne]

    @property
    def n_graded(self) -> int:
        """Number of workers with a grade in both runs."""
        pairs = ((one.grade_before, one.grade_after) for one in self.common)
        return sum(None not in pair for pair in pairs)


@dataclass(frozen=True)
class _Row:
    """Id, name, grade and rank of a worker in one run."""

    worker: UUID
    name: str
    grade: float | None
    rank: int | None


def compare_crowds(before: Run, after: Run) -> Crowds:
    """Compare the grades and ranks of the workers of two runs; one query.

    Whom a run excluded is none of its workers, though it has a row with scores.
    """
    (earlier, excluded_earlier), (later, excluded_later) = _read_workers(before, after)
    return _compare(earlier, excluded_earlier, later, excluded_later)


def compare_without(run: Run, worker: UUID, outcomes: Mapping[UUID, Outcome]) -> Crowds:
    """Compare a run with its outcome if one more worker were excluded; one query.

    `outcomes` are those of all others whom the run does not exclude.
    """
    ((rows, excluded),) = _read_workers(run)
    outcome_rows = {
        id: _Row(id, rows[id].name, found.grade, found.rank)
        for id, found in outcomes.items()
        if id in rows
    }
    return _compare(rows, excluded, outcome_rows, {worker})


def _compare(
    one: Mapping[UUID, _Row],
    out_of_one: set[UUID],
    other: Mapping[UUID, _Row],
    out_of_other: set[UUID],
) -> Crowds:
    """Compare the workers of two runs, given the workers that each run excluded."""
    both = one.keys() & other.keys()
    places = _rank_common(one, other)
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
    return Crowds(common, _find_only(one, other, out_of_other), _find_only(other, one, out_of_one))


def _read_workers(*runs: Run) -> list[tuple[dict[UUID, _Row], set[UUID]]]:
    """Return the workers of each run by id, and the workers it excluded; one query."""
    rows_of_run: dict[int, dict[UUID, _Row]] = {run.pk: {} for run in runs}
    rows = WorkerGrade.objects.filter(run__in=rows_of_run).values_list(
        "run_id", "worker__public_id", "worker__external_id", "grade", "rank"
    )
    for key, worker, name, grade, rank in rows:
        rows_of_run[key][worker] = _Row(worker, name, grade, rank)
    return [_separate_excluded(run, rows_of_run[run.pk]) for run in runs]


def _separate_excluded(run: Run, rows: dict[UUID, _Row]) -> tuple[dict[UUID, _Row], set[UUID]]:
    """Return the workers of a run without the excluded ones, and the excluded ids."""
    names = set(run.parameters.get("exclude_workers") or ())
    excluded = {id for id, row in rows.items() if names & {row.name, str(id)}}
    return {id: row for id, row in rows.items() if id not in excluded}, excluded


def _rank_common(
    one: Mapping[UUID, _Row], other: Mapping[UUID, _Row]
) -> dict[UUID, tuple[int, int]]:
    """Return both runs' ranks of each common worker, counted among common workers only."""
    ranked = [
        (id, before.rank, other[id].rank)
        for id, before in one.items()
        if before.rank is not None and id in other and other[id].rank is not None
    ]
    ranks_before, ranks_after = (
        sorted(row[1] for row in ranked),
        sorted(row[2] or 0 for row in ranked),
    )
    return {
        id: (bisect_left(ranks_before, first) + 1, bisect_left(ranks_after, second or 0) + 1)
        for id, first, second in ranked
    }


def _find_only(
    here: Mapping[UUID, _Row], there: Mapping[UUID, _Row], excluded: set[UUID]
) -> list[WorkerOfOne]:
    """Return the workers of the first run who are not in the second, best rank first."""
    rows = [row for id, row in here.items() if id not in there]
    rows.sort(key=lambda row: (row.rank is None, row.rank or 0, row.name))
    return [
        WorkerOfOne(row.worker, row.name, row.grade, row.rank, row.worker in excluded)
        for row in rows
    ]
