"""Bootstrap intervals of any statistic of rows in clusters, such as answers by question.

Answers to one question are not independent: whole questions are drawn, with all their rows. See
`clustered` for statistics that can be computed from how often each was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Floats, Integers, encode_labels
from evaluation.core.stats.inference.draws import draw_multiplicities
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.inference.intervals import compute_widened_percentile_interval

NO_ROWS = "nothing_to_compare"
UNDEFINED = "no_correlation"

# From the numbers of some rows, with repetition, to a number; None where it is undefined.
Statistic = Callable[[Integers], float | None]


@dataclass(frozen=True)
class ClusteredEstimate(SampleEstimate):
    """A statistic of rows in clusters (such as questions) with its 95% interval.

    Attributes
    ----------
    n, n_clusters : rows, and clusters of them, that it rests on.
    """

    n_clusters: int = 0


def compute_clustered_interval(
    statistic: Statistic,
    clusters: ArrayLike,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
) -> ClusteredEstimate:
    """Return a statistic of rows with its bootstrap interval over clusters of rows.

    Parameters
    ----------
    statistic : of rows by their numbers 0..n-1; called with all, then with those of each draw.
    clusters : (n,) label of each row's cluster.
    n_draws : bootstrap draws, at least 2; a draw in which it is undefined is left out.
    seed : of the draws. level : coverage, strictly between 0 and 1.

    Returns
    -------
    No interval with fewer than 2 clusters ("fewer_than_2_questions"), or where fewer than 2 draws
    are defined ("fewer_than_2_draws"). See `intervals.compute_widened_percentile_interval`.

    Raises
    ------
    ValueError : n_draws below 2, or level out of range.
    """
    if n_draws < 2:
        raise ValueError(f"n_draws must be at least 2, got {n_draws}")
    code, labels = encode_labels(clusters)
    n = len(code)
    if not n:
        return ClusteredEstimate(reason=NO_ROWS)
    value = statistic(np.arange(n))
    if value is None:
        return ClusteredEstimate(n=n, reason=UNDEFINED, n_clusters=len(labels))
    draws = compute_clustered_draws(statistic, code, n_draws, seed)
    interval = compute_widened_percentile_interval(draws, len(labels), level)[0]
    return ClusteredEstimate(value, interval.low, interval.high, n, interval.reason, len(labels))


def compute_clustered_draws(
    statistic: Statistic, clusters: Integers, n_draws: int, seed: int
) -> Floats:
    """Return the statistic in each bootstrap draw of whole clusters; NaN if undefined.

    A draw takes as many clusters as there are, with replacement, each with all its rows.
    `clusters` (n,) are codes 0..C-1, each with a row at least.
    """
    rows, count = np.arange(len(clusters)), int(clusters.max()) + 1
    found = []
    for block in draw_multiplicities(count, n_draws, seed):
        for times in block.astype(np.int64):
            value = statistic(np.repeat(rows, times[clusters]))
            found.append(np.nan if value is None else value)
    return np.array(found, dtype=np.float64)
