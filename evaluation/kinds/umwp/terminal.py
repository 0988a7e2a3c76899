"""What a terminal shows of a run."""

from __future__ import annotations

from evaluation.models import Run
from evaluation.reports.umwp import NoticingReport, noticing_report
from evaluation.words.console import text_table

HEADER = (
    *("model", "form", "precision", "recall", "f1", "answer accuracy"),
    *("noticed", "without answer", "given up", "with answer", "refusals"),
)


def report_of_run(run: Run) -> str:
    """Return the text that ``run umwp`` prints at the end."""
    report = noticing_report(run)
    summary = report.summary
    head = (
        f"{summary.questions} questions, {summary.answerable} with an answer, "
        f"{summary.unanswerable} without, {summary.unknown} unknown; {summary.requests} requests, "
        f"{summary.reused} replies of earlier runs"
    )
    rows = [
        (
            *(one.system, one.form, one.precision.value, one.recall.value, one.f1.value),
            *(one.answer_accuracy.value, one.noticed, one.without_answer, one.wrongly),
            *(one.with_answer, one.refusals),
        )
        for one in report.models
    ]
    left_out = "\n".join(f"Not counted: {one.count:,} ({one.words})" for one in report.left_out)
    parts = [head, text_table(HEADER, rows), f"Threshold {summary.threshold:.3f}.", left_out]
    return "\n\n".join(part for part in [*parts, _compared(report)] if part)


def _compared(report: NoticingReport) -> str:
    if not report.compared:
        return ""
    header = ("form", "measure", "model", "other", "n", "only model", "only other", "p (Holm)")
    rows = [
        (
            *(one.form, one.measure, one.system, one.other, one.n),
            *(one.only_system, one.only_other, one.adjusted_p_value),
        )
        for one in report.compared
    ]
    return text_table(header, rows)
