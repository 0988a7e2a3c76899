"""Commands of MAQA: execute ``evaluate maqa`` and ``study maqa``, format results as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.core.messages.console import format_table
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import TERMINAL
from evaluation.maqa.charts import draw_chart_files
from evaluation.maqa.files import (
    MAQA_FILES,
    MaqaRequest,
    MaqaStudyRequest,
    evaluate_reply_file,
    execute_study,
)
from evaluation.maqa.options import MaqaRunOptions
from evaluation.maqa.report import build_report
from evaluation.maqa.run.small_samples import SampleRow
from evaluation.maqa.run.study import MaqaStudy
from evaluation.maqa.run.tables import SETS, SURENESS
from evaluation.models import Run
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.flow.metrics import OVERALL, MetricRow
from evaluation.runs.run_types.kind import Progress, StudyOutcome

SURENESS_METRICS = ("auroc", "average_precision", "base_rate", "coverage")


def run_evaluate(
    parameters: MaqaRunOptions, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Evaluate a file of replies, write the result tables, and return the text to print."""
    request = MaqaRequest(
        arguments["questions"],
        arguments["replies"],
        parameters.build_evaluation_parameters(),
        arguments["output"],
        draw_study_charts,
        arguments["keep_thinking"],
    )
    return format_study(evaluate_reply_file(request, progress), request.output)


def draw_study_charts(study: MaqaStudy) -> Mapping[str, bytes]:
    """Return the charts of a study as SVG bytes, by file name."""
    return draw_chart_files(study.curves, study.bins)


def format_study(study: MaqaStudy, output: Path) -> str:
    """Return scores, AUROCs, exclusions and warnings of a study as text for the terminal."""
    overall: dict[str, dict[str, MetricRow]] = {}
    for row in study.metrics:
        if row.group == OVERALL:
            overall.setdefault(row.system, {})[row.metric] = row
    scores = [
        (system, rows["f1"].n, *(rows[name].value for name in SETS))
        for system, rows in overall.items()
    ]
    parts = [format_table(("system", "questions", *SETS), scores)]
    sureness = [
        (system, name, *(rows[f"{metric}_{name}"].value for metric in SURENESS_METRICS))
        for system, rows in overall.items()
        for name in SURENESS
        if rows[f"coverage_{name}"].value
    ]
    if sureness:
        parts.append(format_table(("system", "sureness", *SURENESS_METRICS), sureness))
    small = [_list_sample_cells(row) for row in study.small_samples]
    if small:
        parts.append(format_table(SAMPLES_HEADER, small))
    left_out = [
        f"  {each['count']:,}: {describe_reason(each['reason'])}"
        for each in study.exclusions.as_list()
    ]
    if left_out:
        parts.append("\n".join(["Not counted:", *left_out]))
    parts += [*study.notes, *TERMINAL.format_messages(study.list_warnings())]
    parts.append(f"Written into {output}: {', '.join(MAQA_FILES)}")
    return "\n\n".join(parts)


SAMPLES_HEADER = (
    *("system", "replies", "measure", "mean", "auroc", "low", "high", "difference", "finding"),
)


def _list_sample_cells(row: SampleRow) -> tuple[object, ...]:
    """Return the printed cells of a row on small samples, with a finding on its difference."""
    finding = "" if row.difference is None else "not shown to be better"
    return (
        *(row.system, row.samples, row.measure, row.mean, row.auroc, row.low, row.high),
        row.difference,
        "better than semantic_entropy" if row.is_better else finding,
    )


def run_study(
    parameters: MaqaRunOptions,
    arguments: Mapping[str, Any],
    asking: AskSettings,
    progress: Progress,
) -> StudyOutcome:
    """Ask a model, evaluate its replies, write the tables, and return the text to print."""
    request = MaqaStudyRequest(
        arguments["questions"],
        arguments["samples"],
        arguments["first"],
        parameters.build_evaluation_parameters(),
        arguments["output"],
        arguments["first_tokens"],
        arguments["top"],
        arguments["vocabulary"],
        draw_study_charts,
    )
    study, complete = execute_study(request, asking, progress)
    return StudyOutcome(format_study(study, request.output), complete)


SCORES_HEADER = ("model", "questions", "precision", "recall", "f1", "exact_set")
SURENESS_HEADER = ("model", "measure", "auroc", "low", "high", "n", "finding")


def format_run(run: Run) -> str:
    """Return the text that ``run maqa`` prints about a finished run."""
    report = build_report(run)
    summary = report.summary
    head = (
        f"{summary.questions} questions, {summary.with_answers} with right answers; "
        f"{summary.requests} requests, {summary.reused} replies of earlier runs"
    )
    scores = [
        (row.system, row.n, row.precision, row.recall, row.f1, row.exact_set)
        for row in report.systems
    ]
    sureness = [
        (
            row.system,
            measure.measure,
            measure.auroc,
            measure.low,
            measure.high,
            measure.n,
            measure.verdict or measure.why,
        )
        for row in report.systems
        for measure in row.measures
        if measure.n
    ]
    parts = [head, format_table(SCORES_HEADER, scores)]
    parts += [format_table(SURENESS_HEADER, sureness)] if sureness else []
    parts += [f"{row.system}: {row.finding}" for row in report.systems]
    left_out = [f"Left out: {reason.count:,} ({reason.words})" for reason in report.left_out]
    return "\n\n".join([*parts, *(["\n".join(left_out)] if left_out else [])])
