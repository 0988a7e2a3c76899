"""Sums and counts of payments by state, for each bonus round or payment list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar
from uuid import UUID

from annotations.ledger.bonuses import PART, STATES, Payment

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class StateCount:
    """Number and sum of the payments in one state."""

    state: str
    n: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class PaymentTally:
    """Payments of one round or one list, in planned order, with their sums."""

    payments: tuple[Payment, ...]

    @property
    def is_part(self) -> bool:
        """Whether these are partial payments, not bonuses."""
        return self.payments[0].round == PART

    @property
    def round(self) -> str:
        """Name of the round (that of the first payment)."""
        return self.payments[0].round

    @property
    def total(self) -> Decimal:
        """Sum of all amounts, without the panel's fee."""
        return self._sum_amounts(STATES.values())

    @property
    def currency(self) -> str:
        """Currency of all payments; "" if there are several."""
        currencies = {payment.currency for payment in self.payments}
        return currencies.pop() if len(currencies) == 1 else ""

    @property
    def planned(self) -> Decimal:
        """Sum of the planned payments, which the user enters to confirm them."""
        return self._sum_amounts({"planned"})

    @property
    def unsent(self) -> Decimal:
        """Sum of the payments that were not sent, which the user enters to cancel them."""
        return self._sum_amounts({"planned", "confirmed"})

    @property
    def states(self) -> list[StateCount]:
        """Count and sum for each state with payments, from planned to the last state."""
        counts = []
        for state in STATES.values():
            amounts = [payment.amount for payment in self.payments if payment.state == state]
            if amounts:
                counts.append(StateCount(state, len(amounts), sum(amounts, Decimal(0))))
        return counts

    def _sum_amounts(self, states: Iterable[str]) -> Decimal:
        """Return the sum of the payments in the given states."""
        wanted = set(states)
        return sum(
            (payment.amount for payment in self.payments if payment.state in wanted), Decimal(0)
        )


def group_by_round(payments: Sequence[Payment]) -> list[PaymentTally]:
    """Return a tally of payments for each round, in the order in which rounds began."""
    return list(_group_payments(payments, lambda payment: payment.round).values())


def group_by_list(payments: Sequence[Payment]) -> dict[UUID, PaymentTally]:
    """Return a tally of payments for each written list, by list id, oldest first."""
    listed = [payment for payment in payments if payment.batch is not None]
    tallies = _group_payments(listed, lambda payment: payment.batch)
    return {key: tally for key, tally in tallies.items() if key is not None}


def _group_payments(
    payments: Iterable[Payment], get_key: Callable[[Payment], Key]
) -> dict[Key, PaymentTally]:
    """Return the payments grouped by `get_key`, each group with its sums."""
    groups: dict[Key, list[Payment]] = {}
    for payment in payments:
        groups.setdefault(get_key(payment), []).append(payment)
    return {key: PaymentTally(tuple(group)) for key, group in groups.items()}
