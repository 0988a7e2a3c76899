"""What a run that asks questions in other words says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.flow.asking.summary import StudySummary

VERSION = 1


@dataclass(frozen=True)
class MultiqaSummary(StudySummary):
    """Counts, who replied and who reworded, and what it took.

    Attributes
    ----------
    questions : of the version, with a text; `items` of them were asked, in `wordings`.
    systems : names of the models, in the order in which they were chosen.
    rewriter : its name; "" where the wordings were typed or imported. wanted : rewordings of each
        question; None for typed ones. kept : of the wordings; dropped : how many, by reason.
    replies, no_answer, errors : how many there should be, empty or refused, and not to be had.
    crowd : counts of people's answers, workers and items; empty where they were not used.
    exclusions : what was left out, by reason. wrong_by_form :
        replies that name no choice. embedding : how vectors were made.
    reranking : how free texts were re-ranked; empty where they were not.
    """

    questions: int = 0
    items: int = 0
    wordings: int = 0
    systems: tuple[str, ...] = ()
    rewriter: str = ""
    wanted: int | None = None
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    replies: int = 0
    no_answer: int = 0
    errors: int = 0
    crowd: dict[str, int] = field(default_factory=dict)
    exclusions: tuple[dict[str, Any], ...] = ()
    wrong_by_form: tuple[dict[str, Any], ...] = ()
    left_out_of_metrics: tuple[dict[str, Any], ...] = ()
    embedding: dict[str, Any] = field(default_factory=dict)
    reranking: dict[str, Any] = field(default_factory=dict)

    @property
    def cost(self) -> float | None:
        """What the run cost; None where a model has no prices."""
        costs = [one.cost for one in self.usage]
        return None if None in costs else sum(one for one in costs if one is not None)

    def shown_counts(self) -> Mapping[str, int]:
        """Return what the page of a run shows of what went in."""
        return {"questions": self.items, "wordings": self.wordings, "models": len(self.systems)}
