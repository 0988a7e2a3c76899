"""Judges compared: with each other, and models that judge with people who do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from evaluation.methods.statistics.correlation import pearson, spearman
from evaluation.methods.statistics.kappa import cohen_kappa

NO_COMMON_SETS = "no_common_sets"
# Scores are rounded to halves: the categories of kappa, as for experts' grades.
STEPS = 2


@dataclass(frozen=True)
class JudgeAgreement:
    """Two judges on the sets that both scored; a judge's score is the mean of its repeats.

    Attributes
    ----------
    n : how many sets these are.
    difference : mean of `judge` - `other`: who is the milder one. None without a common set.
    absolute_difference : mean of it without the sign, 0 to 5.
    kappa : Cohen's with quadratic weights on scores rounded to halves; None where all are alike.
    pearson, spearman : None below 2 sets, or where one gave the same score to all.
    reason : no_common_sets, or None.
    """

    judge: str
    other: str
    n: int
    difference: float | None
    absolute_difference: float | None
    kappa: float | None
    pearson: float | None
    spearman: float | None
    reason: str | None


def judge_agreements(scores: Mapping[str, Mapping[Any, float]]) -> list[JudgeAgreement]:
    """Compare every two judges, in the order given; `scores` are of each, by set."""
    return [
        _agreement(one, other, scores[one], scores[other]) for one, other in combinations(scores, 2)
    ]


def _agreement(
    one: str, other: str, of_one: Mapping[Any, float], of_other: Mapping[Any, float]
) -> JudgeAgreement:
    common = [name for name in of_one if name in of_other]
    if not common:
        return JudgeAgreement(one, other, 0, None, None, None, None, None, NO_COMMON_SETS)
    a = np.array([of_one[name] for name in common])
    b = np.array([of_other[name] for name in common])
    return JudgeAgreement(
        one,
        other,
        len(common),
        float((a - b).mean()),
        float(np.abs(a - b).mean()),
        cohen_kappa(np.rint(a * STEPS), np.rint(b * STEPS), weights="quadratic"),
        pearson(a, b),
        spearman(a, b),
        None,
    )
