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

SHOWN = 20


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


def text_of(found: ExpertFindings) -> str:
    """Return the findings as text: counts, agreement with its meaning, and the first means."""
    panel = found.panel
    parts = [
        f"{found.n_graded} answers graded by {len(found.experts)} experts, {panel.n_by_two} by two "
        f"or more, {found.n_settled} settled by another one; {panel.n_missing} grades missing of "
        f"{panel.n * panel.n_raters}",
        format_table(HEADER, [row[:6] for row in agreement_rows(found)]),
        LEVELS[found.level],
    ]
    if found.means:
        rows = [
            (one.kind, one.name, one.mean, one.low, one.high, one.graded, one.n, one.n_answers)
            for one in found.means[:SHOWN]
        ]
        parts.append(format_table(MEANS, rows))
    return "\n\n".join(parts)
