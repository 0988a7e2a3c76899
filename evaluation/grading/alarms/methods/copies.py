"""Groups of workers whose answers are nearer to each other than their quality explains.

Two good answers are alike because both are right. `Kinship` sets what would be expected of two
workers against what they have in common: the share of the gap to identity that is closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

from evaluation.grading.alarms.methods.additive import loadings, worker_effects
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.undefined import ratio

# Two workers are named above this share ...
THRESHOLD = 0.5
# ... of at least so many questions that both answered.
FEWEST_SHARED = 10
MOST_ROUNDS = 6
EXPECTED = (-0.5, 0.99)

# Part of the answers copied: pairs of answers at least this much alike are counted, ...
ALIKE = (0.95, 0.98)
# ... and told if they are so many more than in other pairs, by chance so rarely, ...
PARTLY_THRESHOLD = 0.15
RARE = 0.01 / 2 / 100
# ... and found on so many questions.
FEWEST_ALIKE = 3


@dataclass(frozen=True)
class Group:
    """Workers who belong together, and on which answers that rests.

    Attributes
    ----------
    members : codes of two workers or more.
    statistic : mean share of the gap to identity that pairs of members close, at most 1; for a part
        of the answers, the largest share of a pair's answers in excess of what others have alike.
    mean_cosine : of the answers of members to the same question.
    n_shared : the least number of shared questions of a pair that is named.
    alike : (E', 3) left worker, right worker and question of the pairs of answers it rests on, the
        most alike first; at most 50.
    """

    members: Integers
    statistic: float
    mean_cosine: float
    n_shared: int
    alike: Integers


@dataclass(frozen=True)
class Kinship:
    """Who answers like whom, beyond what is expected.

    Attributes
    ----------
    kappa : (P,) share of the gap to identity closed, at most 1; NaN for pairs with fewer than 10
        shared questions. The pairs are those of `pairs`.
    groups : connected components of the pairs above .5, larger ones first.
    partly : the same for pairs that share some answers only, without the workers of `groups`.
    reason : why nobody could be compared; None where somebody was.
    """

    pairs: Pairs
    kappa: Floats
    groups: tuple[Group, ...]
    partly: tuple[Group, ...]
    reason: str | None = None
    threshold: float = THRESHOLD

    @property
    def statistic(self) -> float | None:
        """The largest kappa of all pairs; None with `reason`."""
        known = self.kappa[~np.isnan(self.kappa)]
        return float(known.max()) if len(known) else None


def kinship(pairs: Pairs) -> Kinship:
    """Find groups of workers who answer alike.

    The expectation is refitted without the pairs that are named, until these stay the same, at most
    6 times: copies would otherwise count as what is to be expected.
    """
    able = pairs.shared >= FEWEST_SHARED
    kappa = np.full(len(pairs), np.nan)
    if not able.any():
        return Kinship(pairs, kappa, (), (), "no_pair_shares_10_questions")
    named = np.zeros(len(pairs), dtype=bool)
    for _ in range(MOST_ROUNDS):
        expected = _expected(pairs, ~named)
        gap = pairs.sum_by_pair(1.0 - expected)
        closed = pairs.total - pairs.sum_by_pair(expected)
        kappa = np.where(able, closed / np.where(gap > 0, gap, 1.0), np.nan)
        before, named = named, able & (np.nan_to_num(kappa) > THRESHOLD)
        if np.array_equal(named, before):
            break
    groups = groups_of(pairs, named, kappa)
    partly = _partly_alike(pairs, able & ~named, groups)
    return Kinship(pairs, kappa, groups, partly)


def _expected(pairs: Pairs, used: Booleans) -> Floats:
    """Return (E,) cosines expected of two answers, fitted on some pairs of workers (P,).

    The question's mean plus what the two workers have above it: the larger of additive effects and
    of one factor, because copies of a good worker must not be taken for two good workers.
    """
    here = used[pairs.pair].astype(np.float64)
    count = pairs.sum_by_question(here)
    total = pairs.sum_by_question(here * pairs.cosine)
    overall = total.sum() / max(count.sum(), 1.0)
    mean = ratio(total, count, overall)
    times = np.where(used, pairs.shared, 0.0)
    above = (pairs.total - pairs.sum_by_pair(mean[pairs.question])) / pairs.shared
    a = worker_effects(pairs, above, times)
    q = loadings(pairs, pairs.total / pairs.shared, times)
    products = q[pairs.left] * q[pairs.right]
    weight = times.sum()
    centre = float(times @ products) / weight if weight > 0 else 0.0
    surplus = np.maximum(a[pairs.left] + a[pairs.right], products - centre)
    return np.clip(mean[pairs.question] + surplus[pairs.pair], *EXPECTED)


def groups_of(pairs: Pairs, named: Booleans, statistic: Floats) -> tuple[Group, ...]:
    """Return the connected components of named pairs, larger ones first, then by first member."""
    at = np.flatnonzero(named)
    if not len(at):
        return ()
    ones = np.ones(len(at))
    shape = (pairs.n_workers, pairs.n_workers)
    graph = sparse.coo_array((ones, (pairs.left[at], pairs.right[at])), shape=shape)
    _, component = connected_components(graph.tocsr(), directed=False)
    order = at[np.argsort(component[pairs.left[at]], kind="stable")]
    cuts = np.flatnonzero(np.diff(component[pairs.left[order]])) + 1
    found = [_group(pairs, part, statistic) for part in np.split(order, cuts)]
    return tuple(sorted(found, key=lambda group: (-len(group.members), int(group.members[0]))))


def _group(pairs: Pairs, own: Integers, statistic: Floats) -> Group:
    """Return the group that some named pairs make."""
    members = np.unique(np.concatenate([pairs.left[own], pairs.right[own]]))
    inside = np.zeros(pairs.n_workers, dtype=bool)
    inside[members] = True
    within = inside[pairs.left] & inside[pairs.right]
    cosine = float(pairs.total[within].sum() / pairs.shared[within].sum())
    return Group(
        members=members,
        statistic=float(statistic[own].mean()),
        mean_cosine=cosine,
        n_shared=int(pairs.shared[own].min()),
        alike=most_alike(pairs, within),
    )


def most_alike(pairs: Pairs, chosen: Booleans, most: int = 50) -> Integers:
    """Return (at most `most`, 3) left, right and question of the answers most alike, best first.

    `chosen` (P,) says which pairs of workers; ties keep the order of the questions.
    """
    here = np.flatnonzero(chosen[pairs.pair])
    if len(here) > most:
        here = here[np.argpartition(-pairs.cosine[here], most - 1)[:most]]
    here = here[np.lexsort((pairs.question[here], -pairs.cosine[here]))]
    pair = pairs.pair[here]
    return np.stack([pairs.left[pair], pairs.right[pair], pairs.question[here]], axis=1)


def _partly_alike(pairs: Pairs, able: Booleans, groups: Sequence[Group]) -> tuple[Group, ...]:
    """Return groups of workers, none of them in `groups`, who share a part of their answers."""
    taken = np.zeros(pairs.n_workers, dtype=bool)
    for group in groups:
        taken[group.members] = True
    able = able & ~taken[pairs.left] & ~taken[pairs.right]
    tested = int(np.count_nonzero(able))
    excess = np.zeros(len(pairs))
    for level in ALIKE if tested else ():
        hit = (pairs.cosine >= level).astype(np.float64)
        # The rate of all other pairs: a pair's own answers would hide themselves.
        others = np.maximum(pairs.pairs_of_question - 1, 1)[pairs.question]
        rate = (pairs.sum_by_question(hit)[pairs.question] - hit) / others
        n, hits = pairs.shared, pairs.sum_by_pair(hit)
        usual = pairs.sum_by_pair(rate) / n
        found = able & (hits >= FEWEST_ALIKE) & (hits / n - usual >= PARTLY_THRESHOLD)
        tail = stats.binom.sf(hits[found] - 1, n[found], usual[found])
        found[np.flatnonzero(found)[tail >= RARE / tested]] = False
        excess = np.where(found, np.maximum(excess, hits / n - usual), excess)
    return groups_of(pairs, excess > 0, excess)
