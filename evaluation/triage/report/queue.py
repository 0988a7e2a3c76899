"""Queue of workers to decide about: those to review first, and all undecided ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, Q

from annotations.web.numbers import build_group_count
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report.marks import Mark, Marks, read_all_marks
from evaluation.grading.results.report.workers import (
    COLUMNS,
    LOWEST,
    WorkerRow,
    build_lowest_condition,
    build_lowest_message,
    build_worker_row,
)
from evaluation.models import Run, WorkerGrade
from evaluation.models.grades import VOTED
from evaluation.runs.reports.verdicts import (
    NO_WORKER,
    AppliedDecision,
    Verdicts,
    WorkerDecision,
    load_active_verdicts,
)

QueueOrder = Literal["review", "contrast"]
REVIEW: QueueOrder = "review"
CONTRAST: QueueOrder = "contrast"


@dataclass(frozen=True)
class TriageQueue:
    """Triage queue of a run: workers in the order of review, and their decisions.

    Attributes
    ----------
    workers : public ids: workers named in alarms or notices, the worst alarm first; then the
        workers with the lowest grades; then, if `everybody`, all others from the worst rank, those
        without a rank last. With the order "contrast" all of them, the lowest contrast first.
    lowest : workers in the queue because of a low grade. verdicts : current decision of each worker
        of the run, in the queue or not.
    decided : active decisions of the run (not taken back), the newest last.
    n_ranked : workers with a rank. n_all : workers of the run, without those that the run excluded.
    """

    workers: tuple[UUID, ...]
    everybody: bool
    marks: Marks
    lowest: frozenset[UUID]
    verdicts: Verdicts
    decided: list[AppliedDecision]
    n_ranked: int
    n_all: int

    @property
    def n_open(self) -> int:
        """Number of workers in the queue without a decision."""
        return sum(worker not in self.verdicts for worker in self.workers)

    @property
    def n_done(self) -> int:
        """Number of workers in the queue with a decision, "look again" included."""
        return len(self.workers) - self.n_open

    @property
    def n_again(self) -> int:
        """Number of workers in the queue whose current decision is "look again"."""
        return sum(self.is_open(worker) for worker in self.workers) - self.n_open

    def is_open(self, worker: UUID) -> bool:
        """Return whether a worker has no decision yet, or "look again"."""
        verdict = self.verdicts.get(worker)
        return verdict is None or verdict.kind == "look"

    def select_workers(self, state: str) -> tuple[UUID, ...]:
        """Return the queue's workers in a state ("all", "open" or "decided"), in its order."""
        if state == "all":
            return self.workers
        return tuple(worker for worker in self.workers if self.is_open(worker) == (state == "open"))

    def find_position(self, worker: UUID) -> int | None:
        """Return the position of a worker in the queue, from 1; None outside of it."""
        return self.workers.index(worker) + 1 if worker in self.workers else None

    def find_next_undecided(self, worker: UUID) -> UUID | None:
        """Return the next undecided worker after this one, from the start again; None if none."""
        position = self.find_position(worker) or 0
        following = (*self.workers[position:], *self.workers[:position])
        return next(
            (
                candidate
                for candidate in following
                if candidate != worker and candidate not in self.verdicts
            ),
            None,
        )

    def find_neighbors(self, worker: UUID, state: str = "all") -> tuple[UUID | None, UUID | None]:
        """Return (worker before, worker after) among those in a state; None at an end."""
        position = self.find_position(worker)
        if position is None:
            return None, None
        selected = set(self.select_workers(state))
        before = next(
            (
                neighbor
                for neighbor in reversed(self.workers[: position - 1])
                if neighbor in selected
            ),
            None,
        )
        after = next(
            (neighbor for neighbor in self.workers[position:] if neighbor in selected), None
        )
        return before, after


@dataclass(frozen=True)
class QueueRow:
    """A worker in the queue: alarms and notices, or the reason for review, and the decision.

    Attributes
    ----------
    marks : alarms and notices that name the worker. why : reason of a worker who is in the queue
        for a low grade, else None. verdict : current decision, or None.

    Facts that contradict the crowd are a notice on the page and put no worker into the queue.
    """

    row: WorkerRow
    marks: tuple[Mark, ...]
    why: Message | None
    verdict: WorkerDecision | None


