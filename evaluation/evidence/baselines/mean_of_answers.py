"""Score workers by the mean of their answers' scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evaluation.core.stats.cells import Floats
from evaluation.evidence.baselines.corpus import Crowd


@dataclass(frozen=True)
class MeanOfAnswers:
    """Decorator that turns a function scoring answers into a method scoring workers.

    Attributes
    ----------
    answers : from a crowd to (N,) scores of its answers, higher is better, NaN where one has none.
    """

    answers: Callable[[Crowd], Floats]

    def __call__(self, crowd: Crowd) -> Floats:
        """Return each worker's mean answer score; NaN for a worker without scores."""
        return crowd.compute_worker_means(self.answers(crowd))
