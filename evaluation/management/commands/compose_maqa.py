"""Command ``manage.py compose_maqa --yes-no FILE --output FILE``: compose a MAQA set."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from evaluation.core.messages.console import build_minimum_type, print_report, report_bad_input
from evaluation.maqa.composing import (
    FEWEST_OF_RANGE,
    MOST_OPTIONS,
    ComposingRequest,
    are_bounds_valid,
    compose_question_file,
)
from evaluation.runs.files.problem_messages import build_error


class Command(BaseCommand):
    """Compose questions with one, several and many correct answers."""

    help = (
        "Compose a set for evaluate and study maqa: lists of questions with their right answers "
        "side by side, each a data set of its own, and questions made of yes/no questions; "
        "no database. The category says how many answers are right: single, few, many (8 or more)."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: lists, yes/no questions, composition options and output."""
        add = parser.add_argument
        add(
            "--lists",
            nargs="+",
            type=_parse_named_path,
            default=[],
            metavar="NAME=FILE",
            help="questions with their right answers, such as world_knowledge=FILE.json; single "
            "answers, too, as controls",
        )
        add(
            "--yes-no",
            type=Path,
            metavar="FILE",
            help="yes/no questions, a JSON list or JSON Lines: question, answer (true or false), "
            "and if all have one the same content as a statement",
        )
        add(
            "--options",
            type=_parse_option_range,
            default=(5, 0),
            metavar="N[-M]",
            help="of each (5); 5-15 draws the number of each, as in the paper",
        )
        add(
            "--fewest",
            type=build_minimum_type(1),
            metavar="N",
            help="true ones (default: 1; of a range such as 5-15 2)",
        )
        add(
            "--most",
            type=build_minimum_type(1),
            metavar="N",
            help="true ones (default: all but one; of a range all but two)",
        )
        add(
            "--seed",
            type=build_minimum_type(0),
            default=0,
            metavar="N",
            help="of the draw (%(default)s)",
        )
        add("--output", type=Path, required=True, metavar="FILE.json", help="file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compose the questions, write them, and print their number."""
        output: Path = options["output"]
        with report_bad_input():
            if output.suffix != ".json":
                raise build_error(str(output), "composed_not_json")
            size, largest = options["options"]
            fewest = options["fewest"] or (FEWEST_OF_RANGE if largest else 1)
            bounds = (size, fewest, options["most"] or 0)
            if not are_bounds_valid(*bounds, largest):
                raise build_error("--options", "bounds_unordered", most=MOST_OPTIONS)
            lists = dict(options["lists"])
            done = compose_question_file(
                ComposingRequest(
                    output, lists, options["yes_no"], *bounds, options["seed"], largest
                )
            )
        counted = ", ".join(f"{name} {n:,}" for name, n in done.by_dataset.items())
        sizes = ", ".join(f"{name} {n:,}" for name, n in done.by_category.items())
        left = f"; {done.left_over:,} yes/no questions left over" if done.left_over else ""
        print_report(
            self.stdout,
            f"{sum(done.by_dataset.values()):,} questions ({counted}; {sizes}){left}: {output}",
        )


def _parse_option_range(text: str) -> tuple[int, int]:
    """Return the least and greatest number of options in "N-M"; in "N" the greatest is 0."""
    least, dash, largest = text.partition("-")
    number = build_minimum_type(2)
    return number(least), number(largest) if dash else 0


def _parse_named_path(text: str) -> tuple[str, Path]:
    """Return (name, path) of an argument NAME=FILE. Raises ArgumentTypeError."""
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=FILE")
    return name, Path(path)
