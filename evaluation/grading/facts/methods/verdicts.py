"""How the values of one answer stand to what the others agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluation.grading.facts.methods.consensus import SUPPORT, Consensus, is_contested
from evaluation.methods.cells import Floats, Integers
from evaluation.methods.statistics.proportions import wilson_interval

# Facts below which a share says nothing.
FEWEST = 5


@dataclass(frozen=True)
class Agreement:
    """Facts that were judged, and the share of them that agrees, with its 95% interval.

    `agreement`, `low` and `high` are None below 5 facts.
    """

    facts: int
    agreement: float | None
    low: float | None
    high: float | None


def agreement_of(agrees: int, contradicts: int) -> Agreement:
    """Return agrees / (agrees + contradicts) with Wilson's interval."""
    facts = agrees + contradicts
    if facts < FEWEST:
        return Agreement(facts, None, None, None)
    low, high = wilson_interval(agrees / facts, facts)
    return Agreement(facts, agrees / facts, float(low), float(high))


class Verdict(StrEnum):
    """How a value of an answer stands to the others'."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    CONTESTED = "contested"
    MISSING = "missing"
    EXTRA = "extra"
    OPEN = "open"
    TOO_FEW = "too_few"


@dataclass(frozen=True)
class Judged:
    """A value of an answer, or one that it lacks.

    Attributes
    ----------
    value : which of the answer's values; None where it lacks one (verdict missing).
    crowd : the agreed value of the consensus that it agrees with, contradicts or lacks; or None.
    n_back : others who state a value that fits the answer's (of a missing one, the crowd's).
    n_crowd : others who state the crowd's value, 0 without. of : others who state the slot.
    """

    value: int | None
    crowd: int | None
    verdict: Verdict
    n_back: int
    n_crowd: int
    of: int


def judge(
    crowd: Consensus,
    low: Floats,
    high: Floats,
    bound: Integers,
    weight: float = 0.0,
    is_voter: bool = True,
    may_contradict: bool = True,
    one_is_enough: bool = False,
    likeness: Sequence[Sequence[float]] | None = None,
) -> list[Judged]:
    """Return a verdict on each value of an answer and on each agreed value that it lacks.

    Parameters
    ----------
    low, high, bound : (V,) the answer's values in the slot, as in `Mentions`; none of an answer
        that does not state it.
    weight : of the voter, who is left out of the crowd. is_voter : false for a language model.
    may_contradict : false where another value is no error, such as another name.
    one_is_enough : whoever states one agreed value contradicts and lacks none.
    likeness : (V, K) how far a value is said in the words of a crowd's value; of several agreed
        values that an answer lacks it contradicts the likest, then the best backed; none whose
        likeness is below 0.
    """
    said = list(zip(low.tolist(), high.tolist(), bound.tolist(), strict=True))
    fits = [crowd.fitting(*one).tolist() for one in said]
    own = None
    if is_voter and said:
        own = np.unique(np.concatenate([crowd.overlapping(*one[:2]) for one in said]))
    of = crowd.n - (own is not None)
    mine = set() if own is None else set(own.tolist())
    backed = [count - (at in mine) for at, count in enumerate(crowd.backed.tolist())]
    n_back = [max((backed[k] for k in one), default=0) for one in fits]
    if of < SUPPORT:
        return [Judged(at, None, Verdict.TOO_FEW, n_back[at], 0, of) for at in range(len(said))]
    agreed = crowd.agreed(own, weight).tolist()
    if not agreed:
        return [Judged(at, None, Verdict.OPEN, n_back[at], 0, of) for at in range(len(said))]
    fitted = {k for one in fits for k in one}
    lacking = [k for k in agreed if k not in fitted]
    if one_is_enough and len(lacking) < len(agreed):
        lacking = []
    found = []
    for at, one in enumerate(fits):
        match = next((k for k in agreed if k in one), None)
        if match is not None:
            found.append(Judged(at, match, Verdict.AGREES, backed[match], backed[match], of))
            continue
        like = [0.0] * len(backed) if likeness is None else likeness[at]
        paired = [k for k in lacking if like[k] >= 0] if may_contradict else []
        if not paired:
            found.append(Judged(at, None, Verdict.EXTRA, n_back[at], 0, of))
            continue
        against = max(paired, key=lambda k: (like[k], backed[k]))
        lacking.remove(against)
        is_backed = is_contested(n_back[at], of)
        verdict = Verdict.CONTESTED if is_backed else Verdict.CONTRADICTS
        found.append(Judged(at, against, verdict, n_back[at], backed[against], of))
    missing = (Judged(None, k, Verdict.MISSING, backed[k], backed[k], of) for k in lacking)
    return [*found, *missing]
