"""Small values that several reports share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from evaluation.flow.aqer_summary import HasSummary, summary_of
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
    def of_run(cls, run: HasSummary) -> Self:
        """The ceiling of a run; undefined where it has none (yet)."""
        found = summary_of(run).ceiling
        estimate = Estimate(found.score, found.low, found.high)
        return cls(estimate, found.n_workers, found.n_questions, found.reason)


@dataclass(frozen=True)
class LeftOut:
    """What does not count: how many, and why."""

    count: int
    reason: str
    words: str


def left_out(exclusions: Iterable[Mapping[str, Any]]) -> list[LeftOut]:
    """Return what a study left out, by reason, in words."""
    return [LeftOut(one["count"], one["reason"], in_words(one["reason"])) for one in exclusions]
