"""Agreement of two raters on the same items, with intervals over clusters of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.stats.cells import Integers
from evaluation.core.stats.inference.clustered_bootstrap import (
    ClusteredEstimate,
    compute_clustered_interval,
)
from evaluation.core.stats.statistics.correlation import spearman
from evaluation.core.stats.statistics.kappa import cohen_kappa

# Grades are rounded to halves: the categories of kappa.
STEPS = 2


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement coefficients of two raters on the items that both rated.

    Attributes
    ----------
    n : how many these are. alike : the share that both rated alike, 0 to 1; None without any.
    difference : mean of the one's grades less the other's: who is the milder one. distance : the
        mean of it without the sign. None for labels.
    kappa : Cohen's, of grades with quadratic weights on halves, of labels without weights.
    rank_correlation : Spearman's, of grades.
    """

    n: int
    alike: float | None
    difference: float | None
    distance: float | None
    kappa: ClusteredEstimate
    rank_correlation: ClusteredEstimate | None


def compute_rater_agreement(
    one: Sequence[float] | Sequence[str],
    other: Sequence[float] | Sequence[str],
    clusters: Sequence[str],
    *,
    graded: bool,
    n_draws: int = 400,
    seed: int = 0,
) -> RaterAgreement:
    """Return kappa, correlation and difference of two raters' ratings of the same items.

    Intervals are 95%, of draws of whole clusters with replacement.

    Parameters
    ----------
    one, other : (n,) grades, or labels, of the same things in the same order.
    clusters : (n,) what each thing belongs to.
    graded : whether these are numbers.
    n_draws : at least 2. seed : of the draws.

    Raises
    ------
    ValueError : lengths differ, or n_draws below 2.
    """
    if not len(one) == len(other) == len(clusters):
        raise ValueError(f"{len(one)}, {len(other)} ratings in {len(clusters)} places")
    a, b = _convert_ratings(one, graded=graded), _convert_ratings(other, graded=graded)

    def kappa(rows: Integers) -> float | None:
        return cohen_kappa(a[rows], b[rows], weights="quadratic" if graded else None)

    def ranks(rows: Integers) -> float | None:
        return spearman(x[rows], y[rows])

    of_kappa = compute_clustered_interval(kappa, clusters, n_draws, seed)
    if not graded:
        alike = float((a == b).mean()) if len(a) else None
        return RaterAgreement(len(a), alike, None, None, of_kappa, None)
    x, y = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    of_ranks = compute_clustered_interval(ranks, clusters, n_draws, seed)
    if not len(x):
        return RaterAgreement(0, None, None, None, of_kappa, of_ranks)
    return RaterAgreement(
        len(x),
        float((a == b).mean()),
        float((x - y).mean()),
        float(np.abs(x - y).mean()),
        of_kappa,
        of_ranks,
    )


def _convert_ratings(
    ratings: Sequence[float] | Sequence[str], *, graded: bool
) -> NDArray[np.float64] | NDArray[np.str_]:
    """Return ratings as an array: numbers of half steps if `graded`, else labels."""
    if graded:
        return np.rint(np.asarray(ratings, dtype=np.float64) * STEPS)
    return np.asarray(ratings, dtype=np.str_)
