"""Prediction-powered inference, and weighted means of few grades.

Prediction-powered inference estimates the mean human grade from few grades and many predictions.
An automatic judge has graded all items, people have graded some of them. The judge's mean has a
small variance and an unknown bias; the people's mean is unbiased and has a large variance. The bias
is measured on the items that both graded, and subtracted:

    theta = lambda mean_N(f) + mean_n(Y - lambda f)

with the predictions f of the N items that people did not grade, and the grades Y and predictions f
of the n items that they did. lambda = 0 is the people's mean alone, lambda = 1 prediction-powered
inference (PPI; Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, "Prediction-powered
inference", Science 382), and lambda = cov_n(Y, f) / ((1 + n/N) var(f)), cut to 0..1, its
power-tuned form (PPI++; Angelopoulos, Duchi and Zrnic 2023, section 6), which is as good as the
better of the two however bad the judge is.

lambda of a grade is computed without that grade (and without its cluster). Computed from all of
them it fits their noise: the intervals of 5 to 10 grades then hold the truth in 91 to 93 of 100.

The estimate is valid whatever the judge's bias, if the graded items are a random sample of all.

`compute_weighted_mean` is the mean of few grades that represent different numbers of items. Where
some parts were sampled more densely than others, a grade is weighted by 1 over the probability that
it was sampled (Hajek 1971, comment on "An essay on the logical foundations of survey sampling").
The effective number of such grades is smaller, (sum w)^2 / sum w^2 (Kish 1965, "Survey sampling",
section 11.7), and the squared error is the weighted variance over that number less 1. With equal
weights it is the t interval.

Simulated, 20,000 times each, grades in half steps with a standard deviation of 1, 3 to 30 of them,
the greatest weight 2, 4 or 10 times the least, and thirds that differ by a grade or not at all:
the intervals covered the true mean in 93 to 98 of 100. By the linearised error, which is small
where one grade has most of the weight, they did in 87 to 97.

`estimate_powered_group_means` does this for groups, such as workers. One group has too few grades
to estimate the slope of grades on scores, and lambda: both come from the other groups. They do not
depend on the group's own grades, and the estimate is unbiased however wrong the scores are.

Prediction-powered inference needs a random sample of each group. Where parts of a group were
sampled more densely than others, its estimate is the weighted mean of its grades, without scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evaluation.core.stats.cells import Booleans, Floats, Integers, encode_labels

NO_GRADES = "no_judgements"
FEWER_THAN_2_GRADED = "fewer_than_2_judged"
NO_SPREAD = "no_spread"


@dataclass(frozen=True)
class PoweredMean:
    """Mean of human grades, estimated with the help of predictions (PPI), with its interval.

    Attributes
    ----------
    mean : the estimate; None if undefined. low, high : its interval; None if it or the mean is
        undefined.
    weight : lambda, the weight of the predictions; 0 if they were not used. The mean over the
        grades where each grade has its own.
    n_graded, n_predicted : with a grade and a prediction (n); with a prediction only (N).
    reason : why a number is missing; None if none is.
    """

    mean: float | None
    low: float | None
    high: float | None
    weight: float | None
    n_graded: int
    n_predicted: int
    reason: str | None = None


def estimate_powered_mean(
    grades: ArrayLike,
    predictions: ArrayLike,
    clusters: ArrayLike | None = None,
    weight: float | None = None,
    level: float = 0.95,
) -> PoweredMean:
    """Return the mean grade of items that all have a prediction and only some have a grade.

    Parameters
    ----------
    grades : (k,) human grades, NaN for none.
    predictions : (k,) on any scale, NaN for none: such an item is left out.
    clusters : (k,) label of each item's cluster, such as the question of an answer; None for none.
    weight : lambda; 0 for the classical mean, 1 for PPI, None for the power-tuned PPI++.
    level : coverage of the interval, strictly between 0 and 1.

    Returns
    -------
    Student's t. Without clusters, and where each has one item, the squared error is the sum of two
    estimated variances, of what was graded and of the rest, which is known better; its degrees of
    freedom are those of Welch (1947) and Satterthwaite (1946), from n - 1 on. With n - 1 alone the
    intervals of 5 grades and a well predicting score covered 97 to 99 of 100 (see the tests).
    With lambda = 0 it is the t interval of the grades. With clusters one degree less than there are
    clusters with a grade, and the linearised error, clusters summed whole. No interval with fewer
    than 2 graded clusters, or where grades (less predictions) are all the same. Where everything
    was graded (N = 0) predictions have nothing to add, and lambda is 0.

    Raises
    ------
    ValueError : lengths differ, an infinite number, weight below 0, level not within 0..1.
    """
    y, f = np.asarray(grades, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
    if y.ndim != 1 or y.shape != f.shape:
        raise ValueError(f"grades of shape {y.shape} and predictions of shape {f.shape}")
    if np.isinf(y).any() or np.isinf(f).any():
        raise ValueError("grades and predictions must be finite; NaN means a missing one")
    if weight is not None and weight < 0:
        raise ValueError(f"weight must not be negative, got {weight}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    labels = np.arange(len(y)) if clusters is None else encode_labels(clusters)[0]
    if len(labels) != len(y):
        raise ValueError(f"{len(labels)} clusters for {len(y)} grades")
    known = ~np.isnan(f)
    y, f, labels = y[known], f[known], labels[known]
    graded = ~np.isnan(y)
    n, rest = int(graded.sum()), int((~graded).sum())
    if not n:
        return PoweredMean(None, None, None, None, 0, rest, NO_GRADES)
    # Without ungraded items the two terms with lambda cancel, whatever lambda is.
    weights = np.full(n, float(weight or 0.0) if rest else 0.0)
    if weight is None and rest:
        weights = compute_cross_fitted_weights(y, f, labels)
        # Grades have weights of their own: a shift of all predictions must not change the mean.
        f = f - f.mean()
    tuned = float(weights.mean())
    reliance = np.full(len(y), tuned)
    reliance[graded] = weights
    parts = np.where(graded, y - reliance * f, tuned * f)
    mean = float(parts[graded].mean()) + (float(parts[~graded].mean()) if rest else 0.0)
    error, units = _compute_standard_error(parts, graded, labels)
    if units < 2:
        return PoweredMean(mean, None, None, tuned, n, rest, FEWER_THAN_2_GRADED)
    if error == 0:  # a few equal grades: no sign of certainty
        return PoweredMean(mean, None, None, tuned, n, rest, NO_SPREAD)
    freedom = float(units - 1)
    if len(np.unique(labels)) == len(labels):
        freedom = _compute_degrees_of_freedom(parts, graded)
    # As stats.t.ppf, a hundred times as fast: there may be hundreds of groups.
    half = float(special.stdtrit(freedom, (1 + level) / 2)) * error
    return PoweredMean(mean, mean - half, mean + half, tuned, n, rest)


def compute_cross_fitted_weights(grades: Floats, predictions: Floats, clusters: Integers) -> Floats:
    """Return each grade's weight lambda of PPI++, 0 to 1, from the grades of the other clusters.

    It is cov(Y, f) / ((1 + n/N) var(f)): the covariance over the other clusters' grades Y and
    predictions f, the variance over all predictions, n all grades and N the items without one. 0
    where it is undefined: fewer than 2 other grades, nothing ungraded, or predictions without
    spread.

    Parameters
    ----------
    grades : (k,) NaN for none. predictions : (k,) none missing. clusters : (k,) numbers from 0.

    Returns
    -------
    Shape (n,), one weight per grade, in their order.
    """
    graded = ~np.isnan(grades)
    n, rest = int(graded.sum()), int((~graded).sum())
    if not rest or not np.ptp(predictions):
        return np.zeros(n)
    cluster = clusters[graded]
    # A shift does not change the covariance; sums of products of centred numbers do not cancel.
    y = grades[graded] - grades[graded].mean()
    f = predictions[graded] - predictions[graded].mean()
    # Sums over the grades of all clusters but one.
    count, sum_y, sum_f, sum_yf = (
        values.sum() - np.bincount(cluster, weights=values)[cluster]
        for values in (np.ones(n), y, f, y * f)
    )
    known = count >= 2
    counted = np.where(known, count, 2.0)
    shared = (sum_yf - sum_y * sum_f / counted) / (counted - 1)
    spread = (1 + n / rest) * float(np.var(predictions, ddof=1))
    return np.where(known, np.clip(shared / spread, 0.0, 1.0), 0.0)


def _compute_degrees_of_freedom(parts: Floats, graded: Booleans) -> float:
    """Return Welch-Satterthwaite degrees of freedom of the sum of two variances of means.

    `parts` are Y - lambda f of what was graded and lambda f of the rest. n - 1 where the rest adds
    nothing to the error, or has no variance that could be estimated.
    """
    n, rest = int(graded.sum()), int((~graded).sum())
    of_graded = float(np.var(parts[graded], ddof=1)) / n
    of_rest = float(np.var(parts[~graded], ddof=1)) / rest if rest > 1 else 0.0
    squares = of_graded**2 / (n - 1) + (of_rest**2 / (rest - 1) if rest > 1 else 0.0)
    return (of_graded + of_rest) ** 2 / squares if squares > 0 else float(n - 1)


def _compute_standard_error(parts: Floats, graded: Booleans, labels: Integers) -> tuple[float, int]:
    """Return the powered mean's standard error, and the number of graded clusters.

    Each graded item pushes the estimate by (Y - lambda f - its mean) / n, each other one by
    lambda (f - its mean) / N; a cluster by the sum. Each of the two parts is widened by
    c / (c - 1) for its own number c of clusters, so that without clusters the squared error is
    var(Y - lambda f) / n + lambda^2 var(f) / N with the usual n - 1 and N - 1.
    """
    influence = np.zeros(len(parts))
    for part in (graded, ~graded):
        count = int(part.sum())
        if not count:
            continue
        groups = len(np.unique(labels[part]))
        widened = np.sqrt(groups / (groups - 1)) if groups > 1 else 1.0
        influence[part] = widened * (parts[part] - parts[part].mean()) / count
    total = np.bincount(labels, weights=influence)
    return float(np.sqrt((total**2).sum())), len(np.unique(labels[graded]))


ALIKE = 1e-9
"""Weights that differ by no more than this share of the greatest are the same, but for rounding."""


def has_equal_weights(weights: ArrayLike) -> bool:
    """Return whether all weights are equal except for rounding; true without any."""
    w = np.asarray(weights, dtype=np.float64)
    return not len(w) or bool(np.ptp(w) <= ALIKE * w.max())


def compute_weighted_mean(
    grades: ArrayLike, weights: ArrayLike, level: float = 0.95
) -> PoweredMean:
    """Return the weighted mean of grades with a Student t interval by effective sample size.

    Parameters
    ----------
    grades : (n,) finite. weights : (n,) number of items each represents, above 0; only their ratios
        count. level : coverage of the interval, strictly between 0 and 1.

    Returns
    -------
    Student's t with n - 1 degrees of freedom; no predictions are relied on. None, with the reason:
    the mean without grades, the interval of fewer than 2 of them, of equal ones, or where one has
    so much of the weight that the others do not show.

    Raises
    ------
    ValueError : lengths differ, a grade is not finite, a weight is not above 0, level out of range.
    """
    y, w = np.asarray(grades, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if y.ndim != 1 or y.shape != w.shape:
        raise ValueError(f"grades of shape {y.shape} and weights of shape {w.shape}")
    if not np.isfinite(y).all() or not (np.isfinite(w) & (w > 0)).all():
        raise ValueError("grades must be finite, weights finite and above 0")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    n = len(y)
    if not n:
        return PoweredMean(None, None, None, None, 0, 0, NO_GRADES)
    # By the greatest first: a sum of very large weights would overflow.
    share = w / w.max()
    share /= share.sum()
    mean = float(share @ y)
    if n < 2:
        return PoweredMean(mean, None, None, 0.0, n, 0, FEWER_THAN_2_GRADED)
    # 1 over the number of grades that these are as good as.
    alone = float(share @ share)
    if not np.ptp(y) or alone >= 1:  # a few equal grades: no sign of certainty
        return PoweredMean(mean, None, None, 0.0, n, 0, NO_SPREAD)
    error = np.sqrt(float(share @ (y - mean) ** 2) * alone / (1 - alone))
    half = float(special.stdtrit(n - 1, (1 + level) / 2) * error)
    return PoweredMean(mean, mean - half, mean + half, 0.0, n, 0)


# Grades of the other groups, beyond one each, from which the use of scores is learned.
FEWEST_TO_LEARN = 10
# Of so many grades the interval holds what it says, where grades are half steps (see the tests).
FEWEST_GRADED = 5
TOO_FEW_GRADED = "fewer_than_5_judged"


@dataclass(frozen=True)
class PoweredGroupMean:
    """Mean grade of one group, from its grades alone and with scores of ungraded items (PPI).

    Attributes
    ----------
    label : of the group. graded : from its grades alone. powered : with scores, too.
    narrower : how much narrower the second interval is, as a share of the first: .25 for a quarter;
        negative where it is wider; None where one of them is missing.
    """

    label: str
    graded: PoweredMean
    powered: PoweredMean

    @property
    def narrower(self) -> float | None:
        """Share by which scores narrow the interval of the grades; None without both intervals."""
        alone, with_scores = _compute_width(self.graded), _compute_width(self.powered)
        return None if alone is None or with_scores is None else 1 - with_scores / alone


def estimate_powered_group_means(
    grades: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    level: float = 0.95,
    weights: ArrayLike | None = None,
) -> list[PoweredGroupMean]:
    """Return the mean grade of each group that has grades, alone and with scores (PPI).

    In order of first appearance.

    The weight lambda of PPI++ (Angelopoulos, Duchi and Zrnic 2023, section 6) is a slope over
    1 + n/N; the slope is that of grades on scores within groups, taken over all groups but the one
    that is estimated, and cut at 0: a score that goes against the grades is not relied on.

    Parameters
    ----------
    grades : (k,) of people, NaN for none. What was graded is a random part of each group, unless
        weights say otherwise.
    scores : (k,) automatic ones on any scale, NaN for none: such an item is left out.
    groups : (k,) labels. level : coverage of the intervals, strictly between 0 and 1.
    weights : (k,) number of items each graded one represents, above 0; any value for others. None
        where all in a group represent equally many. Only ratios within a group count.

    Returns
    -------
    `powered.weight` is n/(n + N) less than 1 where scores are used, 0 where they are not: fewer
    than `FEWEST_TO_LEARN` grades of others to learn from, nothing but graded, or grades of a group
    that stand for different numbers of items. Of these both means are `compute_weighted_mean`;
    where all items have a grade, they represent only themselves, and weights do not count. No
    interval below `FEWEST_GRADED` grades, or where all of them are the same.

    Raises
    ------
    ValueError : lengths differ, an infinite number, or a weight of a grade that is not above 0.
    """
    y, s = np.asarray(grades, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    code, labels = encode_labels(groups)
    if not y.shape == s.shape == code.shape:
        raise ValueError(f"grades of shape {y.shape}, scores of {s.shape}, groups of {code.shape}")
    w = np.ones(y.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != y.shape:
        raise ValueError(f"grades of shape {y.shape}, weights of {w.shape}")
    if not (w[~np.isnan(y)] > 0).all():
        raise ValueError("weights of grades must be above 0")
    slopes = _compute_slopes_of_others(y, s, code, len(labels))
    means = []
    for place, label in enumerate(labels):
        is_member = code == place
        graded = is_member & ~np.isnan(y) & ~np.isnan(s)
        if not graded.any():
            continue
        rest = int((is_member & np.isnan(y) & ~np.isnan(s)).sum())
        if rest and not has_equal_weights(w[graded]):
            weighted = replace(compute_weighted_mean(y[graded], w[graded], level), n_predicted=rest)
            weighted = _drop_doubtful_interval(weighted, y[graded])
            means.append(PoweredGroupMean(str(label), weighted, weighted))
            continue
        # Predictions on the scale of grades, so that lambda is from 0 to 1.
        predicted = slopes[place] * s[is_member]
        weight = rest / (rest + int(graded.sum())) if slopes[place] > 0 else 0.0
        means.append(
            PoweredGroupMean(
                str(label),
                _drop_doubtful_interval(
                    estimate_powered_mean(y[is_member], s[is_member], None, 0.0, level), y[graded]
                ),
                _drop_doubtful_interval(
                    estimate_powered_mean(y[is_member], predicted, None, weight, level), y[graded]
                ),
            )
        )
    return means


def _compute_slopes_of_others(y: Floats, s: Floats, code: Integers, count: int) -> Floats:
    """Return, for each group, the regression slope of grades on scores in all other groups."""
    both: Booleans = ~np.isnan(y) & ~np.isnan(s)
    group, grades, scores = code[both], y[both], s[both]
    n = np.bincount(group, minlength=count)
    inside = n[group]
    grades = grades - (np.bincount(group, grades, count)[group] / inside)
    scores = scores - (np.bincount(group, scores, count)[group] / inside)
    shared = np.bincount(group, grades * scores, count)
    spread = np.bincount(group, scores * scores, count)
    # A group's mean takes one degree of freedom.
    more = np.maximum(n - 1, 0)
    shared, spread, more = shared.sum() - shared, spread.sum() - spread, more.sum() - more
    known = (more >= FEWEST_TO_LEARN) & (spread > 0)
    slopes = np.divide(shared, spread, out=np.zeros(count), where=known)
    return np.asarray(np.maximum(slopes, 0.0))


def _drop_doubtful_interval(powered_mean: PoweredMean, grades: Floats) -> PoweredMean:
    """Return the mean, without its interval where grades are fewer than 5 or all equal."""
    reason = None
    if len(grades) < FEWEST_GRADED:
        reason = TOO_FEW_GRADED
    elif not np.ptp(grades):  # a few equal grades: no sign of certainty
        reason = NO_SPREAD
    if reason is None:
        return powered_mean
    return PoweredMean(
        powered_mean.mean,
        None,
        None,
        powered_mean.weight,
        powered_mean.n_graded,
        powered_mean.n_predicted,
        reason,
    )


def _compute_width(powered_mean: PoweredMean) -> float | None:
    """Return the width of a mean's interval; None without an interval."""
    return (
        None
        if powered_mean.low is None or powered_mean.high is None
        else powered_mean.high - powered_mean.low
    )
