"""Detection of unanswerable problems, and agreement of annotators.

Agreement of annotators with each other, and of the classifier with the annotators.

Replies to one problem depend on each other, so the bootstrap draws whole problems. A sample that
was stratified by the classifier's class does not represent all replies. Weights correct this: each
labelled reply counts as many times as the replies that it represents.

Precision, recall and F1 of detecting unanswerable problems (Sun et al. 2024, section 4).

A reply is positive if it was classified as unanswerable. A refused reply is a third class and
enters none of the three counts. The bootstrap draws problems.

The module also tests which word patterns separate positive replies from negative ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from evaluation.core.stats.cells import Booleans, Floats, Integers, divide_where_positive
from evaluation.core.stats.inference.clustered import compute_drawn_intervals
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.inference.significance import benjamini_hochberg
from evaluation.core.stats.statistics.agreement import (
    compute_fleiss_parts,
    compute_kappa_of_tables,
    fleiss_kappa,
)
from evaluation.core.stats.statistics.descriptive import wilson_interval

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


def find_majority_labels(votes: Integers, n_labels: int) -> Integers:
    """Return the label that most annotators gave, one per reply; -1 for a tie or no label.

    Parameters
    ----------
    votes : (n, annotators) labels from 0; -1 where an annotator gave none.
    """
    counts = count_labels(votes, n_labels)
    most = counts.max(axis=1)
    # argmax would take the first of tied labels, which no majority chose.
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
    kappa = _estimate_statistic(parts, fleiss_kappa, n, problems, draws)
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
    tables = _build_label_tables(first, second, n_labels)
    n = int(tables.sum())
    kappa = _estimate_statistic(
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
    people, classifier : (n,) whether the reply states that the problem has no answer.
    weights : (n,) number of replies that each represents, above 0.
    problems : (n,) index of the problem of each reply.

    Returns
    -------
    `n` counts labelled replies. Undefined: no_labels, one_label_throughout, no_estimate.
    """
    cells = _build_label_tables(people.astype(np.int64), classifier.astype(np.int64), 2)
    n = len(people)
    whole = np.hstack([cells, cells * weights[:, None]])

    def compute_statistics(sums: Floats) -> Floats:
        plain, weighted = _reshape_to_squares(sums[..., :4]), _reshape_to_squares(sums[..., 4:])
        same = divide_where_positive(np.trace(plain, axis1=-2, axis2=-1), plain.sum(axis=(-2, -1)))
        # Rows are people's labels, which are the truth here; columns are the classifier's.
        fn, fp, tp = weighted[..., 1, 0], weighted[..., 0, 1], weighted[..., 1, 1]
        statistics = [same, compute_kappa_of_tables(plain), compute_kappa_of_tables(weighted)]
        statistics += [
            divide_where_positive(tp, tp + fp),
            divide_where_positive(tp, tp + fn),
            divide_where_positive(2 * tp, 2 * tp + fp + fn),
        ]
        return np.array(statistics)

    names = ("agreement", "kappa", "weighted_kappa", "precision", "recall", "f1")
    estimates = _estimate_statistics(whole, compute_statistics, n, problems, draws)
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
    share = _estimate_statistic(
        np.stack([positive * weights, weights], axis=1),
        lambda sums: divide_where_positive(sums[..., 0], sums[..., 1]),
        len(positive),
        problems,
        draws,
    )
    return _add_reason(share, None if len(positive) else NO_LABELS)


def _build_label_tables(first: Integers, second: Integers, n_labels: int) -> Floats:
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


def _estimate_statistic(
    parts: Floats, statistic: Callable[[Floats], Floats], n: int, problems: Integers, draws: Draws
) -> SampleEstimate:
    """Return one statistic of summed reply rows, with its bootstrap interval over problems."""
    return _estimate_statistics(parts, lambda sums: statistic(sums)[None], n, problems, draws)[0]


def _estimate_statistics(
    parts: Floats, statistic: Callable[[Floats], Floats], n: int, problems: Integers, draws: Draws
) -> list[SampleEstimate]:
    """Return statistics of summed reply rows, with bootstrap intervals over problems.

    `statistic` takes (..., parts) and returns (statistics, ...).
    """
    distinct, index = np.unique(problems, return_inverse=True)
    # A draw of problems is a weighted sum of these rows, so no reply is copied.
    by_problem = np.zeros((len(distinct), parts.shape[1]))
    # add.at and not +=, which counts a problem that occurs several times only once.
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

    def select_replies(self, chosen: Booleans) -> Detections:
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
        counts = {name: int(column.sum()) for name, column in self._build_case_masks().items()}
        return {**counts, "refusals": int(self.refused.sum())}

    def _build_case_masks(self) -> dict[str, Booleans]:
        """Return masks of true positive, false positive and false negative replies, by name."""
        negative = ~self.positive & ~self.refused
        return {
            "true_positives": self.unanswerable & self.positive,
            "false_positives": ~self.unanswerable & self.positive,
            "false_negatives": self.unanswerable & negative,
        }


def compute_detection_rates(
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
    cases = detections._build_case_masks()
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
        masks = detections._build_case_masks().values()
        tp, fp, fn = (mask.astype(np.float64) for mask in masks)
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


def choose_similarity_threshold(
    similarity: Floats, otherwise: Booleans, unanswerable: Booleans
) -> float:
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
    # One candidate below all similarities and one above all: they bound the range on both sides.
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
class PatternSeparation:
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


def measure_pattern_separation(
    positive: Integers, negative: Integers, n_positive: int, n_negative: int
) -> PatternSeparation:
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
        raise ValueError(
            "there are fewer replies than occurrences of a pattern, or none is positive"
        )
    every = hits + wrong
    precision = np.divide(hits, every, out=np.full(len(hits), np.nan), where=every > 0)
    # P(X >= hits), X hypergeometric: Fisher 1935. `sf` is P(X > x), hence the 1.
    p = stats.hypergeom.sf(hits - 1, n_positive + n_negative, n_positive, every)
    # Rounding of the survival function may lead a little out of the range.
    p_value = np.clip(np.asarray(p, dtype=np.float64), 0.0, 1.0)
    return PatternSeparation(precision, hits / n_positive, p_value, benjamini_hochberg(p_value))


def compute_wilson_interval(hits: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Return Wilson's interval of the share hits / n (Wilson 1927); None if n is 0."""
    if not n:
        return None
    low, high = wilson_interval(hits / n, n, level)
    return float(low), float(high)


def order_candidates_greedily(
    covers: Booleans, covered: Booleans, wrong: Integers
) -> list[tuple[int, int]]:
    """Return (index, number of newly found replies) of each candidate template, best first.

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
    remaining = list(range(len(covers)))
    order: list[tuple[int, int]] = []
    while remaining:
        gains = (covers[remaining] & left).sum(axis=1).tolist()
        if not max(gains):
            break
        best = min(range(len(remaining)), key=lambda i: (-gains[i], wrong[remaining[i]]))
        chosen = remaining.pop(best)
        order.append((chosen, gains[best]))
        left &= ~covers[chosen]
    return [*order, *((candidate, 0) for candidate in remaining)]
