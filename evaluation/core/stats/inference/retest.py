"""Test-retest agreement: two scores of the same workers, from two waves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.inference.intervals import Interval, compute_t_interval
from evaluation.core.stats.statistics.correlation import pearson, spearman
from evaluation.core.stats.statistics.icc import intraclass_correlation

FEWEST = 4
"""People below whom a correlation has no interval: its error is 1 / sqrt(n - 3)."""


@dataclass(frozen=True)
class Retest:
    """Test-retest agreement of the workers who have a score in both waves.

    Attributes
    ----------
    correlation : Pearson's, -1 to 1; None below 2 people or without any spread. interval : its 95%
        interval by Fisher's transformation; without bounds below 4 people.
    rank_correlation : Spearman's. agreement : ICC(2,1) of absolute agreement, 1 where both scores
        are the same; None where undefined.
    change : mean of later less earlier; None without people. change_interval : 95%, of the t
        distribution over people; without bounds below 2.
    """

    n: int
    correlation: float | None
    interval: Interval
    rank_correlation: float | None
    agreement: float | None
    change: float | None
    change_interval: Interval


def compute_retest_agreement(earlier: ArrayLike, later: ArrayLike) -> Retest:
    """Return correlations, ICC and mean change of two scores of the same workers.

    Fisher's interval: tanh(arctanh(r) +- t / sqrt(n - 3)) (Fisher 1921, "On the probable error of a
    coefficient of correlation", Metron 1), with the t quantile of n - 1 degrees of freedom in place
    of the normal one, which is a little wider for few people.

    Parameters
    ----------
    earlier, later : (n,) scores in the same order; NaN for who has none, who is left out of all.

    Raises
    ------
    ValueError : lengths differ.
    """
    a, b = np.asarray(earlier, dtype=np.float64), np.asarray(later, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"columns of shapes {a.shape} and {b.shape} cannot be paired")
    known = ~np.isnan(a + b)
    a, b = a[known], b[known]
    n = len(a)
    r = pearson(a, b)
    error = 1 / np.sqrt(n - 3) if n >= FEWEST else np.nan
    # Rounding makes a correlation of 1 a little more.
    value = np.nan if r is None else float(np.clip(r, -1.0, 1.0))
    differences = b - a
    spread = float(np.std(differences, ddof=1) / np.sqrt(n)) if n >= 2 else np.nan
    change = float(differences.mean()) if n else np.nan
    return Retest(
        n=n,
        correlation=r,
        interval=compute_t_interval(value, error, n, scale="arctanh")[0],
        rank_correlation=spearman(a, b),
        agreement=intraclass_correlation(np.column_stack([a, b])).single if n else None,
        change=change if n else None,
        change_interval=compute_t_interval(change, spread, n)[0],
    )
