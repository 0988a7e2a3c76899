"""What a run that measures uncertainty says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.flow.asking.summary import StudySummary

VERSION = 1


@dataclass(frozen=True)
class MaqaSummary(StudySummary):
    """Counts, and who was asked.

    Attributes
    ----------
    questions : that were put, of which `with_answers` have right answers. samples : replies wanted
        to each. systems : names of the models, in the order in which they were asked.
    replies : that came; `no_answer` of them are empty or refused. errors : that could not be
        fetched.
    requests : that were sent in this run; `reused` were stored by an earlier one of the owner.
    tokens_read, tokens_written : as the servers counted them. cost : of this run; None where a
        model has no prices.
    exclusions : what was left out, by reason. counts : of the evaluation. embedding : how vectors
        were made, empty where none were.
    """

    questions: int = 0
    with_answers: int = 0
    samples: int = 0
    systems: tuple[str, ...] = ()
    replies: int = 0
    no_answer: int = 0
    errors: int = 0
    requests: int = 0
    reused: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    cost: float | None = None
    exclusions: tuple[dict[str, Any], ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    embedding: dict[str, Any] = field(default_factory=dict)

    def shown_counts(self) -> Mapping[str, int]:
        """Return what the page of a run shows of what went in."""
        return {
            "questions": self.questions,
            "with right answers": self.with_answers,
            "models": len(self.systems),
            "replies": self.replies,
        }
