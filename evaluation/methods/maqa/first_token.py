"""How sure a model is of an answer, by its distribution over the answer's first token.

Three numbers (Yang, Yoo and Lee 2024, section 4.1): the greatest probability, the entropy, and the
margin between the two greatest probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log

import numpy as np
from numpy.typing import ArrayLike

from evaluation.methods.cells import Floats

NO_NUMBERS = "no_numbers"
NOT_FINITE = "not_finite"
ABOVE_1 = "probability_above_1"
VOCABULARY_TOO_SMALL = "vocabulary_too_small"

# Servers round what they send: so much may the sum of probabilities go beyond 1.
ROUNDING = 1e-3


class DistributionError(ValueError):
    """The numbers are no distribution; the code says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class FirstToken:
    """What the distribution over an answer's first token says.

    Attributes
    ----------
    max_softmax : the greatest probability, 0 to 1.
    entropy : in nats, 0 or more; where only the likeliest tokens are known, the least it can be.
    entropy_high : the most it can be, `entropy` where the whole distribution is known; None where
        the number of tokens is not known.
    margin : the greatest probability minus the second one, 0 to 1; None where only one is known
        and there are others.
    """

    max_softmax: float
    entropy: float
    entropy_high: float | None
    margin: float | None


def of_logits(logits: ArrayLike) -> FirstToken:
    """Return the numbers of a whole distribution, p = softmax(logits).

    Parameters
    ----------
    logits : (V,) numbers before the softmax (log-probabilities of all tokens do as well);
        -infinity for a token that cannot come.

    Raises
    ------
    DistributionError : no_numbers; not_finite: NaN, infinity, or no token that can come.
    """
    x = np.asarray(logits, dtype=np.float64)
    if not x.size:
        raise DistributionError(NO_NUMBERS)
    top = x.max()
    if not np.isfinite(top):
        raise DistributionError(NOT_FINITE)
    p = np.exp(x - top)
    p /= p.sum()
    entropy = _entropy(p)
    return FirstToken(float(p.max()), entropy, entropy, _margin(p))


def of_top_logprobs(
    logprobs: Sequence[float],
    vocabulary: int | None,
    others: tuple[int, float, float] | None = None,
) -> FirstToken:
    """Return the numbers of a distribution of which only the k likeliest tokens are known.

    With r the probability of all others and H_k = -sum p ln p of the known ones, the entropy is
    least where one token has all of r, H_k - r ln r, and most where the V - k others share it,
    H_k - r ln r + r ln(V - k).

    Parameters
    ----------
    logprobs : (k,) natural logarithms of probabilities, in any order.
    vocabulary : V, how many tokens there are; None where it is not known.
    others : of tokens that are known beside these, none of them likelier: how many, their
        probability, and -sum p ln p over them. Where all is known with them, p is normalised.

    Raises
    ------
    DistributionError : no_numbers; not_finite; probability_above_1: one of them, or their sum by
        more than rounding (.001); vocabulary_too_small: fewer tokens than are given, or as many
        although some probability is missing.
    """
    # Plain numbers: they are few, and arrays of five are slower than a loop.
    if not len(logprobs):
        raise DistributionError(NO_NUMBERS)
    logs = sorted(logprobs, reverse=True)
    if (added := sum(logs)) != added or logs[0] == inf:
        raise DistributionError(NOT_FINITE)
    if logs[0] > 1:
        raise DistributionError(ABOVE_1)
    p = list(map(exp, logs))
    total = sum(p)
    if p[0] > 1 + ROUNDING or total > 1 + ROUNDING:
        raise DistributionError(ABOVE_1)
    if not total:
        raise DistributionError(NOT_FINITE)
    if p[0] > 1:
        p = [min(one, 1.0) for one in p]
    if others is not None:
        return _with_others(p, total, others, vocabulary)
    missing = max(0.0, 1.0 - total)
    unknown = None if vocabulary is None else vocabulary - len(p)
    if unknown is not None and (unknown < 0 or (unknown == 0 and missing > ROUNDING)):
        raise DistributionError(VOCABULARY_TOO_SMALL)
    if unknown == 0:
        missing = 0.0
    low = max(0.0, -sum([one * log(one) for one in p if one]))
    high: float | None = low
    if missing:
        low -= missing * log(missing)
        if unknown is not None:
            high = low + missing * log(unknown)
        else:  # but for rounding there may be no others
            high = low if missing <= ROUNDING else None
    margin = p[0] - p[1] if len(p) > 1 else p[0] if missing <= ROUNDING else None
    return FirstToken(p[0], low, high, margin)


def _with_others(
    p: Sequence[float], total: float, others: tuple[int, float, float], vocabulary: int | None
) -> FirstToken:
    tokens, probability, entropy = others
    if not (isfinite(probability) and isfinite(entropy)):
        raise DistributionError(NOT_FINITE)
    if probability < 0 or entropy < 0 or tokens < 0:
        raise DistributionError(NOT_FINITE)
    total += probability
    if total > 1 + ROUNDING:
        raise DistributionError(ABOVE_1)
    known = entropy - sum([one * log(one) for one in p if one])
    unknown = None if vocabulary is None else vocabulary - len(p) - tokens
    missing = max(0.0, 1.0 - total)
    if unknown is not None and (unknown < 0 or (unknown == 0 and missing > ROUNDING)):
        raise DistributionError(VOCABULARY_TOO_SMALL)
    margin = p[0] - (p[1] if len(p) > 1 else 0.0)
    if missing <= ROUNDING:  # all that there is, but for rounding
        whole = max(0.0, known / total + log(total))
        return FirstToken(p[0] / total, whole, whole, margin / total)
    low = max(0.0, known) - missing * log(missing)
    high = None if unknown is None else low + missing * log(unknown)
    return FirstToken(p[0], low, high, margin)


def _entropy(p: Floats) -> float:
    some = p[p > 0]
    return max(0.0, -float((some * np.log(some)).sum()))


def _margin(p: Floats) -> float:
    if len(p) == 1:
        return float(p[0])
    second, first = np.partition(p, -2)[-2:]
    return float(first - second)
