"""Commands ``evaluate umwp`` and ``study umwp``, and the text that ``run umwp`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.core.messages.console import format_table
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import TERMINAL
from evaluation.models import Run
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.run_types.kind import Progress, StudyOutcome
from evaluation.umwp.charts import build_f1_by_size_chart
from evaluation.umwp.files import (
    UMWP_FILES,
    UmwpRequest,
    UmwpStudyRequest,
    evaluate_umwp,
    execute_study,
)
from evaluation.umwp.options import UmwpRunOptions
from evaluation.umwp.report.results import UmwpReport, build_report
from evaluation.umwp.run.people import compute_people_metrics
from evaluation.umwp.run.study import COUNTS, RATES, UmwpStudy
from evaluation.umwp.run.tables import SizeRow


def run_evaluate(
    parameters: UmwpRunOptions, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Evaluate a file of replies, write the tables, and return the text to print."""
    request = UmwpRequest(
        arguments["problems"],
        arguments["replies"],
        arguments["templates"],
        parameters.build_evaluation_parameters(),
        arguments["output"],
        arguments["labels"],
        arguments["unrelated"],
        arguments["people"],
        arguments["columns"],
        arguments["systems"],
        arguments["keep_thinking"],
        arguments["keep_html"],
        arguments["keep_ids"],
    )
    return format_study(
        evaluate_umwp(request, progress, _render_size_chart), request.output, request.written
    )


def _render_size_chart(rows: Sequence[SizeRow]) -> str:
    """Return the chart of F1 by model size as SVG; "" if no size is known."""
    chart = build_f1_by_size_chart(rows)
    return chart.build_standalone_svg() if chart else ""


def format_study(study: UmwpStudy, output: Path, written: Sequence[str] = UMWP_FILES) -> str:
    """Return the results of a study as text for the terminal.

    It has a table of metrics by system and form, the threshold, the exclusions, the warnings and
    the files that were written.
    """
    by_form: dict[tuple[str, str], dict[str, MetricRow]] = {}
    for row in (*study.metrics, *compute_people_metrics(study)):
        key, _, form = row.group.partition(":")
        if key == "form":
            by_form.setdefault((row.system, form), {})[row.metric] = row
    names = (*RATES, *COUNTS)
    rows = [
        (*system_form, *(metrics[name].value for name in RATES),
         *(int(metrics[name].value or 0) for name in COUNTS))
        for system_form, metrics in by_form.items()
    ]  # fmt: skip
    parts = [format_table(("system", "form", *names), rows)]
    threshold = f"Threshold {study.threshold:.3f}"
    if study.tuned is not None and study.tuned.f1 is not None:
        threshold += f": F1 {study.tuned.f1:.3f} on {study.tuned.n} labelled replies"
    parts.append(f"{threshold}.")
    left_out = [
        f"  {excluded['count']:,}: {describe_reason(excluded['reason'])}"
        for excluded in study.exclusions.as_list()
    ]
    if left_out:
        parts.append("\n".join(["Not counted:", *left_out]))
    parts += [*study.notes, *TERMINAL.format_messages(study.list_warnings())]
    parts.append(f"Written into {output}: {', '.join(written)}")
    return "\n\n".join(parts)


def run_study(
    parameters: UmwpRunOptions,
    arguments: Mapping[str, Any],
    asking: AskSettings,
    progress: Progress,
) -> StudyOutcome:
    """Ask a model, evaluate its replies, write the tables, and return the text to print."""
    request = UmwpStudyRequest(
        arguments["problems"],
        arguments["templates"],
        tuple(arguments["forms"]),
        arguments["first"],
        parameters.build_evaluation_parameters(),
        arguments["output"],
    )
    study, complete = execute_study(request, asking, progress)
    return StudyOutcome(format_study(study, request.output), complete)


HEADER = (
    *("model", "form", "precision", "recall", "f1", "answer accuracy"),
    *("noticed", "without answer", "given up", "with answer", "refusals"),
)


def format_run(run: Run) -> str:
    """Return the text that ``run umwp`` prints about a finished run."""
    report = build_report(run)
    summary = report.summary
    head = (
        f"{summary.questions} questions, {summary.answerable} with an answer, "
        f"{summary.unanswerable} without, {summary.unknown} unknown; {summary.requests} requests, "
        f"{summary.reused} replies of earlier runs"
    )
    rows = [
        (
            *(model.system, model.form, model.precision.value, model.recall.value, model.f1.value),
            *(model.answer_accuracy.value, model.noticed, model.without_answer, model.wrongly),
            *(model.with_answer, model.refusals),
        )
        for model in report.models
    ]
    left_out = "\n".join(
        f"Not counted: {entry.count:,} ({entry.words})" for entry in report.left_out
    )
    parts = [head, format_table(HEADER, rows), f"Threshold {summary.threshold:.3f}.", left_out]
    return "\n\n".join(part for part in [*parts, _format_comparisons(report)] if part)


def _format_comparisons(report: UmwpReport) -> str:
    """Return a text table of the tests between each two models; "" if there are none."""
    if not report.compared:
        return ""
    header = ("form", "measure", "model", "other", "n", "only model", "only other", "p (Holm)")
    rows = [
        (
            *(row.form, row.measure, row.system, row.other, row.n),
            *(row.only_system, row.only_other, row.adjusted_p_value),
        )
        for row in report.compared
    ]
    return format_table(header, rows)
