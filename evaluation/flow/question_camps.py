"""Two camps among the answers to single questions, as they are stored with a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.methods.alarms.questions import FEWEST_ANSWERS, SEPARATED


@dataclass(frozen=True)
class CampedAnswers:
    """A question with 6 answers or more.

    Attributes
    ----------
    separation : 0 to 1.
    sizes : answers in the larger and in the smaller camp; None up to a separation of .4. With more
        than 1,000 answers, of a random sample of 1,000.
    nearest : `rows` of the graded answers nearest to each camp's mean; None with `sizes`.
    """

    separation: float
    sizes: tuple[int, int] | None = None
    nearest: tuple[int, int] | None = None


def camps_summary(camps: dict[Any, CampedAnswers], asked: Iterable[Any]) -> dict[str, Any]:
    """Return what a run's summary says: thresholds, and how many questions were tested and listed.

    `too_few` counts the questions of `asked` with fewer answers than are needed.
    """
    return {
        "threshold": SEPARATED,
        "fewest_answers": FEWEST_ANSWERS,
        "tested": len(camps),
        "listed": sum(found.sizes is not None for found in camps.values()),
        "too_few": sum(question not in camps for question in asked),
    }


def known_separation(value: float) -> float:
    """Return a separation within its range, which rounding may leave."""
    return float(np.clip(value, 0.0, 1.0))
