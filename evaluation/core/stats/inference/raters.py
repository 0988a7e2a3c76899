"""Agreement of two or more raters on the same items, with intervals over clusters.

`compute_rater_agreement` compares two raters on the items that both rated.
`compute_panel_agreement` is the agreement of any number of raters, also with missing ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.inference.clustered import ClusteredEstimate, compute_clustered_interval
from evaluation.core.stats.statistics.agreement import (
    Level,
    Weights,
    cohen_kappa,
    count_ratings,
    intraclass_correlation,
    krippendorff_alpha,
)
from evaluation.core.stats.statistics.descriptive import spearman

# Grades are rounded to halves: the categories of kappa.
STEPS = 2


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement coefficients of two raters on the items that both rated.

    Attributes
    ----------
    n : number of items that both rated. alike : share of them with equal ratings, 0 to 1; None
        without any.
    difference : mean of the first rater's grades less the second's. distance : mean absolute
        difference. Both None for labels.
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
    """Return the agreement of two raters on the same items: kappa, correlation, differences.

    Intervals are 95%, of draws of whole clusters with replacement.

    Parameters
    ----------
    one, other : (n,) grades, or labels, of the same items in the same order.
    clusters : (n,) label of each item's cluster.
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
        """Return Cohen's kappa on some items."""
        return cohen_kappa(a[rows], b[rows], weights="quadratic" if graded else None)

    def ranks(rows: Integers) -> float | None:
        """Return Spearman's correlation on some items."""
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
    """Return ratings as an array: whole numbers of half grades if `graded`, else labels."""
    if graded:
        return np.rint(np.asarray(ratings, dtype=np.float64) * STEPS)
    return np.asarray(ratings, dtype=np.str_)


LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class PanelAgreement:
    """Agreement coefficients of several raters (kappas, ICCs, alphas), with intervals.

    Attributes
    ----------
    n_raters : number of raters with a rating. n : number of items with a rating; n_by_two : with
        two or more; n_complete : with a rating of each rater. n_missing : number of missing
        ratings, of n times n_raters.
    kappa_linear, kappa_quadratic : Cohen's weighted kappa, of more than two raters the mean over
        their pairs (Light 1971) that rated something both, as far as it is defined.
    icc_single, icc_mean : ICC(2,1) and ICC(2,k), of the complete items.
    alpha_nominal, alpha_ordinal, alpha_interval : Krippendorff's, of all ratings.
    """

    n_raters: int
    n: int
    n_by_two: int
    n_complete: int
    n_missing: int
    kappa_linear: ClusteredEstimate
    kappa_quadratic: ClusteredEstimate
    icc_single: ClusteredEstimate
    icc_mean: ClusteredEstimate
    alpha_nominal: ClusteredEstimate
    alpha_ordinal: ClusteredEstimate
    alpha_interval: ClusteredEstimate

    def iterate_coefficients(self) -> Iterator[tuple[str, ClusteredEstimate]]:
        """Yield the name and the estimate of each agreement coefficient, in field order."""
        for name, value in vars(self).items():
            if isinstance(value, ClusteredEstimate):
                yield name, value


def compute_panel_agreement(
    ratings: ArrayLike, clusters: ArrayLike, n_draws: int = 400, seed: int = 0
) -> PanelAgreement:
    """Return the agreement of several raters: weighted kappas, ICCs, Krippendorff's alphas.

    Intervals are 95%, of draws of whole clusters with replacement. `n` of an estimate counts the
    items that the coefficient is of.

    Parameters
    ----------
    ratings : (n, k) numbers of n items by k raters, NaN for a missing one.
    clusters : (n,) label of each item's cluster, such as the question of an answer.
    n_draws : at least 2. seed : of the draws.

    Raises
    ------
    ValueError : shapes that do not fit, an infinite rating, or n_draws below 2.
    """
    table, code = np.asarray(ratings, dtype=np.float64), np.asarray(clusters)
    if table.ndim != 2 or len(table) != len(code):
        raise ValueError(f"ratings of shape {table.shape} in {len(code)} places")
    if np.isinf(table).any():
        raise ValueError("ratings must be finite; NaN means a missing one")
    known = ~np.isnan(table)
    # Raters and items without any rating must not count as missing ratings.
    table = table[:, known.any(axis=0)]
    known, code = known[:, known.any(axis=0)], code[known.any(axis=1)]
    table, known = table[known.any(axis=1)], known[known.any(axis=1)]
    n_grades = known.sum(axis=1)
    by_two, complete = n_grades >= 2, known.all(axis=1) & (n_grades >= 2)
    # Counted once: each draw selects rows of the counts.
    counts, values = count_ratings(table)

    def kappa(weights: Weights) -> ClusteredEstimate:
        """Return the interval of the mean weighted kappa."""
        return estimate(lambda rows: compute_mean_kappa(table[by_two][rows], weights), by_two)

    def alpha(level: Level) -> ClusteredEstimate:
        """Return the interval of Krippendorff's alpha."""
        paired = counts[by_two]
        return estimate(lambda rows: krippendorff_alpha(paired[rows], values, level), by_two)

    def icc(name: str) -> ClusteredEstimate:
        """Return the interval of an intraclass correlation, by its field's name."""
        whole = table[complete]
        return estimate(lambda rows: getattr(intraclass_correlation(whole[rows]), name), complete)

    def estimate(
        statistic: Callable[[Integers], float | None], items: np.ndarray
    ) -> ClusteredEstimate:
        """Return the interval of a statistic of some items."""
        return compute_clustered_interval(statistic, code[items], n_draws, seed)

    return PanelAgreement(
        table.shape[1],
        len(table),
        int(by_two.sum()),
        int(complete.sum()),
        int((~known).sum()),
        kappa("linear"),
        kappa("quadratic"),
        icc("single"),
        icc("mean"),
        *(alpha(level) for level in LEVELS),
    )


def compute_mean_kappa(ratings: Floats, weights: Weights) -> float | None:
    """Return the mean of Cohen's weighted kappa over all pairs of raters (Light 1971).

    Parameters
    ----------
    ratings : (n, k) numbers, NaN for a missing one. A pair is compared on what both rated; one
        without a kappa is left out.

    Returns
    -------
    None where no pair has one.
    """
    kappas = []
    for first, second in combinations(ratings.T, 2):
        both = ~np.isnan(first) & ~np.isnan(second)
        kappa = cohen_kappa(first[both], second[both], weights=weights)
        if kappa is not None:
            kappas.append(kappa)
    return float(np.mean(kappas)) if kappas else None
