"""AQER over files: ``manage.py evaluate aqer ANSWERS --output DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.files.grading import GradingRequest, grade_file
from evaluation.flow.parameters import REMEDIES, AqerParameters
from evaluation.kinds.answer_files import add_answers, add_columns, add_models, add_output
from evaluation.kinds.aqer.terminal import report_of_files
from evaluation.kinds.kind import Evaluation, Progress

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
remedies remedies.csv, with --suggest-anchors anchors.csv. platform/docs/data-formats.md says what
is in them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes beside the options of a grading."""
    add_answers(parser)
    add_models(parser)
    parser.add_argument(
        "--questions",
        type=Path,
        metavar="FILE",
        help="texts of the questions (question, text): what they state is no fact of an answer, "
        "and whether they ask who, where or which; in no grade",
    )
    add_output(parser, "tables")
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace results of other inputs that are in the folder",
    )
    add_columns(parser)


def grade(parameters: AqerParameters, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Grade, write the tables, and say what came out and where it is."""
    request = GradingRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        overwrite=arguments["overwrite"],
        questions=arguments["questions"],
        models=arguments["models"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
        exclude_workers=arguments["exclude_workers"],
        collapse_workers=arguments["collapse_workers"],
        anchors=arguments["anchors"],
    )
    return report_of_files(grade_file(request, progress), request.output)


EVALUATE = Evaluation(
    help="grade workers, make exemplary answers, score models (AQER)",
    description="Grade workers by their free-text answers, without an answer key.",
    epilog=EPILOG,
    add_arguments=add_arguments,
    run=grade,
    groups={REMEDIES: COMPARED},
)
