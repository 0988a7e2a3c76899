"""Which values of a slot a crowd agrees on, with and without one of its members."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.statistics.proportions import wilson_interval

# Others who must state a value, ...
SUPPORT = 3
# ... and the lower bound of their share, by heads and by weights, from which on they agree.
AGREED = 0.4
# Share of those who state the slot from which on a value that is not agreed is contested, ...
CONTESTED = 0.25
# ... and how many they must be at least.
CONTESTED_BY = 2


class State(StrEnum):
    """How a value stands in its crowd."""

    AGREED = "agreed"
    CONTESTED = "contested"
    OPEN = "open"
    TOO_FEW = "too_few"


@dataclass(frozen=True)
class Mentions:
    """M values that voters state in one slot.

    Attributes
    ----------
    voter : (M,) codes from 0. low, high : (M,) what each value may be, both included.
    bound : (M,) 1 for "at least", -1 for "at most", 0. A bound backs the number it names, and fits
        every value on its side.
    """

    voter: Integers
    low: Floats
    high: Floats
    bound: Integers

    def __len__(self) -> int:
        return len(self.voter)


@dataclass(frozen=True)
class Consensus:
    """The values of one slot, each standing for all that fit it; best backed first.

    Attributes
    ----------
    shown : (K,) the mention that shows each value: the first of the most frequent.
    low, high : (K,) what it may be. backed : (K,) voters who state a value that fits it.
    weighted : (K,) their share of the weights. bound : (K,) that of most who state it.
    n : voters who state the slot.
    weight : the sum of their weights. states : K of `State`.
    """

    shown: Integers
    low: Floats
    high: Floats
    backed: Integers
    weighted: Floats
    bound: Integers
    n: int
    weight: float
    states: tuple[State, ...]

    def overlapping(self, low: float, high: float) -> Integers:
        """Return which values an interval overlaps."""
        return np.flatnonzero((self.low <= high) & (self.high >= low))

    def fitting(self, low: float, high: float, bound: int) -> Integers:
        """Return which values an interval may be meant for.

        Those that it overlaps, and those on the right side of a bound: 7 fits "at least 5", which
        does not fit "at least 6".
        """
        own_low = -np.inf if bound < 0 else low
        own_high = np.inf if bound > 0 else high
        other = self.bound != bound
        lows = np.where((self.bound < 0) & other, -np.inf, self.low)
        highs = np.where((self.bound > 0) & other, np.inf, self.high)
        reach = other & (lows <= own_high) & (highs >= own_low)
        return np.flatnonzero(reach | ((self.low <= high) & (self.high >= low)))

    def agreed(self, own: Integers | None = None, weight: float = 0.0) -> Integers:
        """Return which values are agreed without a voter of that weight, who backs `own`.

        Without `own` nobody is left out: the voter does not state the slot, or is no voter.
        """
        backed, weights = self.backed.astype(np.float64), self.weighted * self.weight
        n, total = self.n, self.weight
        if own is not None:
            n, total = n - 1, total - weight
            backed[own] -= 1
            weights = weights.copy()
            weights[own] -= weight
        return np.flatnonzero(is_agreed(backed, weights, n, total))


def is_agreed(backed: Floats, weights: Floats, n: int, total: float) -> Booleans:
    """Return whether so many of n voters, with so much of the total weight, agree on values.

    At 3 or more, with a Wilson lower bound of at least .4 of the smaller of the weighted share and
    the share of heads. Where nobody has a weight, heads count alone.
    """
    if n < SUPPORT:
        return np.zeros(len(backed), dtype=bool)
    share = np.clip(backed / n, 0.0, 1.0)
    if total > 0:
        share = np.minimum(share, np.clip(weights / total, 0.0, 1.0))
    low, _ = wilson_interval(share, n)
    return (backed >= SUPPORT) & (low >= AGREED)


def is_contested(backed: int, n: int) -> bool:
    """Return whether so many of n voters back a value that nobody may call it an error."""
    return backed >= max(CONTESTED_BY, CONTESTED * n)


def consensus_of(mentions: Mentions, weights: Floats) -> Consensus:
    """Return the values that voters state in a slot, with who backs them.

    Two values fit where their intervals overlap. A voter backs a value once for each fitting one
    that was stated; the reader states compatible values of an answer once.

    Parameters
    ----------
    weights : of the voters, by code, 0 or above.

    Returns
    -------
    Values in M log M time; those that fit a better backed one are told by it.
    """
    voter, low, high = mentions.voter, mentions.low, mentions.high
    heads = np.unique(voter)
    pairs, first, counts = np.unique(
        np.column_stack([low, high]), axis=0, return_index=True, return_counts=True
    )
    lows, highs = pairs[:, 0], pairs[:, 1]
    backed = np.minimum(_overlapping(low, high, np.ones(len(low)), lows, highs), len(heads))
    weight = float(weights[heads].sum())
    weighted = _overlapping(low, high, weights[voter], lows, highs)
    # The best backed first; of these the most frequent, then the earliest.
    order = np.lexsort([first, -counts, -backed])
    order = order[_apart(lows, highs, order)]
    n = len(heads)
    # +1 and -1 of most who state it.
    lean = _overlapping(low, high, mentions.bound.astype(np.float64), lows, highs)[order]
    bound = np.where(2 * np.abs(lean) > backed[order], np.sign(lean), 0).astype(np.int64)
    found = Consensus(
        shown=first[order],
        low=lows[order],
        high=highs[order],
        backed=backed[order].astype(np.int64),
        weighted=np.clip(weighted[order] / weight, 0.0, 1.0) if weight > 0 else backed[order] / n,
        bound=bound,
        n=n,
        weight=weight,
        states=(),
    )
    return _with_states(found)


def _with_states(found: Consensus) -> Consensus:
    agreed = set(found.agreed().tolist())
    states = tuple(
        State.TOO_FEW
        if found.n < SUPPORT
        else State.AGREED
        if at in agreed
        else State.CONTESTED
        if is_contested(backed, found.n)
        else State.OPEN
        for at, backed in enumerate(found.backed.tolist())
    )
    return Consensus(**{**vars(found), "states": states})


def _overlapping(low: Floats, high: Floats, value: Floats, lows: Floats, highs: Floats) -> Floats:
    """Sum the values of the intervals [low, high] that overlap each of [lows, highs]."""
    by_low, by_high = np.argsort(low, kind="stable"), np.argsort(high, kind="stable")
    begun = np.concatenate([[0.0], np.cumsum(value[by_low])])
    ended = np.concatenate([[0.0], np.cumsum(value[by_high])])
    return (
        begun[np.searchsorted(low[by_low], highs, side="right")]
        - ended[np.searchsorted(high[by_high], lows, side="left")]
    )


def _apart(lows: Floats, highs: Floats, order: Integers) -> Booleans:
    """Return which intervals, taken in an order, overlap none that was taken before.

    `lows` ascend.
    """
    free = np.ones(len(lows), dtype=bool)
    taken = np.zeros(len(order), dtype=bool)
    widest = float((highs - lows).max(initial=0.0))
    for place, at in enumerate(order.tolist()):
        if not free[at]:
            continue
        taken[place] = True
        begin = np.searchsorted(lows, lows[at] - widest, side="left")
        end = np.searchsorted(lows, highs[at], side="right")
        free[begin:end] &= highs[begin:end] < lows[at]
    return taken
