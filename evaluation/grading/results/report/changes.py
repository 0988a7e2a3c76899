"""Changes: of answers since a run, of grades between runs, and without one worker.

Compare the answers that a run read with the answers stored now. Compare the workers of two runs:
changes of grade and rank, and workers of one run only. Report of a run as if one more worker were
excluded: changes of ranks and grades.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from annotations.models import GRADED, Question, Response, Worker
from annotations.web.numbers import Numbers, TableCounts, load_table_counts
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.grading.remedies.messages import NOT_AT_ONCE
from evaluation.grading.storage.running import (
    ExclusionOutcome,
    NotAtOnceError,
    compute_outcomes_without,
    read_graded_input,
)
from evaluation.grading.summary import read_summary
from evaluation.models import AnswerScore, LLMResponse, Run, WorkerGrade


@dataclass(frozen=True)
class DataChange:
    """Numbers of answers that a run read, and that a new run would read now.

    Attributes
    ----------
    n_newer, n_newer_of_models : answers that were saved after the run began; a rerun of a broken
        attempt may have included some of them, so only `has_same_answers` is exact.
    n_withdrawn : answers of the run that were deleted since.
    """

    n_answers_then: int
    n_answers_now: int
    n_newer: int
    n_withdrawn: int
    n_of_models_then: int
    n_of_models_now: int
    n_newer_of_models: int

    @property
    def has_changed(self) -> bool:
        """Whether a new run would read other answers than this run did."""
        return self.has_worker_changes or self.has_model_changes

    @property
    def has_worker_changes(self) -> bool:
        """Whether a new run would read other workers' answers; grades may then change."""
        return bool(self.n_answers_then != self.n_answers_now or self.n_newer or self.n_withdrawn)

    @property
    def has_model_changes(self) -> bool:
        """Whether a new run would read other models' answers; workers' grades stay the same."""
        return bool(self.n_of_models_then != self.n_of_models_now or self.n_newer_of_models)


def read_data_change(run: Run) -> DataChange:
    """Return how the stored answers changed since a run, by counts and times; one query."""
    return build_data_change(run, load_table_counts(build_change_parts(run)))


def build_change_parts(run: Run) -> dict[str, TableCounts]:
    """Return the count queries, by name, whose results `build_data_change` takes."""
    newer = Q() if run.started_at is None else Q(updated_at__gt=run.started_at)
    # By submission, not by question: a worker's answers lie together, so this is much faster.
    answers = Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
    )
    if not run.parameters.get("include_rejected"):
        answers = answers.filter(rejected=False)
    counts = (Count("pk"), Count("pk", filter=newer))
    # Few or none, and counted apart: to leave them out would read every answer's row.
    not_graded = Question.objects.filter(version=run.version_id).exclude(role__in=GRADED)
    newer_of_models = Q() if run.started_at is None else Q(created_at__gt=run.started_at)
    of_models = LLMResponse.objects.filter(
        question__version=run.version_id, question__role__in=GRADED, sample=0
    )
    # A model may have several answers to a question, by several prompts.
    questions = (
        Count("question", distinct=True),
        Count("question", distinct=True, filter=newer_of_models),
    )
    return {
        "answers": TableCounts(answers, counts),
        "beside": TableCounts(answers.filter(question__in=not_graded.values("pk")), counts),
        "of_models": TableCounts(of_models, questions, by=("model",)),
        "scores": TableCounts(AnswerScore.objects.filter(run=run), (Count("pk"),)),
    }


def build_data_change(run: Run, numbers: Mapping[str, list[Numbers]]) -> DataChange:
    """Return how the stored answers changed since a run, from counts that were already read."""
    counts = read_summary(run).counts
    ((n_all, newer),), ((n_beside, newer_beside),) = numbers["answers"], numbers["beside"]
    ((n_scores,),) = numbers["scores"]
    return DataChange(
        n_answers_then=counts.answers,
        n_answers_now=n_all - n_beside,
        n_newer=newer - newer_beside,
        n_withdrawn=max(0, counts.answers - n_scores),
        n_of_models_then=counts.model_answers,
        n_of_models_now=sum(n for _, n, _ in numbers["of_models"]),
        n_newer_of_models=sum(n for _, _, n in numbers["of_models"]),
    )


