"""Text output of ``evaluate eloquent``, ``study eloquent`` and ``run eloquent``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from annotations.exchange.reading.prompts import PromptFile
from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.messages.reasons import describe_reason
from evaluation.eloquent.charts import build_findings_chart
from evaluation.eloquent.files import (
    FIGURE,
    EloquentRequest,
    EloquentStudyRequest,
    FileEvaluation,
    build_system_table,
    evaluate_files,
    execute_study,
    write_tables,
)
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.eloquent.report import load_findings_with_experts
from evaluation.eloquent.run.findings import (
    LABEL,
    Findings,
    Submitter,
    build_submission_file_name,
    build_submissions,
)
from evaluation.eloquent.storage import EloquentSummary
from evaluation.models import Run
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.run_types.kind import Progress, StudyOutcome

# Items shown; files have all of them.
MAX_SHOWN = 40


def format_evaluation(evaluated: FileEvaluation, output: Path) -> str:
    """Return the text that ``evaluate eloquent`` prints about the results."""
    findings = evaluated.findings
    parts = [
        _format_prompt_counts(evaluated.prompts),
        _format_scores(findings),
        _format_totals(findings),
        _format_agreement(findings),
        "\n".join(_format_exclusions(evaluated)),
        "\n".join(
            f"Warning: {remove_control_characters(warning)}" for warning in evaluated.warnings
        ),
        f"Tables: {output}",
    ]
    return "\n\n".join(part for part in parts if part)


def format_run(run: Run) -> str:
    """Return the text that ``run eloquent`` prints about a finished run."""
    findings, summary = load_findings_with_experts(run), EloquentSummary.from_json(run.summary)
    head = (
        f"{summary.items} items, {summary.prompts} prompts, {summary.languages} languages; "
        f"{summary.requests} requests, {summary.reused} replies of earlier runs"
    )
    left_out = (
        f"Left out: {exclusion['count']:,} ({describe_reason(exclusion['reason'])})"
        for exclusion in summary.exclusions
    )
    parts = [
        head,
        _format_scores(findings),
        _format_totals(findings),
        _format_agreement(findings),
        "\n".join(left_out),
    ]
    return "\n\n".join(part for part in parts if part)


def _format_prompt_counts(prompts: PromptFile) -> str:
    """Return the counts of prompts by language and variation, and the repairs, as text."""
    languages = ", ".join(f"{name} {count}" for name, count in prompts.languages.items())
    variations = ", ".join(f"{name} {count}" for name, count in prompts.variations.items())
    lines = [
        f"{len(prompts.items)} items, {prompts.n_prompts} prompts, "
        f"{len(prompts.languages)} languages"
        + (f" ({prompts.source}, {prompts.year})" if prompts.source or prompts.year else ""),
        f"prompts by language: {languages}",
        f"items by kind of variation: {variations}",
        *(
            f"repaired: added a comma behind line {repair.after_line}, column {repair.after_column}"
            for repair in prompts.repairs
        ),
    ]
    return remove_control_characters("\n".join(lines))


def _format_scores(findings: Findings) -> str:
    """Return a text table of scores, items by systems, lowest first; "" without judges."""
    if not findings.judges:
        return ""
    columns, rows = build_system_table(findings)
    known = [row for row in rows if row[-1] is not None]
    known.sort(key=lambda row: float(str(row[-1])))
    first_rows = known[:MAX_SHOWN]
    for metric in ("sum", "n", "mean"):
        cells = [findings.find_metric(system, metric) for system in findings.systems]
        first_rows.append([metric, *(cell and cell.value for cell in cells), None])
    table, more = format_table(columns, first_rows), len(known) - MAX_SHOWN
    return table if more <= 0 else f"{table}\n... and {more} more items in items_by_system.csv"


def _format_totals(findings: Findings) -> str:
    """Return a text table of the systems' sums, means and ranks, and why ranks are missing."""
    if not findings.systems:
        return ""
    header = ("system", "sum", "n", "mean", "low", "high", "rank", "similarity", "answered only")
    rows = []
    why = None
    for system in findings.systems:
        totals = {
            name: findings.find_metric(system, name)
            for name in ("sum", "mean", "rank", "similarity", "similarity_answered")
        }
        mean, rank = totals["mean"], totals["rank"]
        why = why or (rank.reason if rank is not None else None)
        rows.append(
            (
                system,
                totals["sum"] and totals["sum"].value,
                mean and mean.n,
                mean and mean.value,
                mean and mean.low,
                mean and mean.high,
                None if rank is None or rank.value is None else int(rank.value),
                totals["similarity"] and totals["similarity"].value,
                totals["similarity_answered"] and totals["similarity_answered"].value,
            )
        )
    table = format_table(header, rows)
    return f"{table}\nNo ranks: {describe_reason(why)}." if why else table


