"""The page of a run, and what a terminal shows of it."""

from __future__ import annotations

from evaluation.kinds.kind import Page
from evaluation.models import Run
from evaluation.reports.graded import graded_report

PAGES = (
    Page(
        "",
        "Which method to trust",
        "evaluation/graded.html",
        lambda run: {"report": graded_report(run)},
    ),
)


def text_of_run(run: Run) -> str:
    """Return what a terminal shows."""
    found = graded_report(run)
    return "\n".join([found.said, *found.more])
