"""Errors of a similarity threshold on labelled pairs, and the threshold with the fewest."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.stats.statistics.roc import auc

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ThresholdErrors:
    """Both errors of a threshold on labelled pairs of accepted answer and reply.

    Attributes
    ----------
    threshold : a reply with a greater similarity is taken for right.
    missed : share of the `n_right` right replies that it takes for wrong.
    taken : share of the `n_wrong` wrong replies that it takes for right.
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
    similarity: Floats, is_right: Bools, threshold: float, source: str
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


def choose_cosine(similarity: Floats, is_right: Bools) -> float:
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
