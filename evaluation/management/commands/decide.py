"""Command ``manage.py decide SET --file FILE --by USERNAME``: import payment decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.ledger.files import import_decisions
from annotations.management.desk import DecisionCommand, add_round_argument
from annotations.management.importing import USAGE
from evaluation.core.options import TERMINAL
from evaluation.payments.storage.fairness import compare_rejections, format_comparisons


class Command(DecisionCommand):
    """Store a user's decisions about workers' submissions from a file."""

    help = (
        "Store the decisions in FILE about workers of the question set SET: columns worker, "
        "decision "
        "(approve, reject, or open to take back), category and reason, which a rejection needs: "
        "one of Prolific's categories, and at least 100 characters for the worker. A column bonus "
        "confirms an amount for each. All rows or none; notifies no panel and pays no one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, file and user."""
        super().add_arguments(parser)
        parser.add_argument("--file", type=Path, required=True, metavar="FILE")
        self.add_by_argument(parser)
        add_round_argument(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="do everything, report it, and store nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the decisions and print a report; exit status 2 for invalid input."""
        version = self.find_version(options)
        user = self.find_decider(options, version)
        try:
            report = import_decisions(
                version,
                options["file"],
                user,
                round_=options["round"],
                dry_run=options["dry_run"],
            )
        except InputError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        for line in report.lines():
            self.stdout.write(line)
        rejections = compare_rejections(version, report.kinds)
        if rejections:
            self.stdout.write("Not rejected, once this is decided:")
        for line in format_comparisons(rejections, TERMINAL.format_message):
            self.stdout.write(line)
        for message in (message for rejection in rejections for message in rejection.warnings):
            self.stdout.write(f"Warning: {TERMINAL.format_message(message)}")
