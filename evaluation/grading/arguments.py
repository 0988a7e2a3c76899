"""Command-line arguments and help texts of ``manage.py evaluate aqer``."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.consensus.parameters import REMEDIES
from evaluation.core.backends.chat.registry import FORMS
from evaluation.core.messages.console import build_minimum_type, build_number_type
from evaluation.runs.run_types.answer_files import (
    add_answers_arguments,
    add_columns_argument,
    add_keep_thinking_argument,
    add_models_argument,
    add_output_argument,
)
from evaluation.runs.run_types.kind import Evaluation

COMPARED = "Each is off unless asked for, and compared with the plain run in remedies.csv."

EPILOG = """\
SPEC is one of
  minilm                      all-MiniLM-L6-v2, English, installed with Crowdgrade (default)
  sentence-transformers:NAME  a model by its name on the hub, or a folder
  openai:MODEL@URL            an OpenAI-compatible server; its key in OPENAI_API_KEY
  tfidf-word, tfidf-char      word or character counts of these answers, in any language
  bow                         which words occur, for --aggregation majority
  precomputed:FILE.npz        arrays `answers` and, with --models, `models`: a row of numbers for
                              each data row of the file, empty and repeated ones too

Written into DIR: workers.csv, answers.csv, exemplars.csv, exemplars.npz, models.csv,
model_answers.csv, alarms.csv, summary.json; without --no-facts facts.csv and answer_facts.csv, with
remedies remedies.csv, with --suggest-anchors anchors.csv. platform/docs/data-formats.md describes
them.
Exit code: 0 done, 2 bad usage or input (nothing is written then), 3 with --facts-model where not
every request has a reply (what came is kept).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``evaluate aqer`` for input and output files to a parser."""
    add_answers_arguments(parser)
    add_models_argument(parser)
    add_keep_thinking_argument(parser)
    parser.add_argument(
        "--questions",
        type=Path,
        metavar="FILE",
        help="texts of the questions (question, text): what they state is no fact of an answer, "
        "and whether they ask who, where or which; in no grade",
    )
    _add_facts_model(parser)
    add_output_argument(parser, "tables")
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace results of other inputs that are in the folder",
    )
    add_columns_argument(parser)


def _add_facts_model(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the chat model that extracts facts to a parser."""
    add = parser.add_argument_group(
        "Facts read by a chat model",
        "In place of the rules: kinds of facts for each question, then each answer. DIR keeps "
        "every request and reply (requests.jsonl, without keys). If interrupted, run the same "
        "command again: it continues.",
    ).add_argument
    add("--facts-model", metavar="SPEC", help=f"the model: {FORMS}")
    add(
        "--facts-key-variable",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="environment variable that holds its key (%(default)s)",
    )
    add(
        "--facts-max-tokens",
        type=build_minimum_type(1),
        default=512,
        metavar="N",
        help="longest reply (%(default)s)",
    )
    add("--facts-budget", type=build_number_type(), metavar="X", help="spend no more; needs prices")
    add(
        "--facts-price-in",
        type=build_number_type(),
        metavar="X",
        help="money for a million tokens read",
    )
    add(
        "--facts-price-out",
        type=build_number_type(),
        metavar="X",
        help="money for a million tokens written",
    )


EVALUATE = Evaluation(
    help="grade workers, make exemplary answers, score models (AQER)",
    description="Grade workers by their free-text answers, without an answer key.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run="evaluation.grading.commands.grade_from_arguments",
    groups={REMEDIES: COMPARED},
)
