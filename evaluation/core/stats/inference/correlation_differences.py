"""Paired bootstrap test whether one method's scores agree better with the truth than another's.

Workers are drawn with replacement, the same ones in every repetition and for every method; the
statistic is the mean over repetitions of the difference of two correlations, or of one correlation.
Intervals are BCa (Efron 1987); p is the level at which the interval of a difference ends at 0.

With few workers the interval is too narrow and p too small: of 600 simulated pairs of equally good
methods 11% had p at or below .05 with 20 workers, 10% with 40, 8% with 100.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.cells import Floats
from evaluation.core.stats.inference.clustered_bootstrap import ClusteredEstimate

FEWEST_WORKERS = 5
TOO_FEW_WORKERS = "fewer_than_5_workers"
NO_CORRELATION = "no_correlation"
NO_DIFFERENCE = "no_difference"


@dataclass(frozen=True)
class CorrelationDifference:
    """Mean difference of two correlations with its p-value; None with a `reason`.

    `low` and `high` are its 95% interval; None together, as p.
    """

    difference: float | None
    p_value: float | None
    reason: str | None
    low: float | None = None
    high: float | None = None


def compare_correlations(
    scores: ArrayLike,
    against: ArrayLike,
    truth: ArrayLike,
    n_draws: int = 9_999,
    seed: int = 0,
) -> list[CorrelationDifference]:
    """Return, for each method, its correlation with the truth minus the reference method's.

    Parameters
    ----------
    scores : (K, R, M) scores of M workers in R repetitions, NaN for none (left out of both
        correlations, for all draws). against : (R, M) of the method they are compared with.
    truth : (R, M) true values.
    n_draws : bootstrap draws of workers. seed : of the draws.

    Returns
    -------
    K differences. Two-sided p between 2 / (n_draws + 1) and 1; a draw in which all workers have
    equal scores has no correlation and is not counted.

    Raises
    ------
    ValueError : shapes do not fit.
    """
    a, b, t = (np.asarray(part, dtype=np.float64) for part in (scores, against, truth))
    if a.ndim != 3 or a.shape[1:] != b.shape or b.shape != t.shape:
        raise ValueError(f"shapes {a.shape}, {b.shape} and {t.shape} do not fit together")
    m = t.shape[1]
    draws = _draw_workers(m, n_draws, seed)
    left_out = 1.0 - np.eye(m)
    all_workers = np.ones((1, m))
    found = []
    for method in a:
        if m < FEWEST_WORKERS:
            found.append(CorrelationDifference(None, None, TOO_FEW_WORKERS))
            continue
        both = ~np.isnan(method + b + t)
        observed, of_draws, of_left_out = (
            _compute_mean_correlations(method, t, both, times)
            - _compute_mean_correlations(b, t, both, times)
            for times in (all_workers, draws, left_out)
        )
        found.append(_compute_difference(float(observed[0]), of_draws, of_left_out))
    return found


def compute_mean_correlation(
    scores: ArrayLike, truth: ArrayLike, n_draws: int = 9_999, seed: int = 0
) -> ClusteredEstimate:
    """Return the mean correlation of scores with truth over repetitions, with interval.

    Parameters
    ----------
    scores, truth : (R, M) of M workers in R repetitions; a worker with a NaN in either is left out
        of that repetition.
    n_draws : bootstrap draws of workers. seed : of the draws.

    Returns
    -------
    `n` and `n_clusters` are workers with a score and a truth in a repetition at least. No value
    where a repetition has no correlation ("no_correlation"), no interval below 5 workers.

    Raises
    ------
    ValueError : shapes do not fit.
    """
    a, t = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if a.ndim != 2 or a.shape != t.shape:
        raise ValueError(f"shapes {a.shape} and {t.shape} do not fit together")
    known = ~np.isnan(a + t)
    n = int(known.any(axis=0).sum())
    m = a.shape[1]
    draws, left_out, everybody = _draw_workers(m, n_draws, seed), 1.0 - np.eye(m), np.ones((1, m))
    observed = float(_compute_mean_correlations(a, t, known, everybody)[0])
    if np.isnan(observed):
        return ClusteredEstimate(n=n, n_clusters=n, reason=NO_CORRELATION)
    if n < FEWEST_WORKERS:
        return ClusteredEstimate(observed, n=n, n_clusters=n, reason=TOO_FEW_WORKERS)
    of_draws = _compute_mean_correlations(a, t, known, draws)
    # Without a worker that no repetition knows, nothing changes.
    of_left_out = _compute_mean_correlations(a, t, known, left_out)[known.any(axis=0)]
    of_draws = of_draws[~np.isnan(of_draws)]
    if np.isnan(of_left_out).any() or not len(of_draws):
        return ClusteredEstimate(observed, n=n, n_clusters=n, reason=NO_CORRELATION)
    low, high = compute_bca_interval(observed, of_draws, of_left_out)
    return ClusteredEstimate(observed, low, high, n, n_clusters=n)


def compute_bca_interval(
    observed: float, draws: Floats, left_out: Floats, level: float = 0.95
) -> tuple[float, float]:
    """Return the BCa interval (Efron 1987) of a statistic from its bootstrap draws."""
    bias, acceleration = _estimate_bias(observed, draws), _estimate_acceleration(left_out)
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        w = bias + float(stats.norm.ppf(share))
        ends.append(float(stats.norm.cdf(bias + w / (1 - acceleration * w))))
    low, high = np.quantile(draws, ends)
    return float(low), float(high)


def compute_bca_p_value(observed: float, draws: Floats, left_out: Floats) -> float:
    """Return the two-sided p-value of 0, by the BCa interval whose end is at 0.

    Parameters
    ----------
    observed : the statistic. draws : (B,) its bootstrap values.
    left_out : (M,) its values without one unit each, for the acceleration.
    """
    b = len(draws)
    bias, acceleration = _estimate_bias(observed, draws), _estimate_acceleration(left_out)
    at_zero = _compute_normal_quantile((draws < 0).mean() / 2 + (draws <= 0).mean() / 2, b)
    # The end of the interval at level z is the draw of rank Phi(bias + w / (1 - acceleration w)),
    # w = bias + z. Solved for z where that draw is 0:
    u = at_zero - bias
    tail = float(stats.norm.cdf(u / (1 + acceleration * u) - bias))
    return min(1.0, max(2 * min(tail, 1 - tail), 2 / (b + 1)))


def _estimate_bias(observed: float, draws: Floats) -> float:
    """Return BCa's bias z0: the normal quantile of the share of draws below the statistic."""
    below = (draws < observed).mean() / 2 + (draws <= observed).mean() / 2
    return _compute_normal_quantile(below, len(draws))


