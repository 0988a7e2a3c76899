"""Small values that several reports share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from evaluation.words.reasons import in_words


@dataclass(frozen=True)
class Estimate:
    """A number and its 95% interval; each None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return self.low is not None and self.high is not None


@dataclass(frozen=True)
class Ceiling:
    """Mean leave-one-out score of the best quarter of the supported workers.

    Attributes
    ----------
    n_workers, n_questions : what it rests on.
    reason : code of why `score.value` is None, else None.
    """

    score: Estimate
    n_workers: int
    n_questions: int
    reason: str | None

    @property
    def why(self) -> str:
        """The reason in words; "" without one."""
        return in_words(self.reason)

    @classmethod
    def of_summary(cls, summary: Mapping[str, Any]) -> Self:
        """The ceiling out of a run's summary; undefined where the run has none (yet)."""
        stored = summary.get("ceiling") or {}
        return cls(
            Estimate(stored.get("score"), stored.get("low"), stored.get("high")),
            stored.get("n_workers", 0),
            stored.get("n_questions", 0),
            stored.get("reason"),
        )
