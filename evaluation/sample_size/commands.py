"""Text output of ``evaluate crowd-size``, ``evaluate plan`` and ``run crowd-size``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.consensus.inputs import Progress
from evaluation.core.messages.console import format_table
from evaluation.core.options import TERMINAL
from evaluation.models import Run
from evaluation.sample_size.charts import build_crowd_size_chart
from evaluation.sample_size.files import PlanRequest, TrialRequest, plan_file, try_file
from evaluation.sample_size.messages import STANDINGS, format_money
from evaluation.sample_size.methods import QUESTIONS, WORKERS
from evaluation.sample_size.run.plan import PlanWithRows, Widths
from evaluation.sample_size.run.trial import CrowdSizeParameters, CrowdSizeSummary, PlanParameters


def run_crowd_size(
    parameters: CrowdSizeParameters, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Evaluate smaller crowds from files, write the results, and return the text to print."""
    request = TrialRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        judgements=arguments["judgements"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
    )
    with OutputFolder(request.output) as folder:
        trial = try_file(request, progress)
        trial.write(folder)
        for by in (WORKERS, QUESTIONS):
            chart = build_crowd_size_chart(trial.summary.points, by)
            if chart is not None:
                folder.open(f"{chart.name}.svg").write(chart.standalone().encode())
    warnings = TERMINAL.format_all([*trial.file_warnings, *trial.trial.warnings])
    parts = [format_crowd_size(trial.summary), *(f"Warning: {warning}" for warning in warnings)]
    return "\n\n".join([*parts, f"Files: {request.output}"])


CROWD_SIZE_HEADER = ("by", "size", "measure", "r", "low", "high", "draws")


def format_crowd_size(summary: CrowdSizeSummary) -> str:
    """Return counts, agreement by size, and verdicts as text for the terminal."""
    rows = [
        (point.by, point.size, point.measure, point.pearson, point.low, point.high, point.n_draws)
        for point in summary.points
        if point.measure == summary.measure
    ]
    counts = (
        f"{summary.answers} answers of {summary.workers} workers to {summary.questions} questions, "
        f"{summary.judged} of them judged; {summary.repetitions} draws of each size"
    )
    return "\n\n".join(
        [
            counts,
            format_table(CROWD_SIZE_HEADER, rows),
            "\n".join(TERMINAL.format_all(summary.messages)),
        ]
    )


def format_run(run: Run) -> str:
    """Return the text that ``run crowd-size`` prints about a finished run."""
    return format_crowd_size(CrowdSizeSummary.from_json(run.summary))


def run_plan(parameters: PlanParameters, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Plan further answers from files, write the tables, and return the text to print."""
    request = PlanRequest(
        answers=arguments["answers"],
        models=arguments["models"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
        duplicates=arguments["duplicates"],
    )
    with OutputFolder(request.output) as folder:
        file_plan = plan_file(request, progress)
        file_plan.write(folder)
    warnings = (f"Warning: {warning}" for warning in file_plan.grading.warnings)
    return "\n\n".join([format_plan(file_plan.plan), *warnings, f"Files: {request.output}"])


# Most questions in the text; the file has all.
MAX_SHOWN = 20
PLAN_HEADER = ("question", "answers", "needed", "more", "cost", "off", "then", "")


def format_plan(plan_with_rows: PlanWithRows) -> str:
    """Return an answer plan as text: totals, questions to buy for, and interval widths."""
    plan = plan_with_rows.plan
    rows = [
        (
            *(row.name, row.answers, row.needed, row.more, format_money(row.cost, None)),
            *(row.off, row.off_then, STANDINGS[row.standing]),
        )
        for row in plan_with_rows.questions
        if row.more or row.standing == "beyond"
    ]
    parts = ["\n".join(TERMINAL.format_all(plan_with_rows.messages))]
    if rows:
        parts.append(format_table(PLAN_HEADER, rows[:MAX_SHOWN]))
        if len(rows) > MAX_SHOWN:
            parts[-1] += f"\n... and {len(rows) - MAX_SHOWN} more in plan_questions.csv"
    widths = [
        _format_widths(group, row)
        for group, row in (("workers", plan.workers), ("models", plan.models))
        if row
    ]
    parts.append("\n".join(widths) or "No worker's score has an interval, so none can be narrowed.")
    if plan.cost is not None:
        so_far, more = (
            format_money(plan.cost, plan.currency),
            format_money(plan.total_cost, plan.currency),
        )
        parts.append(f"So far {so_far} for {plan.answers:,} answers; this plan {more} more.")
    return "\n\n".join(parts)


def _format_widths(group: str, widths: Widths) -> str:
    """Return a sentence on the interval widths of workers or models, now and with the plan."""
    return (
        f"Intervals of {widths.scores} {group}: the middle one {widths.now:.3f} wide, then "
        f"{widths.then:.3f}; the widest {widths.widest:.3f}, then {widths.widest_then:.3f}; "
        f"narrow enough {widths.narrow}, then {widths.narrow_then}."
    )
