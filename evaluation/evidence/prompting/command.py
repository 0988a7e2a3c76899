"""Command ``manage.py study prompting``: arguments, execution and the text that it prints."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.core.messages.console import build_minimum_type, format_table
from evaluation.core.messages.reasons import describe_reason
from evaluation.evidence.prompting.study import (
    FILES,
    Prompting,
    PromptingParameters,
    PromptingRequest,
    study_prompting,
)
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.flow.asking.plan import SYSTEM
from evaluation.runs.run_types.answer_files import WITHOUT_MODELS, add_columns_argument
from evaluation.runs.run_types.kind import Progress, Study, StudyOutcome

EPILOG = """\
Every model is asked every question by both prompts, and both replies are scored against the
exemplary answers of the crowd, by AQER and by the baselines. A template is that of ask: text with
{question}, {choices}, {category} and {language}.

DIR then holds prompting.csv (a row for each model and method), agreement.csv (whether both prompts
rank the models alike), model_answers.csv, which evaluate aqer --models reads, and summary.json.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``study prompting``, except its options and server settings."""
    add = parser.add_argument
    add(
        "questions",
        type=Path,
        metavar="QUESTIONS",
        help="CSV, TSV, JSONL or XLSX with the columns question (or id) and text",
    )
    add(
        "--answers",
        type=Path,
        metavar="FILE",
        required=True,
        help="the crowd's answers: worker, question and answer",
    )
    add_columns_argument(parser, WITHOUT_MODELS)
    add(
        "--first-template",
        type=Path,
        metavar="FILE",
        help="the first prompt (default: that of ask, from memory)",
    )
    add(
        "--second-template",
        type=Path,
        metavar="FILE",
        required=True,
        help="the second prompt",
    )
    add(
        "--first-system",
        default=SYSTEM,
        metavar="TEXT",
        help="system text of the first prompt; nothing for none (%(default)r)",
    )
    add(
        "--second-system",
        metavar="TEXT",
        help="system text of the second prompt (default: that of the first)",
    )
    add(
        "--also",
        action="append",
        default=[],
        metavar="SPEC",
        help="a further model, besides --model; several times for several models",
    )
    add("--first", type=build_minimum_type(1), metavar="N", help="ask the first N questions only")
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


def run_study(
    parameters: PromptingParameters,
    arguments: Mapping[str, Any],
    asking: AskSettings,
    progress: Progress,
) -> StudyOutcome:
    """Ask the models, score their replies, write the tables, and return the text to print."""
    first_system, second_system = arguments["first_system"], arguments["second_system"]
    request = PromptingRequest(
        arguments["questions"],
        arguments["answers"],
        arguments["columns"],
        (arguments["first_template"], arguments["second_template"]),
        (first_system, first_system if second_system is None else second_system),
        tuple(arguments["also"]),
        arguments["first"],
        parameters,
        arguments["output"],
    )
    prompting = study_prompting(request, asking, progress)
    return StudyOutcome(format_study(prompting, request.output), prompting.complete)


def format_study(prompting: Prompting, output: Path) -> str:
    """Return the scores under both prompts and what was left out, as text for the terminal."""
    header = ("model", "method", "first", "second", "difference", "low", "high", "p (Holm)", "n")
    rows = [
        (
            *(row.model, row.method, row.first, row.second, row.difference),
            *(row.low, row.high, row.adjusted_p_value, row.n),
        )
        for row in prompting.scores
        if row.difference is not None
    ]
    left_out = [
        f"Left out: {entry['count']:,} ({describe_reason(entry['reason'])})"
        for entry in prompting.exclusions.as_list()
    ]
    return "\n\n".join(
        [format_table(header, rows), *left_out, f"Written into {output}: {', '.join(FILES)}"]
    )


STUDY = Study(
    help="ask models by two prompts, and score both replies against a crowd",
    description="Ask models the same questions by two prompts, and compare the scores.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run="evaluation.evidence.prompting.command.run_study",
)
