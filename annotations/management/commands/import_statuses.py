"""The door to where submissions stand on Prolific: ``manage.py import_statuses SET FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.management.desk import DeskCommand
from annotations.management.importing import USAGE
from annotations.panels.statuses import import_statuses


class Command(DeskCommand):
    """Take in where submissions stand on their panel."""

    help = (
        "Keep what FILE, the export that Prolific offers for a study, says of the submissions of "
        "the question set SET: Submission id, Participant id, Status, times, code. All rows or "
        "none; of what the panel knows of people nothing is kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """SET FILE, who."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--by", metavar="USERNAME", help="who took it in: stands in the log")
        parser.add_argument(
            "--dry-run", action="store_true", help="do everything, report it, and store nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import and report; exit status 2 for input that will not do."""
        version = self.version_of(options)
        user = self.decider(options, version) if options["by"] is not None else None
        try:
            report = import_statuses(version, options["file"], user, dry_run=options["dry_run"])
        except InputError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        for line in report.lines():
            self.stdout.write(line)
