"""Draw stratified random samples and orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.stats.cells import Integers, encode_labels


def draw_stratified_sample(
    levels: Sequence[Sequence[str | int]], sizes: ArrayLike, wanted: int, seed: int = 0
) -> Integers:
    """Return indices of randomly drawn units that hold at most `wanted` items, by strata.

    Each stratum of the first level gets its share of the units, rounded by the largest remainder
    (Hamilton), each stratum of the next level within it its share of these, and so on. So shares of
    the first level are right to one unit, however finely the others divide it. Within the last
    level units are drawn at random. Where units hold different numbers of things, some are taken
    out or added at random until the sample fits.

    Parameters
    ----------
    levels : the labels of the n units, the most important first.
    sizes : (n,) how many things a unit holds, from 1.
    wanted : of all units' things, from 0.
    seed : of the draws.

    Returns
    -------
    The places of the chosen units, rising. They hold `wanted` things at most: fewer only where no
    unit fits into the rest, or there are no more.
    """
    n_items = np.asarray(sizes, dtype=np.int64)
    if not len(n_items):
        return np.zeros(0, dtype=np.int64)
    order: Integers = np.random.default_rng(seed).permutation(len(n_items))
    codes = [encode_labels(np.asarray(level))[0] for level in levels]
    n_units = min(len(n_items), round(wanted * len(n_items) / int(n_items.sum())))
    chosen = np.zeros(len(n_items), dtype=np.bool_)
    chosen[_draw_by_levels(codes, order, n_units)] = True
    for unit in order:
        if chosen[unit] and n_items[chosen].sum() > wanted:
            chosen[unit] = False
    rest = wanted - int(n_items[chosen].sum())
    for unit in order:
        if not chosen[unit] and n_items[unit] <= rest:
            chosen[unit] = True
            rest -= int(n_items[unit])
    return np.flatnonzero(chosen)


def draw_stratified_order(strata: Sequence[str | int], rng: np.random.Generator) -> Integers:
    """Return a random order of units whose every beginning has the strata in proportion.

    A stratum of k units gives its units, themselves in random order, the places (j + u) / k on a
    line from 0 to 1, j = 0 .. k - 1, with one random u from 0 to 1 for the stratum. The first m
    units hold of each stratum its share of m, but for one.

    Parameters
    ----------
    strata : (n,) the label of each unit's stratum.

    Returns
    -------
    (n,) the places of the units, in that order.
    """
    codes, names = encode_labels(np.asarray([str(one) for one in strata]))
    line = np.empty(len(codes))
    for code in range(len(names)):
        units = rng.permutation(np.flatnonzero(codes == code))
        line[units] = (np.arange(len(units)) + rng.random()) / len(units)
    return np.argsort(line, kind="stable")


def _draw_by_levels(codes: Sequence[Integers], order: Integers, n_units: int) -> Integers:
    """Return the first `n_units` units of `order`, distributed over the strata of each level."""
    if not codes:
        return order[:n_units]
    strata = [order[codes[0][order] == code] for code in np.unique(codes[0][order])]
    quotas = _compute_quotas([len(stratum) for stratum in strata], n_units)
    parts = [
        _draw_by_levels(codes[1:], stratum, quota)
        for stratum, quota in zip(strata, quotas, strict=True)
    ]
    return np.concatenate(parts) if parts else order[:0]


def _compute_quotas(counts: Sequence[int], n_units: int) -> list[int]:
    """Return each stratum's number of units by largest remainder (Hamilton), ties to the first.

    Whole numbers throughout: a share that rounding makes a little smaller would lose its place.
    """
    total = sum(counts)
    quotas = [n_units * count // total for count in counts]
    remainders = [n_units * count % total for count in counts]
    first = sorted(range(len(counts)), key=lambda place: -remainders[place])
    for place in first[: n_units - sum(quotas)]:
        quotas[place] += 1
    return quotas
