"""People's labels of replies: how far they agree with each other and the classifier with them.

Replies to one problem hang together, so whole problems are drawn for the intervals. Where replies
were chosen by what the classifier said of them, the labelled ones are no picture of all; weights
give each labelled reply the share of all replies that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.inference.clustered import Estimate, drawn_intervals
from evaluation.methods.statistics.kappa import fleiss_kappa, fleiss_parts, kappa_of_tables
from evaluation.methods.undefined import ratio

NOBODY = -1
NO_LABELS = "no_labels"
FEWER_THAN_2 = "fewer_than_2_annotators"
ONE_LABEL = "one_label_throughout"
NO_MAJORITY = "no_majority"


@dataclass(frozen=True)
class Draws:
    """How intervals are made: `n` draws (0 for none) of problems, with this seed."""

    n: int = 400
    seed: int = 0


def majority(votes: Integers, n_labels: int) -> Integers:
    """Return the label that more annotators gave than any other.

    Parameters
    ----------
    votes : (n, annotators) labels from 0, -1 where somebody gave none.

    Returns
    -------
    (n,) labels; -1 for a tie, and where nobody gave any.
    """
    counts = label_counts(votes, n_labels)
    most = counts.max(axis=1)
    alone = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(alone & (most > 0), counts.argmax(axis=1), NOBODY)


def label_counts(votes: Integers, n_labels: int) -> Integers:
    """Return (n, n_labels): how many annotators gave each reply each label."""
    return (votes[:, :, None] == np.arange(n_labels)).sum(axis=1)


def annotators_agreement(
    votes: Integers, n_labels: int, problems: Integers, draws: Draws
) -> Estimate:
    """Return Fleiss' kappa of all annotators; `n` counts replies with 2 labels or more.

    Parameters
    ----------
    votes : (n, annotators), as in `majority`. problems : (n,) which problem each replies to.

    Returns
    -------
    Undefined: fewer_than_2_annotators (no reply has two labels), one_label_throughout.
    """
    parts = fleiss_parts(label_counts(votes, n_labels))
    n = int(parts[:, 0].sum())
    found = _of_sums(parts, fleiss_kappa, n, problems, draws)
    return _with_reason(found, ONE_LABEL if n else FEWER_THAN_2)


def pair_agreement(
    one: Integers, other: Integers, n_labels: int, problems: Integers, draws: Draws
) -> Estimate:
    """Return Cohen's kappa of two, over the n replies that both labelled.

    Parameters
    ----------
    one, other : (n,) labels from 0, -1 where somebody gave none. problems : as above.

    Returns
    -------
    Undefined: no_labels (none in common), one_label_throughout.
    """
    tables = _tables(one, other, n_labels)
    n = int(tables.sum())
    found = _of_sums(tables, lambda sums: kappa_of_tables(_square(sums)), n, problems, draws)
    return _with_reason(found, ONE_LABEL if n else NO_LABELS)


def classifier_agreement(
    people: Booleans, classifier: Booleans, weights: Floats, problems: Integers, draws: Draws
) -> dict[str, Estimate]:
    """Return how far the classifier says what people say, and how well it finds what they find.

    classifier_agreement: share of the same label. classifier_kappa: Cohen's. Then, with the
    weights, so that they are of all replies: weighted_kappa, and precision, recall and F1 of "it
    says that there is no answer", people being right.

    Parameters
    ----------
    people, classifier : (n,) whether the reply says that the problem has no answer.
    weights : (n,) how many replies each stands for, above 0. problems : as above.

    Returns
    -------
    `n` counts labelled replies. Undefined: no_labels, one_label_throughout, no_estimate.
    """
    cells = _tables(people.astype(np.int64), classifier.astype(np.int64), 2)
    n = len(people)
    whole = np.hstack([cells, cells * weights[:, None]])

    def numbers(sums: Floats) -> Floats:
        plain, weighted = _square(sums[..., :4]), _square(sums[..., 4:])
        same = ratio(np.trace(plain, axis1=-2, axis2=-1), plain.sum(axis=(-2, -1)))
        fn, fp, tp = weighted[..., 1, 0], weighted[..., 0, 1], weighted[..., 1, 1]
        found = [same, kappa_of_tables(plain), kappa_of_tables(weighted)]
        found += [ratio(tp, tp + fp), ratio(tp, tp + fn), ratio(2 * tp, 2 * tp + fp + fn)]
        return np.array(found)

    names = ("agreement", "kappa", "weighted_kappa", "precision", "recall", "f1")
    found = _all_of_sums(whole, numbers, n, problems, draws)
    reasons = {"kappa": ONE_LABEL, "weighted_kappa": ONE_LABEL}
    return {
        f"classifier_{name}": _with_reason(one, reasons.get(name) if n else NO_LABELS)
        for name, one in zip(names, found, strict=True)
    }


def _tables(one: Integers, other: Integers, n_labels: int) -> Floats:
    """Return (n, k * k): a 1 in the cell of both labels, zeros where one is missing."""
    both = (one != NOBODY) & (other != NOBODY)
    cells = np.zeros((len(one), n_labels * n_labels))
    at = np.flatnonzero(both)
    cells[at, one[at] * n_labels + other[at]] = 1.0
    return cells


def _square(sums: Floats) -> Floats:
    side = round(sums.shape[-1] ** 0.5)
    return sums.reshape(*sums.shape[:-1], side, side)


def _of_sums(
    parts: Floats, statistic: Callable[[Floats], Floats], n: int, problems: Integers, draws: Draws
) -> Estimate:
    return _all_of_sums(parts, lambda sums: statistic(sums)[None], n, problems, draws)[0]


def _all_of_sums(
    parts: Floats, statistic: Callable[[Floats], Floats], n: int, problems: Integers, draws: Draws
) -> list[Estimate]:
    """Return statistics of the sum of all rows, and of drawn problems' sums.

    `statistic` takes (..., parts) and returns (statistics, ...).
    """
    distinct, place = np.unique(problems, return_inverse=True)
    by_problem = np.zeros((len(distinct), parts.shape[1]))
    np.add.at(by_problem, place, parts)
    return drawn_intervals(
        statistic(by_problem.sum(axis=0)),
        n,
        lambda weights: statistic(weights @ by_problem),
        len(distinct),
        draws.n,
        draws.seed,
    )


def _with_reason(found: Estimate, reason: str | None) -> Estimate:
    return replace(found, reason=reason) if found.value is None and reason else found
