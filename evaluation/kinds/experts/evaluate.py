"""Experts' grades over files: ``manage.py evaluate experts JUDGEMENTS --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.files.experts import ExpertsRequest, evaluate_experts
from evaluation.flow.experts.findings import ExpertFindings
from evaluation.flow.experts.parameters import ExpertsParameters
from evaluation.flow.experts.tables import agreement_rows
from evaluation.kinds.answer_files import add_columns, add_output
from evaluation.kinds.kind import Evaluation, Progress
from evaluation.words.console import text_table
from evaluation.words.experts import LEVELS

EPILOG = """\
JUDGEMENTS holds experts' grades of answers, 0 to 5: worker or model, question, grade, expert and,
if some settle what others disagree on, settles (1); if some parts were drawn more densely than
others, weight: for how many of all answers this one stands, as which it counts in the correlations
with scores, in difficulties and in means. --scores is the --output of evaluate aqer.

Written into DIR: agreement.csv, difficulty.csv, estimates.csv and summary.json.
platform/docs/data-formats.md says what is in them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""
HEADER = ("coefficient", "value", "low", "high", "answers", "questions")
MEANS = ("kind", "who", "mean", "low", "high", "graded alone", "n", "of")
SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file of grades, the folder with scores, and where the tables go."""
    add = parser.add_argument
    add("judgements", type=Path, metavar="JUDGEMENTS", help="experts' grades of answers, 0 to 5")
    add(
        "--scores",
        type=Path,
        metavar="FOLDER",
        help="what evaluate aqer wrote: correlations with the scores, and mean grades of workers "
        "and models that rest on all their answers",
    )
    add(
        "--chosen",
        action="store_true",
        help="the graded answers were picked, not drawn at random: nothing is said then of the "
        "answers that nobody graded",
    )
    add_output(parser)
    add_columns(parser)


def evaluate(
    parameters: ExpertsParameters, arguments: Mapping[str, Any], _progress: Progress
) -> str:
    """Evaluate, write the tables, and say what came out and where it is."""
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
    """Return counts, agreement and what it means, and the first of the means."""
    panel = found.panel
    parts = [
        f"{found.n_graded} answers graded by {len(found.experts)} experts, {panel.n_by_two} by two "
        f"or more, {found.n_settled} settled by another one; {panel.n_missing} grades missing of "
        f"{panel.n * panel.n_raters}",
        text_table(HEADER, [row[:6] for row in agreement_rows(found)]),
        LEVELS[found.level],
    ]
    if found.means:
        rows = [
            (one.kind, one.name, one.mean, one.low, one.high, one.graded, one.n, one.n_answers)
            for one in found.means[:SHOWN]
        ]
        parts.append(text_table(MEANS, rows))
    return "\n\n".join(parts)


EVALUATE = Evaluation(
    help="how far experts agree, how hard questions are, what workers and models are worth",
    description="Evaluate experts' grades of answers.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
