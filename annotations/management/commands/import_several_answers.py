"""Command that imports questions with several correct answers (MAQA)."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotations.exchange.importing import ImportReport, import_several_answers
from annotations.management.importing import ImportCommand


class Command(ImportCommand):
    """Import questions with several correct answers each into a question set."""

    help = (
        "Add the questions of FILE (JSON list of MAQA: question, answer) to the question set SET, "
        "which is made if there is none, with all their right answers."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: question set and file."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """Import all questions of the file or none, and return the report."""
        question_set = self.find_question_set(options, create=True)
        return [import_several_answers(question_set, options["file"], dry_run=options["dry_run"])]
