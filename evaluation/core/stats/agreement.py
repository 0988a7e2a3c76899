"""Compute how well each pair of experts agrees on the answers that both graded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluation.core.stats.statistics.kappa import cohen_kappa

# Grades are rounded to halves: the categories of kappa.
STEPS = 2


@dataclass(frozen=True)
class Agreement:
    """Agreement of one pair of experts on the answers that both graded.

    Attributes
    ----------
    n : how many these are. difference : mean absolute difference of the grades, 0 to 5.
    kappa : Cohen's with quadratic weights, 1 for full agreement and 0 for that of chance; None
        where it is undefined, because all grades are the same.
    """

    one: str
    other: str
    n: int
    difference: float
    kappa: float | None


def compare_experts(grades: Mapping[str, Mapping[int, float]]) -> list[Agreement]:
    """Return the agreement of each pair of experts; `grades` by expert, then by answer."""
    found = []
    for one, other in combinations(sorted(grades), 2):
        common_keys = sorted(grades[one].keys() & grades[other].keys())
        if not common_keys:
            continue
        a = np.array([grades[one][key] for key in common_keys])
        b = np.array([grades[other][key] for key in common_keys])
        kappa = cohen_kappa(np.rint(a * STEPS), np.rint(b * STEPS), weights="quadratic")
        found.append(Agreement(one, other, len(common_keys), float(abs(a - b).mean()), kappa))
    return found
