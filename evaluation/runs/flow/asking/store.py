"""Define the protocol of reply stores, and a store in memory."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from evaluation.core.backends.chat.contract import Reply
from evaluation.runs.flow.asking.plan import Planned


@dataclass(frozen=True, slots=True)
class KeptReply:
    """A model's reply as it is stored, with attempts, seconds and cost.

    `attempts` is 0 where it was not asked, because the model was given up. `cost` is in the
    currency of the prices, `seconds` from sending the last attempt to its last byte.
    """

    reply: Reply
    attempts: int = 1
    seconds: float = 0.0
    cost: float = 0.0


class Store(Protocol):
    """Protocol of a store of models' replies; a stored reply is never lost.

    A store that takes its time returns what is awaited in place of None.
    """

    def has(self, planned: Planned) -> bool:
        """Return whether the request's item and sample has a reply (an ERROR does not count)."""

    def known(self, key: str) -> bool:
        """Return whether a reply to a request with this key is stored, also for another item."""

    def copy(self, planned: Planned) -> Awaitable[None] | None:
        """Store the known reply of the request's key for the request's own item, too."""

    def keep(self, planned: Planned, kept: KeptReply) -> Awaitable[None] | None:
        """Store a reply; raises OSError if it cannot be stored, which ends the asking."""


class MemoryStore:
    """A reply store in memory, by item index and sample."""

    def __init__(self) -> None:
        self.kept: dict[tuple[int, int], KeptReply] = {}
        self._by_key: dict[str, KeptReply] = {}

    def has(self, planned: Planned) -> bool:
        """Return False, as a new store has no reply to any item."""
        return False

    def known(self, key: str) -> bool:
        """Return whether a reply to a request with this key is stored."""
        return key in self._by_key

    def copy(self, planned: Planned) -> None:
        """Store the known reply of the request's key for the request's own item, too."""
        self.kept[planned.place, planned.request.sample] = self._by_key[planned.key]

    def keep(self, planned: Planned, kept: KeptReply) -> None:
        """Store a reply; one without a fault can be copied by its key."""
        self.kept[planned.place, planned.request.sample] = kept
        if kept.reply.fault is None:
            self._by_key[planned.key] = kept
