"""Arguments of ``manage.py payments``, and checks of which options go together."""

from __future__ import annotations

import argparse
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError

from annotations.exchange.money import parse_amount, parse_sum
from annotations.ledger.sentences import PARTS
from annotations.management.importing import USAGE
from evaluation.payments.storage import rules
from evaluation.runs.raw_scores import SCORES

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
    """Raise CommandError for an option that would have no effect in this combination.

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
    """Return whether partial payments are planned or listed; CommandError for wrong options."""
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
        type=parse_positive_sum,
        metavar="AMOUNT",
        help="warn below it (default: that of the collecting)",
    )
    group.add_argument(
        "--base-pay",
        type=parse_positive_sum,
        metavar="AMOUNT",
        help="pay without a bonus (default: that of the collecting)",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="show it, and store nothing (also with --parts)"
    )


def _parse_bonus(text: str) -> Decimal:
    """Parse the amount of a bonus; raise ArgumentTypeError for an invalid one."""
    try:
        return parse_amount(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parse_positive_sum(text: str) -> Decimal:
    """Parse a sum above 0; raise ArgumentTypeError for another text."""
    try:
        amount = parse_sum(text)
    except ValueError:
        amount = Decimal(0)
    if amount <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no sum: write it such as 12.50")
    return amount
