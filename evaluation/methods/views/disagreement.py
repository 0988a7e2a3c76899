"""Where views of one answer disagree: sure of it and alone with it, unsure and yet with the crowd.

Views have scales of their own, so each number is told by its place among all numbers of its view;
an answer on which one view stands high and another low is one to read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.methods.cells import Floats, Integers
from evaluation.methods.statistics.correlation import tied

NONE = -1


@dataclass(frozen=True, eq=False)
class Disagreement:
    """How far the views of each answer are apart.

    Attributes
    ----------
    places : (S, M, Q) share of the view's numbers that are lower, equal ones counted half: above 0
        and below 1, NaN where it has none. In a view of two values neither is extreme if half of
        the answers have it.
    strength : (M, Q) highest less lowest place, 0 to 1; NaN with fewer than 2 views.
    highest, lowest : (M, Q) views with them, the first of equal ones; -1 where strength is NaN.
    """

    places: Floats
    strength: Floats
    highest: Integers
    lowest: Integers

    def strongest(self) -> Integers:
        """Return the answers by strength as (K, 2) model and question, ties in their order."""
        flat = self.strength.ravel()
        known = np.flatnonzero(~np.isnan(flat))
        ordered = known[np.argsort(-flat[known], kind="stable")]
        return np.column_stack(np.unravel_index(ordered, self.strength.shape)).astype(np.int64)


def disagreement(values: ArrayLike) -> Disagreement:
    """Return how far the views of each answer are apart.

    Parameters
    ----------
    values : (S, M, Q) numbers of S views, greater for better, NaN for none.
    """
    places = np.stack([_places(view) for view in tied(values)])
    known = ~np.isnan(places)
    enough = known.sum(axis=0) >= 2
    high = np.where(known, places, -np.inf)
    low = np.where(known, places, np.inf)
    with np.errstate(invalid="ignore"):
        strength = np.where(enough, high.max(axis=0) - low.min(axis=0), np.nan)
    return Disagreement(
        places,
        strength,
        np.where(enough, high.argmax(axis=0), NONE),
        np.where(enough, low.argmin(axis=0), NONE),
    )


def _places(view: Floats) -> Floats:
    known = ~np.isnan(view)
    found = np.full(view.shape, np.nan)
    if known.any():
        found[known] = (stats.rankdata(view[known]) - 0.5) / known.sum()
    return found
