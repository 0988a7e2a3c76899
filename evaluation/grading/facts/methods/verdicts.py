"""Verdicts on the values of one answer, compared with the consensus of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.statistics.proportions import wilson_interval
from evaluation.grading.facts.methods.consensus import SUPPORT, Consensus, is_contested

# Facts below which a share says nothing.
FEWEST = 5


@dataclass(frozen=True)
class Agreement:
    """Number of judged facts, and the share that agrees with the crowd, with its 95% interval.

    `agreement`, `low` and `high` are None below 5 facts.
    """

    facts: int
    agreement: float | None
    low: float | None
    high: float | None


def compute_agreement(agrees: int, contradicts: int) -> Agreement:
    """Return the share of facts that agree with the crowd, with interval; None below 5 facts."""
    facts = agrees + contradicts
    if facts < FEWEST:
        return Agreement(facts, None, None, None)
    low, high = wilson_interval(agrees / facts, facts)
    return Agreement(facts, agrees / facts, float(low), float(high))


class Verdict(StrEnum):
    """Result of comparing an answer's value with the values of the other workers."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    CONTESTED = "contested"
    MISSING = "missing"
    EXTRA = "extra"
    OPEN = "open"
    TOO_FEW = "too_few"


@dataclass(frozen=True)
class Judged:
    """Verdict on one value of an answer, or on an agreed value that the answer lacks.

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
) -> list[Judged]:
    """Return verdicts on an answer's values and on each agreed value that it lacks.

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
    intervals = list(zip(low.tolist(), high.tolist(), bound.tolist(), strict=True))
    fitting_values = [crowd.fitting(*one).tolist() for one in intervals]
    own = None
    if is_voter and intervals:
        own = np.unique(np.concatenate([crowd.find_overlapping(*one[:2]) for one in intervals]))
    of = crowd.n - (own is not None)
    own_values = set() if own is None else set(own.tolist())
    backed = [count - (at in own_values) for at, count in enumerate(crowd.backed.tolist())]
    n_back = [max((backed[k] for k in one), default=0) for one in fitting_values]
    if of < SUPPORT:
        return [
            Judged(at, None, Verdict.TOO_FEW, n_back[at], 0, of) for at in range(len(intervals))
        ]
    agreed = crowd.agreed(own, weight).tolist()
    if not agreed:
        return [Judged(at, None, Verdict.OPEN, n_back[at], 0, of) for at in range(len(intervals))]
    fitted = {k for one in fitting_values for k in one}
    lacked = [k for k in agreed if k not in fitted]
    if one_is_enough and len(lacked) < len(agreed):
        lacked = []
    verdicts = []
    for at, one in enumerate(fitting_values):
        match = next((k for k in agreed if k in one), None)
        if match is not None:
            verdicts.append(Judged(at, match, Verdict.AGREES, backed[match], backed[match], of))
            continue
        like_crowd = [0.0] * len(backed) if likeness is None else likeness[at]
        candidates = [k for k in lacked if like_crowd[k] >= 0] if may_contradict else []
        if not candidates:
            verdicts.append(Judged(at, None, Verdict.EXTRA, n_back[at], 0, of))
            continue
        contradicted = max(candidates, key=lambda k: (like_crowd[k], backed[k]))
        # One wrong value contradicts one agreed value: the next wrong one needs another.
        lacked.remove(contradicted)
        is_backed = is_contested(n_back[at], of)
        verdict = Verdict.CONTESTED if is_backed else Verdict.CONTRADICTS
        verdicts.append(Judged(at, contradicted, verdict, n_back[at], backed[contradicted], of))
    missing = (Judged(None, k, Verdict.MISSING, backed[k], backed[k], of) for k in lacked)
    return [*verdicts, *missing]
