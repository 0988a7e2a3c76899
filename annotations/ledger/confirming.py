"""What a person says yes to by its sum: where that is another by now, nothing is done."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotations.ledger import bonuses, parts
from annotations.models import QuestionSetVersion


def confirm(version: QuestionSetVersion, user: Any, round_: str, total: Decimal) -> bonuses.Batch:
    """Confirm what is planned of a round, and return it. Raises OtherTotalError."""
    return _if_it_is(total, lambda: bonuses.confirm(version, user, round_))


def cancel(version: QuestionSetVersion, user: Any, round_: str, total: Decimal) -> bonuses.Batch:
    """Cancel what was not sent of a round, and return it. Raises OtherTotalError."""
    return _if_it_is(total, lambda: bonuses.cancel(version, user, round_))


def plan_parts(version: QuestionSetVersion, user: Any, total: Decimal) -> bonuses.Batch:
    """Plan a part of the pay for everybody who is owed one, and return what was planned.

    Where nobody is left nothing is, whatever `total` says: who presses twice has planned once.
    Raises OtherTotalError.
    """
    return _if_it_is(total, lambda: parts.plan_parts(version, user), nothing_is_fine=True)


def _if_it_is(
    total: Decimal, act: Callable[[], bonuses.Batch], *, nothing_is_fine: bool = False
) -> bonuses.Batch:
    with transaction.atomic():
        done = act()
        if done.total != total and (done.payments or not nothing_is_fine):
            raise bonuses.OtherTotalError(total, done.total)
        return done
