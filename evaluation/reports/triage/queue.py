"""Who is worth looking at in a run, the worst reason first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from evaluation.models import Run, WorkerGrade
from evaluation.reports.alarms.marks import Mark, Marks, all_marks
from evaluation.reports.triage.verdicts import NOBODY, VOTED, Decided, Verdicts, verdicts_of
from evaluation.reports.workers import COLUMNS, WorkerRow, row_of
from evaluation.words.message import Message

# Whose best rank on redrawn questions is within this part of the ranks from the end is "lowest".
LOWEST = 0.25


def lowest(ranked: int) -> Q:
    """Return the condition on grades of those who stay in the lowest quarter of so many ranks."""
    return Q(rank__isnull=False, rank_low__gt=(1 - LOWEST) * ranked)


def lowest_said(row: WorkerRow, ranked: int) -> Message:
    """Return why somebody is among the lowest."""
    return Message("look.lowest", {"first": row.rank_low, "last": row.rank_high, "ranked": ranked})


@dataclass(frozen=True)
class Queue:
    """The workers of a run in the order in which they are looked at.

    Attributes
    ----------
    workers : first whom alarms and notices name, the worst alarm first; then who is lowest
        whatever is asked; then, if `everybody`, all others, the worst rank first and those without
        a rank at the end. verdicts : what counts of anybody in the run, in the queue or not.
    n_ranked : people with a rank; n_all : people in the run, without whom it
        left out.
    """

    workers: tuple[UUID, ...]
    everybody: bool
    marks: Marks
    lowest: frozenset[UUID]
    verdicts: Verdicts
    n_ranked: int
    n_all: int

    @property
    def n_open(self) -> int:
        """How many of the queue nobody decided of."""
        return sum(one not in self.verdicts for one in self.workers)

    @property
    def n_done(self) -> int:
        """Of how many of the queue somebody decided."""
        return len(self.workers) - self.n_open

    @property
    def n_again(self) -> int:
        """How many of the queue are to be looked at again."""
        return sum(self.is_open(one) for one in self.workers) - self.n_open

    def is_open(self, worker: UUID) -> bool:
        """Whether somebody still has to decide: nothing is decided, or to look again."""
        verdict = self.verdicts.get(worker)
        return verdict is None or verdict.kind == "look"

    def shown(self, show: str) -> tuple[UUID, ...]:
        """Return the workers that a filter lets through: all, open or decided."""
        if show == "all":
            return self.workers
        return tuple(one for one in self.workers if self.is_open(one) == (show == "open"))

    def place(self, worker: UUID) -> int | None:
        """Return the place of a worker, from 1; None outside of the queue."""
        return self.workers.index(worker) + 1 if worker in self.workers else None

    def next_open(self, worker: UUID) -> UUID | None:
        """Return of whom to decide after a worker: the next one, and then from the top again."""
        at = self.place(worker) or 0
        rest = (*self.workers[at:], *self.workers[:at])
        return next((one for one in rest if one != worker and one not in self.verdicts), None)

    def beside(self, worker: UUID, show: str = "all") -> tuple[UUID | None, UUID | None]:
        """Return who comes before and after a worker among those that a filter lets through."""
        at = self.place(worker)
        if at is None:
            return None, None
        shown = set(self.shown(show))
        before = next((one for one in reversed(self.workers[: at - 1]) if one in shown), None)
        after = next((one for one in self.workers[at:] if one in shown), None)
        return before, after


@dataclass(frozen=True)
class QueueRow:
    """Somebody in the queue: the marks, or why they are here; and what was decided.

    Facts that contradict the crowd stand beside it as a notice: nobody is here because of them.
    """

    row: WorkerRow
    marks: tuple[Mark, ...]
    why: Message | None
    verdict: Decided | None


def queue_of(run: Run, *, everybody: bool = False) -> Queue:
    """Return the queue of a run that is done, by four queries."""
    marks = all_marks(run)
    grades = WorkerGrade.objects.filter(VOTED, run=run)
    ranked = grades.filter(rank__isnull=False).count()
    who = Q() if everybody else Q(worker__public_id__in=list(marks)) | lowest(ranked)
    rows = grades.filter(who).values_list(
        "worker__public_id", "worker__external_id", "rank", "rank_low"
    )
    named, low, others = [], [], []
    for worker, name, rank, rank_low in rows:
        if worker in marks:
            named.append((marks[worker][0].place, rank is None, rank or 0, name, worker))
        elif rank is not None and rank_low is not None and rank_low > (1 - LOWEST) * ranked:
            low.append((-rank, name, worker))
        else:
            others.append((rank is None, -(rank or 0), name, worker))
    order = [one[-1] for group in (sorted(named), sorted(low), sorted(others)) for one in group]
    return Queue(
        workers=tuple(order),
        everybody=everybody,
        marks=marks,
        lowest=frozenset(one[-1] for one in low),
        verdicts=verdicts_of(run),
        n_ranked=ranked,
        n_all=len(order) if everybody else grades.count(),
    )


def rows_of(run: Run, queue: Queue, workers: Sequence[UUID]) -> list[QueueRow]:
    """Return some workers of a queue as a list shows them, in that order, by one query."""
    values = WorkerGrade.objects.filter(run=run, worker__public_id__in=[NOBODY, *workers])
    found = {row["worker__public_id"]: row_of(row) for row in values.values(*COLUMNS)}
    return list(_entries(queue, (found[one] for one in workers if one in found)))


def _entries(queue: Queue, rows: Iterable[WorkerRow]) -> Iterable[QueueRow]:
    for row in rows:
        why = lowest_said(row, queue.n_ranked) if row.worker in queue.lowest else None
        marks = queue.marks.get(row.worker, ())
        yield QueueRow(row, marks, why, queue.verdicts.get(row.worker))
