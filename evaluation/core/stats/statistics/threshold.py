"""Errors of a similarity threshold on labelled pairs, and the threshold with the fewest.

One half of the groups, such as questions, tunes the threshold; the other half measures it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats
from evaluation.core.stats.statistics.roc import auc

# Digits of a tuned threshold.
DIGITS = 4


@dataclass(frozen=True)
class ThresholdErrors:
    """Both errors of a similarity threshold on pairs of texts labelled as right or wrong.

    Attributes
    ----------
    threshold : a pair with a greater similarity is taken for right.
    missed : share of the `n_right` right pairs that it takes for wrong.
    taken : share of the `n_wrong` wrong pairs that it takes for right.
    auc : area under the ROC curve: how well the similarity separates right from wrong at all.
    source : name of the labelled pairs.
    """

    threshold: float
    missed: float
    taken: float
    auc: float
    n_right: int
    n_wrong: int
    source: str

    def as_dict(self) -> dict[str, Any]:
        """Return the errors as an entry of a summary."""
        return asdict(self)


def measure_threshold(
    similarity: Floats, is_right: Booleans, threshold: float, source: str
) -> ThresholdErrors:
    """Return both errors of a threshold on labelled pairs.

    Raises
    ------
    ValueError : no pair is right, or none is wrong.
    """
    right, wrong = similarity[is_right], similarity[~is_right]
    area = auc(right, wrong)
    if area is None:
        raise ValueError("right and wrong pairs are needed")
    missed, taken = float((right <= threshold).mean()), float((wrong > threshold).mean())
    return ThresholdErrors(threshold, missed, taken, area, len(right), len(wrong), source)


def choose_threshold(similarity: Floats, is_right: Booleans) -> float:
    """Return the threshold with the smallest sum of both error rates; of equal ones the greatest.

    It is the middle between two neighbouring similarities of labelled pairs (Youden 1950). Both
    rates count alike, however many pairs of each kind there are.
    """
    distinct = np.unique(similarity)
    middles = (distinct[1:] + distinct[:-1]) / 2 if len(distinct) > 1 else distinct
    right, wrong = np.sort(similarity[is_right]), np.sort(similarity[~is_right])
    missed = np.searchsorted(right, middles, side="right") / len(right)
    taken = 1.0 - np.searchsorted(wrong, middles, side="right") / len(wrong)
    errors = missed + taken
    return float(middles[np.flatnonzero(errors <= errors.min() + 1e-12)[-1]])


def draw_half(groups: Sequence[str], seed: int) -> Booleans:
    """Return whether each pair is in the half that tunes; pairs of one group stay together."""
    distinct = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(distinct))
    chosen = {distinct[number] for number in order[: len(distinct) // 2]}
    return np.array([group in chosen for group in groups], dtype=np.bool_)


def tune_threshold(
    similarity: Floats, is_right: Booleans, groups: Sequence[str], source: str, seed: int = 0
) -> ThresholdErrors:
    """Return the threshold tuned on one half of the groups, with its errors on the other half.

    Raises
    ------
    ValueError : a half has no right pair, or no wrong one.
    """
    tunes = draw_half(groups, seed)
    if not (is_right[tunes].any() and (~is_right[tunes]).any()):
        raise ValueError("right and wrong pairs are needed")
    threshold = round(choose_threshold(similarity[tunes], is_right[tunes]), DIGITS)
    return measure_threshold(similarity[~tunes], is_right[~tunes], threshold, source)
