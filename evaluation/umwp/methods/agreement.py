"""Agreement of annotators with each other, and of the classifier with the annotators.

Replies to one problem depend on each other, so the bootstrap draws whole problems. A sample that
was stratified by the classifier's class does not represent all replies. Weights correct this: each
labelled reply counts as many times as the replies that it represents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.inference.clustered import compute_drawn_intervals
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.statistics.kappa import (
    compute_fleiss_parts,
    compute_kappa_of_tables,
    fleiss_kappa,
)
from evaluation.core.stats.undefined import divide_where_positive

MISSING_LABEL = -1
NO_LABELS = "no_labels"
FEWER_THAN_2 = "fewer_than_2_annotators"
ONE_LABEL = "one_label_throughout"
NO_MAJORITY = "no_majority"


@dataclass(frozen=True)
class Draws:
    """Bootstrap settings: `n` draws of problems (0 for no intervals), and the seed."""

    n: int = 400
    seed: int = 0


def find_majority(votes: Integers, n_labels: int) -> Integers:
    """Return the label that most annotators gave, one per reply; -1 for a tie or no label.

    Parameters
    ----------
    votes : (n, annotators) labels from 0; -1 where an annotator gave none.
    """
    counts = count_labels(votes, n_labels)
    most = counts.max(axis=1)
    is_unique = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(is_unique & (most > 0), counts.argmax(axis=1), MISSING_LABEL)


def count_labels(votes: Integers, n_labels: int) -> Integers:
    """Return the number of annotators per label, one row per reply, one column per label."""
    return (votes[:, :, None] == np.arange(n_labels)).sum(axis=1)


def compute_annotator_agreement(
    votes: Integers, n_labels: int, problems: Integers, draws: Draws
) -> SampleEstimate:
    """Return Fleiss' kappa of all annotators over replies with at least 2 labels.

    Parameters
    ----------
    votes : (n, annotators) labels from 0; -1 where an annotator gave none.
    problems : (n,) index of the problem of each reply.

    Returns
    -------
    Undefined: fewer_than_2_annotators (no reply has two labels), one_label_throughout.
    """
    parts = compute_fleiss_parts(count_labels(votes, n_labels))
    n = int(parts[:, 0].sum())
    kappa = _estimate_one(parts, fleiss_kappa, n, problems, draws)
    return _add_reason(kappa, ONE_LABEL if n else FEWER_THAN_2)


def compute_pair_agreement(
    first: Integers, second: Integers, n_labels: int, problems: Integers, draws: Draws
) -> SampleEstimate:
    """Return Cohen's kappa of two annotators over the replies that both labelled.

    Parameters
    ----------
    first, second : (n,) labels from 0; -1 where the annotator gave none.
    problems : (n,) index of the problem of each reply.

    Returns
    -------
    Undefined: no_labels (no reply with both labels), one_label_throughout.
    """
    tables = _build_cells(first, second, n_labels)
    n = int(tables.sum())
    kappa = _estimate_one(
        tables, lambda sums: compute_kappa_of_tables(_reshape_to_squares(sums)), n, problems, draws
    )
    return _add_reason(kappa, ONE_LABEL if n else NO_LABELS)


def compute_classifier_agreement(
    people: Booleans, classifier: Booleans, weights: Floats, problems: Integers, draws: Draws
) -> dict[str, SampleEstimate]:
    """Return how well the classifier agrees with the annotators' majority, by metric.

    classifier_agreement is the share of equal labels, classifier_kappa Cohen's kappa. The others
    use the weights and so estimate the value over all replies: classifier_weighted_kappa, and
    precision, recall and F1 of the class unanswerable. Here the annotators' label is the truth.

    Parameters
    ----------
    people, classifier : (n,) whether the reply says that the problem has no answer.
    weights : (n,) number of replies that each represents, above 0.
    problems : (n,) index of the problem of each reply.

    Returns
    -------
    `n` counts labelled replies. Undefined: no_labels, one_label_throughout, no_estimate.
    """
    cells = _build_cells(people.astype(np.int64), classifier.astype(np.int64), 2)
    n = len(people)
    whole = np.hstack([cells, cells * weights[:, None]])

    def compute_statistics(sums: Floats) -> Floats:
        plain, weighted = _reshape_to_squares(sums[..., :4]), _reshape_to_squares(sums[..., 4:])
        same = divide_where_positive(np.trace(plain, axis1=-2, axis2=-1), plain.sum(axis=(-2, -1)))
        fn, fp, tp = weighted[..., 1, 0], weighted[..., 0, 1], weighted[..., 1, 1]
        statistics = [same, compute_kappa_of_tables(plain), compute_kappa_of_tables(weighted)]
        statistics += [
            divide_where_positive(tp, tp + fp),
            divide_where_positive(tp, tp + fn),
            divide_where_positive(2 * tp, 2 * tp + fp + fn),
        ]
        return np.array(statistics)

    names = ("agreement", "kappa", "weighted_kappa", "precision", "recall", "f1")
    estimates = _estimate_from_sums(whole, compute_statistics, n, problems, draws)
    reasons = {"kappa": ONE_LABEL, "weighted_kappa": ONE_LABEL}
    return {
        f"classifier_{name}": _add_reason(estimate, reasons.get(name) if n else NO_LABELS)
        for name, estimate in zip(names, estimates, strict=True)
    }


def compute_weighted_share(
    positive: Booleans, weights: Floats, problems: Integers, draws: Draws
) -> SampleEstimate:
    """Return the weighted share of positive replies, with an interval by problems.

    Parameters
    ----------
    positive : (n,) whether the label applies to the reply.
    weights : (n,) number of replies that each represents, above 0.
    problems : (n,) index of the problem of each reply.

    Returns
    -------
    A share of 0 to 1; `n` counts labelled replies. Undefined: no_labels.
    """
    share = _estimate_one(
        np.stack([positive * weights, weights], axis=1),
        lambda sums: divide_where_positive(sums[..., 0], sums[..., 1]),
        len(positive),
        problems,
        draws,
    )
    return _add_reason(share, None if len(positive) else NO_LABELS)


def _build_cells(first: Integers, second: Integers, n_labels: int) -> Floats:
    """Return flattened label-by-label tables, one row per reply, with a 1 for its two labels."""
    has_both = (first != MISSING_LABEL) & (second != MISSING_LABEL)
    cells = np.zeros((len(first), n_labels * n_labels))
    rows = np.flatnonzero(has_both)
    cells[rows, first[rows] * n_labels + second[rows]] = 1.0
    return cells


def _reshape_to_squares(sums: Floats) -> Floats:
    """Return rows of flattened label-by-label tables as square tables."""
    side = round(sums.shape[-1] ** 0.5)
    return sums.reshape(*sums.shape[:-1], side, side)


def _estimate_one(
    parts: Floats, statistic: Callable[[Floats], Floats], n: int, problems: Integers, draws: Draws
) -> SampleEstimate:
    """Return one statistic of summed reply rows, with its bootstrap interval over problems."""
    return _estimate_from_sums(parts, lambda sums: statistic(sums)[None], n, problems, draws)[0]


def _estimate_from_sums(
    parts: Floats, statistic: Callable[[Floats], Floats], n: int, problems: Integers, draws: Draws
) -> list[SampleEstimate]:
    """Return statistics of summed reply rows, with bootstrap intervals over problems.

    `statistic` takes (..., parts) and returns (statistics, ...).
    """
    distinct, index = np.unique(problems, return_inverse=True)
    # A draw of problems is a weighted sum of these rows, so no reply is copied.
    by_problem = np.zeros((len(distinct), parts.shape[1]))
    np.add.at(by_problem, index, parts)
    return compute_drawn_intervals(
        statistic(by_problem.sum(axis=0)),
        n,
        lambda weights: statistic(weights @ by_problem),
        len(distinct),
        draws.n,
        draws.seed,
    )


def _add_reason(estimate: SampleEstimate, reason: str | None) -> SampleEstimate:
    """Return the estimate with `reason` added if its value is undefined, else unchanged."""
    return replace(estimate, reason=reason) if estimate.value is None and reason else estimate
