"""Which method to trust in a domain, by graded answers of it: the report of a run, and of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from annotations.models import QuestionSet
from evaluation.flow.graded.summary import (
    DEFAULT,
    METHODS_HEADER,
    GradedSummary,
    MethodRow,
    method_cells,
)
from evaluation.models import Run
from evaluation.options import SITE
from evaluation.reports.spreadsheet import Table

KIND = "graded"


@dataclass(frozen=True)
class GradedReport:
    """What trying all methods on graded answers found.

    Attributes
    ----------
    said : which method to trust, in one sentence. more : how to have it, and what it rests on.
    verdict, method, rows : as in `GradedSummary`.
    """

    renamed_keys: ClassVar = {"said": "message"}

    said: str
    more: list[str]
    verdict: str
    method: str
    rows: list[MethodRow]


@dataclass(frozen=True)
class OwnDomain:
    """What the newest such run of a set says; `run` is its public id."""

    run: UUID
    report: GradedReport

    @property
    def default(self) -> str:
        """The method whose lead is 0."""
        return DEFAULT


def graded_report(run: Run) -> GradedReport:
    """Return what a run that is done found, the best on questions held out first; no query."""
    found = GradedSummary.of(run.summary)
    said, *more = (SITE.said(message) for message in found.messages)
    rows = sorted(found.rows, key=_place)
    return GradedReport(said, more, found.verdict, found.method, rows)


def graded_table(run: Run) -> Table:
    """Return all methods."""
    return Table(METHODS_HEADER, method_cells(GradedSummary.of(run.summary)))


def own_domain(question_set: QuestionSet) -> OwnDomain | None:
    """Return what graded answers say of a set's domain; None without such a run; one query."""
    runs = Run.objects.filter(
        version__question_set=question_set, kind=KIND, state=Run.State.DONE, archived_at=None
    )
    run = runs.order_by("-pk").first()
    return None if run is None else OwnDomain(run.public_id, graded_report(run))


def _place(row: MethodRow) -> tuple[bool, float]:
    """Return where a row stands: by the questions held out, else by all; undefined ones last."""
    r = row.full.value if row.held.value is None else row.held.value
    return r is None, 0.0 if r is None else -r
