"""Record of one fact that a text states, such as a year, a length or a name."""

from __future__ import annotations

from dataclasses import dataclass

NAME = "name"


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact in a text: its kind ("slot"), its value or range, and its positions.

    Attributes
    ----------
    slot : what it is about, in words: "year", "length", "number", "dollars per duration", "name".
    low, high : what the value may be in the slot's base unit, both included. Of a name both are 0,
        and `key` tells it from others.
    shown : the value in words for people. spans : (start, end) characters of the text.
    bound : 1 for "at least", -1 for "at most", 0.
    key : of a name, "" of numbers. context : stems of the clause around it.
    """

    slot: str
    low: float
    high: float
    shown: str
    spans: tuple[tuple[int, int], ...]
    bound: int = 0
    key: str = ""
    context: frozenset[str] = frozenset()

    def fits(self, other: Stated) -> bool:
        """Return whether both facts may be the same value of the same kind."""
        return (
            self.slot == other.slot
            and self.key == other.key
            and self.low <= other.high
            and other.low <= self.high
        )
