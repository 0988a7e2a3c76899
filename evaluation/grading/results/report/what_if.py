"""Report of a run as if one more worker were excluded: changes of ranks and grades."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from annotations.models import Worker
from evaluation.core.stats.statistics.correlation import spearman
from evaluation.grading.remedies.messages import NOT_AT_ONCE
from evaluation.grading.results.report.movers import WorkerChange, compare_without
from evaluation.grading.storage.as_graded import NotAtOnceError
from evaluation.grading.storage.what_if import compute_without
from evaluation.models import Run

MOVERS_SHOWN = 10


@dataclass(frozen=True)
class WhatIf:
    """Comparison of a run with the same run without one worker.

    Attributes
    ----------
    worker, name : who is left out. reason : code of why it is not computed at once, "" if it is;
        all else is empty then.
    movers : the ten who would move most, places among those ranked both times. n_moved : how many
        would change places. n : workers with both ranks.
    spearman : rank correlation of the grades, with and without.
    largest : the largest difference of a grade, as a size.
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
        """Reason why the comparison is not computed at once, as text; "" if it is."""
        return NOT_AT_ONCE.get(self.reason, "")


def build_what_if(run: Run, worker: UUID) -> WhatIf | None:
    """Return how a run would change without a worker; None for an unknown worker."""
    row = Worker.objects.filter(grades__run=run, public_id=worker).first()
    if row is None:
        return None
    try:
        both_crowds = compare_without(run, worker, compute_without(run, row))
    except NotAtOnceError as error:
        return WhatIf(worker, row.external_id, error.code)
    grade_pairs = [
        (one.grade_before, one.grade_after)
        for one in both_crowds.common
        if one.grade_before is not None and one.grade_after is not None
    ]
    moved = [one for one in both_crowds.common if one.moved]
    return WhatIf(
        worker=worker,
        name=row.external_id,
        movers=tuple(moved[:MOVERS_SHOWN]),
        n_moved=len(moved),
        n=sum(one.moved is not None for one in both_crowds.common),
        spearman=spearman(
            [before for before, _ in grade_pairs], [after for _, after in grade_pairs]
        ),
        largest=max((abs(one.grade_change) for one in both_crowds.common), default=0.0),
    )
