"""Where replies are kept: a small contract, and one that lives in memory."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from evaluation.backends.chat.contract import Reply
from evaluation.flow.asking.plan import Planned


@dataclass(frozen=True, slots=True)
class Kept:
    """A reply as it is kept, with what asking it took.

    `attempts` is 0 where it was not asked, because the model was given up. `cost` is in the
    currency of the prices, `seconds` from sending the last attempt to its last byte.
    """

    reply: Reply
    attempts: int = 1
    seconds: float = 0.0
    cost: float = 0.0


class Store(Protocol):
    """Keeps replies for good: what `keep` has returned from is not lost, whatever happens.

    A store that takes its time returns what is awaited in place of None.
    """

    def has(self, planned: Planned) -> bool:
        """Whether this item has its reply (an ERROR is none)."""

    def known(self, key: str) -> bool:
        """Whether a reply of this key is kept, if only for another item."""

    def copy(self, planned: Planned) -> Awaitable[None] | None:
        """Give the item the kept reply of its key."""

    def keep(self, planned: Planned, kept: Kept) -> Awaitable[None] | None:
        """Keep a reply. Raises OSError where it cannot; the asking ends then."""


class MemoryStore:
    """Keeps replies as long as the process lives: `kept` by the place of the item and sample."""

    def __init__(self) -> None:
        self.kept: dict[tuple[int, int], Kept] = {}
        self._by_key: dict[str, Kept] = {}

    def has(self, planned: Planned) -> bool:
        """Whether this item has its reply."""
        return False

    def known(self, key: str) -> bool:
        """Whether a reply of this key is kept."""
        return key in self._by_key

    def copy(self, planned: Planned) -> None:
        """Give the item the kept reply of its key."""
        self.kept[planned.place, planned.request.sample] = self._by_key[planned.key]

    def keep(self, planned: Planned, kept: Kept) -> None:
        """Keep a reply."""
        self.kept[planned.place, planned.request.sample] = kept
        if kept.reply.fault is None:
            self._by_key[planned.key] = kept
