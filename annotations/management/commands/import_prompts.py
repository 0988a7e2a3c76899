"""Command that imports prompts with several wordings (ELOQUENT robustness task)."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotations.exchange.importing import ImportReport, import_prompts
from annotations.management.importing import ImportCommand


class Command(ImportCommand):
    """Import prompts with their alternative wordings into a question set."""

    help = (
        "Add the items of FILE (JSON of the ELOQUENT robustness task) to the question set SET, "
        "which is made if there is none: questions with their other wordings."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: question set, file, and whether to repair its JSON."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--repair", action="store_true", help="add missing commas, and tell each"
        )

    def run_import(self, options: dict[str, Any]) -> list[ImportReport]:
        """Import all prompts of the file or none, and return the report."""
        question_set = self.find_question_set(options, create=True)
        how = {"repair": options["repair"], "dry_run": options["dry_run"]}
        return [import_prompts(question_set, options["file"], **how)]
