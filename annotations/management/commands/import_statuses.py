"""Command that imports the states of submissions on Prolific (import_statuses).

Without a file, with ``--from-prolific``, its own interface is requested.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.exchange.reading.source import Source
from annotations.ledger.panel_payments import WhichStudyError, find_study_id
from annotations.management.desk import DecisionCommand, add_study_argument
from annotations.management.importing import USAGE
from annotations.models import QuestionSetVersion
from annotations.panels.client import PanelError
from annotations.panels.prolific import UNVERIFIED, Prolific
from annotations.panels.statuses import import_statuses


class Command(DecisionCommand):
    """Import the statuses of submissions from Prolific's export or its REST API."""

    help = (
        "Import the statuses of submissions of the question set SET from FILE, Prolific's "
        "export of a study: Submission id, Participant id, Status, times, code. All rows or "
        "none; data about people are not stored. With --from-prolific the statuses come from "
        "Prolific's API, if that is switched on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: question set, file or REST API, study, user, dry run."""
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, nargs="?", metavar="FILE")
        parser.add_argument(
            "--from-prolific", action="store_true", help="use Prolific's API instead of FILE"
        )
        add_study_argument(parser)
        parser.add_argument(
            "--instead",
            action="store_true",
            help="the files before were of another study: take the submissions of this one",
        )
        parser.add_argument("--by", metavar="USERNAME", help="the user who imports it, for the log")
        parser.add_argument(
            "--dry-run", action="store_true", help="do everything, report it, and store nothing"
        )

    def create_parser(self, *args: Any, **kwargs: Any) -> CommandParser:
        """Return Django's parser, changed so that FILE may follow an option."""
        parser = super().create_parser(*args, **kwargs)
        # Otherwise one that may be left out counts as left out at the first option.
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the statuses and print the report; CommandError (2) for invalid input."""
        version = self.find_version(options)
        user = self.find_decider(options, version) if options["by"] is not None else None
        if (options["file"] is None) != options["from_prolific"]:
            both = ", and not both" if options["from_prolific"] else ""
            raise CommandError(f"name a FILE, or use --from-prolific{both}", returncode=USAGE)
        try:
            source = options["file"] or self._request_submissions(version, options["study"])
            report = import_statuses(
                version, source, user, instead=options["instead"], dry_run=options["dry_run"]
            )
        except (InputError, PanelError, WhichStudyError) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        for line in report.lines():
            self.stdout.write(line)

    def _request_submissions(self, version: QuestionSetVersion, study: str) -> Source:
        """Return a study's submissions from Prolific; warn that the interface is unverified."""
        client = Prolific()
        self.stderr.write(UNVERIFIED)
        return client.load_statuses(find_study_id(version, study))
