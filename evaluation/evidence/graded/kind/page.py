"""Results page of a method comparison on graded answers, and its terminal text."""

from __future__ import annotations

from evaluation.models import Run
from evaluation.runs.reports.graded import build_report
from evaluation.runs.run_types.kind import Page

PAGES = (
    Page(
        "",
        "Which method to trust",
        "evaluation/graded.html",
        lambda run: {"report": build_report(run)},
    ),
)


def format_run(run: Run) -> str:
    """Return the verdict of a finished run as lines for the terminal."""
    report = build_report(run)
    return "\n".join([report.said, *report.more])
