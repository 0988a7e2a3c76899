"""Methods that score answers, and workers by the mean of their answers' scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evaluation.evidence.baselines.corpus import Crowd
from evaluation.methods.cells import Floats


@dataclass(frozen=True)
class MeanOfAnswers:
    """A method made of what it says of single answers; a decorator of the function that says it.

    Attributes
    ----------
    answers : from a crowd to (N,) scores of its answers, higher is better, NaN where one has none.
    """

    answers: Callable[[Crowd], Floats]

    def __call__(self, crowd: Crowd) -> Floats:
        """Return (M,) mean scores of the workers' answers; NaN for a worker without any."""
        return crowd.worker_means(self.answers(crowd))
