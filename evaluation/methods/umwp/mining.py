"""Which patterns separate replies that take a problem for unanswerable from those that do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.inference.corrections import benjamini_hochberg
from evaluation.methods.statistics.proportions import wilson_interval


@dataclass(frozen=True)
class Separation:
    """How well each of k patterns separates, by the replies it stands in.

    Attributes
    ----------
    precision : (k,) share of its replies that are positive, 0 to 1; NaN where it stands in none.
    recall : (k,) share of the positive replies that it stands in, 0 to 1.
    p_value : (k,) one-sided Fisher's exact test: as many positive replies, or more, by chance.
    adjusted : (k,) the same by Benjamini and Hochberg over all k patterns.
    """

    precision: Floats
    recall: Floats
    p_value: Floats
    adjusted: Floats


def separation(
    positive: Integers, negative: Integers, n_positive: int, n_negative: int
) -> Separation:
    """Return how well patterns separate.

    Parameters
    ----------
    positive, negative : (k,) positive and negative replies that each pattern stands in.
    n_positive, n_negative : all of them.

    Raises
    ------
    ValueError : a pattern stands in more replies than there are, or there is no positive one.
    """
    found, wrong = np.asarray(positive, dtype=np.int64), np.asarray(negative, dtype=np.int64)
    if n_positive < 1 or (found > n_positive).any() or (wrong > n_negative).any():
        raise ValueError("there are fewer replies than a pattern stands in, or none is positive")
    every = found + wrong
    precision = np.divide(found, every, out=np.full(len(found), np.nan), where=every > 0)
    # P(X >= found), X hypergeometric: Fisher 1935.
    p = stats.hypergeom.sf(found - 1, n_positive + n_negative, n_positive, every)
    p_value = np.clip(np.asarray(p, dtype=np.float64), 0.0, 1.0)
    return Separation(precision, found / n_positive, p_value, benjamini_hochberg(p_value))


def wilson(found: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Return Wilson's score interval of a share; None of nothing (Wilson 1927)."""
    if not n:
        return None
    low, high = wilson_interval(found / n, n, level)
    return float(low), float(high)


def greedy_order(covers: Booleans, covered: Booleans, wrong: Integers) -> list[tuple[int, int]]:
    """Return candidates by how many positive replies each adds to those before it.

    Parameters
    ----------
    covers : (k, n) the positive replies that each candidate finds. covered : (n,) those that are
        found already. wrong : (k,) negative replies it finds; fewer go first among equal gains.

    Returns
    -------
    Each candidate with its gain, in the order of choice; those that add nothing come last, with
    gain 0, in the order given.
    """
    covers, left = np.asarray(covers, dtype=np.bool_), ~np.asarray(covered, dtype=np.bool_)
    waiting = list(range(len(covers)))
    order: list[tuple[int, int]] = []
    while waiting:
        gains = (covers[waiting] & left).sum(axis=1).tolist()
        if not max(gains):
            break
        at = min(range(len(waiting)), key=lambda one: (-gains[one], wrong[waiting[one]]))
        chosen = waiting.pop(at)
        order.append((chosen, gains[at]))
        left &= ~covers[chosen]
    return [*order, *((one, 0) for one in waiting)]
