"""Where a crowd falls into camps, AQER rests at more than one ranking: the candidates.

They are the run itself, AQER started from each camp, and AQER in which only one camp votes. Which
one is right no statistic of the answers tells; a few answers graded by an expert do, see `anchors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from evaluation.consensus.methods.electorate import EVERYBODY, Electorate
from evaluation.consensus.methods.estimator import AQER
from evaluation.grading.alarms.methods.camps import Camps, camps
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.methods.cells import Floats, Integers
from evaluation.methods.statistics.correlation import spearman

# Rankings that correlate this much are one candidate.
SAME = 0.9
# Camps are looked for inside camps, so often ...
DEPTH = 3
# ... and in those of so many workers.
FEWEST_WORKERS = 6


@dataclass(frozen=True)
class Candidate:
    """One ranking that AQER may rest at.

    Attributes
    ----------
    name : "default", "from_camp_1", "only_camp_1" ...
    electorate : what leads there, over units.
    aqer : fitted, without draws.
    """

    name: str
    electorate: Electorate
    aqer: AQER = field(repr=False)


@dataclass(frozen=True)
class Candidates:
    """What a crowd may be graded by.

    Attributes
    ----------
    found : the default first; alone where no camps ring, or where all lead to one ranking.
    camps : codes of the units of each camp, the largest first; () where none ring.
    alarm : whether there are camps at all.
    same : name of a dropped candidate -> name of the earlier one with the same ranking.
    reason : why there is only the default; None where there are more.
    """

    found: tuple[Candidate, ...]
    camps: tuple[Integers, ...]
    alarm: Camps
    same: dict[str, str]
    reason: str | None


def camps_within(pairs: Pairs, seed: int, depth: int = DEPTH) -> tuple[Camps, list[Integers]]:
    """Return the alarm of a crowd and its camps, with those inside a camp in its place."""
    alarm = camps(pairs, seed)
    if not alarm.rings:
        return alarm, []
    leaves: list[Integers] = []
    for members in alarm.members:
        inner: list[Integers] = []
        if depth > 1 and len(members) >= FEWEST_WORKERS:
            chosen = np.zeros(pairs.n_workers, dtype=bool)
            chosen[members] = True
            _, inner = camps_within(pairs.only_workers(chosen), seed, depth - 1)
        leaves += inner or [members]
    return alarm, sorted(leaves, key=len, reverse=True)


def candidates(
    pairs: Pairs, fit: Callable[[Electorate], AQER], seed: int, cap: float | None = None
) -> Candidates:
    """Return the candidates of a crowd of units; `fit` grades by an electorate over them."""
    alarm, groups = camps_within(pairs, seed)
    default = Candidate("default", EVERYBODY, fit(EVERYBODY))
    if not groups:
        return Candidates((default,), (), alarm, {}, alarm.reason or "no_camps")
    found, same = [default], {}
    for name, electorate in _electorates(groups, pairs.n_workers, cap):
        aqer = fit(electorate)
        twin = next((c.name for c in found if _is_same(c.aqer.raw_, aqer.raw_)), "")
        if twin:
            same[name] = twin
        else:
            found.append(Candidate(name, electorate, aqer))
    reason = None if len(found) > 1 else "one_ranking"
    return Candidates(tuple(found), tuple(groups), alarm, same, reason)


def _electorates(
    groups: list[Integers], n_units: int, cap: float | None
) -> Iterable[tuple[str, Electorate]]:
    for alone in (False, True):
        for number, members in enumerate(groups, 1):
            inside = np.zeros(n_units)
            inside[members] = 1.0
            start = inside / inside.sum()
            if not alone:
                yield f"from_camp_{number}", Electorate(start=start)
            elif cap is None or cap * len(members) >= 1.0:
                yield f"only_camp_{number}", Electorate(factor=inside, start=start)


def _is_same(one: Floats, other: Floats) -> bool:
    """Whether two raw scores rank alike; where neither ranks anybody, they do."""
    found = spearman(one, other)
    if found is not None:
        return found >= SAME
    both = ~np.isnan(one) & ~np.isnan(other)
    return not both.any() or bool(np.ptp(one[both]) == np.ptp(other[both]))
