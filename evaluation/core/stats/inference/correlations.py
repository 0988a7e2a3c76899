"""Inference on correlations: differences of two, with experts' grades, and test-retest.

`compare_correlations` tests whether one method's scores agree better with the truth than another's.
Workers are drawn with replacement, the same ones in every repetition and for every method; the
statistic is the mean over repetitions of the difference of two correlations, or of one correlation.
Intervals are BCa (Efron 1987); p is the level at which the interval of a difference ends at 0.

With few workers the interval is too narrow and p too small: of 600 simulated pairs of equally good
methods 11% had p at or below .05 with 20 workers, 10% with 40, 8% with 100.

`estimate_correlation` is the correlation of scores with experts' grades, from a sample of answers.
Answers to one question are not independent: whole questions are drawn. The interval is Student's t
with the bootstrap standard error on the arctanh scale (`compute_bootstrap_t_interval`). Where truth
and interval were simulated (10 to 100 questions, 20 to 200 answers, correlations .2, .7, .9,
grades of 0 to 5, a share of .3 or .5 of the variance between questions), it covered 95 to 99%; the
widened percentile interval 93 to 99%, Fisher's, which takes answers for independent, 93 to 99% with
intervals that are a tenth narrower.

`compute_retest_agreement` compares two scores of the same workers, from two waves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.cells import Floats, divide_where_positive, encode_labels
from evaluation.core.stats.inference.clustered import NO_ROWS, UNDEFINED, ClusteredEstimate
from evaluation.core.stats.inference.intervals import (
    Interval,
    compute_bootstrap_t_interval,
    compute_t_interval,
    draw_multiplicities,
)
from evaluation.core.stats.statistics.agreement import intraclass_correlation
from evaluation.core.stats.statistics.descriptive import pearson, spearman

FEWEST_WORKERS = 5
TOO_FEW_WORKERS = "fewer_than_5_workers"
NO_CORRELATION = "no_correlation"
NO_DIFFERENCE = "no_difference"


@dataclass(frozen=True)
class CorrelationDifference:
    """Mean difference of two correlations with its p-value; None with a `reason`.

    `low` and `high` are its 95% interval; both are None whenever the p-value is.
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
    """Return each method's correlation with the truth minus that of one reference method.

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
    # The acceleration of BCa needs the statistic without each worker (jackknife).
    left_out = 1.0 - np.eye(m)
    all_workers = np.ones((1, m))
    correlations = []
    for method in a:
        if m < FEWEST_WORKERS:
            correlations.append(CorrelationDifference(None, None, TOO_FEW_WORKERS))
            continue
        both = ~np.isnan(method + b + t)
        observed, of_draws, of_left_out = (
            _compute_mean_correlations(method, t, both, times)
            - _compute_mean_correlations(b, t, both, times)
            for times in (all_workers, draws, left_out)
        )
        correlations.append(_compute_difference(float(observed[0]), of_draws, of_left_out))
    return correlations


def compute_mean_correlation(
    scores: ArrayLike, truth: ArrayLike, n_draws: int = 9_999, seed: int = 0
) -> ClusteredEstimate:
    """Return the correlation of scores with the truth, averaged over repetitions, with interval.

    Parameters
    ----------
    scores, truth : (R, M) of M workers in R repetitions; a worker with a NaN in either is left out
        of that repetition.
    n_draws : bootstrap draws of workers. seed : of the draws.

    Returns
    -------
    `n` and `n_clusters` are the number of workers with a score and a truth in at least one
    repetition. No value if a repetition has no correlation ("no_correlation"), no interval below 5
    workers.

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
    """Return both ends of a statistic's BCa interval (Efron 1987), from its bootstrap draws.

    `left_out` are its values without one unit each.
    """
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
    # At least 2 / (b + 1): b draws cannot show a smaller p.
    return min(1.0, max(2 * min(tail, 1 - tail), 2 / (b + 1)))


def _estimate_bias(observed: float, draws: Floats) -> float:
    """Return BCa's bias z0: the normal quantile of the share of draws below the statistic."""
    # Equal draws count half, or ties would pass for bias.
    below = (draws < observed).mean() / 2 + (draws <= observed).mean() / 2
    return _compute_normal_quantile(below, len(draws))


