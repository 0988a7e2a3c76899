"""Consensus of a crowd on single facts, and verdicts on each answer's facts.

Values are intervals of numbers (a name is a code, an interval of one point), so this package knows
no language. Nearest in the literature: TextTruth (Zhang et al., KDD 2018) and atomic
self-consistency (Thirukovalluru et al., EMNLP 2024); the rules and limits are the project's own,
see platform/docs/evidence.md.

Compute the values of one kind of fact that a crowd agrees on, also without one worker. Verdicts on
the values of one answer, compared with the consensus of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.statistics.descriptive import wilson_interval

__all__ = [
    "Agreement",
    "Consensus",
    "JudgedValue",
    "Mentions",
    "ValueState",
    "Verdict",
    "compute_agreement",
    "compute_consensus",
    "judge_answer",
]


# Others who must state a value (2 were tried and dropped), ...
SUPPORT = 3
# ... and the lower bound of their share, by heads and by weights, from which on they agree.
AGREED = 0.4
# Share of those who state the slot from which on a value that is not agreed is contested, ...
CONTESTED = 0.25
# ... and how many they must be at least.
CONTESTED_BY = 2


class ValueState(StrEnum):
    """State of a value after the workers' vote: agreed, contested, undecided or too few voters."""

    AGREED = "agreed"
    CONTESTED = "contested"
    OPEN = "open"
    TOO_FEW = "too_few"


@dataclass(frozen=True)
class Mentions:
    """Values that workers state for one kind of fact ("slot") of a question, as intervals.

    A slot is such as "year" or "length in metres".

    Attributes
    ----------
    voter : (M,) codes from 0. low, high : (M,) ends of each value's interval, both included.
    bound : (M,) 1 for "at least", -1 for "at most", else 0. A value with a bound backs the number
        that it states, and fits every value on its side.
    """

    voter: Integers
    low: Floats
    high: Floats
    bound: Integers

    def __len__(self) -> int:
        """Return the number of stated values."""
        return len(self.voter)


@dataclass(frozen=True)
class Consensus:
    """Values stated for one kind of fact, best supported first, with their support and state.

    Attributes
    ----------
    shown : (K,) index of the mention that shows each value: the first of the most frequent.
    low, high : (K,) ends of each value's interval. backed : (K,) number of voters who state a value
        that fits it.
    weighted : (K,) these voters' share of the weights, 0 to 1. bound : (K,) bound that a majority
        of them states, else 0.
    n : number of voters who state the slot. weight : sum of their weights.
    states : (K,) state of each value.
    """

    shown: Integers
    low: Floats
    high: Floats
    backed: Integers
    weighted: Floats
    bound: Integers
    n: int
    weight: float
    states: tuple[ValueState, ...]

    def find_overlapping(self, low: float, high: float) -> Integers:
        """Return the indices of the values whose intervals overlap `low` to `high`."""
        return np.flatnonzero((self.low <= high) & (self.high >= low))

    def find_compatible(self, low: float, high: float, bound: int) -> Integers:
        """Return the indices of the values that may equal the interval `low` to `high`.

        A `bound` of -1 means "at most", 1 "at least", 0 exact.

        These are the values that it overlaps, and those on the right side of a bound: 7 fits "at
        least 5", which does not fit "at least 6".
        """
        own_low = -np.inf if bound < 0 else low
        own_high = np.inf if bound > 0 else high
        other = self.bound != bound
        lows = np.where((self.bound < 0) & other, -np.inf, self.low)
        highs = np.where((self.bound > 0) & other, np.inf, self.high)
        is_within_bound = other & (lows <= own_high) & (highs >= own_low)
        return np.flatnonzero(is_within_bound | ((self.low <= high) & (self.high >= low)))

    def find_agreed(self, own: Integers | None = None, weight: float = 0.0) -> Integers:
        """Return the indices of the values that workers agree on, with one voter left out.

        `own` are the values of the voter that is left out, `weight` is its voting weight.

        Without `own` no voter is left out: the author does not state the slot, or has no vote.
        """
        backed, weights = self.backed.astype(np.float64), self.weighted * self.weight
        n_voters, total = self.n, self.weight
        if own is not None:
            n_voters, total = n_voters - 1, total - weight
            backed[own] -= 1
            weights = weights.copy()
            weights[own] -= weight
        return np.flatnonzero(is_agreed(backed, weights, n_voters, total))


def is_agreed(backed: Floats, weights: Floats, n: int, total: float) -> Booleans:
    """Return, for each value, whether enough of n voters state it, by number and by weight.

    At least 3 voters must back it, and the Wilson lower bound of its share must be .4 or more. The
    share is the smaller of the weighted share and the share of voters; without weights it is the
    share of voters.
    """
    if n < SUPPORT:
        return np.zeros(len(backed), dtype=bool)
    # Subtracting the own vote from sums may leave a rounding error outside 0..1.
    share = np.clip(backed / n, 0.0, 1.0)
    if total > 0:
        share = np.minimum(share, np.clip(weights / total, 0.0, 1.0))
    low, _ = wilson_interval(share, n)
    return (backed >= SUPPORT) & (low >= AGREED)


