"""Score workers by the mean of their answers' scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evaluation.core.stats.cells import Floats
from evaluation.evidence.baselines.corpus import Crowd


@dataclass(frozen=True)
class MeanOfAnswers:
    """Decorator that makes a worker scoring method of a function that scores answers.

    Attributes
    ----------
    answers : from a crowd to (N,) scores of its answers, higher is better, NaN where one has none.
    """

    answers: Callable[[Crowd], Floats]

    def __call__(self, crowd: Crowd) -> Floats:
        """Return (M,) mean answer scores of the workers; NaN for a worker without scores."""
        return crowd.compute_worker_means(self.answers(crowd))