def load_queue(
    run: Run,
    *,
    everybody: bool = False,
    order: QueueOrder = REVIEW,
    counts: tuple[int, int] | None = None,
    decided: list[AppliedDecision] | None = None,
    marks: Marks | None = None,
) -> TriageQueue:
    """Return the triage queue of a finished run; at most four queries.

    `order` is REVIEW (alarms, then low grades, then ranks) or CONTRAST (lowest question contrast
    first, workers without one last).

    Values that the caller has read already save a query each: `counts` (number of workers and
    number with a rank), `decided` (`load_active_verdicts`) and `marks` (`read_all_marks`).
    """
    marks = read_all_marks(run) if marks is None else marks
    grades = WorkerGrade.objects.filter(VOTED, run=run)
    if counts is None:
        totals = grades.aggregate(all=Count("pk"), ranked=Count("rank"))
        counts = totals["all"], totals["ranked"]
    n_all, n_ranked = counts
    decided = load_active_verdicts(run) if decided is None else decided
    # The usual page needs few workers; a crowd may have thousands.
    selection = (
        Q()
        if everybody
        else Q(worker__public_id__in=list(marks)) | build_lowest_condition(n_ranked)
    )
    rows = grades.filter(selection).values_list(
        "worker__public_id", "worker__external_id", "rank", "rank_low", "contrast"
    )
    named: list[tuple[Any, ...]] = []
    low: list[tuple[Any, ...]] = []
    others: list[tuple[Any, ...]] = []
    by_contrast: list[tuple[Any, ...]] = []
    for worker, name, rank, rank_low, contrast in rows:
        by_contrast.append((contrast is None, contrast or 0.0, name, worker))
        if worker in marks:
            # Names break ties, so that the order is the same on every page.
            named.append((marks[worker][0].place, rank is None, rank or 0, name, worker))
        elif rank is not None and rank_low is not None and rank_low > (1 - LOWEST) * n_ranked:
            # Rank 1 is the best, so the worst worker has the largest number.
            low.append((-rank, name, worker))
        else:
            others.append((rank is None, -(rank or 0), name, worker))
    groups = (named, low, others) if order == REVIEW else (by_contrast,)
    return TriageQueue(
        workers=tuple(key[-1] for group in groups for key in sorted(group)),
        everybody=everybody,
        marks=marks,
        lowest=frozenset(key[-1] for key in low),
        verdicts={verdict.worker: verdict for verdict in decided},
        decided=decided,
        n_ranked=n_ranked,
        n_all=n_all,
    )


def load_queue_rows(run: Run, queue: TriageQueue, workers: Sequence[UUID]) -> list[QueueRow]:
    """Return queue rows of the given workers, in that order, by one query.

    Workers without a grade in the run are left out.
    """
    values = WorkerGrade.objects.filter(run=run, worker__public_id__in=[NO_WORKER, *workers])
    rows = {row["worker__public_id"]: build_worker_row(row) for row in values.values(*COLUMNS)}
    return list(build_queue_rows(queue, (rows[worker] for worker in workers if worker in rows)))


def load_worker_grade(run: Run, worker: UUID) -> Any:
    """Return a worker's grade, with the run's numbers of workers and ranked ones, or None."""
    voting = WorkerGrade.objects.filter(VOTED, run=run)
    grades = WorkerGrade.objects.filter(run=run, worker__public_id=worker).annotate(
        n_all=build_group_count(voting, "run"),
        n_ranked=build_group_count(voting.filter(rank__isnull=False), "run"),
    )
    return grades.select_related("worker").defer("weights", "grades").first()


def build_queue_rows(queue: TriageQueue, rows: Iterable[WorkerRow]) -> Iterable[QueueRow]:
    """Yield a queue row for each grade row, with its alarms, reason and current decision."""
    for row in rows:
        why = build_lowest_message(row, queue.n_ranked) if row.worker in queue.lowest else None
        marks = queue.marks.get(row.worker, ())
        yield QueueRow(row, marks, why, queue.verdicts.get(row.worker))