def _format_agreement(findings: Findings) -> str:
    """Return a text table of the agreement of each two judges; "" without two judges."""
    if not findings.agreements:
        return ""
    header = ("judge", "other judge", "sets", "apart", "kappa", "Spearman")
    rows = [
        (
            agreement.judge,
            agreement.other,
            agreement.n,
            agreement.absolute_difference,
            agreement.kappa,
            agreement.spearman,
        )
        for agreement in findings.agreements
    ]
    return format_table(header, rows)


def _format_exclusions(evaluated: FileEvaluation) -> Iterator[str]:
    """Yield a line for each reason for leaving out rows, with the number of rows."""
    for entry in evaluated.exclusions.as_list():
        yield f"Left out: {entry['count']:,} ({describe_reason(entry['reason'])})"


def run_evaluate(
    parameters: EloquentRunOptions, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Evaluate files of replies, write the tables, and return the text to print."""
    request = EloquentRequest(
        prompts=arguments["prompts"],
        output=arguments["output"],
        parameters=parameters.build_evaluation_parameters(),
        repair=arguments["repair"],
        replies=tuple(arguments["replies"]),
        judgements=tuple(arguments["judgements"]),
        keep_thinking=arguments["keep_thinking"],
    )
    with OutputFolder(request.output) as folder:
        evaluated = evaluate_files(request, progress)
        write_tables_and_chart(folder, evaluated)
    return format_evaluation(evaluated, request.output)


def write_tables_and_chart(folder: OutputFolder, evaluated: FileEvaluation) -> None:
    """Write all result tables, and the chart of scores if there are scores."""
    write_tables(folder, evaluated)
    if evaluated.findings.systems:
        chart = build_findings_chart(evaluated.findings)
        if chart is not None:
            with folder.open(FIGURE) as file:
                file.write(chart.build_standalone_svg([_format_caption(evaluated)]).encode())


def _format_caption(evaluated: FileEvaluation) -> str:
    """Return the caption of the chart: prompts file, judges, and range of the scores."""
    judges = ", ".join(evaluated.findings.judges) or "none"
    return f"Prompts: {evaluated.prompts.name}. Judges: {judges}. Scores from 0 to 5."


def run_study(
    parameters: EloquentRunOptions,
    arguments: Mapping[str, Any],
    asking: AskSettings,
    progress: Progress,
) -> StudyOutcome:
    """Ask models and judges, write tables and submissions, and return the text to print."""
    submitter = Submitter(
        arguments["team"],
        arguments["submission_id"],
        datetime.now(UTC).date().isoformat(),
        LABEL,
    )
    request = EloquentStudyRequest(
        prompts=arguments["prompts"],
        output=arguments["output"],
        parameters=parameters.build_evaluation_parameters(),
        repair=arguments["repair"],
        system=arguments["system"],
        follow_ups=tuple(arguments["follow_up"]),
        changed=arguments["changed_prompts"],
        judges=tuple(arguments["judge"]),
        repeats=arguments["repeats"],
        judge_temperature=arguments["judge_temperature"],
        judge_max_tokens=arguments["judge_max_tokens"],
        judge_instructions=arguments["judge_instructions"],
        judge_key_variable=arguments["judge_key_variable"] or asking.key_variable,
        submitter=submitter,
    )
    evaluated, complete = execute_study(request, asking, progress)
    with OutputFolder(request.output) as folder:
        write_tables_and_chart(folder, evaluated)
        for form in build_submissions(evaluated.findings.replies, submitter):
            folder.write_json(build_submission_file_name(form), form)
    return StudyOutcome(format_evaluation(evaluated, request.output), complete)
