"""Command that writes decisions and payments as files for a panel (export_decisions)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.exchange.writing.formats import write_chunks
from annotations.ledger.errors import CurrencyError
from annotations.ledger.panel_lists import FORMATS, ListRequest, NoListError
from annotations.management.desk import DecisionCommand
from annotations.management.importing import USAGE


class Command(DecisionCommand):
    """Write the decisions about workers, or the confirmed payments, as a file for a panel."""

    help = (
        "Write the decisions about the workers of the question set SET in a panel's format: ids to "
        "approve, one a line; rejections with category and message; confirmed bonuses, each in one "
        "list only, and so confirmed parts of the pay (prolific-screen-out); Mechanical Turk's own "
        "file with Approve and Reject filled; or, as log, every decision that was ever made. "
        "Undecided workers are in no list."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options: question set, format of the list, output file, user."""
        super().add_arguments(parser)
        parser.add_argument("--format", required=True, choices=tuple(FORMATS), help="which list")
        parser.add_argument("--output", type=Path, required=True, metavar="FILE")
        parser.add_argument(
            "--batch",
            metavar="NAME|ID",
            help="with mturk: which of several batches that were imported; with prolific-bonus and "
            "prolific-screen-out: a list that was written before, once more",
        )
        parser.add_argument(
            "--by",
            metavar="USERNAME",
            help="with prolific-bonus and prolific-screen-out: who takes the list to the panel",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the list and print notes about it; CommandError (2) if it cannot be written."""
        version = self.find_version(options)
        try:
            user = self.find_decider(options, version) if options["by"] else None
            wanted = ListRequest(options["batch"], user, str(options["output"]))
            chunks, said = FORMATS[options["format"]](version, wanted)
            write_chunks(options["output"], chunks)
        except (InputError, NoListError, CurrencyError) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        for line in said:
            self.stdout.write(line)
        self.stdout.write(f"written to {options['output']}")
