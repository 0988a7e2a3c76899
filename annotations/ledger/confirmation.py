"""Actions that a user confirms by naming their total; if it has changed, nothing is done."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotations.ledger import bonuses, errors, parts
from annotations.models import QuestionSetVersion


def confirm_round(
    version: QuestionSetVersion, user: Any, round_: str, total: Decimal
) -> bonuses.PaymentBatch:
    """Confirm a round's planned payments; raise `OtherTotalError` if their sum is not `total`."""
    return _run_with_total(total, lambda: bonuses.confirm_payments(version, user, round_))


def cancel_round(
    version: QuestionSetVersion, user: Any, round_: str, total: Decimal
) -> bonuses.PaymentBatch:
    """Cancel a round's unsent payments; raise `OtherTotalError` if their sum is not `total`."""
    return _run_with_total(total, lambda: bonuses.cancel_payments(version, user, round_))


def plan_parts_of_total(
    version: QuestionSetVersion, user: Any, total: Decimal
) -> bonuses.PaymentBatch:
    """Plan all owed partial payments; raise `OtherTotalError` if their sum is not `total`.

    If no worker is owed one, nothing is planned, with any `total`. A second click thus does no
    harm. Raises OtherTotalError.
    """
    return _run_with_total(total, lambda: parts.plan_parts(version, user), accept_none=True)


def _run_with_total(
    total: Decimal, act: Callable[[], bonuses.PaymentBatch], *, accept_none: bool = False
) -> bonuses.PaymentBatch:
    """Run `act` and return its batch; undo it and raise if its sum is not `total`.

    Raises `OtherTotalError`. With `accept_none`, an empty batch passes with any total.
    """
    with transaction.atomic():
        batch = act()
        # Raised inside the transaction, which undoes what `act` did.
        if batch.total != total and (batch.payments or not accept_none):
            raise errors.OtherTotalError(total, batch.total)
        return batch
