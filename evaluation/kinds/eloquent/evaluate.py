"""ELOQUENT over files: ``manage.py evaluate eloquent PROMPTS --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from evaluation.files.eloquent import (
    FIGURE,
    EloquentRequest,
    Evaluated,
    evaluate_files,
    write_tables,
)
from evaluation.flow.eloquent.run_options import EloquentRunOptions
from evaluation.kinds.answer_files import add_keep_thinking
from evaluation.kinds.eloquent.pages import figure
from evaluation.kinds.eloquent.terminal import report_of_files
from evaluation.kinds.kind import Evaluation, Progress

EPILOG = """\
SPEC is one of
  minilm                      all-MiniLM-L6-v2, English, installed with Crowdgrade (default)
  sentence-transformers:NAME  a model by its name on the hub, or a folder
  openai:MODEL@URL            an OpenAI-compatible server; its key in OPENAI_API_KEY
  tfidf-word, tfidf-char      word or character counts of these replies, in any language

Written into DIR: metrics.csv, items.csv, summary.json, prompts.csv (and prompts.json, mended, with
--repair); with replies or judgements reply_sets.csv, items_by_system.csv and figure1.svg, too, and
replies.csv, judgements.csv and agreement.csv. platform/docs/data-formats.md says what is in them.
Without --replies and --judgements the prompts are read and reported.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes beside its options."""
    add_prompts(parser)
    add = parser.add_argument
    add(
        "--replies",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="what systems replied: a submission (JSON), or CSV, TSV, JSONL or XLSX with system, "
        "item, language, variant and reply; several times for several files",
    )
    add_keep_thinking(parser)
    add(
        "--judgements",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="what judges said: item, system, language, judge, repeat, and score (0 to 5) or "
        'judge_reply; a judge called "human", or "human:NAME", is a person; several times for '
        "several files",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


def add_prompts(parser: argparse.ArgumentParser) -> None:
    """Add the file of prompts, and whether it is mended."""
    parser.add_argument(
        "prompts",
        type=Path,
        metavar="PROMPTS",
        help='JSON: {"eloquent-robustness-test": {"source", "year", "items": [...]}}',
    )
    parser.add_argument(
        "--repair", action="store_true", help="add missing commas to PROMPTS, and tell each"
    )


def evaluate(
    parameters: EloquentRunOptions, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Evaluate, write the tables, and say what came out and where it is."""
    request = EloquentRequest(
        prompts=arguments["prompts"],
        output=arguments["output"],
        parameters=parameters.evaluation(),
        repair=arguments["repair"],
        replies=tuple(arguments["replies"]),
        judgements=tuple(arguments["judgements"]),
        keep_thinking=arguments["keep_thinking"],
    )
    with OutputFolder(request.output) as folder:
        evaluated = evaluate_files(request, progress)
        write_all(folder, evaluated)
    return report_of_files(evaluated, request.output)


def write_all(folder: OutputFolder, evaluated: Evaluated) -> None:
    """Write the tables and the picture."""
    write_tables(folder, evaluated)
    if evaluated.findings.systems:
        chart = figure(evaluated.findings)
        if chart is not None:
            with folder.open(FIGURE) as file:
                file.write(chart.standalone([_caption(evaluated)]).encode())


def _caption(evaluated: Evaluated) -> str:
    judges = ", ".join(evaluated.findings.judges) or "none"
    return f"Prompts: {evaluated.prompts.name}. Judges: {judges}. Scores from 0 to 5."


EVALUATE = Evaluation(
    help="compare replies to prompts that mean the same (ELOQUENT)",
    description="Compare replies to prompts that ask for the same in other words.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