WorkerScope = Literal["everybody", "look"]
# Workers that a page lists by name.
MAX_LISTED = 50


@dataclass(frozen=True)
class UndecidedWorkers:
    """Workers that one batch would accept, before the user confirms.

    Attributes
    ----------
    who : scope: "everybody" in the run, or only the workers to review ("look").
    with_alarms : whether workers named by an open alarm or notice are accepted, too.
    workers : workers who would be accepted. silent : those of them without an answer.
    named : undecided workers named by an alarm or a notice.
    again : workers to look at again, which a batch never accepts.
    n_decided : workers in scope who are accepted or excluded. n_others : undecided workers out of
        scope.
    """

    run: Run
    queue: TriageQueue
    who: WorkerScope
    with_alarms: bool
    workers: tuple[UUID, ...]
    silent: tuple[UUID, ...]
    named: tuple[UUID, ...]
    again: tuple[UUID, ...]
    n_decided: int
    n_others: int

    @property
    def n(self) -> int:
        """Number of workers that this batch would accept."""
        return len(self.workers)

    @property
    def n_left_out(self) -> int:
        """Number of workers who stay undecided because an alarm or a notice names them."""
        return 0 if self.with_alarms else len(self.named)

    @property
    def seen(self) -> str:
        """Hash of these workers; the form sends it back to show which workers the user saw."""
        return hash_workers(self.workers)

    @property
    def said(self) -> Message:
        """Message with the number of workers who would be accepted and who stay open."""
        values = {
            "n": self.n,
            "silent": len(self.silent),
            "named": len(self.named),
            "with_alarms": self.with_alarms,
            "again": len(self.again),
            "decided": self.n_decided,
        }
        return Message("triage.rest", values)

    @property
    def accepted_rows(self) -> list[QueueRow]:
        """Queue rows of the first 50 workers who would be accepted; one query."""
        return load_queue_rows(self.run, self.queue, self.workers[:MAX_LISTED])

    @property
    def silent_rows(self) -> list[QueueRow]:
        """Queue rows of the first 50 workers who would be accepted without an answer; one query."""
        return load_queue_rows(self.run, self.queue, self.silent[:MAX_LISTED])

    @property
    def left_rows(self) -> list[QueueRow]:
        """Queue rows of the first 50 workers who stay open, "look again" last; one query."""
        left = (*(() if self.with_alarms else self.named), *self.again)
        return load_queue_rows(self.run, self.queue, left[:MAX_LISTED])


def hash_workers(workers: Iterable[UUID]) -> str:
    """Return a hash of a set of workers, independent of their order: 32 hexadecimal digits."""
    ids = "".join(sorted(worker.hex for worker in workers))
    return hashlib.sha256(ids.encode()).hexdigest()[:32]


def find_undecided_workers(
    run: Run, scope: WorkerScope = "everybody", *, with_alarms: bool = False
) -> UndecidedWorkers:
    """Return the workers that one batch would accept in a finished run; five queries."""
    queue = load_queue(run, everybody=True)
    in_scope = [
        worker
        for worker in queue.workers
        if scope == "everybody" or worker in queue.marks or worker in queue.lowest
    ]
    undecided = [worker for worker in in_scope if worker not in queue.verdicts]
    named = tuple(worker for worker in undecided if worker in queue.marks)
    again = tuple(
        worker
        for worker in in_scope
        if worker in queue.verdicts and queue.verdicts[worker].kind == "look"
    )
    workers = tuple(worker for worker in undecided if with_alarms or worker not in queue.marks)
    without_answer = WorkerGrade.objects.filter(run=run, n_answers=0)
    silent = set(without_answer.values_list("worker__public_id", flat=True))
    return UndecidedWorkers(
        run=run,
        queue=queue,
        who=scope,
        with_alarms=with_alarms,
        workers=workers,
        silent=tuple(worker for worker in workers if worker in silent),
        named=named,
        again=again,
        n_decided=len(in_scope) - len(undecided) - len(again),
        n_others=queue.n_open - len(undecided),
    )
