"""Actions that a user confirms by naming their total; if it has changed, nothing is done."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotations.ledger import bonuses, errors, parts
from annotations.models import QuestionSetVersion


def confirm(version: QuestionSetVersion, user: Any, round_: str, total: Decimal) -> bonuses.Batch:
    """Confirm a round's planned payments; raise `OtherTotalError` if their sum is not `total`."""
    return _check_total(total, lambda: bonuses.confirm(version, user, round_))


def cancel(version: QuestionSetVersion, user: Any, round_: str, total: Decimal) -> bonuses.Batch:
    """Cancel a round's unsent payments; raise `OtherTotalError` if their sum is not `total`."""
    return _check_total(total, lambda: bonuses.cancel(version, user, round_))


def plan_parts(version: QuestionSetVersion, user: Any, total: Decimal) -> bonuses.Batch:
    """Plan all owed partial payments; raise `OtherTotalError` if their sum is not `total`.

    If no worker is owed one, nothing is planned, with any `total`. A second click thus does no
    harm. Raises OtherTotalError.
    """
    return _check_total(total, lambda: parts.plan_parts(version, user), accept_none=True)


def _check_total(
    total: Decimal, act: Callable[[], bonuses.Batch], *, accept_none: bool = False
) -> bonuses.Batch:
    """Run `act` and return its batch; undo it if its sum differs from `total`.

    Then `OtherTotalError` is raised.

    With `accept_none`, an empty batch passes with any total.
    """
    with transaction.atomic():
        batch = act()
        # Raised inside the transaction, which undoes what `act` did.
        if batch.total != total and (batch.payments or not accept_none):
            raise errors.OtherTotalError(total, batch.total)
        return batch
