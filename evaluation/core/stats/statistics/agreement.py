"""Agreement of raters: kappas, Krippendorff's alpha, intraclass correlations.

Cohen's and Fleiss' kappa are corrected for chance. Krippendorff's alpha is for any number of
raters, also with missing ratings. `compare_experts` compares each pair of experts on the answers
that both graded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.cells import Floats, divide_where_positive

# How much worse a larger disagreement is: None for not at all.
Weights = Literal["linear", "quadratic"]

# What rounding leaves of a difference that is zero.
ROUNDING = 1e-12


def cohen_kappa(
    one: ArrayLike, other: ArrayLike, *, weights: Weights | None = None
) -> float | None:
    """Return Cohen's kappa of two raters' ratings: 1 for full agreement, 0 for that of chance.

    1 - observed / expected disagreement, the latter over all pairs of a rating of the one and a
    rating of the other.

    Parameters
    ----------
    one, other : (n,) ratings of the same items, none missing: any labels, or numbers if
        there are weights.
    weights : disagreement is the difference ("linear") or its square ("quadratic"; Cohen 1968);
        without them any two different ratings disagree alike (Cohen 1960).

    Returns
    -------
    None where no disagreement is expected, because all ratings are the same, or without ratings.

    Raises
    ------
    ValueError : lengths differ.
    """
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"ratings of shapes {a.shape} and {b.shape} cannot be paired")
    if not len(a):
        return None
    (of_one, times_one), (of_other, times_other) = (
        np.unique(ratings, return_counts=True) for ratings in (a, b)
    )
    apart = _compute_disagreement(of_one[:, None], of_other[None, :], weights)
    expected = float(times_one @ apart @ times_other) / len(a)
    if expected == 0:
        return None
    return 1.0 - float(_compute_disagreement(a, b, weights).sum()) / expected


def compute_kappa_of_tables(tables: ArrayLike) -> NDArray[np.float64]:
    """Return Cohen's kappa of each square table that counts two raters' labels.

    (po - pe) / (1 - pe), po the share on the diagonal, pe the sum of the products of the margins'
    shares (Cohen 1960).

    Parameters
    ----------
    tables : (..., k, k) how often, or with what weight, the first rater gave label i and the second
        label j; not negative.

    Returns
    -------
    (...,) from -1 to 1; NaN where both always gave the same one label, or without ratings.
    """
    array = np.asarray(tables, dtype=np.float64)
    n = array.sum(axis=(-2, -1))
    same = divide_where_positive(np.trace(array, axis1=-2, axis2=-1), n)
    by_chance = divide_where_positive((array.sum(axis=-1) * array.sum(axis=-2)).sum(axis=-1), n**2)
    return _correct_for_chance(same, by_chance)


def compute_fleiss_parts(counts: ArrayLike) -> NDArray[np.float64]:
    """Return each item's summands of Fleiss' kappa, to be summed over any selection of items.

    Parameters
    ----------
    counts : (n, k) how many raters gave each item each of k labels; an item may have fewer raters
        than another.

    Returns
    -------
    (n, 2 + k): 1, the share of pairs of its raters that agree, and the counts of the labels. A
    item with fewer than 2 raters has a row of zeros.
    """
    array = np.asarray(counts, dtype=np.float64)
    raters = array.sum(axis=1, keepdims=True)
    pairs = divide_where_positive(
        (array * (array - 1)).sum(axis=1, keepdims=True), raters * (raters - 1)
    )
    rows = np.hstack([np.ones_like(raters), pairs, array])
    return np.where(raters >= 2, rows, 0.0)


def fleiss_kappa(parts: ArrayLike) -> NDArray[np.float64]:
    """Return Fleiss' kappa (1971) from sums of the rows of `compute_fleiss_parts`.

    It is (Pbar - Pe) / (1 - Pe), with the observed agreement Pbar and that by chance Pe.

    Pbar is the mean over items, however many raters each has. Pe pools the labels of all items:
    each rating counts alike, as in MultiQ&A's Fleiss' kappa. With as many raters for each item
    this is the kappa of Fleiss.

    Parameters
    ----------
    parts : (..., 2 + k) sums over items.

    Returns
    -------
    (...,) to 1; NaN where all ratings are the same, and where no item has 2 raters.
    """
    array = np.asarray(parts, dtype=np.float64)
    pooled = array[..., 2:]
    shares = divide_where_positive(pooled, pooled.sum(axis=-1, keepdims=True))
    same = divide_where_positive(array[..., 1], array[..., 0])
    return _correct_for_chance(same, (shares**2).sum(axis=-1))


def _correct_for_chance(
    same: NDArray[np.float64], by_chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (same - by_chance) / (1 - by_chance); NaN where agreement by chance is 1."""
    # All ratings the same leave a rest of rounding here, by which nothing may be divided.
    room = 1.0 - by_chance
    return divide_where_positive(same - by_chance, np.where(np.abs(room) < ROUNDING, 0.0, room))


