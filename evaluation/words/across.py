"""What is said of workers and models over several sets: whether scores rise or fall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from evaluation.words.message import Message, Sentence

# Smaller ones say no more, only that there are many sets.
LEAST = 0.001


class Tested(Protocol):
    """A trend, as `evaluation.methods.inference.trend` has it."""

    @property
    def direction(self) -> str:
        """rises, falls, unclear, too_few, all_equal."""

    @property
    def n(self) -> int:
        """How many numbers."""

    @property
    def p_value(self) -> float | None:
        """Of the test of their order."""

    @property
    def slope(self) -> float | None:
        """Median change from one to the next."""

    @property
    def low(self) -> float | None:
        """Lower end of its interval."""

    @property
    def high(self) -> float | None:
        """Upper end of its interval."""


def _clear(words: str) -> Sentence:
    return (
        f"The scores {words} over {{n}} sets: by {{change:.3f}} from one to the next (95% interval "
        "{low:+.3f} to {high:+.3f}). Chance alone would make their order as clear in at most "
        "{p_value:.1%} of cases."
    )


def _too_few(of: Mapping[str, Any]) -> str:
    have = {0: "There is no score yet", 1: "There is one score"}.get(
        of["n"], f"There are {of['n']} scores"
    )
    return (
        f"{have}: whether they rise or fall cannot be told below {of['fewest']}, because even four "
        "in rising or falling order come about by chance once in 12 times."
    )


ACROSS: Mapping[str, Sentence] = {
    "trend.rises": _clear("rise"),
    "trend.falls": _clear("fall"),
    "trend.unclear": "Whether the scores rise or fall cannot be told from these {n} sets: chance "
    "alone makes an order as clear as theirs in {p_value:.0%} of cases.",
    "trend.too_few": _too_few,
    "trend.all_equal": "All {n} scores are the same: they neither rise nor fall.",
    "standing.with": "The place among the others who answered the same sets goes the same way.",
    "standing.unclear": "The place among the others who answered the same sets does not clearly "
    "change with them: the later sets may have been easier, or harder, for everybody.",
    "standing.against": "The place among the others who answered the same sets goes the other way: "
    "the later sets were easier, or harder, for everybody.",
    "standing.rises": "The place among the others who answered the same sets rises all the same.",
    "standing.falls": "The place among the others who answered the same sets falls all the same.",
}
"""By code; `fewest` is how many scores a trend needs."""

FEWEST = 5
CLEAR = ("rises", "falls")


def trend_messages(scores: Tested, standing: Tested) -> tuple[Message, ...]:
    """Return what the trends of a worker's scores, and of their place among others, say."""
    values = {
        "n": scores.n,
        "fewest": FEWEST,
        "p_value": None if scores.p_value is None else max(LEAST, scores.p_value),
        "change": None if scores.slope is None else abs(scores.slope),
        "low": scores.low,
        "high": scores.high,
    }
    told = [Message(f"trend.{scores.direction}", values)]
    if scores.direction in CLEAR:
        same = standing.direction == scores.direction
        other = standing.direction in CLEAR and not same
        told.append(Message(f"standing.{'with' if same else 'against' if other else 'unclear'}"))
    elif standing.direction in CLEAR:
        told.append(Message(f"standing.{standing.direction}"))
    return tuple(told)