def _estimate_acceleration(left_out: Floats) -> float:
    """Return BCa's acceleration from leave-one-out (jackknife) values of the statistic."""
    apart = left_out.mean() - left_out
    spread = float((apart**2).sum() ** 1.5)
    return float((apart**3).sum()) / (6 * spread) if spread > 0 else 0.0


def _compute_difference(observed: float, draws: Floats, left_out: Floats) -> CorrelationDifference:
    """Return a difference of correlations with BCa interval and p-value, or with a reason."""
    draws = draws[~np.isnan(draws)]
    if np.isnan(observed) or np.isnan(left_out).any() or not len(draws):
        return CorrelationDifference(None, None, NO_CORRELATION)
    # The methods have equal scores: their differences are rounding, which cannot be tested.
    if np.abs(draws).max() < 1e-12:
        return CorrelationDifference(observed, None, NO_DIFFERENCE)
    low, high = compute_bca_interval(observed, draws, left_out)
    return CorrelationDifference(
        observed, compute_bca_p_value(observed, draws, left_out), None, low, high
    )


def _draw_workers(m: int, n_draws: int, seed: int) -> Floats:
    """Return how often each of `m` workers is drawn with replacement, one row per draw."""
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
        # A draw may take no question of a repetition (n = 0): its correlation is NaN.
        with np.errstate(invalid="ignore", divide="ignore"):
            va, vb = saa - sa * sa / n, sbb - sb * sb / n
            flat = (va <= 1e-14 * saa) | (vb <= 1e-14 * sbb)
            total += np.where(flat, np.nan, (sab - sa * sb / n) / np.sqrt(va * vb))
    return total / len(x)


def _compute_normal_quantile(share: float, b: int) -> float:
    """Return the normal quantile of a share of `b` draws, finite also for shares 0 and 1."""
    return float(stats.norm.ppf(min(max(share, 1 / (b + 1)), b / (b + 1))))


# Below it Fisher's error, 1 / sqrt(n - 3), is not there.
FEWEST_FORESEEN = 4
# What rounding leaves of a variance that is zero, as a share of the sum of squares.
ROUNDING = 1e-12


def compute_weighted_pearson(one: ArrayLike, other: ArrayLike, weights: ArrayLike) -> float | None:
    """Return Pearson's correlation of weighted pairs, -1 to 1; None where it is undefined.

    Parameters
    ----------
    one, other : (n,) finite numbers. weights : (n,) from 0; only their ratios count.

    Raises
    ------
    ValueError : lengths differ, or a weight is negative.
    """
    x, y, w = _check_columns(one, other, weights)
    correlations = _compute_correlations(
        _sum_by_cluster(x, y, w, np.arange(len(x))).sum(axis=0, keepdims=True)
    )[0]
    return None if np.isnan(correlations) else float(correlations)


def estimate_correlation(
    scores: ArrayLike,
    grades: ArrayLike,
    clusters: ArrayLike,
    weights: ArrayLike | None = None,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
) -> ClusteredEstimate:
    """Return the correlation of scores with grades over all answers, estimated from a sample.

    Parameters
    ----------
    scores, grades : (n,) finite numbers of the sampled answers.
    clusters : (n,) the question of each. weights : (n,) number of population items that each one
        represents, above 0; None for equal weights. The draws do not change them.
    n_draws : at least 2. seed : of the draws. level : coverage.

    Returns
    -------
    None with `NO_ROWS` or `UNDEFINED` (no spread). No interval with fewer than 2 questions. A draw
    without spread is left out.

    Raises
    ------
    ValueError : lengths differ, a weight is negative, n_draws below 2.
    """
    if n_draws < 2:
        raise ValueError(f"n_draws must be at least 2, got {n_draws}")
    x, y, w = _check_columns(
        scores, grades, np.ones(np.shape(scores)) if weights is None else weights
    )
    code, labels = encode_labels(clusters)
    if len(code) != len(x):
        raise ValueError(f"{len(code)} clusters for {len(x)} scores")
    if not len(x):
        return ClusteredEstimate(reason=NO_ROWS)
    sums = _sum_by_cluster(x, y, w, code)
    value = _compute_correlations(sums.sum(axis=0, keepdims=True))[0]
    if np.isnan(value):
        return ClusteredEstimate(n=len(x), n_clusters=len(labels), reason=UNDEFINED)
    blocks = draw_multiplicities(len(labels), n_draws, seed)
    draws = np.concatenate([_compute_correlations(times @ sums) for times in blocks])
    interval = compute_bootstrap_t_interval(value, draws, len(labels), level, "arctanh")[0]
    return ClusteredEstimate(
        float(value), interval.low, interval.high, len(x), interval.reason, len(labels)
    )