def _compute_disagreement(
    one: NDArray[np.generic], other: NDArray[np.generic], weights: Weights | None
) -> NDArray[np.float64]:
    """Return the disagreement of paired ratings: 0 or 1; weighted, the difference or its square."""
    if weights is not None:
        apart = np.abs(one.astype(np.float64) - other.astype(np.float64))
        return apart**2 if weights == "quadratic" else apart
    return (one != other).astype(np.float64)


# What two ratings are apart: only different, by how many ratings stand between, or by how much.
Level = Literal["nominal", "ordinal", "interval"]


def count_ratings(ratings: ArrayLike) -> tuple[Floats, Floats]:
    """Return the number of raters who gave each item (row) each value (column), and the values.

    Parameters
    ----------
    ratings : (n, k) numbers of n items by k raters, NaN for a missing one. Labels are coded first
        (`cells.encode_labels`); of them only the nominal alpha means something.

    Returns
    -------
    counts : (n, v). values : (v,), rising.
    """
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"ratings of shape {array.shape}: things in rows, raters in columns")
    values = np.unique(array[~np.isnan(array)])
    return (array[:, :, None] == values).sum(axis=1).astype(np.float64), values


def krippendorff_alpha(counts: ArrayLike, values: ArrayLike, level: Level) -> float | None:
    """Return Krippendorff's alpha: 1 for full agreement, 0 for agreement as by chance.

    Disagreement is observed within items, over all pairs of their ratings, and expected over all
    pairs of ratings (Krippendorff 2011, "Computing Krippendorff's alpha-reliability"). An item with
    one rating pairs with nothing and is left out.

    Parameters
    ----------
    counts : (n, v) how many raters gave each item each value. values : (v,) rising.
    level : "nominal" takes any two different values for as far apart, "ordinal" counts the ratings
        between them, "interval" squares their difference.

    Returns
    -------
    None where no disagreement is expected, because all ratings are the same, or where no item has
    two.

    Raises
    ------
    ValueError : an unknown level, or shapes that do not fit.
    """
    observed, scale = np.asarray(counts, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if observed.ndim != 2 or observed.shape[1:] != scale.shape:
        raise ValueError(f"counts of shape {observed.shape} for values of shape {scale.shape}")
    raters = observed.sum(axis=1)
    paired, raters = observed[raters >= 2], raters[raters >= 2]
    # How often each pair of values meets in an item, each item with the weight of its ratings.
    by_thing = paired / (raters[:, None] - 1)
    coincidences = by_thing.T @ paired - np.diag(by_thing.sum(axis=0))
    times = coincidences.sum(axis=0)
    apart = _compute_squared_distances(times, scale, level)
    expected = float(times @ apart @ times)
    if expected <= 0:
        return None
    return 1.0 - (float(times.sum()) - 1) * float((coincidences * apart).sum()) / expected


def _compute_squared_distances(times: Floats, scale: Floats, level: Level) -> Floats:
    """Return Krippendorff's squared distance of all pairs of values, by level of measurement."""
    if level == "nominal":
        return 1.0 - np.eye(len(scale))
    if level == "interval":
        return np.asarray((scale[:, None] - scale[None, :]) ** 2)
    if level != "ordinal":
        raise ValueError(f"level must be nominal, ordinal or interval, got {level!r}")
    # From the middle of the one's ratings to the middle of the other's.
    middle = np.cumsum(times) - times / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)


