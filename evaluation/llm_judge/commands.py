"""Subcommand ``study judge``, and the output of ``run judge``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.options import TERMINAL
from evaluation.llm_judge.files import JudgeRequest, judge_file, load_prompt
from evaluation.llm_judge.messages import METRICS
from evaluation.llm_judge.options import COMPARE, SCORE, JudgeParameters
from evaluation.llm_judge.report import build_report, load_corrected_rows
from evaluation.llm_judge.run import CorrectedRow
from evaluation.models import Run
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.run_types.kind import Progress, Studied


def run_study(
    parameters: JudgeParameters,
    arguments: Mapping[str, Any],
    asking: AskSettings,
    progress: Progress,
) -> Studied:
    """Judge a file of answers, write the tables, and return the text to print."""
    request = JudgeRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        # The budget of a study is that of its asking.
        parameters=replace(parameters, budget=None),
        asking=asking,
        output=arguments["output"],
        questions=arguments["questions"],
        passages=arguments["passages"],
        models=arguments["models"],
        grades=arguments["judgements"],
        columns=arguments["columns"],
        score=load_prompt(arguments["score_template"], SCORE),
        compare=load_prompt(arguments["compare_template"], COMPARE),
    )
    study = judge_file(request, progress)
    findings = study.findings
    text = format_findings(findings.system, findings.metrics, findings.corrected, study.warnings)
    return Studied(f"{text}\n\nFiles: {request.output}", study.complete)


# Corrected means in the output; the file has all.
MAX_SHOWN = 40
AGREEMENT = ("agreement", "value", "low", "high", "n", "why empty")
MEANS = ("of", "name", "judge", "experts", "corrected", "low", "high", "judged", "scored")


def format_findings(
    system: str,
    metrics: Iterable[MetricRow],
    corrected: Sequence[CorrectedRow],
    warnings: Iterable[str],
) -> str:
    """Return tables of the judge's agreement and corrected means, and warnings, as text."""
    rows = [
        (
            METRICS.get(row.metric, row.metric) if not row.group else f"{row.group}, kappa",
            *(row.value, row.low, row.high, row.n, row.reason),
        )
        for row in metrics
    ]
    means = [
        (
            *(row.of, row.name, row.judge, row.graded.mean),
            *(row.tuned.mean, row.tuned.low, row.tuned.high, row.n_judged, row.n),
        )
        for row in corrected[:MAX_SHOWN]
    ]
    more = len(corrected) - len(means)
    parts = [
        f"{remove_control_characters(system)} as judge",
        format_table(AGREEMENT, rows),
        format_table(MEANS, means) + (f"\n... and {more} more" if more > 0 else ""),
        "\n".join(f"Warning: {warning}" for warning in warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def format_run(run: Run) -> str:
    """Return the text that ``run judge`` prints about a finished run."""
    report = build_report(run)
    rows = [
        (row.label, row.value, row.low, row.high, row.n, row.why or None)
        for row in report.agreement
    ]
    means = [
        (*(m.of, m.name, m.judge, m.graded), *(m.mean, m.low, m.high, m.n_judged, m.n))
        for m in load_corrected_rows(run)[:MAX_SHOWN]
    ]
    parts = [
        f"{remove_control_characters(report.judge)} as judge",
        "\n".join(report.said),
        format_table(AGREEMENT, rows),
        format_table(MEANS, means),
        "\n".join(f"Warning: {warning}" for warning in TERMINAL.format_all(run.warnings)),
    ]
    return "\n\n".join(part for part in parts if part)
