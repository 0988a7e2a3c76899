"""Precision, recall and F1 of noticing, with intervals by problems (Sun et al. 2024, section 4).

Positive is a reply that takes the problem for unanswerable. A refused reply is a third class: it
took the problem for neither, and enters none of the three counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.inference.clustered import Estimate, drawn_intervals
from evaluation.methods.undefined import ratio

NOTHING_POSITIVE = "nothing_taken_for_unanswerable"
NO_UNANSWERABLE = "no_unanswerable_problem"
NO_ANSWERABLE = "no_answerable_problem"
NO_POSITIVE = "no_unanswerable_problem_and_none_taken_for_one"
# F1 that is given up for a greater threshold.
AS_GOOD = 0.05


@dataclass(frozen=True)
class Taken:
    """What came of n replies to problems.

    Attributes
    ----------
    unanswerable : (n,) the label. positive : (n,) the reply takes the problem for unanswerable.
    refused : (n,) the reply was refused; never positive. right : (n,) the number is the right one
    and the problem was taken for answerable. problem : (n,) numbers of the problems, where several
    replied to the same; None for one reply each. gradable : (n,) whether it is known which number
    is right, where the problem has an answer; None for all.
    """

    unanswerable: Booleans
    positive: Booleans
    refused: Booleans
    right: Booleans
    problem: Integers | None = None
    gradable: Booleans | None = None

    def of(self, chosen: Booleans) -> Taken:
        """Return some of them."""
        return Taken(
            self.unanswerable[chosen],
            self.positive[chosen],
            self.refused[chosen],
            self.right[chosen],
            None if self.problem is None else self.problem[chosen],
            None if self.gradable is None else self.gradable[chosen],
        )

    def counts(self) -> dict[str, int]:
        """Return how many there are of each case."""
        found = {name: int(column.sum()) for name, column in self._cases().items()}
        return {**found, "refusals": int(self.refused.sum())}

    def _cases(self) -> dict[str, Booleans]:
        negative = ~self.positive & ~self.refused
        return {
            "true_positives": self.unanswerable & self.positive,
            "false_positives": ~self.unanswerable & self.positive,
            "false_negatives": self.unanswerable & negative,
        }


def rates(taken: Taken, n_draws: int = 400, seed: int = 0) -> Mapping[str, Estimate]:
    """Return precision, recall, f1 and answer_accuracy, 0 to 1.

    precision = TP / (TP + FP), recall = TP / (TP + FN), f1 = 2 TP / (2 TP + FP + FN);
    answer_accuracy: the share of answerable problems (those of refused replies too) that were
    taken for answerable and answered rightly, where it is known which number is right.

    Parameters
    ----------
    n_draws, seed : of problems, with replacement; 0 draws for no intervals.

    Returns
    -------
    `n` is the denominator, for f1 the replies that were not refused. Undefined where the
    denominator is 0: nothing_taken_for_unanswerable, no_unanswerable_problem,
    no_unanswerable_problem_and_none_taken_for_one, no_answerable_problem.
    """
    cases = taken._cases()
    tp, fp, fn = (column.astype(np.float64) for column in cases.values())
    gradable = True if taken.gradable is None else taken.gradable
    answerable = (~taken.unanswerable & gradable).astype(np.float64)
    right = (taken.right & ~taken.unanswerable & gradable).astype(np.float64)
    parts = np.vstack([tp, tp, 2 * tp, right])
    wholes = np.vstack([tp + fp, tp + fn, 2 * tp + fp + fn, answerable])
    n = [tp.sum() + fp.sum(), tp.sum() + fn.sum(), len(tp) - taken.refused.sum(), answerable.sum()]

    together = ratio(parts.sum(axis=1), wholes.sum(axis=1))
    if taken.problem is not None:
        parts, wholes = (_by_problem(columns, taken.problem) for columns in (parts, wholes))

    def drawn(weights: Floats) -> Floats:
        return ratio(parts @ weights.T, wholes @ weights.T)

    estimates = drawn_intervals(
        together,
        np.array(n, dtype=np.int64),
        drawn,
        parts.shape[1],
        n_draws,
        seed,
    )
    reasons = (NOTHING_POSITIVE, NO_UNANSWERABLE, NO_POSITIVE, NO_ANSWERABLE)
    names = ("precision", "recall", "f1", "answer_accuracy")
    return {
        name: replace(one, reason=reason) if one.value is None else one
        for name, one, reason in zip(names, estimates, reasons, strict=True)
    }


def _by_problem(columns: Floats, problem: Integers) -> Floats:
    """Return (k, problems): the sums of (k, n) columns over the replies to each problem."""
    distinct, place = np.unique(problem, return_inverse=True)
    sums = np.zeros((len(columns), len(distinct)))
    for row, column in zip(sums, columns, strict=True):
        row += np.bincount(place, weights=column, minlength=len(distinct))
    return sums


def f1_lost(whole: Taken, part: Taken, n_draws: int = 400, seed: int = 0) -> Estimate:
    """Return F1 of the whole classifier minus F1 of a part of it, -1 to 1, over the same replies.

    Draws are of problems, the same for both. Undefined (as F1 in `rates`) where either F1 is.
    """
    pairs = []
    for one in (whole, part):
        tp, fp, fn = (column.astype(np.float64) for column in one._cases().values())
        pairs.append((2 * tp, 2 * tp + fp + fn))
    (above, below), (part_above, part_below) = pairs

    def drawn(weights: Floats) -> Floats:
        return np.atleast_2d(
            ratio(above @ weights.T, below @ weights.T)
            - ratio(part_above @ weights.T, part_below @ weights.T)
        )

    n = len(above) - int(whole.refused.sum())
    lost = drawn(np.ones((1, len(above))))[:, 0]
    found = drawn_intervals(lost, n, drawn, len(above), n_draws, seed)[0]
    return replace(found, reason=NO_POSITIVE) if found.value is None else found


def best_threshold(similarity: Floats, otherwise: Booleans, unanswerable: Booleans) -> float:
    """Return the greatest threshold whose F1 is within .05 of the best one.

    Positive is what is above it, or `otherwise`. F1 hardly changes over a wide range; the upper end
    of it takes fewer replies that give a number for replies that do not.

    Parameters
    ----------
    similarity : (n,) of replies to the nearest template, -1 to 1. otherwise : (n,) whether the
    reply is positive whatever its similarity. unanswerable : (n,) the labels.

    Returns
    -------
    The middle between two neighbouring similarities.
    """
    known = np.unique(similarity)
    bounds = np.concatenate([[known[0] - 0.02], known, [known[-1] + 0.02]])
    middles = (bounds[1:] + bounds[:-1]) / 2
    positive = (similarity[None, :] > middles[:, None]) | otherwise[None, :]
    found = (positive & unanswerable).sum(axis=1)
    f1 = ratio(2.0 * found, positive.sum(axis=1) + unanswerable.sum(), undefined=0.0)
    return float(middles[f1 >= f1.max() - AS_GOOD].max())
