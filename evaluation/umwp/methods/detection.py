"""Precision, recall and F1 of detecting unanswerable problems (Sun et al. 2024, section 4).

A reply is positive if it was classified as unanswerable. A refused reply is a third class and
enters none of the three counts. The bootstrap draws problems.

The module also tests which word patterns separate positive replies from negative ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.inference.clustered import compute_drawn_intervals
from evaluation.core.stats.inference.corrections import benjamini_hochberg
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.statistics.proportions import wilson_interval
from evaluation.core.stats.undefined import divide_where_positive

NOTHING_POSITIVE = "nothing_taken_for_unanswerable"
NO_UNANSWERABLE = "no_unanswerable_problem"
NO_ANSWERABLE = "no_answerable_problem"
NO_POSITIVE = "no_unanswerable_problem_and_none_taken_for_one"
# The chosen threshold may have an F1 this much below the best one.
F1_TOLERANCE = 0.05


@dataclass(frozen=True)
class Detections:
    """Labels of problems and classes of their replies, as columns with one entry per reply.

    Attributes
    ----------
    unanswerable : (n,) label of the problem.
    positive : (n,) whether the reply was classified as unanswerable.
    refused : (n,) whether the reply was refused; such a reply is never positive.
    right : (n,) whether the reply was classified as answerable and its number is right.
    problem : (n,) index of the problem; None if each problem has one reply.
    gradable : (n,) whether the right number of the problem is known; None if it is for all.
    """

    unanswerable: Booleans
    positive: Booleans
    refused: Booleans
    right: Booleans
    problem: Integers | None = None
    gradable: Booleans | None = None

    def select(self, chosen: Booleans) -> Detections:
        """Return the detections of the replies that the mask `chosen` selects."""
        return Detections(
            self.unanswerable[chosen],
            self.positive[chosen],
            self.refused[chosen],
            self.right[chosen],
            None if self.problem is None else self.problem[chosen],
            None if self.gradable is None else self.gradable[chosen],
        )

    def count_cases(self) -> dict[str, int]:
        """Return the numbers of true positives, false positives, false negatives, refusals."""
        counts = {name: int(column.sum()) for name, column in self._list_cases().items()}
        return {**counts, "refusals": int(self.refused.sum())}

    def _list_cases(self) -> dict[str, Booleans]:
        """Return masks of the true positive, false positive and false negative replies."""
        negative = ~self.positive & ~self.refused
        return {
            "true_positives": self.unanswerable & self.positive,
            "false_positives": ~self.unanswerable & self.positive,
            "false_negatives": self.unanswerable & negative,
        }


def compute_rates(
    detections: Detections, n_draws: int = 400, seed: int = 0
) -> Mapping[str, SampleEstimate]:
    """Return precision, recall, F1 and answer accuracy (0 to 1) with intervals, by name.

    precision = TP / (TP + FP), recall = TP / (TP + FN), f1 = 2 TP / (2 TP + FP + FN).
    answer_accuracy is the share of gradable answerable problems with a right reply. Refused
    replies are in its denominator.

    Parameters
    ----------
    n_draws, seed : bootstrap draws of problems; 0 draws for no intervals.

    Returns
    -------
    `n` is the denominator, for f1 the replies that were not refused. Undefined where the
    denominator is 0: nothing_taken_for_unanswerable, no_unanswerable_problem,
    no_unanswerable_problem_and_none_taken_for_one, no_answerable_problem.
    """
    cases = detections._list_cases()
    tp, fp, fn = (column.astype(np.float64) for column in cases.values())
    gradable = True if detections.gradable is None else detections.gradable
    answerable = (~detections.unanswerable & gradable).astype(np.float64)
    right = (detections.right & ~detections.unanswerable & gradable).astype(np.float64)
    parts = np.vstack([tp, tp, 2 * tp, right])
    wholes = np.vstack([tp + fp, tp + fn, 2 * tp + fp + fn, answerable])
    n = [
        tp.sum() + fp.sum(),
        tp.sum() + fn.sum(),
        len(tp) - detections.refused.sum(),
        answerable.sum(),
    ]

    values = divide_where_positive(parts.sum(axis=1), wholes.sum(axis=1))
    # Replies of several people to one problem depend on each other: draw them together.
    if detections.problem is not None:
        parts, wholes = (
            _sum_by_problem(columns, detections.problem) for columns in (parts, wholes)
        )

    def compute_drawn(weights: Floats) -> Floats:
        return divide_where_positive(parts @ weights.T, wholes @ weights.T)

    estimates = compute_drawn_intervals(
        values,
        np.array(n, dtype=np.int64),
        compute_drawn,
        parts.shape[1],
        n_draws,
        seed,
    )
    reasons = (NOTHING_POSITIVE, NO_UNANSWERABLE, NO_POSITIVE, NO_ANSWERABLE)
    names = ("precision", "recall", "f1", "answer_accuracy")
    return {
        name: replace(estimate, reason=reason) if estimate.value is None else estimate
        for name, estimate, reason in zip(names, estimates, reasons, strict=True)
    }


def _sum_by_problem(columns: Floats, problem: Integers) -> Floats:
    """Return `columns` summed over the replies to each problem, one column per problem."""
    distinct, index = np.unique(problem, return_inverse=True)
    sums = np.zeros((len(columns), len(distinct)))
    for row, column in zip(sums, columns, strict=True):
        row += np.bincount(index, weights=column, minlength=len(distinct))
    return sums


def compute_f1_loss(
    whole: Detections, part: Detections, n_draws: int = 400, seed: int = 0
) -> SampleEstimate:
    """Return the whole classifier's F1 minus the F1 of one part of it, on the same replies.

    Both use the same draws of problems. Undefined where either F1 is.
    """
    pairs = []
    for detections in (whole, part):
        tp, fp, fn = (column.astype(np.float64) for column in detections._list_cases().values())
        pairs.append((2 * tp, 2 * tp + fp + fn))
    (above, below), (part_above, part_below) = pairs

    # The same draws for both, so that common errors cancel in the difference.
    def compute_losses(weights: Floats) -> Floats:
        return np.atleast_2d(
            divide_where_positive(above @ weights.T, below @ weights.T)
            - divide_where_positive(part_above @ weights.T, part_below @ weights.T)
        )

    n = len(above) - int(whole.refused.sum())
    loss = compute_losses(np.ones((1, len(above))))[:, 0]
    estimate = compute_drawn_intervals(loss, n, compute_losses, len(above), n_draws, seed)[0]
    return replace(estimate, reason=NO_POSITIVE) if estimate.value is None else estimate


def choose_threshold(similarity: Floats, otherwise: Booleans, unanswerable: Booleans) -> float:
    """Return the greatest similarity threshold whose F1 is within 0.05 of the best F1.

    F1 hardly changes over a wide range of thresholds. The upper end of the range has fewer false
    positives.

    Parameters
    ----------
    similarity : (n,) of each reply to its nearest template, -1 to 1.
    otherwise : (n,) whether the reply is positive whatever its similarity.
    unanswerable : (n,) label of the problem.

    Returns
    -------
    The middle between two neighbouring similarities.
    """
    distinct = np.unique(similarity)
    bounds = np.concatenate([[distinct[0] - 0.02], distinct, [distinct[-1] + 0.02]])
    middles = (bounds[1:] + bounds[:-1]) / 2
    positive = (similarity[None, :] > middles[:, None]) | otherwise[None, :]
    true_positives = (positive & unanswerable).sum(axis=1)
    f1 = divide_where_positive(
        2.0 * true_positives, positive.sum(axis=1) + unanswerable.sum(), undefined=0.0
    )
    return float(middles[f1 >= f1.max() - F1_TOLERANCE].max())


@dataclass(frozen=True)
class Separation:
    """How well each word pattern separates unanswerable from answerable replies.

    Attributes
    ----------
    precision : (k,) share of positive replies among those with the pattern, 0 to 1; NaN without
        any.
    recall : (k,) share of the positive replies that have the pattern, 0 to 1.
    p_value : (k,) of Fisher's exact test, one-sided: so many positive replies or more by chance.
    adjusted : (k,) p-values corrected by Benjamini and Hochberg over all k patterns.
    """

    precision: Floats
    recall: Floats
    p_value: Floats
    adjusted: Floats


def measure_separation(
    positive: Integers, negative: Integers, n_positive: int, n_negative: int
) -> Separation:
    """Return precision, recall and p-values of word patterns, from counts of replies.

    Parameters
    ----------
    positive, negative : (k,) number of positive and negative replies with the pattern.
    n_positive, n_negative : number of all positive and negative replies.

    Raises
    ------
    ValueError : a pattern has more replies than there are, or no reply is positive.
    """
    hits, wrong = np.asarray(positive, dtype=np.int64), np.asarray(negative, dtype=np.int64)
    if n_positive < 1 or (hits > n_positive).any() or (wrong > n_negative).any():
        raise ValueError("there are fewer replies than a pattern stands in, or none is positive")
    every = hits + wrong
    precision = np.divide(hits, every, out=np.full(len(hits), np.nan), where=every > 0)
    # P(X >= hits), X hypergeometric: Fisher 1935. `sf` is P(X > x), hence the 1.
    p = stats.hypergeom.sf(hits - 1, n_positive + n_negative, n_positive, every)
    p_value = np.clip(np.asarray(p, dtype=np.float64), 0.0, 1.0)
    return Separation(precision, hits / n_positive, p_value, benjamini_hochberg(p_value))


def compute_wilson_interval(hits: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Return Wilson's interval of the share hits / n (Wilson 1927); None if n is 0."""
    if not n:
        return None
    low, high = wilson_interval(hits / n, n, level)
    return float(low), float(high)


def order_greedily(covers: Booleans, covered: Booleans, wrong: Integers) -> list[tuple[int, int]]:
    """Return candidate templates ordered by the unanswerable replies that each newly detects.

    Parameters
    ----------
    covers : (k, n) whether a candidate finds a positive reply.
    covered : (n,) whether a positive reply is found already.
    wrong : (k,) number of negative replies that a candidate finds; of equal gains the candidate
        with fewer goes first.

    Returns
    -------
    Index and gain of each candidate. Candidates that add nothing come last, with gain 0, in their
    original order.
    """
    covers, left = np.asarray(covers, dtype=np.bool_), ~np.asarray(covered, dtype=np.bool_)
    waiting = list(range(len(covers)))
    order: list[tuple[int, int]] = []
    while waiting:
        gains = (covers[waiting] & left).sum(axis=1).tolist()
        if not max(gains):
            break
        best = min(range(len(waiting)), key=lambda i: (-gains[i], wrong[waiting[i]]))
        chosen = waiting.pop(best)
        order.append((chosen, gains[best]))
        left &= ~covers[chosen]
    return [*order, *((candidate, 0) for candidate in waiting)]
