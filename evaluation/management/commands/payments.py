"""Command ``manage.py payments SET``: plan, confirm and send bonuses."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.exchange import InputError
from annotations.exchange.money import parse_bonus_amount, parse_total_amount
from annotations.exchange.writing.formats import find_format, write_table
from annotations.ledger import bonuses, errors, parts
from annotations.ledger.panel_payments import (
    WhichStudyError,
    count_unsendable_bonuses,
    find_study_id,
    select_next_bonuses,
    select_next_parts,
    send_bonuses,
    send_parts,
)
from annotations.ledger.payment_lists import build_ledger_table
from annotations.ledger.sentences import PARTS, SENDING
from annotations.ledger.settlement import import_panel_reports
from annotations.management.desk import DecisionCommand, add_round_argument, add_study_argument
from annotations.management.importing import USAGE
from annotations.models import QuestionSetVersion
from annotations.panels.client import NotDoneError, UnsureError
from annotations.panels.prolific import UNVERIFIED, Prolific
from annotations.panels.sentences import REPORTS
from evaluation.core.options import TERMINAL
from evaluation.payments.storage import rules
from evaluation.payments.storage.fairness import format_comparisons
from evaluation.payments.storage.rules import RuleError, plan_proposed_bonuses
from evaluation.runs.raw_scores import RAW, SCORES

ACTIONS = ("confirm", "cancel", "settle", "output", "send")
KINDS_BY_OPTION = {
    "amount": tuple(rules.KINDS),
    "share": (rules.QUANTILE,),
    "at_least": (rules.THRESHOLD,),
    "score": (rules.QUANTILE, rules.THRESHOLD),
    "least_hourly": tuple(rules.KINDS),
    "base_pay": tuple(rules.KINDS),
}
"""Kinds of rule that take an option, by option."""


def check_options(options: dict[str, Any]) -> None:
    """Raise CommandError for an option that has no effect in this combination.

    The command moves money, so an ignored option is an error.
    """
    action = next((name for name in ACTIONS if options[name]), None)
    if options["dry_run"] and action is not None:
        raise CommandError(
            f"--{action} is not tried: --dry-run goes with --rule or --parts. Nothing was done; "
            "leave out one of the two",
            returncode=USAGE,
        )
    for name, kinds in KINDS_BY_OPTION.items():
        if options[name] is not None and options["rule"] not in kinds:
            flag = "--" + name.replace("_", "-")
            required = "--rule" if len(kinds) > 1 else f"--rule {kinds[0]}"
            raise CommandError(f"{flag} goes with {required}. Nothing was done", returncode=USAGE)
    if options["total"] is not None and not options["send"]:
        raise CommandError("--total goes with --send. Nothing was done", returncode=USAGE)


def is_planning_parts(options: dict[str, Any]) -> bool:
    """Return whether partial payments are planned or shown; CommandError for wrong options."""
    if options["parts"] and (options["rule"] or options["round"]):
        raise CommandError(PARTS.text("rule_or_round"), returncode=USAGE)
    if options["increase_places"] and not (options["parts"] and options["send"]):
        raise CommandError(PARTS.text("increase_places"), returncode=USAGE)
    return bool(options["parts"]) and not any(options[name] for name in ACTIONS)


def add_rule_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a bonus rule to a command."""
    group = parser.add_argument_group("with --rule")
    group.add_argument(
        "--amount", type=_parse_bonus, metavar="AMOUNT", help="of each bonus, or answer"
    )
    group.add_argument("--share", type=float, metavar="X", help="quantile: .2 for the best 20%%")
    group.add_argument("--at-least", type=float, metavar="X", help="threshold: the least score")
    group.add_argument(
        "--score",
        choices=tuple(SCORES),
        help="quantile and threshold: by raw score (default) or question contrast",
    )
    group.add_argument(
        "--end",
        choices=(rules.SCORE, rules.LOW),
        default=rules.SCORE,
        help="threshold: what has to reach it, the score (default) or its interval's lower end",
    )
    group.add_argument(
        "--least-hourly",
        type=parse_positive_amount,
        metavar="AMOUNT",
        help="warn below it (default: that of the collecting)",
    )
    group.add_argument(
        "--base-pay",
        type=parse_positive_amount,
        metavar="AMOUNT",
        help="pay without a bonus (default: that of the collecting)",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="show it, and store nothing (also with --parts)"
    )


