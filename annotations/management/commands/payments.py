"""The door to bonuses: ``manage.py payments SET``: plan, confirm, cancel, and what came of them."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.exchange.writing.formats import format_of, write_table
from annotations.ledger import bonuses
from annotations.ledger.handing_over import ledger_table, read_settled
from annotations.management.desk import DeskCommand, add_round
from annotations.management.importing import USAGE


class Command(DeskCommand):
    """Say where bonuses stand, confirm or cancel them, keep what the panel said."""

    help = (
        "Say where the bonuses of the question set SET stand; confirm or cancel those that were "
        "planned; or keep what the panel said of those that were sent: FILE has the columns "
        "payment, state (paid or failed) and perhaps reference, as the table of --output has them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """SET, what to do, who."""
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--confirm", action="store_true", help="pay what is planned")
        what.add_argument("--cancel", action="store_true", help="do not pay what was not sent")
        what.add_argument("--settle", type=Path, metavar="FILE", help="what the panel said")
        what.add_argument("--output", type=Path, metavar="FILE", help="write all payments")
        parser.add_argument("--by", metavar="USERNAME", help="who does so: stands in the ledger")
        add_round(parser, default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say where payments stand; exit status 2 for what will not do."""
        version = self.version_of(options)
        writes = options["confirm"] or options["cancel"] or options["settle"]
        if writes and options["by"] is None:
            raise CommandError("say who does it with --by USERNAME", returncode=USAGE)
        user = self.decider(options, version) if options["by"] is not None else None
        try:
            if options["confirm"]:
                done = bonuses.confirm(version, user, options["round"])
                self.stdout.write(f"{len(done.payments):,} confirmed, {done.total} in all")
            elif options["cancel"]:
                done = bonuses.cancel(version, user, options["round"])
                self.stdout.write(f"{len(done.payments):,} cancelled")
            elif options["settle"]:
                new, known = bonuses.settle(version, user, read_settled(options["settle"]))
                self.stdout.write(f"{new:,} settled, {known:,} were so already")
            elif options["output"]:
                path = options["output"]
                table = ledger_table(bonuses.payments_of(version))
                write_table(path, format_of(path), table.header, table.rows)
        except (InputError, bonuses.UnsettledError) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        self._tell(bonuses.payments_of(version))

    def _tell(self, payments: list[bonuses.Payment]) -> None:
        counts = Counter(one.state for one in payments)
        for state in bonuses.STATES.values():
            if n := counts[state]:
                of_it = [one.amount for one in payments if one.state == state]
                self.stdout.write(f"{state}: {n:,}, {sum(of_it, Decimal(0))} in all")
        if not payments:
            self.stdout.write("no bonuses")