def _estimate_acceleration(left_out: Floats) -> float:
    """Return BCa's acceleration from leave-one-out (jackknife) values of the statistic."""
    apart = left_out.mean() - left_out
    spread = float((apart**2).sum() ** 1.5)
    return float((apart**3).sum()) / (6 * spread) if spread > 0 else 0.0


def _compute_difference(observed: float, draws: Floats, left_out: Floats) -> CorrelationDifference:
    """Return a difference with BCa interval and p-value, or the reason for having none."""
    draws = draws[~np.isnan(draws)]
    if np.isnan(observed) or np.isnan(left_out).any() or not len(draws):
        return CorrelationDifference(None, None, NO_CORRELATION)
    if np.abs(draws).max() < 1e-12:
        return CorrelationDifference(observed, None, NO_DIFFERENCE)
    low, high = compute_bca_interval(observed, draws, left_out)
    return CorrelationDifference(
        observed, compute_bca_p_value(observed, draws, left_out), None, low, high
    )


def _draw_workers(m: int, n_draws: int, seed: int) -> Floats:
    """Return how often each worker is drawn, with replacement: one row per draw."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(m, np.full(m, 1 / m), size=n_draws).astype(np.float64)


def _compute_mean_correlations(x: Floats, y: Floats, known: np.ndarray, times: Floats) -> Floats:
    """Return for each bootstrap draw the correlation of x and y, averaged over repetitions."""
    total = np.zeros(len(times))
    for a, b, both in zip(x, y, known, strict=True):
        a, b = np.where(both, a, 0.0), np.where(both, b, 0.0)
        # Differences to the mean first: sums of squares of nearly equal scores cancel.
        a, b = (part - part[both].mean() if both.any() else part for part in (a, b))
        columns = np.where(both[:, None], np.column_stack([np.ones_like(a), a, b]), 0.0)
        products = np.where(both[:, None], np.column_stack([a * a, b * b, a * b]), 0.0)
        n, sa, sb = (times @ columns).T
        saa, sbb, sab = (times @ products).T
        with np.errstate(invalid="ignore", divide="ignore"):
            va, vb = saa - sa * sa / n, sbb - sb * sb / n
            flat = (va <= 1e-14 * saa) | (vb <= 1e-14 * sbb)
            total += np.where(flat, np.nan, (sab - sa * sb / n) / np.sqrt(va * vb))
    return total / len(x)


def _compute_normal_quantile(share: float, b: int) -> float:
    """Return the normal quantile of a share of `b` draws, finite also for shares 0 and 1."""
    return float(stats.norm.ppf(min(max(share, 1 / (b + 1)), b / (b + 1))))