def _parse_bonus(text: str) -> Decimal:
    """Return the amount of a bonus in an argument's text. Raises ArgumentTypeError."""
    try:
        return parse_bonus_amount(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parse_positive_amount(text: str) -> Decimal:
    """Return the amount of money above 0 in an argument's text. Raises ArgumentTypeError."""
    try:
        amount = parse_total_amount(text)
    except ValueError:
        amount = Decimal(0)
    if amount <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no sum: write it such as 12.50")
    return amount


class Command(DecisionCommand):
    """Show, plan, confirm, cancel and send bonuses, and record the panel's results."""

    help = (
        "Show the states of the bonuses of the question set SET; confirm or cancel planned "
        "ones; or store the panel's result of sent ones: FILE has the columns "
        "payment, state (paid or failed) and perhaps reference, as the table of --output has them. "
        "With --rule a bonus of --amount is planned for workers who meet the rule; --dry-run "
        "only shows who gets how much, the cost, the pay an hour and who is left out. --parts "
        "applies to parts of the pay for workers who did not pass the practice or failed the "
        "attention checks: they are planned by the settings, or only shown with --dry-run; "
        "--confirm, --cancel and --send then apply to them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, action and user."""
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--confirm", action="store_true", help="pay what is planned")
        what.add_argument("--cancel", action="store_true", help="do not pay what was not sent")
        what.add_argument("--settle", type=Path, metavar="FILE", help="the panel's result")
        what.add_argument("--output", type=Path, metavar="FILE", help="write all payments")
        what.add_argument(
            "--send",
            action="store_true",
            help="have Prolific's own interface pay what is confirmed, where that is switched on; "
            "without --total only show the amount",
        )
        parser.add_argument(
            "--parts",
            action="store_true",
            help="parts of the pay: plan them, or use them with the other options",
        )
        parser.add_argument(
            "--increase-places",
            action="store_true",
            help="with --parts --send: let as many others take part there as are screened out",
        )
        parser.add_argument(
            "--total",
            type=parse_positive_amount,
            metavar="AMOUNT",
            help="with --send: the sum that you pay",
        )
        add_study_argument(parser)
        what.add_argument("--rule", choices=tuple(rules.KINDS), help="plan bonuses by a rule")
        add_rule_arguments(parser)
        parser.add_argument("--by", metavar="USERNAME", help="the user who does so, for the ledger")
        add_round_argument(parser, default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        """Perform the action and print the payments by state; exit status 2 for invalid input."""
        check_options(options)
        version = self.find_version(options)
        only_parts = is_planning_parts(options)
        round_ = bonuses.PART if options["parts"] else options["round"]
        planned = (options["rule"] or only_parts) and not options["dry_run"]
        writes = planned or any(options[name] for name in ("confirm", "cancel", "settle", "send"))
        if writes and options["by"] is None:
            raise CommandError("name the user with --by USERNAME", returncode=USAGE)
        user = self.find_decider(options, version) if options["by"] is not None else None
        try:
            if options["confirm"] or options["cancel"]:
                self._confirm_or_cancel(version, user, round_, confirm=options["confirm"])
            elif options["settle"]:
                new, known = import_panel_reports(version, user, options["settle"])
                self.stdout.write(f"{new:,} settled, {known:,} were so already")
            elif options["send"]:
                send = self._send_partial_payments if options["parts"] else self._send_bonuses
                send(version, user, options)
            elif only_parts:
                self._plan_partial_payments(version, user, dry_run=options["dry_run"])
            elif options["rule"]:
                self._plan_by_rule(version, user, options)
            elif options["output"]:
                path = options["output"]
                table = build_ledger_table(bonuses.load_payments(version))
                write_table(path, find_format(path), table.header, table.rows)
        except (
            *(InputError, errors.UnsettledError, WhichStudyError),
            *(RuleError, errors.OtherAmountError, errors.CurrencyError),
        ) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        self._print_payment_states(bonuses.load_payments(version))

    def _confirm_or_cancel(
        self, version: QuestionSetVersion, user: Any, round_: str | None, *, confirm: bool
    ) -> None:
        """Confirm or cancel the planned bonuses of a round, and print their number."""
        if confirm:
            done = bonuses.confirm_payments(version, user, round_)
            self.stdout.write(f"{len(done.payments):,} confirmed, {done.total} in all")
        else:
            done = bonuses.cancel_payments(version, user, round_)
            self.stdout.write(f"{len(done.payments):,} cancelled")

    def _plan_by_rule(
        self, version: QuestionSetVersion, user: Any, options: dict[str, Any]
    ) -> None:
        """Print who gets a bonus by the rule and its cost; plan them unless it is a dry run."""
        if options["amount"] is None:
            raise CommandError("give the amount with --amount", returncode=USAGE)
        named = {name: options[name] for name in ("amount", "share", "at_least", "end")}
        rule = rules.BonusRule(options["rule"], **named, score=options["score"] or RAW)
        pay = {"least": options["least_hourly"], "base": options["base_pay"]}
        proposals = rules.propose_bonuses(version, rule, **pay)
        for earner in proposals.rewarded:
            hourly = "" if earner.hourly is None else f"  {earner.hourly} an hour"
            self.stdout.write(f"{earner.name}  {earner.amount}{hourly}")
        total = f"{proposals.total} {proposals.currency}".rstrip()
        self.stdout.write(
            f"{len(proposals.rewarded):,} of {len(proposals.earners):,} people who handed in and "
            "are not "
            f"rejected get a bonus, {total} in all, without the panel's fee"
        )
        if proposals.n_unscored:
            self.stdout.write(
                f"{proposals.n_unscored:,} gave too few answers for a score: no bonus"
            )
        if proposals.hourly is not None:
            self.stdout.write(f"pay and bonus for the median time: {proposals.hourly} an hour")
        for line in format_comparisons(proposals.fairness, TERMINAL.format_message):
            self.stdout.write(line)
        for message in proposals.warnings:
            self.stdout.write(f"Warning: {TERMINAL.format_message(message)}")
        if options["dry_run"]:
            self.stdout.write("This was a dry run: nothing was stored.")
            return
        round_ = options["round"] or bonuses.ROUND
        new = plan_proposed_bonuses(proposals, user, round_)
        self.stdout.write(f"{new:,} planned; a person confirms them with --confirm")

    def _send_bonuses(
        self, version: QuestionSetVersion, user: Any, options: dict[str, Any]
    ) -> None:
        """Print the next confirmed bonuses; let the panel pay them if --total is their sum."""
        waiting = select_next_bonuses(version, options["round"])
        for n, code in count_unsendable_bonuses(version, options["round"]):
            self.stdout.write(SENDING.text("left_out", said=SENDING.text(code, n=n)))
        total = sum((payment.amount for payment in waiting), Decimal(0))
        if not waiting:
            raise CommandError(SENDING.text("no_bonus_left"), returncode=USAGE)
        currency = waiting[0].currency
        study = find_study_id(version, options["study"])
        self.stderr.write(UNVERIFIED)
        # Nothing is sent without the sum: it confirms the list that was shown, which may have
        # changed.
        if options["total"] is None:
            values = {"n": len(waiting), "total": total, "currency": currency, "study": study}
            self.stdout.write(SENDING.text("bonuses_would_be_paid", **values))
            return
        batch = self._pay_batch(
            lambda: send_bonuses(
                version, user, Prolific(), study, options["total"], options["round"]
            )
        )
        paid = {"n": len(batch.payments), "total": batch.total, "currency": currency}
        self.stdout.write(SENDING.text("bonuses_paid", **paid))

    def _plan_partial_payments(
        self, version: QuestionSetVersion, user: Any, *, dry_run: bool
    ) -> None:
        """Print who is owed a partial payment and who is not; plan them unless it is a dry run."""
        owed_parts = parts.find_owed_parts(version)
        currency = owed_parts.currency
        for kind, n, amount in owed_parts.counts:
            text = PARTS.text("owed", n=n, kind=kind, amount=amount, currency=currency)
            self.stdout.write(text)
        if not owed_parts.owed:
            self.stdout.write(PARTS.text("nobody_owed"))
        for n, code in (
            (owed_parts.n_without, "without_amount"),
            (owed_parts.n_decided, "decided"),
            (owed_parts.n_settled, "settled"),
            (owed_parts.n_there, "there"),
            (owed_parts.n_unknown, "status_unknown"),
        ):
            if n:
                self.stdout.write(PARTS.text(code, n=n))
        if dry_run:
            self.stdout.write(REPORTS.text("dry_run"))
            return
        done = parts.plan_parts(version, user)
        n = len(done.payments)
        self.stdout.write(PARTS.text("planned", n=n, total=done.total, currency=currency))

    def _send_partial_payments(
        self, version: QuestionSetVersion, user: Any, options: dict[str, Any]
    ) -> None:
        """Print the next partial payments; let the panel pay them if --total is their sum."""
        next_parts = select_next_parts(version)
        if next_parts.n_without_id:
            self.stdout.write(SENDING.text("parts_without_id", n=next_parts.n_without_id))
        if not next_parts.payments:
            raise CommandError(SENDING.text("no_part_left"), returncode=USAGE)
        paid = {
            "n": len(next_parts.payments),
            "kind": next_parts.kind,
            "total": next_parts.total,
            "currency": next_parts.payments[0].currency,
        }
        study = find_study_id(version, options["study"])
        self.stderr.write(UNVERIFIED)
        if options["total"] is None:
            self.stdout.write(SENDING.text("parts_would_be_paid", **paid, study=study))
            return
        more = options["increase_places"]
        self._pay_batch(
            lambda: send_parts(version, user, Prolific(), study, options["total"], more_places=more)
        )
        self.stdout.write(SENDING.text("parts_paid", **paid))

    def _pay_batch(self, pay: Callable[[], bonuses.PaymentBatch]) -> bonuses.PaymentBatch:
        """Pay a batch; on an error, CommandError says whether money may have been paid."""
        try:
            return pay()
        except (errors.OtherTotalError, errors.NothingToSendError) as error:
            reason = str(error) or SENDING.text("nothing_left")
            raise CommandError(reason, returncode=USAGE) from error
        except NotDoneError as error:
            raise CommandError(str(error), returncode=USAGE) from error
        except errors.PanelRefusedError as error:
            raise CommandError(SENDING.text("nothing_paid", reason=str(error))) from error
        except UnsureError as error:
            values = {"reference": error.reference, "reason": str(error)}
            raise CommandError(SENDING.text("not_known", **values)) from error

    def _print_payment_states(self, payments: list[bonuses.Payment]) -> None:
        """Print the number and sum of the payments in each state."""
        counts = Counter(payment.state for payment in payments)
        for state in bonuses.STATES.values():
            if n := counts[state]:
                of_it = [payment.amount for payment in payments if payment.state == state]
                self.stdout.write(f"{state}: {n:,}, {sum(of_it, Decimal(0))} in all")
        if not payments:
            self.stdout.write("no bonuses")