def is_contested(backed: int, n: int) -> bool:
    """Return whether so many of n voters (`backed`) state a minority value that it is no error."""
    return backed >= max(CONTESTED_BY, CONTESTED * n)


def compute_consensus(mentions: Mentions, weights: Floats) -> Consensus:
    """Return the distinct values that voters state for one kind of fact, with their support.

    Two values fit where their intervals overlap. A voter backs a value once for each fitting one
    that was stated; the reader states compatible values of an answer once.

    Parameters
    ----------
    weights : of the voters, by code, 0 or above.

    Returns
    -------
    The distinct values, in M log M time; a value that fits a better backed one is left out.
    """
    voter, low, high = mentions.voter, mentions.low, mentions.high
    voters = np.unique(voter)
    pairs, first_mention, counts = np.unique(
        np.column_stack([low, high]), axis=0, return_index=True, return_counts=True
    )
    lows, highs = pairs[:, 0], pairs[:, 1]
    # A voter counts once for each fitting value, so the sum may exceed the number of voters.
    backed = np.minimum(_sum_overlapping(low, high, np.ones(len(low)), lows, highs), len(voters))
    weight = float(weights[voters].sum())
    weighted = _sum_overlapping(low, high, weights[voter], lows, highs)
    # The best backed first; of these the most frequent, then the earliest.
    order = np.lexsort([first_mention, -counts, -backed])
    order = order[_find_non_overlapping(lows, highs, order)]
    n = len(voters)
    # +1 and -1 of most who state it.
    net_bound = _sum_overlapping(low, high, mentions.bound.astype(np.float64), lows, highs)[order]
    bound = np.where(2 * np.abs(net_bound) > backed[order], np.sign(net_bound), 0).astype(np.int64)
    consensus = Consensus(
        shown=first_mention[order],
        low=lows[order],
        high=highs[order],
        backed=backed[order].astype(np.int64),
        weighted=np.clip(weighted[order] / weight, 0.0, 1.0) if weight > 0 else backed[order] / n,
        bound=bound,
        n=n,
        weight=weight,
        states=(),
    )
    return _add_states(consensus)


def _add_states(consensus: Consensus) -> Consensus:
    """Return the consensus with the state of each value: agreed, contested, open or too few."""
    agreed = set(consensus.find_agreed().tolist())
    states = tuple(
        ValueState.TOO_FEW
        if consensus.n < SUPPORT
        else ValueState.AGREED
        if index in agreed
        else ValueState.CONTESTED
        if is_contested(backed, consensus.n)
        else ValueState.OPEN
        for index, backed in enumerate(consensus.backed.tolist())
    )
    return Consensus(**{**vars(consensus), "states": states})


def _sum_overlapping(
    low: Floats, high: Floats, value: Floats, lows: Floats, highs: Floats
) -> Floats:
    """Return, for each interval `lows` to `highs`, the sum of values whose interval overlaps it."""
    by_low, by_high = np.argsort(low, kind="stable"), np.argsort(high, kind="stable")
    # Begun before the end, less ended before the begin: no pair of intervals is compared.
    begun = np.concatenate([[0.0], np.cumsum(value[by_low])])
    ended = np.concatenate([[0.0], np.cumsum(value[by_high])])
    return (
        begun[np.searchsorted(low[by_low], highs, side="right")]
        - ended[np.searchsorted(high[by_high], lows, side="left")]
    )


def _find_non_overlapping(lows: Floats, highs: Floats, order: Integers) -> Booleans:
    """Return flags of the intervals that overlap no interval flagged earlier in `order`.

    `lows` ascend.
    """
    is_free = np.ones(len(lows), dtype=bool)
    is_taken = np.zeros(len(order), dtype=bool)
    # Only the low ends are sorted: an interval that overlaps begins earlier by the width of the
    # widest one at most.
    widest = float((highs - lows).max(initial=0.0))
    for position, index in enumerate(order.tolist()):
        if not is_free[index]:
            continue
        is_taken[position] = True
        begin = np.searchsorted(lows, lows[index] - widest, side="left")
        end = np.searchsorted(lows, highs[index], side="right")
        is_free[begin:end] &= highs[begin:end] < lows[index]
    return is_taken


# Facts below which a share says nothing.
FEWEST = 5


@dataclass(frozen=True)
class Agreement:
    """Number of judged facts, and the share that agrees with the crowd (95% interval).

    `agreement`, `low` and `high` are None below 5 facts.
    """

    facts: int
    agreement: float | None
    low: float | None
    high: float | None


