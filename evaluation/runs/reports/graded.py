"""Report which scoring method agrees best with graded answers, of a run and of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from annotations.models import QuestionSet
from evaluation.core.options import SITE
from evaluation.models import Run
from evaluation.runs.flow.graded import (
    DEFAULT,
    METHODS_HEADER,
    GradedSummary,
    MethodRow,
    build_method_rows,
)
from evaluation.runs.reports.lists import Table

KIND = "graded"


@dataclass(frozen=True)
class GradedReport:
    """Result of comparing all scoring methods on graded answers.

    Attributes
    ----------
    said : sentence that recommends a method. more : sentences on its use and the evidence.
    verdict, method, rows : as in `GradedSummary`.
    """

    renamed_keys: ClassVar = {"said": "message"}

    said: str
    more: list[str]
    verdict: str
    method: str
    rows: list[MethodRow]


@dataclass(frozen=True)
class SetComparison:
    """A question set's newest comparison of scoring methods; `run` is its public id."""

    run: UUID
    report: GradedReport

    @property
    def default(self) -> str:
        """Name of the default method, whose lead is 0."""
        return DEFAULT


def build_graded_report(run: Run) -> GradedReport:
    """Return the report of a finished comparison of methods, best first; no query."""
    summary = GradedSummary.from_json(run.summary)
    verdict, *more = (SITE.format_message(message) for message in summary.messages)
    rows = sorted(summary.rows, key=_build_sort_key)
    return GradedReport(verdict, more, summary.verdict, summary.method, rows)


def build_methods_table(run: Run) -> Table:
    """Return the table of all compared methods, one row each."""
    return Table(METHODS_HEADER, build_method_rows(GradedSummary.from_json(run.summary)))


def find_set_comparison(question_set: QuestionSet) -> SetComparison | None:
    """Return the newest comparison on a set's graded answers, by one query; None without one."""
    runs = Run.objects.filter(
        version__question_set=question_set, kind=KIND, state=Run.State.DONE, archived_at=None
    )
    run = runs.order_by("-pk").first()
    return None if run is None else SetComparison(run.public_id, build_graded_report(run))


def _build_sort_key(row: MethodRow) -> tuple[bool, float]:
    """Return the sort key that puts the method with the highest correlation first."""
    # The held-out value first: on the questions that chose a method it looks better than it is.
    r = row.full.value if row.held.value is None else row.held.value
    return r is None, 0.0 if r is None else -r
