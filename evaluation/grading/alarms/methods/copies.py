"""Find groups of copiers: workers whose answers are more alike than their quality explains.

Two good answers are alike because both are right. `UnexplainedSimilarity` compares what is
expected of two workers with what they have in common: the share of the gap to identity that is
closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

from evaluation.core.stats.cells import Booleans, Floats, Integers, divide_where_positive
from evaluation.grading.alarms.methods.pairs import Pairs, fit_loadings, fit_worker_effects

# Two workers are named above this share ...
# Measured: it names pasting workers in 640 of 640 crowds, and nobody in honest ones.
THRESHOLD = 0.5
# ... of at least so many questions that both answered.
FEWEST_SHARED = 10
# One fit alone named a wrong pair in 4 of 180 crowds.
MOST_ROUNDS = 6
# Below 1, so that a gap to identity is left to divide by.
EXPECTED = (-0.5, 0.99)

# Part of the answers copied: pairs of answers at least this much alike are counted, ...
ALIKE = (0.95, 0.98)
# ... and told if they are so many more than in other pairs, by chance so rarely, ...
PARTLY_THRESHOLD = 0.15
RARE = 0.01 / 2 / 100
# ... and found on so many questions.
FEWEST_ALIKE = 3


@dataclass(frozen=True)
class CopierGroup:
    """A group of suspected copiers, with the pairs of answers that support the suspicion.

    Attributes
    ----------
    members : codes of two workers or more.
    statistic : mean kappa of the suspected pairs, at most 1; for partial copies, the mean over them
        of the share of similar answers above the share that is usual on these questions.
    mean_cosine : of the answers of members to the same question.
    n_shared : smallest number of questions that both workers of a suspected pair answered.
    alike : (E', 3) left worker, right worker and question of the members' most similar pairs of
        answers, the most similar first; at most 50.
    """

    members: Integers
    statistic: float
    mean_cosine: float
    n_shared: int
    alike: Integers


@dataclass(frozen=True)
class UnexplainedSimilarity:
    """Each worker pair's similarity beyond their quality (kappa), and the groups of copiers.

    Attributes
    ----------
    kappa : (P,) share by which each of the `pairs` closes the gap between the expected cosines and
        1, at most 1; NaN for pairs with fewer than 10 shared questions.
    groups : connected components of the pairs with a kappa above .5, larger ones first.
    partly : groups of workers who share only some answers, without the workers of `groups`.
    reason : code of why no pair could be compared; None if one was.
    """

    pairs: Pairs
    kappa: Floats
    groups: tuple[CopierGroup, ...]
    partly: tuple[CopierGroup, ...]
    reason: str | None = None
    threshold: float = THRESHOLD

    @property
    def statistic(self) -> float | None:
        """Largest kappa (similarity beyond quality) of a pair of workers; None if undefined."""
        known = self.kappa[~np.isnan(self.kappa)]
        return float(known.max()) if len(known) else None


def find_copiers(pairs: Pairs) -> UnexplainedSimilarity:
    """Return the similarity beyond quality (kappa) of all worker pairs, and groups of copiers.

    The expected cosines are refitted without the suspected pairs until these stay the same, at most
    6 times: copies would otherwise raise the expected cosines and hide themselves.
    """
    is_testable = pairs.shared >= FEWEST_SHARED
    kappa = np.full(len(pairs), np.nan)
    if not is_testable.any():
        return UnexplainedSimilarity(pairs, kappa, (), (), "no_pair_shares_10_questions")
    is_named = np.zeros(len(pairs), dtype=bool)
    for _ in range(MOST_ROUNDS):
        expected = _compute_expected_cosines(pairs, ~is_named)
        # A ratio of sums, not a mean of ratios: a question on which everybody agrees has hardly any
        # gap, and its ratio would be noise.
        gap = pairs.sum_by_pair(1.0 - expected)
        closed = pairs.total - pairs.sum_by_pair(expected)
        kappa = np.where(is_testable, closed / np.where(gap > 0, gap, 1.0), np.nan)
        before, is_named = is_named, is_testable & (np.nan_to_num(kappa) > THRESHOLD)
        if np.array_equal(is_named, before):
            break
    groups = find_connected_groups(pairs, is_named, kappa)
    partly = _find_partial_copies(pairs, is_testable & ~is_named, groups)
    return UnexplainedSimilarity(pairs, kappa, groups, partly)


def _compute_expected_cosines(pairs: Pairs, used: Booleans) -> Floats:
    """Return the cosine to expect of each pair of answers, given the quality of both workers.

    Shape (E,). Fitted on the pairs of workers that `used` selects.

    It is the question's mean plus the two workers' effect. The effect is the larger of those of an
    additive and a one-factor model, so that two good workers are not taken for copiers.
    """
    used_answers = used[pairs.pair].astype(np.float64)
    count = pairs.sum_by_question(used_answers)
    total = pairs.sum_by_question(used_answers * pairs.cosine)
    overall = total.sum() / max(count.sum(), 1.0)
    # A question on which only named pairs met has no mean of its own.
    mean = divide_where_positive(total, count, overall)
    times = np.where(used, pairs.shared, 0.0)
    # Mean surplus of a pair over the questions it shares, not over all questions.
    pair_surplus = (pairs.total - pairs.sum_by_pair(mean[pairs.question])) / pairs.shared
    effects = fit_worker_effects(pairs, pair_surplus, times)
    factor = fit_loadings(pairs, pairs.total / pairs.shared, times)
    products = factor[pairs.left] * factor[pairs.right]
    weight = times.sum()
    centre = float(times @ products) / weight if weight > 0 else 0.0
    surplus = np.maximum(effects[pairs.left] + effects[pairs.right], products - centre)
    return np.clip(mean[pairs.question] + surplus[pairs.pair], *EXPECTED)


def find_connected_groups(
    pairs: Pairs, named: Booleans, statistic: Floats
) -> tuple[CopierGroup, ...]:
    """Return the groups of workers connected by suspected pairs, the largest group first.

    `named` (P,) marks the suspected pairs; `statistic` (P,) is the measure of suspicion.
    """
    named_pairs = np.flatnonzero(named)
    if not len(named_pairs):
        return ()
    ones = np.ones(len(named_pairs))
    shape = (pairs.n_workers, pairs.n_workers)
    graph = sparse.coo_array(
        (ones, (pairs.left[named_pairs], pairs.right[named_pairs])), shape=shape
    )
    _, component = connected_components(graph.tocsr(), directed=False)
    order = named_pairs[np.argsort(component[pairs.left[named_pairs]], kind="stable")]
    cuts = np.flatnonzero(np.diff(component[pairs.left[order]])) + 1
    groups = [_build_group(pairs, part, statistic) for part in np.split(order, cuts)]
    return tuple(sorted(groups, key=lambda group: (-len(group.members), int(group.members[0]))))


def _build_group(pairs: Pairs, own: Integers, statistic: Floats) -> CopierGroup:
    """Return the group of copiers that the worker pairs with the indices `own` form."""
    members = np.unique(np.concatenate([pairs.left[own], pairs.right[own]]))
    inside = np.zeros(pairs.n_workers, dtype=bool)
    inside[members] = True
    within = inside[pairs.left] & inside[pairs.right]
    cosine = float(pairs.total[within].sum() / pairs.shared[within].sum())
    return CopierGroup(
        members=members,
        statistic=float(statistic[own].mean()),
        mean_cosine=cosine,
        n_shared=int(pairs.shared[own].min()),
        alike=find_most_alike(pairs, within),
    )


def find_most_alike(pairs: Pairs, chosen: Booleans, most: int = 50) -> Integers:
    """Return the most similar pairs of answers, as rows (left worker, right worker, question).

    Shape (k, 3). At most `most` rows.

    `chosen` (P,) marks the pairs of workers to search; ties keep the order of the questions.
    """
    answer_pairs = np.flatnonzero(chosen[pairs.pair])
    # A large group has millions of pairs of answers: only the few that are shown are sorted.
    if len(answer_pairs) > most:
        answer_pairs = answer_pairs[np.argpartition(-pairs.cosine[answer_pairs], most - 1)[:most]]
    answer_pairs = answer_pairs[
        np.lexsort((pairs.question[answer_pairs], -pairs.cosine[answer_pairs]))
    ]
    pair = pairs.pair[answer_pairs]
    return np.stack([pairs.left[pair], pairs.right[pair], pairs.question[answer_pairs]], axis=1)


def _find_partial_copies(
    pairs: Pairs, able: Booleans, groups: Sequence[CopierGroup]
) -> tuple[CopierGroup, ...]:
    """Return the groups of workers who share a suspicious part of their answers.

    Only pairs marked in `able` (P,) are tested, without the members of `groups`.
    """
    in_group = np.zeros(pairs.n_workers, dtype=bool)
    for group in groups:
        in_group[group.members] = True
    able = able & ~in_group[pairs.left] & ~in_group[pairs.right]
    tested = int(np.count_nonzero(able))
    excess = np.zeros(len(pairs))
    for level in ALIKE if tested else ():
        is_alike = (pairs.cosine >= level).astype(np.float64)
        # The rate of all other pairs: a pair's own answers would hide themselves.
        others = np.maximum(pairs.pairs_of_question - 1, 1)[pairs.question]
        rate = (pairs.sum_by_question(is_alike)[pairs.question] - is_alike) / others
        n, hits = pairs.shared, pairs.sum_by_pair(is_alike)
        usual = pairs.sum_by_pair(rate) / n
        is_named = able & (hits >= FEWEST_ALIKE) & (hits / n - usual >= PARTLY_THRESHOLD)
        # sf(k - 1) is the probability of k or more.
        tail = stats.binom.sf(hits[is_named] - 1, n[is_named], usual[is_named])
        # Bonferroni: the tested pairs share the probability of a false finding.
        is_named[np.flatnonzero(is_named)[tail >= RARE / tested]] = False
        excess = np.where(is_named, np.maximum(excess, hits / n - usual), excess)
    return find_connected_groups(pairs, excess > 0, excess)
