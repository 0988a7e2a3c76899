"""Command ``manage.py export_questions SET --output FILE``: export questions and passages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.exporting import ExportCommand
from evaluation.runs.exports import build_passages_export, build_questions_export


class Command(ExportCommand):
    """Write the questions of a question set, and their passages."""

    help = (
        "Write the questions of the question set SET as CSV, TSV, JSON Lines or XLSX; "
        "import_questions reads the files back."
    )

    answered = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, file, and file of passages."""
        super().add_arguments(parser)
        self.add_output_arguments(parser)
        parser.add_argument(
            "--passages", type=Path, metavar="FILE", help="write the passages to this file too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the questions, and the passages if requested."""
        version = self.find_chosen_version(options)
        if options["passages"]:
            self.write_export(
                build_passages_export(version), options | {"output": options["passages"]}
            )
        self.write_export(build_questions_export(version), options)
