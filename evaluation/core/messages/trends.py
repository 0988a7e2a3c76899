"""Build sentences on whether a worker's or model's scores rise or fall across question sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from evaluation.core.messages.message import Message, Sentence

# Smaller ones say no more, only that there are many sets.
LEAST = 0.001


class TrendTest(Protocol):
    """Protocol of a tested trend, as `evaluation.core.stats.inference.trend` returns it."""

    @property
    def direction(self) -> str:
        """Result of the test: rises, falls, unclear, too_few or all_equal."""

    @property
    def n(self) -> int:
        """Number of scores in the trend."""

    @property
    def p_value(self) -> float | None:
        """p-value of the test for a trend; None if undefined."""

    @property
    def slope(self) -> float | None:
        """Median change of the score from one question set to the next; None if undefined."""

    @property
    def low(self) -> float | None:
        """Lower end of the slope's interval; None if undefined."""

    @property
    def high(self) -> float | None:
        """Upper end of the slope's interval; None if undefined."""


def _build_trend_sentence(words: str) -> Sentence:
    """Return the sentence template for a trend that clearly rises or falls."""
    return (
        f"The scores {words} over {{n}} sets: by {{change:.3f}} from one to the next (95% interval "
        "{low:+.3f} to {high:+.3f}). Chance alone would make their order as clear in at most "
        "{p_value:.1%} of cases."
    )


def _format_too_few(of: Mapping[str, Any]) -> str:
    """Return the sentence that there are too few scores to test for a trend."""
    have = {0: "There is no score yet", 1: "There is one score"}.get(
        of["n"], f"There are {of['n']} scores"
    )
    return (
        f"{have}: a trend needs {of['fewest']} or more, because chance alone puts four in rising "
        f"or "
        "falling order once in 12 times."
    )


ACROSS: Mapping[str, Sentence] = {
    "trend.rises": _build_trend_sentence("rise"),
    "trend.falls": _build_trend_sentence("fall"),
    "trend.unclear": "Whether the scores rise or fall cannot be told from these {n} sets: chance "
    "alone makes an order as clear as theirs in {p_value:.0%} of cases.",
    "trend.too_few": _format_too_few,
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


def build_trend_messages(scores: TrendTest, standing: TrendTest) -> tuple[Message, ...]:
    """Return the messages on the trends of scores and of ranks among others."""
    values = {
        "n": scores.n,
        "fewest": FEWEST,
        "p_value": None if scores.p_value is None else max(LEAST, scores.p_value),
        "change": None if scores.slope is None else abs(scores.slope),
        "low": scores.low,
        "high": scores.high,
    }
    messages = [Message(f"trend.{scores.direction}", values)]
    if scores.direction in CLEAR:
        same = standing.direction == scores.direction
        other = standing.direction in CLEAR and not same
        messages.append(
            Message(f"standing.{'with' if same else 'against' if other else 'unclear'}")
        )
    elif standing.direction in CLEAR:
        messages.append(Message(f"standing.{standing.direction}"))
    return tuple(messages)
