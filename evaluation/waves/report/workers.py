"""Compare the workers who took part in both waves: test-retest agreement and change of scores."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import Avg, Count, F

from evaluation.core.stats.inference.retest import Retest, compute_retest_agreement
from evaluation.models import AnswerScore, Run, WorkerGrade


@dataclass(frozen=True)
class WorkerOfBoth:
    """A worker who took part in both waves, with the score in each.

    Attributes
    ----------
    before, after : mean leave-one-out scores over the questions of both waves; None without any.
    supported : whether the worker has enough answers in both runs for a statement.
    """

    worker: UUID
    name: str
    before: float | None
    after: float | None
    n_before: int
    n_after: int
    supported: bool

    @property
    def change(self) -> float | None:
        """Later minus earlier score; None if one is missing."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class People:
    """Workers of two waves and their test-retest agreement.

    Attributes
    ----------
    workers : workers of both waves, greatest change first; those without both scores last.
    retest : agreement over the workers with enough answers in both.
    only_before, only_after : number of workers of one wave only.
    n_too_few : workers of both waves with too few answers in one of them.
    """

    workers: list[WorkerOfBoth]
    retest: Retest
    only_before: int
    only_after: int
    n_too_few: int


def compare_workers(before: Run, after: Run, common: Collection[str]) -> People:
    """Compare the workers of two runs on their common questions; four queries."""
    rows = [
        {
            row["worker"]: row
            for row in WorkerGrade.objects.filter(run=run).values(
                "worker", "support", name=F("worker__external_id"), public=F("worker__public_id")
            )
        }
        for run in (before, after)
    ]
    scores = [_load_means(run, common) for run in (before, after)]
    none = (None, 0)
    workers = []
    # A worker is the same row in both waves, whatever the question sets.
    for worker in rows[0].keys() & rows[1].keys():
        score_before, score_after = scores[0].get(worker, none), scores[1].get(worker, none)
        row = rows[1][worker]
        workers.append(
            WorkerOfBoth(
                worker=row["public"],
                name=row["name"],
                before=score_before[0],
                after=score_after[0],
                n_before=score_before[1],
                n_after=score_after[1],
                supported=rows[0][worker]["support"] and row["support"],
            )
        )
    workers.sort(
        key=lambda worker_row: (
            worker_row.change is None,
            -abs(worker_row.change or 0.0),
            worker_row.name,
        )
    )
    supported = [
        worker_row
        for worker_row in workers
        if worker_row.supported and worker_row.change is not None
    ]
    columns = (
        [worker_row.before for worker_row in supported],
        [worker_row.after for worker_row in supported],
    )
    return People(
        workers=workers,
        retest=compute_retest_agreement(
            *(np.array(column, dtype=np.float64) for column in columns)
        ),
        only_before=len(rows[0].keys() - rows[1].keys()),
        only_after=len(rows[1].keys() - rows[0].keys()),
        n_too_few=len(workers) - len(supported),
    )


def _load_means(run: Run, common: Collection[str]) -> dict[int, tuple[float, int]]:
    """Return each worker's mean score and number of scores, by key; two queries."""
    rows = AnswerScore.objects.filter(run=run, score_leave_one_out__isnull=False)
    # Without other questions the filter is a costly join that changes nothing.
    if run.version.questions.graded().exclude(external_id__in=common).exists():
        rows = rows.filter(response__question__external_id__in=common)
    means = (
        rows.order_by()
        .values(worker=F("response__submission__worker"))
        .annotate(mean=Avg("score_leave_one_out"), n=Count("pk"))
    )
    return {row["worker"]: (row["mean"], row["n"]) for row in means}
