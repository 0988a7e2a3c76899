"""Bonuses planned as they were shown: where others would get them by now, nothing is planned."""

from __future__ import annotations

from typing import Any

from annotations.ledger import bonuses
from evaluation.paying.rules import Proposal


class ChangedError(RuntimeError):
    """Who gets the bonus, or how much, is not what somebody has seen."""


def plan_proposed(
    found: Proposal, user: Any, round_: str = bonuses.ROUND, *, seen: str | None = None
) -> int:
    """Plan the bonuses of a proposal, and return how many are new; without `seen` as it is now.

    Raises ChangedError where `seen` is that of another, and what `bonuses.plan` does.
    """
    if seen is not None and seen != found.seen:
        raise ChangedError
    return bonuses.plan(found.version, found.amounts, user, round_, found.rule.said)
