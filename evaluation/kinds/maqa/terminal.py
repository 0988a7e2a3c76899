"""What a terminal shows of a run that measures uncertainty."""

from __future__ import annotations

from evaluation.models import Run
from evaluation.reports.maqa import maqa_report
from evaluation.words.console import text_table

SCORES = ("model", "questions", "precision", "recall", "f1", "exact_set")
MEASURED = ("model", "measure", "auroc", "low", "high", "n", "says")


def report_of_run(run: Run) -> str:
    """Return the text that ``run maqa`` prints at the end."""
    report = maqa_report(run)
    summary = report.summary
    head = (
        f"{summary.questions} questions, {summary.with_answers} with right answers; "
        f"{summary.requests} requests, {summary.reused} replies of earlier runs"
    )
    scores = [
        (one.system, one.n, one.precision, one.recall, one.f1, one.exact_set)
        for one in report.systems
    ]
    sure = [
        (one.system, of.measure, of.auroc, of.low, of.high, of.n, of.verdict or of.why)
        for one in report.systems
        for of in one.measures
        if of.n
    ]
    parts = [head, text_table(SCORES, scores)]
    parts += [text_table(MEASURED, sure)] if sure else []
    parts += [f"{one.system}: {one.knows}" for one in report.systems]
    left_out = [f"Left out: {one.count:,} ({one.words})" for one in report.left_out]
    return "\n\n".join([*parts, *(["\n".join(left_out)] if left_out else [])])
