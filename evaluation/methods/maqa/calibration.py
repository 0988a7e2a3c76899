"""Pictures of sureness: the ROC curve, and how often what is said with 80% is right.

Intervals draw whole questions, as everywhere in MAQA.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from evaluation.methods.cells import Floats
from evaluation.methods.inference.clustered import Estimate, drawn_intervals
from evaluation.methods.undefined import ratio

# Steps of a curve; more of them than there are pixels.
MOST_STEPS = 2000


@dataclass(frozen=True)
class RocPoint:
    """Of all that is at least as sure: which share of the wrong and of the right ones it is.

    `low` and `high` are of `found` at this share of the wrong ones; None without draws.
    """

    false_alarms: float
    found: float
    low: float | None = None
    high: float | None = None


def roc_curve(
    sureness: ArrayLike,
    right: ArrayLike,
    items: ArrayLike,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
    n_points: int = 21,
) -> list[RocPoint]:
    """Return the ROC curve at evenly spaced shares of wrong cases, straight between its steps.

    The area below the curve of all steps is AUROC with ties counted half.

    Parameters
    ----------
    sureness, right, items : as for `sureness.telling_apart`. n_points : of the curve, 2 or more.

    Returns
    -------
    (n_points,) from share 0 to 1; empty where only one kind of cases is there. A draw in which one
    kind is missing is left out of the interval.
    """
    values, good = np.asarray(sureness, dtype=np.float64), np.asarray(right, dtype=np.bool_)
    if not len(values) or good.all() or not good.any():
        return []
    at = np.linspace(0.0, 1.0, n_points)
    surest_first, group = np.unique(-values, return_inverse=True)
    if len(surest_first) > MOST_STEPS:
        # As many steps with about as many cases each: nobody sees the difference.
        below = np.cumsum(np.bincount(group))
        group = ((below - 1) * MOST_STEPS // len(values))[group]
    known, place = np.unique(np.asarray(items), return_inverse=True)
    shape = (int(group.max()) + 1, len(known))
    steps = [
        sparse.csr_matrix((np.ones(int(of.sum())), (group[of], place[of])), shape=shape)
        for of in (good, ~good)
    ]

    def curves(weights: Floats) -> Floats:
        """Return (n_points, draws), NaN where a draw has only one kind of cases."""
        found, false = (np.cumsum(of @ weights.T, axis=0) for of in steps)
        out = np.full((n_points, len(weights)), np.nan)
        for draw in np.flatnonzero((found[-1] > 0) & (false[-1] > 0)):
            x = np.append(0.0, false[:, draw] / false[-1, draw])
            y = np.append(0.0, found[:, draw] / found[-1, draw])
            # Where the curve rises straight up its upper end counts, at 0 as everywhere else.
            last = np.append(np.flatnonzero(np.diff(x) > 0), len(x) - 1)
            out[:, draw] = np.interp(at, x[last], y[last])
        return out

    estimates = drawn_intervals(
        curves(np.ones((1, len(known))))[:, 0],
        len(known),
        curves,
        len(known),
        n_draws,
        seed,
        level,
    )
    return [
        RocPoint(float(x), one.value or 0.0, one.low, one.high)
        for x, one in zip(at, estimates, strict=True)
    ]


@dataclass(frozen=True)
class Bin:
    """Cases whose confidence is between `start` and `end`: mean of it, and share that is right.

    `n` cases of `items` questions; `low` and `high` are of the share, None where undefined.
    """

    start: float
    end: float
    confidence: float
    accuracy: float
    low: float | None
    high: float | None
    n: int
    items: int


@dataclass(frozen=True)
class Calibration:
    """How far confidence is from being right.

    Attributes
    ----------
    error : expected calibration error (Naeini et al. 2015): the distance between confidence and
        share right, of each bin, weighted by its cases; 0 to 1. Undefined without a case.
    bins : those with a case.
    """

    error: Estimate
    bins: tuple[Bin, ...]


def calibration(
    confidence: ArrayLike,
    right: ArrayLike,
    items: ArrayLike,
    n_draws: int = 400,
    seed: int = 0,
    level: float = 0.95,
    n_bins: int = 10,
) -> Calibration:
    """Compare confidence with how often it is right, in bins of equal width.

    Parameters
    ----------
    confidence : (n,) 0 to 1; 1 is in the last bin. right, items, n_draws, seed, level : as for
        `sureness.telling_apart`.
    """
    values, good = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if not len(values):
        return Calibration(Estimate(None, None, None, 0, "no_cases"), ())
    bins = np.minimum((values * n_bins).astype(np.int64), n_bins - 1)
    known, place = np.unique(np.asarray(items), return_inverse=True)
    # Sums by question and bin, from which those of a draw are a product.
    cells = place * n_bins + bins
    sums = [
        np.bincount(cells, of, len(known) * n_bins).reshape(len(known), n_bins)
        for of in (np.ones(len(values)), values, good)
    ]

    def statistics(weights: Floats) -> Floats:
        cases, said, were = (weights @ of for of in sums)
        share, mean = ratio(were, cases), ratio(said, cases)
        apart = np.where(cases > 0, np.abs(were - said), 0.0).sum(axis=1) / cases.sum(axis=1)
        return np.vstack([apart, mean.T, share.T])

    found = statistics(np.ones((1, len(known))))[:, 0]
    n_items = (sums[0] > 0).sum(axis=0)
    counts = np.concatenate([[len(known)], n_items, n_items])
    estimates = drawn_intervals(found, counts, statistics, len(known), n_draws, seed, level)
    rows = []
    for number in range(n_bins):
        mean, share = estimates[1 + number], estimates[1 + n_bins + number]
        if mean.value is None or share.value is None:
            continue
        ends = (number / n_bins, (number + 1) / n_bins)
        n = int(sums[0][:, number].sum())
        items_of_bin = int(n_items[number])
        rows.append(Bin(*ends, mean.value, share.value, share.low, share.high, n, items_of_bin))
    return Calibration(estimates[0], tuple(rows))