def forecast_interval(
    n: int, n_clusters: int, correlation: float = 0.7, level: float = 0.95
) -> Interval:
    """Return the interval to expect for a correlation from `n` answers to `n_clusters` questions.

    Fisher's (1921) standard error 1 / sqrt(n - 3) of arctanh r, with Student's t of one degree of
    freedom less than there are questions, as the interval of a sample uses it.

    Parameters
    ----------
    n : answers. n_clusters : questions that they are of. correlation : strictly within -1..1.

    Returns
    -------
    None, with the reason, below 4 answers or 2 questions.
    """
    if n < FEWEST_FORESEEN or n_clusters < 2:
        return Interval(None, None, "too_few")
    quantile = float(stats.t.ppf((1 + level) / 2, n_clusters - 1))
    half, centre = quantile / math.sqrt(n - 3), math.atanh(correlation)
    return Interval(math.tanh(centre - half), math.tanh(centre + half), None)


def _check_columns(*columns: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return three columns as floats. Raises ValueError for unequal lengths or negative weights."""
    x, y, w = (np.asarray(column, dtype=np.float64) for column in columns)
    if not x.shape == y.shape == w.shape or x.ndim != 1:
        raise ValueError(f"columns of shapes {x.shape}, {y.shape} and {w.shape}")
    if (w < 0).any():
        raise ValueError("weights must not be negative")
    return x, y, w


def _sum_by_cluster(x: Floats, y: Floats, w: Floats, code: np.ndarray) -> Floats:
    """Return sums by cluster, one row each: weights, both columns, their squares and product."""
    if not len(x):
        return np.zeros((1, 6))
    # Differences to the middle first: sums of squares of nearly equal scores cancel.
    a, b = x - x.mean(), y - y.mean()
    columns = (w, w * a, w * b, w * a * a, w * b * b, w * a * b)
    return np.column_stack([np.bincount(code, weights=column) for column in columns])


def _compute_correlations(sums: Floats) -> Floats:
    """Return each row's correlation from the sums of `_sum_by_cluster`; NaN without spread."""
    n, a, b, aa, bb, ab = sums.T
    spread_a, spread_b = (
        aa - divide_where_positive(a * a, n, 0.0),
        bb - divide_where_positive(b * b, n, 0.0),
    )
    flat = (spread_a <= ROUNDING * aa) | (spread_b <= ROUNDING * bb)
    correlations = divide_where_positive(
        ab - divide_where_positive(a * b, n, 0.0), np.sqrt(np.where(flat, 0.0, spread_a * spread_b))
    )
    return np.asarray(np.clip(correlations, -1.0, 1.0), dtype=np.float64)


FEWEST = 4
"""Fewest people for an interval of a correlation: its error is 1 / sqrt(n - 3)."""


@dataclass(frozen=True)
class RetestAgreement:
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


def compute_retest_agreement(earlier: ArrayLike, later: ArrayLike) -> RetestAgreement:
    """Return the test-retest agreement of two scores of the same workers.

    Fisher's interval: tanh(arctanh(r) +- t / sqrt(n - 3)) (Fisher 1921, "On the probable error of a
    coefficient of correlation", Metron 1), with the t quantile of n - 1 degrees of freedom in place
    of the normal one, which is a little wider for few people.

    Parameters
    ----------
    earlier, later : (n,) scores in the same order; a worker with NaN in either is left out.

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
    return RetestAgreement(
        n=n,
        correlation=r,
        interval=compute_t_interval(value, error, n, scale="arctanh")[0],
        rank_correlation=spearman(a, b),
        agreement=intraclass_correlation(np.column_stack([a, b])).single if n else None,
        change=change if n else None,
        change_interval=compute_t_interval(change, spread, n)[0],
    )
