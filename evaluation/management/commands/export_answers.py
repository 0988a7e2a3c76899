"""Command ``manage.py export_answers SET --output FILE``: export workers' answers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.exporting import ExportCommand
from evaluation.runs.exports import build_answers_export


class Command(ExportCommand):
    """Write all answers of a question set."""

    help = (
        "Write all submitted answers of the question set SET, with times, flags and, with --run, "
        "grades, as CSV, TSV, JSON Lines or XLSX; import_answers reads the file back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, file, run and pseudonyms."""
        super().add_arguments(parser)
        self.add_output_arguments(parser)
        self.add_run_argument(parser, "add this run's scores and grades to the answers")
        parser.add_argument(
            "--pseudonyms",
            action="store_true",
            help="replace workers' ids, the same way in every export of this set",
        )

        parser.add_argument(
            "--checks",
            action="store_true",
            help="write the answers to practice and attention questions instead, which no run and "
            "no other export has",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Select the version and run, write the file, and print a summary."""
        version = self.find_chosen_version(options)
        run = self.find_chosen_run(options, version)
        how = {"pseudonyms": options["pseudonyms"], "checks": options["checks"]}
        self.write_export(build_answers_export(version, run, **how), options)
