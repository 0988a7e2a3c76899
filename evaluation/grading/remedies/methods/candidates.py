"""Find the candidate rankings of a crowd that has camps (groups with one opinion each).

They are the run itself, AQER started from each camp, and AQER in which only one camp votes. No
statistic of the answers says which one is right; a few answers graded by an expert do, see
`anchors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from evaluation.consensus.methods.electorate import EVERYBODY, Electorate
from evaluation.consensus.methods.estimator import AQER
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.statistics.correlation import spearman
from evaluation.grading.alarms.methods.camps import Camps, find_camps
from evaluation.grading.alarms.methods.pairs import Pairs

# Rankings that correlate this much are one candidate.
SAME = 0.9
# Camps are looked for inside camps, so often ...
DEPTH = 3
# ... and in those of so many workers.
FEWEST_WORKERS = 6


@dataclass(frozen=True)
class Candidate:
    """A ranking that AQER may reach, with the voting weights that lead to it.

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
    """All rankings that AQER may reach in a crowd, its camps, and the test for camps.

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


def find_camps_within(pairs: Pairs, seed: int, depth: int = DEPTH) -> tuple[Camps, list[Integers]]:
    """Return the test for two camps, and the camps; one with camps inside is split again."""
    alarm = find_camps(pairs, seed)
    if not alarm.rings:
        return alarm, []
    leaves: list[Integers] = []
    for members in alarm.members:
        inner_camps: list[Integers] = []
        if depth > 1 and len(members) >= FEWEST_WORKERS:
            chosen = np.zeros(pairs.n_workers, dtype=bool)
            chosen[members] = True
            _, inner_camps = find_camps_within(pairs.select_workers(chosen), seed, depth - 1)
        leaves += inner_camps or [members]
    return alarm, sorted(leaves, key=len, reverse=True)


def find_candidates(
    pairs: Pairs, fit: Callable[[Electorate], AQER], seed: int, cap: float | None = None
) -> Candidates:
    """Return the candidate rankings of a crowd; `fit` grades it with given voting rules."""
    alarm, groups = find_camps_within(pairs, seed)
    default = Candidate("default", EVERYBODY, fit(EVERYBODY))
    if not groups:
        return Candidates((default,), (), alarm, {}, alarm.reason or "no_camps")
    kept_candidates, dropped = [default], {}
    for name, electorate in _iterate_electorates(groups, pairs.n_workers, cap):
        aqer = fit(electorate)
        twin = next((c.name for c in kept_candidates if _is_same(c.aqer.raw_, aqer.raw_)), "")
        if twin:
            dropped[name] = twin
        else:
            kept_candidates.append(Candidate(name, electorate, aqer))
    reason = None if len(kept_candidates) > 1 else "one_ranking"
    return Candidates(tuple(kept_candidates), tuple(groups), alarm, dropped, reason)


def _iterate_electorates(
    groups: list[Integers], n_units: int, cap: float | None
) -> Iterable[tuple[str, Electorate]]:
    """Yield candidates' voting rules: AQER started from a camp, or with its votes only."""
    for alone in (False, True):
        for number, members in enumerate(groups, 1):
            inside = np.zeros(n_units)
            inside[members] = 1.0
            start = inside / inside.sum()
            if not alone:
                yield f"from_camp_{number}", Electorate(start=start)
            # Under a cap the weights of a small camp cannot sum to 1.
            elif cap is None or cap * len(members) >= 1.0:
                yield f"only_camp_{number}", Electorate(factor=inside, start=start)


def _is_same(one: Floats, other: Floats) -> bool:
    """Return whether two sets of raw scores rank workers alike (Spearman >= .9)."""
    correlation = spearman(one, other)
    if correlation is not None:
        return correlation >= SAME
    is_compared = ~np.isnan(one) & ~np.isnan(other)
    return not is_compared.any() or bool(np.ptp(one[is_compared]) == np.ptp(other[is_compared]))
