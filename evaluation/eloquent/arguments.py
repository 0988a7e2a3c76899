"""Arguments and help of ``evaluate eloquent`` and ``study eloquent``."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.core.messages.console import build_minimum_type, build_number_type
from evaluation.runs.run_types.answer_files import add_keep_thinking_argument
from evaluation.runs.run_types.kind import Evaluation, Study

EVALUATE_EPILOG = """\
SPEC is one of
  minilm                      all-MiniLM-L6-v2, English, installed with Crowdgrade (default)
  sentence-transformers:NAME  a model by its name on the hub, or a folder
  openai:MODEL@URL            an OpenAI-compatible server; its key in OPENAI_API_KEY
  tfidf-word, tfidf-char      word or character counts of these replies, in any language

Written into DIR: metrics.csv, items.csv, summary.json, prompts.csv (and prompts.json, mended, with
--repair); with replies or judgements reply_sets.csv, items_by_system.csv and figure1.svg, too, and
replies.csv, judgements.csv and agreement.csv. platform/docs/data-formats.md describes them.
Without --replies and --judgements the prompts are read and reported.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file arguments of ``evaluate eloquent`` to the parser."""
    add_prompt_arguments(parser)
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
    add_keep_thinking_argument(parser)
    add(
        "--judgements",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="verdicts of judges: item, system, language, judge, repeat, and score (0 to 5) or "
        'judge_reply; a judge called "human", or "human:NAME", is a person; several times for '
        "several files",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


def add_prompt_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the prompts file, and ``--repair``, which adds its missing commas."""
    parser.add_argument(
        "prompts",
        type=Path,
        metavar="PROMPTS",
        help='JSON: {"eloquent-robustness-test": {"source", "year", "items": [...]}}',
    )
    parser.add_argument(
        "--repair", action="store_true", help="add missing commas to PROMPTS, and tell each"
    )


EVALUATE = Evaluation(
    help="compare replies to prompts that mean the same (ELOQUENT)",
    description="Compare replies to prompts that ask for the same in other words.",
    epilog=EVALUATE_EPILOG,
    add_arguments=add_evaluate_arguments,
    run="evaluation.eloquent.commands.run_evaluate",
)


STUDY_EPILOG = """\
Every prompt is put in a conversation of its own. DIR then holds the tables of evaluate eloquent,
and submission_SYSTEM_LANGUAGE.json: the lab's form, a file for each language. Several systems:
a folder each, then evaluate eloquent PROMPTS --replies A/replies.csv --replies B/replies.csv
--judgements A/judgements.csv --judgements B/judgements.csv.
"""


def add_study_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``study eloquent``, except run options and server settings."""
    add_prompt_arguments(parser)
    add = parser.add_argument
    add("--output", type=Path, metavar="DIR", required=True, help="folder for what comes")
    add(
        "--system",
        default="",
        metavar="TEXT",
        help="system message of the model (default: none)",
    )
    add(
        "--follow-up",
        action="append",
        default=[],
        metavar="TEXT",
        help="a follow-up message in each conversation; several are sent one after the other",
    )
    add(
        "--changed-prompts",
        type=Path,
        metavar="FILE",
        help="prompts that are put otherwise: item, language, variant (from 1), prompt and reason",
    )
    add(
        "--judge",
        action="append",
        default=[],
        metavar="SPEC",
        help="a model that compares the replies of each item and language; the agreement of "
        "several judges is measured",
    )
    add(
        "--repeats",
        type=build_minimum_type(1),
        default=1,
        metavar="K",
        help="how often each judge is asked the same; beyond 1 choose a --judge-temperature "
        "(%(default)s)",
    )
    add(
        "--judge-instructions",
        type=Path,
        metavar="FILE",
        help="a table of instructions to the judges in place of the common one: item, instruction",
    )
    add(
        "--judge-temperature",
        type=build_number_type(),
        default=0.0,
        metavar="X",
        help="of the judges (%(default)g)",
    )
    add(
        "--judge-max-tokens",
        type=build_minimum_type(1),
        default=512,
        metavar="N",
        help="longest reply of a judge, its notes and its score (%(default)s)",
    )
    add(
        "--judge-key-variable",
        metavar="NAME",
        help="environment variable with the judges' key (default: that of --key-variable)",
    )
    add("--team", default="", metavar="NAME", help="for the submission form")
    add("--submission-id", default="1", metavar="ID", help="for the submission form (%(default)s)")


STUDY = Study(
    help="ask a model prompts that mean the same, and a judge how alike its replies are",
    description="Put prompts that ask for the same in other words to a model, and compare its "
    "replies.",
    epilog=STUDY_EPILOG,
    add_arguments=add_study_arguments,
    run="evaluation.eloquent.commands.run_study",
)
