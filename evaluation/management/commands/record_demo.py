"""The door to recording the demo's model answers anew."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations import demo
from evaluation.backends.chat.smollm2 import INSTALL
from evaluation.backends.errors import ChatError
from evaluation.evidence import recording


class Command(BaseCommand):
    """Ask SmolLM2-135M the demo's questions and store what it says."""

    help = (
        "Ask SmolLM2-135M-Instruct the demo's questions, with and without the passage, and write "
        "model_answers.csv and recording.json. " + INSTALL
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Where the two files go."""
        parser.add_argument(
            "--output",
            type=Path,
            default=demo.FOLDER,
            metavar="DIR",
            help="folder for both files (default: the demo's own, whose files are replaced)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Record, and say how many answers there are."""
        try:
            count = recording.record(options["output"], say=self.stdout.write)
        except (recording.RecordingError, ChatError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{count} answers recorded in {options['output']}")
