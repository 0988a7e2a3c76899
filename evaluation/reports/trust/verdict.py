"""The facts of a run in a headline and two sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.reports.trust.facts import Fact, Level

ALWAYS = (
    "No check can prove a grade right: a grade says how near somebody is to what this crowd agrees "
    "on, not to the truth."
)


@dataclass(frozen=True)
class Verdict:
    """What to make of a run; `level` is that of its worst fact."""

    level: Level
    headline: str
    text: str

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> Verdict:
        """Sum up facts, worst first."""
        level = facts[0].level if facts else "unknown"
        n = sum(fact.level == level for fact in facts)
        checks = f"{n} of {len(facts)} checks"
        if level == "bad":
            return cls(
                level,
                "Not as it stands.",
                f"{checks} say stop. Do not pay, reject or publish by these grades before you have "
                f"done what stands there. {ALWAYS}",
            )
        if level == "care":
            return cls(
                level,
                "Usable with care.",
                f"{checks} ask you to look closer before you decide about people. {ALWAYS}",
            )
        if level == "unknown":
            return cls(
                level,
                "Nothing was found against it, but not everything was checked.",
                f"{checks} could not be made. {ALWAYS}",
            )
        return cls(
            level,
            "Nothing that was checked speaks against it.",
            f"All {len(facts)} checks are good. {ALWAYS}",
        )