def has_same_answers(run: Run) -> bool:
    """Return whether the stored workers' answers are exactly those that a run graded.

    Their texts are compared by a hash.

    Reads every text of the version: some seconds for 1,000,000 answers.
    """
    try:
        read_graded_input(run)
    except NotAtOnceError:
        return False
    return True


# Names of those who left or came that a page spells out.
NAMED = 30


@dataclass(frozen=True)
class WorkerChange:
    """A worker's grades and ranks in two compared runs; None where a run has none.

    Attributes
    ----------
    rank_before, rank_after : rank among all workers of each run.
    place_before, place_after : rank among the workers that both runs rank, which workers of only
        one run do not change.
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
        """Number of ranks gained (lost if negative) among common workers; None if undefined."""
        if self.place_before is None or self.place_after is None:
            return None
        return self.place_before - self.place_after

    @property
    def grade_change(self) -> float:
        """Later grade minus earlier grade; 0 if one is missing."""
        if self.grade_before is None or self.grade_after is None:
            return 0.0
        return self.grade_after - self.grade_before


@dataclass(frozen=True)
class UnpairedWorker:
    """A worker who is in only one of two compared runs, with grade and rank there.

    `excluded` states that the other run left the worker out; else there was no answer to grade.
    """

    worker: UUID
    name: str
    grade: float | None
    rank: int | None
    excluded: bool


@dataclass(frozen=True)
class CrowdComparison:
    """Workers of two compared runs: those of both, and those of only one.

    Attributes
    ----------
    common : workers of both runs, largest change first. left, came : workers of only the earlier
        and of only the later run, by rank.
    """

    common: list[WorkerChange]
    left: list[UnpairedWorker]
    came: list[UnpairedWorker]

    @property
    def n_graded(self) -> int:
        """Number of workers with a grade in both runs."""
        pairs = ((change.grade_before, change.grade_after) for change in self.common)
        return sum(None not in pair for pair in pairs)


@dataclass(frozen=True)
class _RankedWorker:
    """A worker's id, name, grade and rank in one run."""

    worker: UUID
    name: str
    grade: float | None
    rank: int | None


def compare_crowds(before: Run, after: Run) -> CrowdComparison:
    """Return the comparison of two runs' workers, by grades and ranks; one query.

    A worker excluded by a run is none of its workers, but has a row with scores.
    """
    (earlier, excluded_earlier), (later, excluded_later) = _read_workers(before, after)
    return _compare_workers(earlier, excluded_earlier, later, excluded_later)


def compare_with_exclusion(
    run: Run, worker: UUID, outcomes: Mapping[UUID, ExclusionOutcome]
) -> CrowdComparison:
    """Return the comparison of a run's workers with the run without one more worker.

    One query. `outcomes` are those of all other workers that the run does not exclude.
    """
    ((rows, excluded),) = _read_workers(run)
    outcome_rows = {
        id: _RankedWorker(id, rows[id].name, outcome.grade, outcome.rank)
        for id, outcome in outcomes.items()
        if id in rows
    }
    return _compare_workers(rows, excluded, outcome_rows, {worker})


def _compare_workers(
    earlier: Mapping[UUID, _RankedWorker],
    excluded_earlier: set[UUID],
    later: Mapping[UUID, _RankedWorker],
    excluded_later: set[UUID],
) -> CrowdComparison:
    """Return the comparison of two runs' workers, given those that each run excluded."""
    both = earlier.keys() & later.keys()
    places = _rank_common(earlier, later)
    common = [
        WorkerChange(
            id,
            later[id].name,
            earlier[id].grade,
            later[id].grade,
            earlier[id].rank,
            later[id].rank,
            *places.get(id, (None, None)),
        )
        for id in both
    ]
    common.sort(key=lambda row: (-abs(row.moved or 0), -abs(row.grade_change), row.name))
    return CrowdComparison(
        common,
        _find_unpaired(earlier, later, excluded_later),
        _find_unpaired(later, earlier, excluded_earlier),
    )


