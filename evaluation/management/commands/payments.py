"""The door to bonuses: ``manage.py payments SET``: a rule, yes or no, and what came of them."""

from __future__ import annotations

import argparse
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.exchange.money import amount_of
from annotations.exchange.writing.formats import format_of, write_table
from annotations.ledger import bonuses
from annotations.ledger.handing_over import ledger_table, read_settled
from annotations.ledger.sending import WhichStudyError, send_bonuses, study_of, to_send
from annotations.management.desk import DeskCommand, add_round, add_study
from annotations.management.importing import USAGE
from annotations.models import QuestionSetVersion
from annotations.panels.client import NotDoneError, UnsureError
from annotations.panels.prolific import UNVERIFIED, Prolific
from evaluation.options import TERMINAL
from evaluation.paying import rules
from evaluation.paying.fairness import lines


class Command(DeskCommand):
    """Say where bonuses stand, confirm or cancel them, keep what the panel said."""

    help = (
        "Say where the bonuses of the question set SET stand; confirm or cancel those that were "
        "planned; or keep what the panel said of those that were sent: FILE has the columns "
        "payment, state (paid or failed) and perhaps reference, as the table of --output has them. "
        "With --rule a bonus of --amount is planned for whom the rule names; --dry-run only tells "
        "who gets how much, what it costs, what people earn in an hour and who is left out."
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
        what.add_argument("--rule", choices=tuple(rules.KINDS), help="plan bonuses by a rule")
        add_rule(parser)
        parser.add_argument("--by", metavar="USERNAME", help="who does so: stands in the ledger")
        add_round(parser, default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say where payments stand; exit status 2 for what will not do."""
        version = self.version_of(options)
        planned = options["rule"] and not options["dry_run"]
        writes = planned or any(options[name] for name in ("confirm", "cancel", "settle", "send"))
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
            elif options["rule"]:
                self._propose(version, user, options)
            elif options["output"]:
                path = options["output"]
                table = ledger_table(bonuses.payments_of(version))
                write_table(path, format_of(path), table.header, table.rows)
        except (
            *(InputError, bonuses.UnsettledError, WhichStudyError),
            *(rules.RuleError, bonuses.OtherAmountError),
        ) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        self._tell(bonuses.payments_of(version))

    def _propose(self, version: QuestionSetVersion, user: Any, options: dict[str, Any]) -> None:
        """Tell what a rule would do, and plan it unless it is tried only."""
        if options["amount"] is None:
            raise CommandError("say how much with --amount", returncode=USAGE)
        named = {name: options[name] for name in ("amount", "share", "at_least", "end")}
        rule = rules.Rule(options["rule"], **named)
        pay = {"least": options["least_hourly"], "base": options["base_pay"]}
        found = rules.propose(version, rule, **pay)
        for one in found.rewarded:
            hourly = "" if one.hourly is None else f"  {one.hourly} an hour"
            self.stdout.write(f"{one.name}  {one.amount}{hourly}")
        total = f"{found.total} {found.currency}".rstrip()
        self.stdout.write(
            f"{len(found.rewarded):,} of {len(found.earners):,} people who handed in and are not "
            f"rejected get a bonus, {total} in all, without the panel's fee"
        )
        if found.n_unscored:
            self.stdout.write(f"{found.n_unscored:,} gave too few answers for a score: no bonus")
        if found.hourly is not None:
            self.stdout.write(f"pay and bonus for the median time: {found.hourly} an hour")
        for line in lines(found.fairness):
            self.stdout.write(line)
        for message in found.warnings:
            self.stdout.write(f"Warning: {TERMINAL.said(message)}")
        if options["dry_run"]:
            self.stdout.write("This was a dry run: nothing was stored.")
            return
        round_ = options["round"] or bonuses.ROUND
        new = bonuses.plan(version, found.amounts, user, round_, rule.said)
        self.stdout.write(f"{new:,} planned; a person confirms them with --confirm")

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


def add_rule(parser: argparse.ArgumentParser) -> None:
    """What belongs to a rule."""
    group = parser.add_argument_group("with --rule")
    group.add_argument("--amount", type=_bonus, metavar="AMOUNT", help="of each bonus, or answer")
    group.add_argument("--share", type=float, metavar="X", help="quantile: .2 for the best 20%%")
    group.add_argument("--at-least", type=float, metavar="X", help="threshold: the least score")
    group.add_argument(
        "--end",
        choices=(rules.SCORE, rules.LOW),
        default=rules.SCORE,
        help="threshold: what has to reach it, the score (default) or its interval's lower end",
    )
    group.add_argument(
        "--least-hourly",
        type=_amount,
        metavar="AMOUNT",
        help="warn below it (default: that of the collecting)",
    )
    group.add_argument(
        "--base-pay",
        type=_amount,
        metavar="AMOUNT",
        help="pay without a bonus (default: that of the collecting)",
    )
    group.add_argument("--dry-run", action="store_true", help="tell it, and store nothing")


def _bonus(text: str) -> Decimal:
    try:
        return amount_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no sum: write it such as 12.50")
    return amount
