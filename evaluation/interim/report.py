"""Report on the answers so far of an open collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotations.models import Collection
from evaluation.core.messages.message import Message
from evaluation.grading.results.report.workers import COLUMNS, WorkerRow, build_worker_row
from evaluation.models import Interim, Run, WorkerGrade
from evaluation.models.collecting import FEWEST, select_completed_submissions
from evaluation.models.runs import FINISHED

NAMED = 3
"""People that the page names at either end of the ranking."""


@dataclass(frozen=True)
class InterimReport:
    """Report on an open collection: its latest finished interim grading, and the one in progress.

    Attributes
    ----------
    done : number of workers who submitted. fewest : smallest number that can be graded.
    going : queued or running interim grading, else None. failed : the newest one if it failed or
        was cancelled, else None.
    interim : newest finished interim grading; None before the first. since : workers who submitted
        after it was queued.
    headline : verdict of its trust report. alarms, notices : numbers of open ones. hint : forecast
        for ten more workers; None with too few answers.
    best, lowest : the 3 workers with the best and with the lowest ranks; none is in both.
    """

    done: int
    fewest: int
    going: Interim | None
    failed: Interim | None
    interim: Interim | None = None
    since: int = 0
    headline: Message | None = None
    alarms: int = 0
    notices: int = 0
    hint: dict[str, Any] | None = None
    best: tuple[WorkerRow, ...] = ()
    lowest: tuple[WorkerRow, ...] = ()

    @property
    def may_grade(self) -> bool:
        """Whether an interim grading can be requested: enough new answers, and none unfinished."""
        changed = self.interim is None or self.since > 0 or self.done != self.interim.n_people
        return self.going is None and self.done >= self.fewest and changed

    @property
    def narrower(self) -> int:
        """Percentage by which ten more workers would reduce a median question's expected error."""
        if not self.hint or not self.hint["off"]:
            return 0
        return round(100 * (1 - self.hint["off_then"] / self.hint["off"]))


def build_interim_report(collection: Collection) -> InterimReport:
    """Return the report on the answers so far to an open collection; at most five queries."""
    here = select_completed_submissions().filter(version=collection.version_id)
    rows = Interim.objects.filter(collection=collection).select_related("run").order_by("-pk")
    newest = rows.first()
    going = newest if newest is not None and newest.run.state not in FINISHED else None
    is_lost = newest is not None and newest.run.state in (Run.State.FAILED, Run.State.CANCELLED)
    failed = newest if is_lost else None
    # The one before is shown until the newest is done and its texts are computed.
    latest = newest
    if newest is not None and (newest.run.state != Run.State.DONE or newest.found is None):
        latest = rows.filter(run__state=Run.State.DONE, found__isnull=False).first()
    # Who withdrew is gone from both figures: they are counted, not subtracted.
    latest_time = latest.run.created_at if latest is not None else None
    later = Q(submitted_at__gt=latest_time) if latest_time is not None else Q()
    n = here.aggregate(done=Count("pk"), since=Count("pk", filter=later))
    done = n["done"]
    common: dict[str, Any] = {"done": done, "fewest": FEWEST, "going": going, "failed": failed}
    if latest is None or latest.found is None:
        return InterimReport(**common)
    ranked = WorkerGrade.objects.filter(run=latest.run, rank__isnull=False)
    best = _load_first_worker_rows(ranked.order_by("rank", "worker__public_id"))
    lowest = _load_first_worker_rows(ranked.order_by("-rank", "-worker__public_id"))
    named = {row.worker for row in best}
    findings = latest.found
    return InterimReport(
        **common,
        interim=latest,
        since=n["since"],
        headline=Message.from_stored(findings["headline"]) if "headline" in findings else None,
        alarms=findings.get("alarms", 0),
        notices=findings.get("notices", 0),
        hint=findings.get("hint"),
        best=tuple(best),
        lowest=tuple(row for row in lowest if row.worker not in named),
    )


def _load_first_worker_rows(rows: QuerySet[WorkerGrade]) -> list[WorkerRow]:
    """Return the first 3 grade rows as rows of a worker table."""
    return [build_worker_row(row) for row in rows.values(*COLUMNS)[:NAMED]]
