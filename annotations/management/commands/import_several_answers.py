"""The door to importing questions with several right answers."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotations.exchange.importing import ImportReport, import_several_answers
from annotations.management.importing import ImportCommand


class Command(ImportCommand):
    """Bring questions with several right answers into a question set."""

    help = (
        "Add the questions of FILE (JSON list of MAQA: question, answer) to the question set SET, "
        "which is made if there is none, with all their right answers."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """SET FILE."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """All questions or none."""
        question_set = self.question_set(options, create=True)
        return [import_several_answers(question_set, options["file"], dry_run=options["dry_run"])]
