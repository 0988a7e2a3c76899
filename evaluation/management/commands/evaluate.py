"""The door to evaluations of files: ``manage.py evaluate aqer ANSWERS --output DIR``."""

from __future__ import annotations

import argparse
from argparse import BooleanOptionalAction
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange import ColumnNames, InputError
from evaluation.backends import EmbedderError
from evaluation.console import Bars, at_least, ended_by_signal
from evaluation.parameters import (
    AGGREGATIONS,
    INITIALIZATIONS,
    SIMILARITIES,
    STOPPING_RULES,
    AqerParameters,
)
from evaluation.studies.grading import GradingRequest, grade_file
from evaluation.studies.grading_report import report

BAD_INPUT = 2


class Command(BaseCommand):
    """Evaluate answers in files, without a database."""

    help = "Evaluate a file of answers; writes tables into a folder and needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the method first, then its own arguments."""
        methods = parser.add_subparsers(dest="method", required=True, metavar="METHOD")
        aqer = methods.add_parser(
            "aqer", help="grade workers, make exemplary answers, score models (AQER)"
        )
        add_aqer_arguments(aqer)

    def handle(self, *args: Any, **options: Any) -> None:
        """Grade, and say what came out and where it is."""
        names = [field.name for field in fields(AqerParameters)]
        parameters = AqerParameters(**{name: options[name] for name in names})
        problems = parameters.problems()
        if problems:
            raise CommandError("\n".join(problems), returncode=BAD_INPUT)
        request = GradingRequest(
            answers=options["answers"],
            models=options["models"],
            columns=options["columns"],
            parameters=parameters,
            output=options["output"],
        )
        try:
            with ended_by_signal(), Bars() as bars:
                grading = grade_file(request, bars.show)
        except (InputError, EmbedderError) as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        self.stdout.write(report(grading, request.output))


def add_aqer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `evaluate aqer` takes; the defaults are those of `AqerParameters`."""
    default = AqerParameters()
    parser.add_argument("answers", type=Path, metavar="ANSWERS", help="CSV, TSV, JSONL or XLSX")
    parser.add_argument("--models", type=Path, metavar="FILE", help="answers of models")
    parser.add_argument("--embedder", metavar="SPEC", default=default.embedder)
    parser.add_argument(
        "--precision", choices=("float32", "bfloat16", "auto"), default=default.precision
    )
    parser.add_argument("--similarity", choices=SIMILARITIES, default=default.similarity)
    parser.add_argument("--init", choices=INITIALIZATIONS, default=default.init)
    parser.add_argument("--nli", metavar="NAME", help="entailment model for --init entailment")
    parser.add_argument("--aggregation", choices=AGGREGATIONS, default=default.aggregation)
    parser.add_argument("--stopping", choices=STOPPING_RULES, default=default.stopping)
    parser.add_argument("--tolerance", type=_tolerance, metavar="X", default=default.tolerance)
    parser.add_argument(
        "--max-iterations", type=at_least(1), metavar="N", default=default.max_iterations
    )
    for name in ("leave-one-out", "difficulty", "discrimination"):
        parser.add_argument(
            f"--{name}",
            action=BooleanOptionalAction,
            default=getattr(default, name.replace("-", "_")),
        )
    parser.add_argument(
        "--bootstrap",
        type=_draws,
        metavar="N",
        default=default.bootstrap,
        help=f"draws for intervals; 0 for none (default {default.bootstrap})",
    )
    parser.add_argument("--bootstrap-workers", action="store_true")
    parser.add_argument("--seed", type=at_least(0), metavar="N", default=default.seed)
    parser.add_argument(
        "--columns",
        type=_columns,
        default=ColumnNames(),
        metavar="worker=NAME,question=NAME,answer=NAME,model=NAME",
    )
    parser.add_argument("--output", type=Path, metavar="DIR", required=True)


def _columns(text: str) -> ColumnNames:
    try:
        return ColumnNames.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _draws(text: str) -> int:
    number: int = at_least(0)(text)
    if number == 1:
        raise argparse.ArgumentTypeError("one draw tells nothing: 0, or 2 and more")
    return number


def _tolerance(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no tolerance: a number of 0 or more")
    return number
