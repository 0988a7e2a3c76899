"""MultiQ&A over files: ``manage.py evaluate multiqa ITEMS --replies FILE --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.files.multiqa.evaluating import MultiqaRequest, evaluate_files
from evaluation.files.multiqa.field_mapping import FieldMapping
from evaluation.files.multiqa.mappings import READY, mapping_of
from evaluation.files.multiqa.reading import AS_OURS, MultiqaColumns
from evaluation.flow.multiqa.run_options import MultiqaRunOptions
from evaluation.kinds.answer_files import add_keep_thinking
from evaluation.kinds.kind import Evaluation, Progress
from evaluation.kinds.multiqa.terminal import report_of_files

EPILOG = """\
SPEC is minilm (default), sentence-transformers:NAME, openai:MODEL@URL, tfidf-word, tfidf-char;
it is needed for items whose matcher is cosine only.

ITEMS has the columns item, kind (extractive, choice, free), dataset, context, question, choices
(a JSON list), answers (a JSON list of accepted ones; of a choice all of them have to be named) and
matcher (choice, exact, levenshtein, cosine). FILE has system, item, variant (0 is the original
wording), variant_text, reply and status.

Written into DIR: metrics.csv, items.csv, summary.json; see platform/docs/data-formats.md, Studies.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files and how their columns are called."""
    add = parser.add_argument
    add("items", type=Path, metavar="ITEMS", help="CSV, TSV, JSONL or XLSX, see below")
    add("--replies", type=Path, metavar="FILE", required=True, help="what systems replied")
    add_keep_thinking(parser)
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")
    add_columns(parser)
    add_mapping(parser)
    add_crowd(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the argument for columns with other names."""
    parser.add_argument(
        "--columns",
        type=_columns,
        default=AS_OURS,
        metavar="item=NAME,question=NAME,...",
        help="how the columns are called in your files, where they are called otherwise",
    )


def add_mapping(parser: argparse.ArgumentParser) -> None:
    """Add the argument for other people's records."""
    parser.add_argument(
        "--mapping",
        metavar="NAME|FILE.json",
        help=f"ITEMS are records as published: {', '.join(READY)}, or a mapping of your own",
    )


def add_crowd(parser: argparse.ArgumentParser) -> None:
    """Add the argument for people's answers."""
    parser.add_argument(
        "--crowd",
        type=Path,
        metavar="FILE",
        help="people's answers to the items (worker, question, answer): replies are measured by "
        "their consensus too, and need no accepted answer for that",
    )


def mapping_given(arguments: Mapping[str, Any]) -> FieldMapping | None:
    """Return the mapping that was chosen. Raises `InputError`."""
    name = arguments["mapping"]
    return None if name is None else mapping_of(name)


def _columns(text: str) -> MultiqaColumns:
    try:
        return MultiqaColumns.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def evaluate(
    parameters: MultiqaRunOptions, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Evaluate, write the tables, and say what came out and where it is."""
    request = MultiqaRequest(
        arguments["items"],
        arguments["replies"],
        parameters.evaluation(),
        arguments["output"],
        arguments["columns"],
        mapping_given(arguments),
        arguments["crowd"],
        arguments["keep_thinking"],
    )
    return report_of_files(evaluate_files(request, progress), request.output)


EVALUATE = Evaluation(
    help="robustness of replies to reworded questions (MultiQ&A)",
    description="Evaluate replies to questions and to rewordings of them.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=evaluate,
)
