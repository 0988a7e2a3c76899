"""Every number of a group of items, with intervals by items, and what guessing would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.methods.inference.clustered import Estimate, drawn_intervals
from evaluation.methods.multiqa.chance import Chance, chance_of
from evaluation.methods.multiqa.items import NO_VOTES, ItemNumbers, numbers_of
from evaluation.methods.multiqa.panel import NO_VOTE, Ints, Panel
from evaluation.methods.multiqa.reliability import (
    NO_ITEMS,
    Alpha,
    AlphaOfPaper,
    FleissKappa,
)
from evaluation.methods.undefined import ratio

Floats = NDArray[np.float64]

NO_CHOICES = "no_choices"
FEWER_ANSWERS = "fewer_answers"

# In the order in which they are shown.
NAMES = (
    *("alpha", "accuracy", "worst_case", "best_case", "plurality", "plurality_fractional"),
    *("tie_rate", "item_difficulty", "certainty", "m2_certainty", "fleiss_kappa"),
    *("free_marginal_kappa", "alpha_paper"),
)
# Means over items; the others are of all items together.
MEANS = (
    *("accuracy", "worst_case", "best_case", "plurality", "plurality_fractional", "tie_rate"),
    *("item_difficulty", "certainty", "m2_certainty", "free_marginal_kappa"),
)


@dataclass(frozen=True)
class Robustness:
    """What a system's replies to a group of items show.

    Attributes
    ----------
    found : each number of `NAMES`. chance : what guessing gives, by the same names, over the items
        with 2 choices or more; without an interval.
    left_out : of each number, how many items are not in it, by reason.
    numbers : those of each profile of items. profiles : (n,) which of these an item has.
    """

    found: Mapping[str, Estimate]
    chance: Mapping[str, Estimate]
    left_out: Mapping[str, Mapping[str, int]]
    numbers: ItemNumbers
    profiles: Ints


def robustness(panel: Panel, n_draws: int = 400, seed: int = 0, level: float = 0.95) -> Robustness:
    """Return every number of a panel, its interval by a bootstrap of items, and chance.

    (MultiQ&A; methods as in `items`, `reliability`, `chance`.)

    Parameters
    ----------
    n_draws, seed, level : of the intervals; no draws for none.
    """
    alike, profiles = panel.profiles()
    times = np.bincount(profiles, minlength=len(alike)).astype(np.int64)
    numbers = numbers_of(alike)
    rows = np.array([numbers.values[name] for name in MEANS])
    known = ~np.isnan(rows)
    filled = np.where(known, rows, 0.0)
    partly = ~known.all(axis=1)
    parts = known[partly].astype(np.float64)
    together: dict[str, FleissKappa | Alpha | AlphaOfPaper] = {
        "fleiss_kappa": FleissKappa(alike, numbers, times),
        "alpha": Alpha(alike, times),
        "alpha_paper": AlphaOfPaper(alike, times),
    }

    def statistic(weights: Floats) -> Floats:
        sums = filled @ weights.T
        counts = np.broadcast_to(weights.sum(axis=1), sums.shape).copy()
        counts[partly] = parts @ weights.T
        return np.vstack([ratio(sums, counts), *(one(weights) for one in together.values())])

    names = (*MEANS, *together)
    n = [*(known @ times).tolist(), *(one.n for one in together.values())]
    if len(panel):
        values = statistic(times[None].astype(np.float64))[:, 0]
    else:
        values = np.full(len(names), np.nan)
    estimates = drawn_intervals(
        values, n, statistic, len(panel), n_draws, seed, level, kinds=profiles
    )
    found = dict(zip(names, estimates, strict=True))
    left_out = {name: _left_out(numbers, name, times) for name in MEANS if name in numbers.reasons}
    left_out["fleiss_kappa"] = _left_out(numbers, "agreement", times)
    for name in ("alpha", "alpha_paper"):
        missing = len(panel) - together[name].n
        left_out[name] = {FEWER_ANSWERS: missing} if missing else {}
    for name, estimate in found.items():
        if estimate.value is None:
            why = together[name].reason() if name in together else _commonest(left_out, name)
            found[name] = replace(estimate, reason=why)
    return Robustness(
        {name: found[name] for name in NAMES},
        _chance(alike, times),
        {name: reasons for name, reasons in left_out.items() if reasons},
        numbers,
        profiles,
    )


def _left_out(numbers: ItemNumbers, name: str, times: Ints) -> dict[str, int]:
    counts = {why: int(times[items].sum()) for why, items in numbers.reasons[name].items()}
    return {why: count for why, count in counts.items() if count}


def _commonest(left_out: Mapping[str, Mapping[str, int]], name: str) -> str:
    reasons = Counter(left_out.get(name, {})).most_common(1)
    return reasons[0][0] if reasons else NO_ITEMS


def _chance(panel: Panel, times: Ints) -> dict[str, Estimate]:
    """Return the mean of what guessing gives over the items that offer something to guess.

    A guesser gives as many answers to an item as there are replies with a vote: refused and empty
    ones have none, and an item without any is left out.
    """
    votes = (panel.answers != NO_VOTE).sum(axis=1)
    offering = (panel.sets > 1) & (votes > 0)
    n = int(times[offering].sum())
    if not n:
        silent = bool((panel.sets > 1).any())
        why = NO_VOTES if silent else NO_CHOICES if len(panel) else NO_ITEMS
        return {name: Estimate(None, None, None, 0, why) for name in NAMES}
    pairs, place = np.unique(
        np.stack([panel.sets[offering], votes[offering]]), axis=1, return_inverse=True
    )
    each = np.array([astuple(chance_of(int(k), int(r))) for k, r in pairs.T])
    mean = np.bincount(place.ravel(), weights=times[offering]) @ each / n
    found = dict(zip((field.name for field in fields(Chance)), mean.tolist(), strict=True))
    return {name: Estimate(found[name], None, None, n) for name in NAMES}
