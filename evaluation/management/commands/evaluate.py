"""The door to evaluations of files: ``manage.py evaluate aqer ANSWERS --output DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotations.exchange import ColumnNames
from evaluation.files.grading import GradingRequest, grade_file
from evaluation.flow.parameters import REMEDIES, AqerParameters
from evaluation.management.grading_report import report_of_files
from evaluation.management.option_arguments import add_option_arguments, chosen
from evaluation.words.console import (
    BAD_INPUT,
    Bars,
    ended_by_signal,
    refused_as_bad_input,
    tell,
)

__all__ = ["BAD_INPUT", "Command"]

COMPARED = "Each is off unless asked for, and compared with the plain run in remedies.csv."

AQER_EPILOG = """\
SPEC is one of
  minilm                      all-MiniLM-L6-v2, English, installed with Crowdgrade (default)
  sentence-transformers:NAME  a model by its name on the hub, or a folder
  openai:MODEL@URL            an OpenAI-compatible server; its key in OPENAI_API_KEY
  tfidf-word, tfidf-char      word or character counts of these answers, in any language
  bow                         which words occur, for --aggregation majority
  precomputed:FILE.npz        arrays `answers` and, with --models, `models`: a row of numbers for
                              each data row of the file, empty and repeated ones too

Written into DIR: workers.csv, answers.csv, exemplars.csv, exemplars.npz, models.csv,
model_answers.csv, alarms.csv, summary.json; with remedies remedies.csv, with --suggest-anchors
anchors.csv. platform/docs/data-formats.md says what is in them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


class Command(BaseCommand):
    """Evaluate answers in files, without a database."""

    help = "Evaluate a file of answers; writes tables into a folder and needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the method first, then its own arguments."""
        methods = parser.add_subparsers(dest="method", required=True, metavar="METHOD")
        aqer = methods.add_parser(
            "aqer",
            help="grade workers, make exemplary answers, score models (AQER)",
            description="Grade workers by their free-text answers, without an answer key.",
            epilog=AQER_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_aqer_arguments(aqer)

    def handle(self, *args: Any, **options: Any) -> None:
        """Grade, and say what came out and where it is."""
        parameters = chosen(AqerParameters, options)
        request = GradingRequest(
            answers=options["answers"],
            models=options["models"],
            columns=options["columns"],
            parameters=parameters,
            output=options["output"],
            exclude_workers=options["exclude_workers"],
            anchors=options["anchors"],
        )
        with refused_as_bad_input(), ended_by_signal(), Bars() as bars:
            grading = grade_file(request, bars.show)
        tell(self.stdout, report_of_files(grading, request.output))


def add_aqer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `evaluate aqer` takes; the defaults are those of `AqerParameters`."""
    add = parser.add_argument
    add(
        "answers",
        type=Path,
        metavar="ANSWERS",
        help="CSV, TSV, JSONL or XLSX with the columns worker, question and answer",
    )
    add(
        "--models",
        type=Path,
        metavar="FILE",
        help="answers of language models: model, question, answer and, if you like, status",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")
    add(
        "--columns",
        type=_columns,
        default=ColumnNames(),
        metavar="worker=NAME,question=NAME,answer=NAME,model=NAME",
        help="how the columns are called in your files, where they are called otherwise",
    )
    add_option_arguments(parser, AqerParameters, files=True, groups={REMEDIES: COMPARED})


def _columns(text: str) -> ColumnNames:
    try:
        return ColumnNames.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