def compute_agreement(agrees: int, contradicts: int) -> Agreement:
    """Return the share of judged facts that agree with the crowd, None below 5, with interval."""
    facts = agrees + contradicts
    if facts < FEWEST:
        return Agreement(facts, None, None, None)
    low, high = wilson_interval(agrees / facts, facts)
    return Agreement(facts, agrees / facts, float(low), float(high))


class Verdict(StrEnum):
    """Verdict on a value of an answer, compared with the values of the other workers."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    CONTESTED = "contested"
    MISSING = "missing"
    EXTRA = "extra"
    OPEN = "open"
    TOO_FEW = "too_few"


@dataclass(frozen=True)
class JudgedValue:
    """Verdict on a value of an answer, or on an agreed value that the answer lacks.

    Attributes
    ----------
    value : index of the answer's value; None if the answer lacks one (verdict missing).
    crowd : index of the agreed value that it agrees with, contradicts or lacks; else None.
    n_back : number of others who state a fitting value (of a missing value: the crowd's value).
    n_crowd : number of others who state the crowd's value. of : others who state the slot.
    """

    value: int | None
    crowd: int | None
    verdict: Verdict
    n_back: int
    n_crowd: int
    of: int


def judge_answer(
    crowd: Consensus,
    low: Floats,
    high: Floats,
    bound: Integers,
    weight: float = 0.0,
    is_voter: bool = True,
    may_contradict: bool = True,
    one_is_enough: bool = False,
    likeness: Sequence[Sequence[float]] | None = None,
) -> list[JudgedValue]:
    """Return a verdict for each value of an answer, and for each agreed value that it lacks.

    Parameters
    ----------
    low, high, bound : (V,) the answer's values in the slot, as in `Mentions`; V is 0 for an answer
        without the slot.
    weight : weight of the voter, who is left out of the crowd. is_voter : false for a model.
    may_contradict : false if a different value is no error, such as another name.
    one_is_enough : an answer with one agreed value contradicts and lacks no other.
    likeness : (V, K) word overlap of the clauses of the answer's values and the crowd's values. Of
        several agreed values that an answer lacks, its value contradicts the one with the highest
        likeness, then the best backed one, and none with a likeness below 0.
    """
    intervals = list(zip(low.tolist(), high.tolist(), bound.tolist(), strict=True))
    fitting_values = [crowd.find_compatible(*interval).tolist() for interval in intervals]
    own = None
    if is_voter and intervals:
        own = np.unique(
            np.concatenate([crowd.find_overlapping(*interval[:2]) for interval in intervals])
        )
    n_others = crowd.n - (own is not None)
    own_values = set() if own is None else set(own.tolist())
    backed = [count - (index in own_values) for index, count in enumerate(crowd.backed.tolist())]
    n_back = [max((backed[k] for k in indices), default=0) for indices in fitting_values]
    if n_others < SUPPORT:
        return [
            JudgedValue(index, None, Verdict.TOO_FEW, n_back[index], 0, n_others)
            for index in range(len(intervals))
        ]
    agreed = crowd.find_agreed(own, weight).tolist()
    if not agreed:
        return [
            JudgedValue(index, None, Verdict.OPEN, n_back[index], 0, n_others)
            for index in range(len(intervals))
        ]
    fitted = {k for indices in fitting_values for k in indices}
    lacked = [k for k in agreed if k not in fitted]
    if one_is_enough and len(lacked) < len(agreed):
        lacked = []
    verdicts = []
    for index, one in enumerate(fitting_values):
        match = next((k for k in agreed if k in one), None)
        if match is not None:
            verdicts.append(
                JudgedValue(index, match, Verdict.AGREES, backed[match], backed[match], n_others)
            )
            continue
        like_crowd = [0.0] * len(backed) if likeness is None else likeness[index]
        candidates = [k for k in lacked if like_crowd[k] >= 0] if may_contradict else []
        if not candidates:
            verdicts.append(JudgedValue(index, None, Verdict.EXTRA, n_back[index], 0, n_others))
            continue
        contradicted = max(candidates, key=lambda k: (like_crowd[k], backed[k]))
        # One wrong value contradicts one agreed value: the next wrong one needs another.
        lacked.remove(contradicted)
        is_backed = is_contested(n_back[index], n_others)
        verdict = Verdict.CONTESTED if is_backed else Verdict.CONTRADICTS
        verdicts.append(
            JudgedValue(index, contradicted, verdict, n_back[index], backed[contradicted], n_others)
        )
    missing = (
        JudgedValue(None, k, Verdict.MISSING, backed[k], backed[k], n_others) for k in lacked
    )
    return [*verdicts, *missing]
