"""Sums and counts of payments by state, for each round or list."""

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
    """The number of payments in a state, and their sum."""

    state: str
    n: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Tally:
    """Payments of one round or one list, in the order of planning."""

    payments: tuple[Payment, ...]

    @property
    def is_part(self) -> bool:
        """Whether these are partial payments, not bonuses."""
        return self.payments[0].round == PART

    @property
    def round(self) -> str:
        """The name of the first payment's round."""
        return self.payments[0].round

    @property
    def total(self) -> Decimal:
        """The sum of all payments, without the panel's fee."""
        return self._sum(STATES.values())

    @property
    def currency(self) -> str:
        """The currency of all payments; "" if there are several."""
        currencies = {payment.currency for payment in self.payments}
        return currencies.pop() if len(currencies) == 1 else ""

    @property
    def planned(self) -> Decimal:
        """The sum of planned payments, for which `confirming.confirm` asks."""
        return self._sum({"planned"})

    @property
    def unsent(self) -> Decimal:
        """The sum of unsent payments, for which `confirming.cancel` asks."""
        return self._sum({"planned", "confirmed"})

    @property
    def states(self) -> list[StateCount]:
        """The count and sum of each state with payments, in the order of a payment's life."""
        counts = []
        for state in STATES.values():
            amounts = [payment.amount for payment in self.payments if payment.state == state]
            if amounts:
                counts.append(StateCount(state, len(amounts), sum(amounts, Decimal(0))))
        return counts

    def _sum(self, states: Iterable[str]) -> Decimal:
        wanted = set(states)
        return sum(
            (payment.amount for payment in self.payments if payment.state in wanted), Decimal(0)
        )


def group_by_round(payments: Sequence[Payment]) -> list[Tally]:
    """Return a tally for each round, in the order in which the rounds began."""
    return list(_group(payments, lambda payment: payment.round).values())


def group_by_list(payments: Sequence[Payment]) -> dict[UUID, Tally]:
    """Return a tally for each list that was written, by its id, the oldest first."""
    listed = [payment for payment in payments if payment.batch is not None]
    tallies = _group(listed, lambda payment: payment.batch)
    return {key: tally for key, tally in tallies.items() if key is not None}


def _group(payments: Iterable[Payment], get_key: Callable[[Payment], Key]) -> dict[Key, Tally]:
    """Return a tally for each key, in the order of first appearance."""
    groups: dict[Key, list[Payment]] = {}
    for payment in payments:
        groups.setdefault(get_key(payment), []).append(payment)
    return {key: Tally(tuple(group)) for key, group in groups.items()}
