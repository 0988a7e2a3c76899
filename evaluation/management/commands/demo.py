"""The door to the demo: grades its workers and models, and prints both tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations import demo
from annotations.exchange import ColumnNames, InputError
from evaluation.backends import EmbedderError
from evaluation.console import Bars, ended_by_signal
from evaluation.parameters import AqerParameters
from evaluation.studies.grading import GradingRequest, grade_file
from evaluation.studies.grading_report import report


class Command(BaseCommand):
    """Grade the demo's question set."""

    help = "Grade the demo's workers and models and print both tables; needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the folder for the tables."""
        parser.add_argument(
            "--output", type=Path, default=settings.ROOT / "var/demo/grades", metavar="DIR"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Grade the demo's files as any other file, and say what they are."""
        request = GradingRequest(
            answers=demo.ANSWERS,
            models=demo.MODEL_ANSWERS,
            columns=ColumnNames(),
            parameters=AqerParameters(),
            output=options["output"],
        )
        try:
            with ended_by_signal(), Bars() as bars:
                grading = grade_file(request, bars.show)
        except (InputError, EmbedderError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{demo.LABEL}\n{demo.MODEL_LABEL}.\n\n{report(grading, request.output)}")
