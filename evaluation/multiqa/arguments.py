"""Arguments and help of ``evaluate multiqa`` and ``study multiqa``."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.core.messages.console import build_minimum_type, build_number_type
from evaluation.multiqa.files.field_mapping import READY
from evaluation.multiqa.files.reading import STANDARD_COLUMNS, MultiqaColumns
from evaluation.runs.run_types.answer_files import (
    add_keep_as_typed_arguments,
    add_keep_thinking_argument,
)
from evaluation.runs.run_types.kind import Evaluation, Study

EVALUATE_EPILOG = """\
SPEC is minilm (default), sentence-transformers:NAME, openai:MODEL@URL, tfidf-word, tfidf-char;
it is needed for items whose matcher is cosine only.

ITEMS has the columns item, kind (extractive, choice, free), dataset, context, question, choices
(a JSON list), answers (a JSON list of accepted ones; of a choice all of them have to be named) and
matcher (choice, exact, levenshtein, cosine). FILE has system, item, variant (0 is the original
wording), variant_text, reply and status.

Written into DIR: metrics.csv, items.csv, summary.json; see platform/docs/data-formats.md, Studies.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, column, mapping and crowd arguments of ``evaluate multiqa``."""
    add = parser.add_argument
    add("items", type=Path, metavar="ITEMS", help="CSV, TSV, JSONL or XLSX, see below")
    add("--replies", type=Path, metavar="FILE", required=True, help="what systems replied")
    add_keep_thinking_argument(parser)
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")
    add_columns(parser)
    add_mapping(parser)
    add_crowd(parser)
    add_labelled_pairs(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--columns``, which renames the columns of input files."""
    parser.add_argument(
        "--columns",
        type=_parse_columns,
        default=STANDARD_COLUMNS,
        metavar="item=NAME,question=NAME,...",
        help="how the columns are called in your files, where they are called otherwise",
    )


def add_mapping(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--mapping``, which reads item files of other benchmarks."""
    parser.add_argument(
        "--mapping",
        metavar="NAME|FILE.json",
        help=f"ITEMS are records as published: {', '.join(READY)}, or a mapping of your own",
    )


def add_crowd(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--crowd``, a file of workers' answers to the items, and its switches."""
    parser.add_argument(
        "--crowd",
        type=Path,
        metavar="FILE",
        help="people's answers to the items (worker, question, answer): replies are measured by "
        "their consensus too, and need no accepted answer for that",
    )
    add_keep_as_typed_arguments(parser)


def add_labelled_pairs(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--labelled-pairs``, a file that measures and tunes the cosine."""
    parser.add_argument(
        "--labelled-pairs",
        type=Path,
        metavar="FILE",
        help="accepted, reply, right (yes or no) and, if you like, question: both errors of the "
        "cosine of a right answer are measured on them; with --tune-cosine half of them tunes it",
    )


def _parse_columns(text: str) -> MultiqaColumns:
    """Return the column names of the argument ``--columns``; invalid text is a usage error."""
    try:
        return MultiqaColumns.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


EVALUATE = Evaluation(
    help="robustness of replies to reworded questions (MultiQ&A)",
    description="Evaluate replies to questions and to rewordings of them.",
    epilog=EVALUATE_EPILOG,
    add_arguments=add_evaluate_arguments,
    run="evaluation.multiqa.commands.run_evaluate",
)


STUDY_EPILOG = """\
Each question is reworded in one call (temperature 1.0, up to 2 more where too few are kept), every
wording is asked in a conversation of its own, and the replies are evaluated as evaluate multiqa
does. A rewording with other numbers or names, or of another meaning, is dropped and counted. ITEMS
is as for evaluate multiqa, with a question in every row.

Written into DIR: replies.csv, rewordings.csv, metrics.csv, items.csv, summary.json, and
requests.jsonl with every request. Several systems: a folder each.
"""


def add_study_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``study multiqa``, except run options and server settings."""
    add = parser.add_argument
    add("items", type=Path, metavar="ITEMS", help="CSV, TSV, JSONL or XLSX, see below")
    add("--output", type=Path, metavar="DIR", required=True, help="folder for what comes")
    add_columns(parser)
    add_mapping(parser)
    add_crowd(parser)
    add_labelled_pairs(parser)
    add(
        "--rewordings",
        type=build_minimum_type(0),
        default=5,
        metavar="N",
        help="of each question (%(default)s)",
    )
    add(
        "--variants",
        type=Path,
        metavar="FILE",
        help="wordings that were typed, dialects for instance, in place of a rewriter: item and "
        "variant_text, a row each",
    )
    add("--rewriter", metavar="SPEC", help="another model that rewords (default: --model)")
    add(
        "--rewriter-tokens",
        type=build_minimum_type(1),
        default=512,
        metavar="N",
        help="longest reply of the rewriter (%(default)s)",
    )
    add(
        "--rewriter-key-variable",
        metavar="NAME",
        help="environment variable with the rewriter's key (default: that of --key-variable)",
    )
    add(
        "--meaning",
        type=build_number_type(1),
        default=0.8,
        metavar="X",
        help="least cosine of a rewording to its question, 0 for any (%(default)g)",
    )
    add(
        "--nli",
        metavar="NAME",
        help="a cross-encoder for entailment: question and rewording have to entail each other",
    )
    add(
        "--entailment",
        type=build_number_type(1),
        default=0.5,
        metavar="X",
        help="with --nli: least probability, both ways (%(default)g)",
    )


STUDY = Study(
    help="reword questions, ask a model every wording, and evaluate its replies (MultiQ&A)",
    description="Ask a model questions in several wordings and measure the robustness of its "
    "replies.",
    epilog=STUDY_EPILOG,
    add_arguments=add_study_arguments,
    run="evaluation.multiqa.commands.run_study",
)
