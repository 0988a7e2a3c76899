"""How far a person or a language model agrees with the crowd on facts."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.methods.statistics.proportions import wilson_interval

# Facts below which a share says nothing.
FEWEST = 5


@dataclass(frozen=True)
class Agreement:
    """Facts that were judged, and the share of them that agrees, with its 95% interval.

    `agreement`, `low` and `high` are None below 5 facts.
    """

    facts: int
    agreement: float | None
    low: float | None
    high: float | None


def agreement_of(agrees: int, contradicts: int) -> Agreement:
    """Return agrees / (agrees + contradicts) with Wilson's interval."""
    facts = agrees + contradicts
    if facts < FEWEST:
        return Agreement(facts, None, None, None)
    low, high = wilson_interval(agrees / facts, facts)
    return Agreement(facts, agrees / facts, float(low), float(high))
