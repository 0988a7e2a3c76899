"""What a terminal shows of a trial of crowd sizes."""

from __future__ import annotations

from evaluation.flow.crowd_size.conclusion import CrowdSizeSummary
from evaluation.models import Run
from evaluation.options import TERMINAL
from evaluation.words.console import text_table

HEADER = ("by", "size", "measure", "r", "low", "high", "draws")


def text_of(found: CrowdSizeSummary) -> str:
    """Return the answer in sentences, and the curve by the measure to go by."""
    rows = [
        (point.by, point.size, point.measure, point.pearson, point.low, point.high, point.n_draws)
        for point in found.points
        if point.measure == found.measure
    ]
    counts = (
        f"{found.answers} answers of {found.workers} workers to {found.questions} questions, "
        f"{found.judged} of them judged; {found.repetitions} draws of each size"
    )
    return "\n\n".join(
        [counts, text_table(HEADER, rows), "\n".join(TERMINAL.all_said(found.messages))]
    )


def text_of_run(run: Run) -> str:
    """Return the same of a run that is done."""
    return text_of(CrowdSizeSummary.of(run.summary))