def _read_workers(*runs: Run) -> list[tuple[dict[UUID, _RankedWorker], set[UUID]]]:
    """Return, for each run, its workers by id and the ids of its excluded workers; one query."""
    rows_of_run: dict[int, dict[UUID, _RankedWorker]] = {run.pk: {} for run in runs}
    rows = WorkerGrade.objects.filter(run__in=rows_of_run).values_list(
        "run_id", "worker__public_id", "worker__external_id", "grade", "rank"
    )
    for key, worker, name, grade, rank in rows:
        rows_of_run[key][worker] = _RankedWorker(worker, name, grade, rank)
    return [_separate_excluded(run, rows_of_run[run.pk]) for run in runs]


def _separate_excluded(
    run: Run, rows: dict[UUID, _RankedWorker]
) -> tuple[dict[UUID, _RankedWorker], set[UUID]]:
    """Return a run's workers without the excluded ones, and the ids of the excluded ones."""
    names = set(run.parameters.get("exclude_workers") or ())
    # The option takes external ids (files) and public ids (pages and REST).
    excluded = {id for id, row in rows.items() if names & {row.name, str(id)}}
    return {id: row for id, row in rows.items() if id not in excluded}, excluded


def _rank_common(
    earlier: Mapping[UUID, _RankedWorker], later: Mapping[UUID, _RankedWorker]
) -> dict[UUID, tuple[int, int]]:
    """Return the ranks of common workers in both runs, counted among common workers only."""
    ranked = [
        (id, before.rank, later[id].rank)
        for id, before in earlier.items()
        if before.rank is not None and id in later and later[id].rank is not None
    ]
    ranks_before, ranks_after = (
        sorted(row[1] for row in ranked),
        sorted(row[2] or 0 for row in ranked),
    )
    return {
        # A competition rank: those who are tied share the best of their places.
        id: (bisect_left(ranks_before, first) + 1, bisect_left(ranks_after, second or 0) + 1)
        for id, first, second in ranked
    }


def _find_unpaired(
    own_rows: Mapping[UUID, _RankedWorker],
    other_rows: Mapping[UUID, _RankedWorker],
    excluded: set[UUID],
) -> list[UnpairedWorker]:
    """Return the workers of the first run who are not in the second, best rank first."""
    rows = [row for id, row in own_rows.items() if id not in other_rows]
    rows.sort(key=lambda row: (row.rank is None, row.rank or 0, row.name))
    return [
        UnpairedWorker(row.worker, row.name, row.grade, row.rank, row.worker in excluded)
        for row in rows
    ]


MOVERS_SHOWN = 10


@dataclass(frozen=True)
class WhatIf:
    """Comparison of a run with the same run without one more worker.

    Attributes
    ----------
    worker, name : the worker who would be excluded. reason : code of why the comparison takes too
        long for a web page (all other fields are then empty); else "".
    movers : the ten workers whose place would change most. n_moved : number of workers whose place
        would change. n : number of workers with both ranks.
    spearman : rank correlation of the grades with and without the worker.
    largest : largest absolute difference of a grade.
    """

    worker: UUID
    name: str
    reason: str = ""
    movers: tuple[WorkerChange, ...] = ()
    n_moved: int = 0
    n: int = 0
    spearman: float | None = None
    largest: float = 0.0

    @property
    def why(self) -> str:
        """Why the comparison takes too long for a web page, as text; "" if it does not."""
        return NOT_AT_ONCE.get(self.reason, "")


def build_what_if(run: Run, worker: UUID) -> WhatIf | None:
    """Return how grades and ranks change without a worker; None for an unknown worker."""
    row = Worker.objects.filter(grades__run=run, public_id=worker).first()
    if row is None:
        return None
    try:
        both_crowds = compare_with_exclusion(run, worker, compute_outcomes_without(run, row))
    except NotAtOnceError as error:
        return WhatIf(worker, row.external_id, error.code)
    grade_pairs = [
        (change.grade_before, change.grade_after)
        for change in both_crowds.common
        if change.grade_before is not None and change.grade_after is not None
    ]
    moved = [change for change in both_crowds.common if change.moved]
    return WhatIf(
        worker=worker,
        name=row.external_id,
        movers=tuple(moved[:MOVERS_SHOWN]),
        n_moved=len(moved),
        n=sum(change.moved is not None for change in both_crowds.common),
        spearman=spearman(
            [before for before, _ in grade_pairs], [after for _, after in grade_pairs]
        ),
        largest=max((abs(change.grade_change) for change in both_crowds.common), default=0.0),
    )
