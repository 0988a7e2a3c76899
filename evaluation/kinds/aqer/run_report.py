"""What a terminal shows of a run that is done; see `terminal`."""

from __future__ import annotations

from evaluation.flow.aqer_summary import summary_of
from evaluation.kinds.aqer.terminal import Told, text_of
from evaluation.models import Run
from evaluation.options import TERMINAL
from evaluation.reports.stored_rows import (
    stored_alarms,
    stored_changes,
    stored_models,
    stored_workers,
)


def report_of_run(run: Run) -> str:
    """Return the text that ``grade`` prints at the end."""
    summary = summary_of(run)
    return text_of(
        Told(
            n_answers=summary.counts.answers,
            n_workers=summary.counts.workers,
            n_questions=summary.counts.questions,
            n_iterations=summary.iterations,
            workers=stored_workers(run),
            models=stored_models(run),
            changes=stored_changes(run),
            ceiling=summary.ceiling,
            alarms=stored_alarms(run),
            warnings=TERMINAL.all_said(run.warnings),
            rest=lambda _: "on the page of the run",
        )
    )
