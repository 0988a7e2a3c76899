"""How many payments stand where, and how much that is: by round, and by the list that has them."""

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
    """How many payments are in a state, and their sum."""

    state: str
    n: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Tally:
    """Payments that have something in common, in the order in which they were planned."""

    payments: tuple[Payment, ...]

    @property
    def is_part(self) -> bool:
        """Whether these are parts of the pay, and not bonuses."""
        return self.payments[0].round == PART

    @property
    def round(self) -> str:
        """The name of the round of the first of them."""
        return self.payments[0].round

    @property
    def total(self) -> Decimal:
        """The sum of all, without the panel's fee."""
        return self._sum(STATES.values())

    @property
    def currency(self) -> str:
        """The currency of all payments; "" where they have several."""
        found = {one.currency for one in self.payments}
        return found.pop() if len(found) == 1 else ""

    @property
    def planned(self) -> Decimal:
        """The sum that `confirming.confirm` asks for."""
        return self._sum({"planned"})

    @property
    def unsent(self) -> Decimal:
        """The sum that `confirming.cancel` asks for."""
        return self._sum({"planned", "confirmed"})

    @property
    def states(self) -> list[StateCount]:
        """How many stand in each state in which any does, in the order of a payment's way."""
        found = []
        for state in STATES.values():
            amounts = [one.amount for one in self.payments if one.state == state]
            if amounts:
                found.append(StateCount(state, len(amounts), sum(amounts, Decimal(0))))
        return found

    def _sum(self, states: Iterable[str]) -> Decimal:
        wanted = set(states)
        return sum((one.amount for one in self.payments if one.state in wanted), Decimal(0))


def by_round(payments: Sequence[Payment]) -> list[Tally]:
    """Return the payments round by round, in the order in which rounds began."""
    return list(_together(payments, lambda one: one.round).values())


def by_list(payments: Sequence[Payment]) -> dict[UUID, Tally]:
    """Return the payments that were taken, by the ids of their lists, the oldest first."""
    taken = [one for one in payments if one.batch is not None]
    found = _together(taken, lambda one: one.batch)
    return {key: tally for key, tally in found.items() if key is not None}


def _together(payments: Iterable[Payment], of: Callable[[Payment], Key]) -> dict[Key, Tally]:
    found: dict[Key, list[Payment]] = {}
    for one in payments:
        found.setdefault(of(one), []).append(one)
    return {key: Tally(tuple(those)) for key, those in found.items()}
