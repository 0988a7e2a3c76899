"""The door to bonuses: ``manage.py payments SET``: plan, confirm, cancel, and what came of them."""

from __future__ import annotations

import argparse
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.exchange.writing.formats import format_of, write_table
from annotations.ledger import bonuses
from annotations.ledger.handing_over import ledger_table, read_settled
from annotations.ledger.sending import WhichStudyError, send_bonuses, study_of, to_send
from annotations.management.desk import DeskCommand, add_round, add_study
from annotations.management.importing import USAGE
from annotations.models import QuestionSetVersion
from annotations.panels.client import NotDoneError, UnsureError
from annotations.panels.prolific import UNVERIFIED, Prolific


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
        what.add_argument(
            "--send",
            action="store_true",
            help="have Prolific's own interface pay what is confirmed, where that is switched on; "
            "without --total only say what that would be",
        )
        parser.add_argument(
            "--total", type=_amount, metavar="AMOUNT", help="with --send: the sum that you pay"
        )
        add_study(parser)
        parser.add_argument("--by", metavar="USERNAME", help="who does so: stands in the ledger")
        add_round(parser, default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say where payments stand; exit status 2 for what will not do."""
        version = self.version_of(options)
        writes = options["confirm"] or options["cancel"] or options["settle"] or options["send"]
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
            elif options["send"]:
                self._send(version, user, options)
            elif options["output"]:
                path = options["output"]
                table = ledger_table(bonuses.payments_of(version))
                write_table(path, format_of(path), table.header, table.rows)
        except (InputError, bonuses.UnsettledError, WhichStudyError) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        self._tell(bonuses.payments_of(version))

    def _send(self, version: QuestionSetVersion, user: Any, options: dict[str, Any]) -> None:
        """Say what the next list would pay, or have it paid once somebody says its sum."""
        waiting = to_send(version, options["round"])
        total = sum((one.amount for one in waiting), Decimal(0))
        if not waiting:
            raise CommandError("no confirmed bonus is left to be sent", returncode=USAGE)
        currency = waiting[0].currency
        said = f"{len(waiting):,} bonuses, {total} {currency}".rstrip()
        study = study_of(version, options["study"])
        self.stderr.write(UNVERIFIED)
        if options["total"] is None:
            self.stdout.write(
                f"{said}, and the panel's fee, would be paid to people of the study {study}. "
                f"Nothing was sent. To pay, say the same with --total {total}"
            )
            return
        try:
            batch = send_bonuses(
                version, user, Prolific(), study, options["total"], options["round"]
            )
        except (bonuses.OtherTotalError, bonuses.NothingToSendError) as error:
            raise CommandError(str(error) or "nothing was left", returncode=USAGE) from error
        except NotDoneError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        except bonuses.PanelRefusedError as error:
            raise CommandError(f"nothing was paid: {error}") from error
        except UnsureError as error:
            at = f" (list {error.reference})" if error.reference else ""
            raise CommandError(
                f"whether it was paid is not known{at}: {error}. It is not sent again by itself: "
                "look on the panel, and say what came of it with --settle"
            ) from error
        paid = f"{len(batch.payments):,} bonuses, {batch.total} {currency}".rstrip()
        self.stdout.write(f"{paid}: the panel has taken them on")

    def _tell(self, payments: list[bonuses.Payment]) -> None:
        counts = Counter(one.state for one in payments)
        for state in bonuses.STATES.values():
            if n := counts[state]:
                of_it = [one.amount for one in payments if one.state == state]
                self.stdout.write(f"{state}: {n:,}, {sum(of_it, Decimal(0))} in all")
        if not payments:
            self.stdout.write("no bonuses")


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no sum: write it such as 12.50")
    return amount
