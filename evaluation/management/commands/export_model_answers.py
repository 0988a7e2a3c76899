"""Command ``manage.py export_model_answers SET --output FILE``: export models' answers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.exporting import ExportCommand
from evaluation.runs.exports import build_model_answers_export


class Command(ExportCommand):
    """Write all answers of language models to a question set."""

    help = (
        "Write all answers of language models to the question set SET, as CSV, TSV, JSON Lines or "
        "XLSX; import_model_answers reads the file back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, file and run."""
        super().add_arguments(parser)
        self.add_output_arguments(parser)
        self.add_run_argument(parser, "add this run's scores to the answers")

    def handle(self, *args: Any, **options: Any) -> None:
        """Select the version and run, write the file, and print a summary."""
        version = self.find_chosen_version(options)
        self.write_export(
            build_model_answers_export(version, self.find_chosen_run(options, version)), options
        )
