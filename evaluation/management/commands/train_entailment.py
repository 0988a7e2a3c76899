"""Command ``manage.py train_entailment DATA --output FOLDER``: train an entailment model."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotations.exchange.graded import NAMED
from annotations.exchange.header import parse_column_names
from evaluation.core.messages.console import (
    ProgressBars,
    build_minimum_type,
    exit_on_signal,
    print_report,
    report_bad_input,
)


class Command(BaseCommand):
    """Fine-tune the packaged encoder on graded answers, for the options --nli."""

    help = (
        "Train an entailment model on graded answers, for the options --nli: half an hour at most "
        "on two cores; no database. It needs labels such as correct, contradictory and incorrect "
        "(SemEval 2013 Task 7). If interrupted, run the command again: it continues."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: graded answers, output folder, and how long to train."""
        add = parser.add_argument
        add(
            "data",
            type=Path,
            metavar="DATA",
            help="graded answers: SemEval's XML (a file, folder or ZIP archive) or a table with "
            "question, answer and label, and reference where it is known",
        )
        add("--output", type=Path, required=True, metavar="FOLDER", help="new folder for the model")
        add(
            "--columns",
            type=_parse_columns,
            default={},
            metavar="KEY=NAME,...",
            help=f"what columns of a table are called; KEY is one of {', '.join(NAMED)}",
        )
        add(
            "--epochs",
            type=build_minimum_type(1),
            default=3,
            metavar="N",
            help="times that each answer is used (%(default)s)",
        )
        add(
            "--minutes",
            type=_parse_minutes,
            default=25.0,
            metavar="M",
            help="most minutes of training, up to 600; then the figures are computed (%(default)g)",
        )
        add(
            "--limit",
            type=build_minimum_type(20),
            metavar="N",
            help="train on so many answers, drawn at random (default: all)",
        )
        add(
            "--held-out",
            type=_parse_share,
            default=0.25,
            metavar="X",
            help="share of the questions that the model is not trained on, but measured on "
            "(%(default)g)",
        )
        add(
            "--seed",
            type=build_minimum_type(0),
            default=0,
            metavar="N",
            help="of the held-out questions, pairs and weights (%(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Train the model, write it, and print its figures."""
        # Here, because the help must not load the statistics.
        from evaluation.evidence.entailment.card import format_figures
        from evaluation.evidence.entailment.model_folder import TrainingRequest, train_model
        from evaluation.evidence.entailment.training import TrainingSchedule

        request = TrainingRequest(
            options["data"],
            options["output"],
            TrainingSchedule(options["epochs"], options["minutes"], options["seed"]),
            options["held_out"],
            options["limit"],
            options["columns"],
        )
        with report_bad_input(), exit_on_signal(), ProgressBars() as bars:

            def print_line(text: str) -> None:
                """Print a line above the progress bar."""
                bars.close()
                self.stdout.write(text)
                self.stdout.flush()

            figures = train_model(request, print_line, bars.show)
        sentence = format_figures(figures)
        print_report(
            self.stdout,
            f"{sentence[0].upper()}{sentence[1:]}\n\nModel: {request.output} (its README.md has "
            f"the figures). Use it by --nli {request.output}",
        )


def _parse_columns(text: str) -> Mapping[str, str]:
    """Return the column name of each key in an argument's text. Raises ArgumentTypeError."""
    try:
        return parse_column_names(text, NAMED)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _parse_minutes(text: str) -> float:
    """Return the minutes in an argument's text, at most 600. Raises ArgumentTypeError."""
    return _parse_number(text, 600.0)


def _parse_share(text: str) -> float:
    """Return the share in an argument's text, above 0 and below 1. Raises ArgumentTypeError."""
    number = _parse_number(text, 1.0)
    if number == 1.0:
        raise argparse.ArgumentTypeError("1 leaves no question to train on")
    return number


def _parse_number(text: str, most: float) -> float:
    """Return the number in a text, above 0 and up to `most`. Raises ArgumentTypeError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0, up to {most:g}")
    return number
