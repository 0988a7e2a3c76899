"""Command that imports UMWP math word problems, of which some have no answer."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotations.exchange.importing import ImportReport, import_word_problems
from annotations.management.importing import ImportCommand


class Command(ImportCommand):
    """Import math word problems and their labels (answerable or not) into a question set."""

    help = (
        "Add the problems of FILE (JSON Lines of UMWP) to the question set SET, which is made if "
        "there is none: questions marked as answerable or not."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: question set and file."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """Import all problems of the file or none, and return the report."""
        question_set = self.find_question_set(options, create=True)
        return [import_word_problems(question_set, options["file"], dry_run=options["dry_run"])]
