"""Command ``manage.py evaluate experts``: evaluate a file of experts' grades."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.console import format_table
from evaluation.experts.files import ExpertsRequest, evaluate_experts
from evaluation.experts.messages import LEVELS
from evaluation.experts.options import ExpertsParameters
from evaluation.experts.run import ExpertFindings, agreement_rows
from evaluation.runs.run_types.kind import Progress

HEADER = ("coefficient", "value", "low", "high", "answers", "questions")

MEANS = ("kind", "who", "mean", "low", "high", "graded alone", "n", "of")

MAX_SHOWN = 20


def evaluate(
    parameters: ExpertsParameters, arguments: Mapping[str, Any], _progress: Progress
) -> str:
    """Evaluate the experts' grades, write the tables, and return a summary for the terminal."""
    request = ExpertsRequest(
        judgements=arguments["judgements"],
        scores=arguments["scores"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
        chosen=arguments["chosen"],
    )
    return f"{text_of(evaluate_experts(request))}\n\nFiles: {request.output}"


def text_of(findings: ExpertFindings) -> str:
    """Return the findings as text: counts, agreement with its meaning, and the first means."""
    panel = findings.panel
    parts = [
        f"{findings.n_graded} answers graded by {len(findings.experts)} experts, "
        f"{panel.n_by_two} by two "
        f"or more, {findings.n_settled} settled by another one; {panel.n_missing} grades missing "
        "of "
        f"{panel.n * panel.n_raters}",
        format_table(HEADER, [row[:6] for row in agreement_rows(findings)]),
        LEVELS[findings.level],
    ]
    if findings.means:
        rows = [
            (
                mean.kind,
                mean.name,
                mean.mean,
                mean.low,
                mean.high,
                mean.graded,
                mean.n,
                mean.n_answers,
            )
            for mean in findings.means[:MAX_SHOWN]
        ]
        parts.append(format_table(MEANS, rows))
    return "\n\n".join(parts)
