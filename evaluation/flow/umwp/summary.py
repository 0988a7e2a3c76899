"""What a run that asks whether models notice that a question has no answer says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.flow.asking.summary import StudySummary
from evaluation.flow.umwp.tuning import Tuned

VERSION = 1


@dataclass(frozen=True)
class UmwpSummary(StudySummary):
    """Counts, who was asked, and by what replies were told apart.

    Attributes
    ----------
    systems, forms : in the order in which they were asked.
    counts : of problems and replies, as in summary.json of ``evaluate umwp``.
    unknown : questions of which nobody said whether they have an answer; in no number.
    errors : replies that could not be fetched. requests : that were sent in this run; `reused`
        were kept by an earlier run of the owner. cost : of this run; None where a model has no
        prices.
    tuned : how well the threshold does on labelled replies; None where it was given.
    exclusions : what was left out, by reason. encoder : how vectors were made.
    """

    systems: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    questions: int = 0
    answerable: int = 0
    unanswerable: int = 0
    unknown: int = 0
    replies: int = 0
    errors: int = 0
    requests: int = 0
    reused: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    cost: float | None = None
    threshold: float = 0.0
    tuned: Tuned | None = None
    counts: dict[str, Any] = field(default_factory=dict)
    exclusions: tuple[dict[str, Any], ...] = ()
    encoder: dict[str, Any] = field(default_factory=dict)

    def shown_counts(self) -> Mapping[str, int]:
        """Return what the page of a run shows of what went in."""
        return {
            "questions": self.questions,
            "models": len(self.systems),
            "ways of asking": len(self.forms),
        }