@dataclass(frozen=True)
class IntraclassCorrelation:
    """Absolute agreement of raters on items, for one rater and for the raters' mean.

    Attributes
    ----------
    single : ICC(2,1), of one rater's rating. mean : ICC(2,k), of the mean of the k ratings.
        1 for full agreement, 0 for none, negative below that; None where undefined.
    n : items that all k rated. left_out : items that not all of them rated.
    """

    single: float | None
    mean: float | None
    n: int
    raters: int
    left_out: int = 0


def intraclass_correlation(ratings: ArrayLike) -> IntraclassCorrelation:
    """Return ICC(2,1) and ICC(2,k) of ratings, one row per item, one column per rater.

    ICC(2,1) = (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n) and ICC(2,k) = (MSR - MSE) /
    (MSR + (MSC - MSE) / n), with the mean squares of items (rows), raters (columns) and the rest
    of a two-way analysis of variance (Shrout and Fleiss 1979, "Intraclass correlations: uses in
    assessing rater reliability", Psychological Bulletin 86, cases 2). A rater who is milder than
    another by the same everywhere counts as disagreement.

    Parameters
    ----------
    ratings : (n, k) finite numbers, NaN for an item that a rater did not rate. The analysis needs
        whole rows: items with a missing rating are left out and counted.

    Returns
    -------
    None for both with fewer than 2 items or raters, or where all ratings are the same.

    Raises
    ------
    ValueError : not two-dimensional, or an infinite rating.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings of shape {table.shape}: things in rows, raters in columns")
    if np.isinf(table).any():
        raise ValueError("ratings must be finite; NaN means a missing one")
    x = table[~np.isnan(table).any(axis=1)]
    n, k = x.shape
    left_out = len(table) - n
    if n < 2 or k < 2:
        return IntraclassCorrelation(None, None, n, k, left_out)
    # A shift changes no mean square, and sums of squares of large ratings cancel.
    x = x - x.mean()
    total = float((x**2).sum())
    rows, columns = k * float((x.mean(axis=1) ** 2).sum()), n * float((x.mean(axis=0) ** 2).sum())
    of_things, of_raters = rows / (n - 1), columns / (k - 1)
    # The difference is a sum of squares; rounding may bring it below 0.
    rest = max(0.0, total - rows - columns) / ((n - 1) * (k - 1))
    beyond, tilt = of_things - rest, (of_raters - rest) / n
    smallest = ROUNDING * float(np.nanmax(np.abs(table)) ** 2)
    single, mean = of_things + (k - 1) * rest + k * tilt, of_things + tilt
    return IntraclassCorrelation(
        beyond / single if single > smallest else None,
        beyond / mean if mean > smallest else None,
        n,
        k,
        left_out,
    )


# Grades are rounded to halves: the categories of kappa.
STEPS = 2


@dataclass(frozen=True)
class ExpertAgreement:
    """Agreement of one pair of experts on the answers that both graded.

    Attributes
    ----------
    n : number of answers that both graded. difference : mean absolute difference of the grades, 0
        to 5.
    kappa : Cohen's with quadratic weights, 1 for full agreement and 0 for that of chance; None
        where it is undefined, because all grades are the same.
    """

    one: str
    other: str
    n: int
    difference: float
    kappa: float | None


def compare_experts(grades: Mapping[str, Mapping[int, float]]) -> list[ExpertAgreement]:
    """Return the agreement of each pair of experts with common answers.

    `grades` are by expert, then by answer.
    """
    experts = []
    for one, other in combinations(sorted(grades), 2):
        common_keys = sorted(grades[one].keys() & grades[other].keys())
        if not common_keys:
            continue
        a = np.array([grades[one][key] for key in common_keys])
        b = np.array([grades[other][key] for key in common_keys])
        kappa = cohen_kappa(np.rint(a * STEPS), np.rint(b * STEPS), weights="quadratic")
        experts.append(
            ExpertAgreement(one, other, len(common_keys), float(abs(a - b).mean()), kappa)
        )
    return experts
