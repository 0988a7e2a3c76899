"""What a run that compares replies to prompts of the same meaning says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.flow.asking.summary import StudySummary

VERSION = 1


@dataclass(frozen=True)
class EloquentSummary(StudySummary):
    """Counts, and who replied and judged.

    Attributes
    ----------
    systems, judges : names, in the order in which they were asked.
    no_answer, errors : replies that are empty or refused, and those that could not be fetched.
    without_score : judgements. requests : that were sent in this run; `reused` were stored by an
        earlier run over the same version.
    tokens_read, tokens_written : as the servers counted them. cost : of this run; None where a
        model has no prices.
    changed_prompts : replies to prompts that were put otherwise. follow_up_turns : of all replies.
    exclusions : what was left out, by reason. embedding : how vectors were made.
    """

    items: int = 0
    prompts: int = 0
    languages: int = 0
    systems: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    replies: int = 0
    no_answer: int = 0
    errors: int = 0
    judgements: int = 0
    without_score: int = 0
    requests: int = 0
    reused: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    cost: float | None = None
    changed_prompts: int = 0
    follow_up_turns: int = 0
    exclusions: tuple[dict[str, Any], ...] = ()
    embedding: dict[str, Any] = field(default_factory=dict)

    def shown_counts(self) -> Mapping[str, int]:
        """Return what the page of a run shows of what went in."""
        return {
            "items": self.items,
            "prompts": self.prompts,
            "models": len(self.systems),
            "judges": len(self.judges),
        }
