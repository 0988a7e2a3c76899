"""Percentile of a score among workers' leave-one-out scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Scores closer than this are tied: they differ by rounding only.
TIE = 1e-12
# A percentile is among at least so many supported workers: a model like them lands at 62 on average
# with 5, because it meets exemplary answers of one worker more than each of them does.
FEWEST_FOR_PERCENTILE = 10


def compute_percentile(score: float, worker_scores: NDArray[np.float64]) -> float | None:
    """Return the percentile of a score among worker scores, 0 to 100; None below 10 scores.

    Equal scores count half.

    `worker_scores` are the leave-one-out means of supported workers on the questions of the scored
    model; NaN is left out.
    """
    known = worker_scores[~np.isnan(worker_scores)]
    if len(known) < FEWEST_FOR_PERCENTILE:
        return None
    margin = TIE * max(1.0, abs(score))
    below = np.count_nonzero(known < score - margin)
    equal = np.count_nonzero(np.abs(known - score) <= margin)
    return float(100.0 * (below + 0.5 * equal) / len(known))
