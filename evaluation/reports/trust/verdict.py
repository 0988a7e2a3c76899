"""The facts of a run in a headline and two sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.reports.trust.facts import Fact, Level
from evaluation.words.message import Message


@dataclass(frozen=True)
class Verdict:
    """What to make of a run; `level` is that of its worst fact."""

    level: Level
    headline: Message
    text: Message

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> Verdict:
        """Sum up facts, worst first."""
        level = facts[0].level if facts else "unknown"
        values = {"count": sum(fact.level == level for fact in facts), "all": len(facts)}
        return cls(
            level,
            Message(f"verdict.{level}.headline"),
            Message(f"verdict.{level}.text", values),
        )
