"""Mean grades of groups, such as workers, by prediction-powered inference from few grades.

`prediction_powered` says how few grades and many predictions become one mean. Of a group alone
there are too few grades to learn from them how a score becomes a grade, and how far to trust it:
both are learned from the other groups. So what is relied on does not hang on the group's own
grades, and the estimate is unbiased however wrong the score is.

All of it asks for a random part of each group. Where some of a group were drawn more densely than
others, the weighted mean of its grades is right and that of prediction-powered inference is not:
then the group has the former, and scores are not relied on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Booleans, Floats, Integers, encode_labels
from evaluation.core.stats.inference.prediction_powered import (
    NO_SPREAD,
    PoweredMean,
    estimate_powered_mean,
)
from evaluation.core.stats.inference.weighted_mean import compute_weighted_mean, has_equal_weights

# Grades of the other groups, beyond one each, from which the use of scores is learned.
FEWEST_TO_LEARN = 10
# Of so many grades the interval holds what it says, where grades are half steps (see the tests).
FEWEST_GRADED = 5
TOO_FEW_GRADED = "fewer_than_5_judged"


@dataclass(frozen=True)
class GroupMean:
    """Mean grade of one group, from its grades alone and with the scores of ungraded items.

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
        """Share by which scores narrow the interval of grades alone; None without both."""
        alone, with_scores = _compute_width(self.graded), _compute_width(self.powered)
        return None if alone is None or with_scores is None else 1 - with_scores / alone


def estimate_powered_group_means(
    grades: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    level: float = 0.95,
    weights: ArrayLike | None = None,
) -> list[GroupMean]:
    """Return the mean grade of each group with grades, in order of first appearance.

    The weight lambda of PPI++ (Angelopoulos, Duchi and Zrnic 2023, section 6) is a slope over
    1 + n/N; the slope is that of grades on scores within groups, taken over all groups but the one
    that is estimated, and cut at 0: a score that goes against the grades is not relied on.

    Parameters
    ----------
    grades : (k,) of people, NaN for none. What was graded is a random part of each group, unless
        weights say otherwise.
    scores : (k,) automatic ones on any scale, NaN for none: such a thing tells nothing.
    groups : (k,) labels. level : coverage of the intervals, strictly between 0 and 1.
    weights : (k,) for how many things each that was graded stands, above 0; whatever for others.
        None where all of a group stand for as many. Only ratios within a group count.

    Returns
    -------
    `powered.weight` is n/(n + N) less than 1 where scores are used, 0 where they are not: fewer
    than `FEWEST_TO_LEARN` grades of others to learn from, nothing but graded, or grades of a group
    that stand for different numbers of things. Of these both means are `compute_weighted_mean`;
    where nothing is left without a grade they stand for nothing else, and weights do not count. No
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
    found = []
    for place, label in enumerate(labels):
        is_member = code == place
        graded = is_member & ~np.isnan(y) & ~np.isnan(s)
        if not graded.any():
            continue
        rest = int((is_member & np.isnan(y) & ~np.isnan(s)).sum())
        if rest and not has_equal_weights(w[graded]):
            weighted = replace(compute_weighted_mean(y[graded], w[graded], level), n_predicted=rest)
            weighted = _drop_doubtful_interval(weighted, y[graded])
            found.append(GroupMean(str(label), weighted, weighted))
            continue
        # Predictions on the scale of grades, so that lambda is from 0 to 1.
        predicted = slopes[place] * s[is_member]
        weight = rest / (rest + int(graded.sum())) if slopes[place] > 0 else 0.0
        found.append(
            GroupMean(
                str(label),
                _drop_doubtful_interval(
                    estimate_powered_mean(y[is_member], s[is_member], None, 0.0, level), y[graded]
                ),
                _drop_doubtful_interval(
                    estimate_powered_mean(y[is_member], predicted, None, weight, level), y[graded]
                ),
            )
        )
    return found


def _compute_slopes_of_others(y: Floats, s: Floats, code: Integers, count: int) -> Floats:
    """Return for each group the slope of grades on scores in all others; 0 if unknown."""
    both: Booleans = ~np.isnan(y) & ~np.isnan(s)
    group, grades, scores = code[both], y[both], s[both]
    n = np.bincount(group, minlength=count)
    inside = n[group]
    grades = grades - (np.bincount(group, grades, count)[group] / inside)
    scores = scores - (np.bincount(group, scores, count)[group] / inside)
    shared = np.bincount(group, grades * scores, count)
    spread = np.bincount(group, scores * scores, count)
    more = np.maximum(n - 1, 0)
    shared, spread, more = shared.sum() - shared, spread.sum() - spread, more.sum() - more
    known = (more >= FEWEST_TO_LEARN) & (spread > 0)
    slopes = np.divide(shared, spread, out=np.zeros(count), where=known)
    return np.asarray(np.maximum(slopes, 0.0))


def _drop_doubtful_interval(found: PoweredMean, grades: Floats) -> PoweredMean:
    """Return the mean, without its interval if grades are fewer than 5 or all equal."""
    reason = None
    if len(grades) < FEWEST_GRADED:
        reason = TOO_FEW_GRADED
    elif not np.ptp(grades):  # a few equal grades: no sign of certainty
        reason = NO_SPREAD
    if reason is None:
        return found
    return PoweredMean(
        found.mean, None, None, found.weight, found.n_graded, found.n_predicted, reason
    )


def _compute_width(found: PoweredMean) -> float | None:
    """Return the width of a mean's interval; None without an interval."""
    return None if found.low is None or found.high is None else found.high - found.low
