"""The door to evaluations of files: ``manage.py evaluate aqer ANSWERS --output DIR``."""

from __future__ import annotations

import argparse
from argparse import BooleanOptionalAction
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange import ColumnNames
from evaluation.console import (
    BAD_INPUT,
    Bars,
    at_least,
    ended_by_signal,
    printable,
    refused_as_bad_input,
    tell,
)
from evaluation.parameters import (
    AGGREGATIONS,
    INITIALIZATIONS,
    SIMILARITIES,
    STOPPING_RULES,
    AqerParameters,
)
from evaluation.studies.grading import GradingRequest, grade_file
from evaluation.studies.grading_report import report

__all__ = ["BAD_INPUT", "Command"]

# More would only cost time: the ends of an interval no longer move.
MOST_DRAWS = 100_000

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
model_answers.csv, summary.json. platform/docs/data-formats.md says what is in them.
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
        names = [field.name for field in fields(AqerParameters)]
        parameters = AqerParameters(**{name: options[name] for name in names})
        problems = parameters.problems()
        if problems:
            raise CommandError(printable("\n".join(problems)), returncode=BAD_INPUT)
        request = GradingRequest(
            answers=options["answers"],
            models=options["models"],
            columns=options["columns"],
            parameters=parameters,
            output=options["output"],
        )
        with refused_as_bad_input(), ended_by_signal(), Bars() as bars:
            grading = grade_file(request, bars.show)
        tell(self.stdout, report(grading, request.output))


def add_aqer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `evaluate aqer` takes; the defaults are those of `AqerParameters`."""
    default = AqerParameters()
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
    add("--embedder", metavar="SPEC", default=default.embedder, help="see below (%(default)s)")
    add(
        "--precision",
        choices=("float32", "bfloat16", "auto"),
        default=default.precision,
        help="auto: bfloat16 where the processor has it, else float32 (%(default)s)",
    )
    add(
        "--similarity",
        choices=SIMILARITIES,
        default=default.similarity,
        help="euclidean is the negative distance (%(default)s)",
    )
    add("--init", choices=INITIALIZATIONS, default=default.init, help="first weights (%(default)s)")
    add("--nli", metavar="NAME", help="entailment model (name or folder) for --init entailment")
    add(
        "--aggregation",
        choices=AGGREGATIONS,
        default=default.aggregation,
        help="how the crowd's answer is made; majority needs --embedder bow (%(default)s)",
    )
    add(
        "--stopping",
        choices=STOPPING_RULES,
        default=default.stopping,
        help="stop when the RMSE of the weights (paper), or that times the number of workers "
        "(relative), is below the tolerance (%(default)s)",
    )
    add(
        "--tolerance",
        type=_tolerance,
        metavar="X",
        default=default.tolerance,
        help="when the weights count as settled (%(default)s)",
    )
    add(
        "--max-iterations",
        type=at_least(1),
        metavar="N",
        default=default.max_iterations,
        help="where to stop in any case (%(default)s)",
    )
    for name, what in (
        ("leave-one-out", "compare each answer with the crowd's answer without its worker"),
        ("difficulty", "allow for some questions being harder than others"),
        ("discrimination", "let questions that tell workers apart count more"),
    ):
        of_field = getattr(default, name.replace("-", "_"))
        state = "on" if of_field else "off"
        add(f"--{name}", action=BooleanOptionalAction, default=of_field, help=f"{what} ({state})")
    add(
        "--bootstrap",
        type=_draws,
        metavar="N",
        default=default.bootstrap,
        help="draws for intervals; 0 for none (%(default)s)",
    )
    add(
        "--bootstrap-workers",
        action="store_true",
        help="draw workers as well: intervals for another crowd of the same kind",
    )
    add(
        "--seed",
        type=at_least(0),
        metavar="N",
        default=default.seed,
        help="of everything random (%(default)s)",
    )


def _columns(text: str) -> ColumnNames:
    try:
        return ColumnNames.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _draws(text: str) -> int:
    number: int = at_least(0)(text)
    if number == 1:
        raise argparse.ArgumentTypeError("one draw tells nothing: 0, or 2 and more")
    if number > MOST_DRAWS:
        raise argparse.ArgumentTypeError(f"{number} is more than {MOST_DRAWS}")
    return number


def _tolerance(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no tolerance: a number of 0 or more")
    return number
