"""Command that sends decisions to Prolific's REST API: ``manage.py send_decisions SET``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.ledger.panel_payments import send_decisions
from annotations.ledger.sentences import SENDING
from annotations.management.desk import DecisionCommand
from annotations.management.importing import USAGE
from annotations.panels.client import PanelError
from annotations.panels.prolific import UNVERIFIED, Prolific


class Command(DecisionCommand):
    """Approve and reject submissions on Prolific as decided on this site."""

    help = (
        "Count the approvals and rejections of the question set SET that Prolific does not have "
        "yet; with --send, send them by its API, if that is switched on. Known decisions are "
        "skipped, so after an interruption run the same command again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: question set, user, and whether to send or only count."""
        super().add_arguments(parser)
        self.add_by_argument(parser)
        parser.add_argument(
            "--send", action="store_true", help="do it: rejections cannot be taken back there"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Count or send the decisions; CommandError with 2 if the API is off, 1 for failures."""
        version = self.find_version(options)
        self.find_decider(options, version)
        try:
            client = Prolific() if options["send"] else None
        except PanelError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        self.stderr.write(UNVERIFIED)
        try:
            sent = send_decisions(version, client, do=options["send"])
        except PanelError as error:
            raise CommandError(str(error)) from error
        for line in sent.lines(done=options["send"]):
            self.stdout.write(line)
        if not options["send"]:
            self.stdout.write("Nothing was sent. To do it, add --send")
        if sent.problems:
            raise CommandError(SENDING.text("rejections_failed", n=len(sent.problems)))
