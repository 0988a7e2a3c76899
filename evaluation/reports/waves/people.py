"""Who took part in both waves, and how far they repeat themselves."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import Avg, Count, F

from evaluation.methods.inference.retest import Retest, retest
from evaluation.models import AnswerScore, Run, WorkerGrade


@dataclass(frozen=True)
class WorkerOfBoth:
    """Somebody who took part in both waves.

    Attributes
    ----------
    before, after : mean leave-one-out scores over the questions of both waves; None without any.
    supported : whether both runs have enough answers of theirs to say.
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
        """Later less earlier; None where a score is missing."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class People:
    """The people of two waves.

    Attributes
    ----------
    workers : those of both, greatest change first, who has no two scores last.
    retest : of those with enough answers in both. only_before, only_after : how many took part in
        one wave only. n_too_few : of both, who gave too few answers in one to say.
    """

    workers: list[WorkerOfBoth]
    retest: Retest
    only_before: int
    only_after: int
    n_too_few: int


def people(before: Run, after: Run, common: Collection[str]) -> People:
    """Compare the people of two runs on their common questions; four queries."""
    rows = [
        {
            row["worker"]: row
            for row in WorkerGrade.objects.filter(run=run).values(
                "worker", "support", name=F("worker__external_id"), public=F("worker__public_id")
            )
        }
        for run in (before, after)
    ]
    scores = [_means(run, common) for run in (before, after)]
    none = (None, 0)
    found = []
    for worker in rows[0].keys() & rows[1].keys():
        one, other = scores[0].get(worker, none), scores[1].get(worker, none)
        row = rows[1][worker]
        found.append(
            WorkerOfBoth(
                worker=row["public"],
                name=row["name"],
                before=one[0],
                after=other[0],
                n_before=one[1],
                n_after=other[1],
                supported=rows[0][worker]["support"] and row["support"],
            )
        )
    found.sort(key=lambda one: (one.change is None, -abs(one.change or 0.0), one.name))
    told = [one for one in found if one.supported and one.change is not None]
    columns = [one.before for one in told], [one.after for one in told]
    return People(
        workers=found,
        retest=retest(*(np.array(column, dtype=np.float64) for column in columns)),
        only_before=len(rows[0].keys() - rows[1].keys()),
        only_after=len(rows[1].keys() - rows[0].keys()),
        n_too_few=len(found) - len(told),
    )


def _means(run: Run, common: Collection[str]) -> dict[int, tuple[float, int]]:
    """Return each worker's mean score and number of scores, by their key."""
    rows = AnswerScore.objects.filter(run=run, score_leave_one_out__isnull=False)
    if run.version.questions.graded().exclude(external_id__in=common).exists():
        rows = rows.filter(response__question__external_id__in=common)
    told = (
        rows.order_by()
        .values(worker=F("response__submission__worker"))
        .annotate(mean=Avg("score_leave_one_out"), n=Count("pk"))
    )
    return {row["worker"]: (row["mean"], row["n"]) for row in told}
