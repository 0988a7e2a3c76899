"""Correlations, ROC curves, thresholds, shares, drift, and stratified samples.

All correlations follow one rule: pairs with a missing number (NaN) are left out; with fewer than 2
pairs left, or where a side has no spread, the correlation is undefined.

A similarity threshold is tuned on one half of the groups, such as questions, and its errors are
measured on the other half.

Drift is the cosine distance of mean answers between two samples, observed and expected by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evaluation.core.stats.cells import Booleans, Floats, Integers, encode_labels

DIGITS = 12
# What rounding leaves of a column's variance that the third one explains in full.
ROUNDING = 1e-12


def pearson(one: ArrayLike, other: ArrayLike, among: Booleans | None = None) -> float | None:
    """Return Pearson's correlation of two columns, -1 to 1; None where undefined.

    Parameters
    ----------
    one, other : (n,) finite numbers, NaN or None for a missing one.
    among : (n,) which pairs count; None for all.

    Raises
    ------
    ValueError : lengths differ.
    """
    return _compute_correlation(*_select_known_pairs(one, other, among))


def spearman(one: ArrayLike, other: ArrayLike, among: Booleans | None = None) -> float | None:
    """Return Spearman's rank correlation (mean ranks for ties), -1 to 1; None where undefined.

    Parameters and errors as `pearson`. Ranks are those among the pairs that count.
    """
    return _compute_correlation(
        *(stats.rankdata(part) for part in _select_known_pairs(one, other, among))
    )


def compute_partial_correlation(
    both: float | None, one: float | None, other: float | None
) -> float | None:
    """Return the partial correlation of two columns given a third, -1 to 1; None if undefined.

    Parameters
    ----------
    both : correlation of the two. one, other : of each of them with the third.
    """
    if both is None or one is None or other is None:
        return None
    rest = (1 - one**2) * (1 - other**2)
    if rest <= ROUNDING:
        return None
    return float(np.clip((both - one * other) / np.sqrt(rest), -1.0, 1.0))


def round_for_ties(scores: ArrayLike) -> Floats:
    """Return scores rounded to 12 digits, so that scores equal but for rounding share a rank.

    The last bits of equal scores depend on the processor.
    """
    return np.asarray(np.round(np.asarray(scores, dtype=np.float64), DIGITS), dtype=np.float64)


def _select_known_pairs(
    one: ArrayLike, other: ArrayLike, among: Booleans | None
) -> tuple[Floats, Floats]:
    """Return two columns without the rows that have a NaN or that `among` leaves out."""
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"columns of shapes {a.shape} and {b.shape} cannot be paired")
    known = ~(np.isnan(a) | np.isnan(b))
    if among is not None:
        known &= among
    return a[known], b[known]


def _compute_correlation(a: Floats, b: Floats) -> float | None:
    """Return Pearson's correlation of two columns; None for fewer than 2 rows or equal values."""
    # Not stats.pearsonr and spearmanr: they warn of columns without spread, and spend most of their
    # time on a p-value that is not used here; a run computes hundreds of correlations.
    if len(a) < 2 or not (np.ptp(a) and np.ptp(b)):
        return None
    return float(np.corrcoef(a, b)[0, 1])


def auc(positive: ArrayLike, negative: ArrayLike) -> float | None:
    """Return the area under the ROC curve, 0 to 1; None if one class is missing.

    The probability that a random positive has a greater number than a random negative, ties
    counted half: 1 for perfect separation, .5 for none, 0 for the reverse order.

    Parameters
    ----------
    positive, negative : (P,) and (N,) finite numbers; None if there are none of a kind.

    Raises
    ------
    ValueError : a number is not finite.
    """
    x, y = _check_finite(positive, negative)
    if not len(x) or not len(y):
        return None
    # By ranks (Mann and Whitney 1947): all pairs would take P x N comparisons.
    ranks = stats.rankdata(np.concatenate([x, y]))[: len(x)]
    return float((ranks.sum() - len(x) * (len(x) + 1) / 2) / (len(x) * len(y)))


def average_precision(positive: ArrayLike, negative: ArrayLike) -> float | None:
    """Return the step-wise average precision of scores, 0 to 1; None without a positive.

    The area under the precision-recall curve in steps, as scikit-learn computes it: of items with
    the same number all are found at once. 1 where every positive has a greater number than every
    negative; the share of positives where all numbers are the same.

    Parameters
    ----------
    positive, negative : (P,) and (N,) finite numbers; None if there is no positive.

    Raises
    ------
    ValueError : a number is not finite.
    """
    x, y = _check_finite(positive, negative)
    if not len(x):
        return None
    n_at_least = len(x) - np.searchsorted(np.sort(x), x)
    false = len(y) - np.searchsorted(np.sort(y), x)
    return float((n_at_least / (n_at_least + false)).mean())


def _check_finite(*columns: ArrayLike) -> list[Floats]:
    """Return the columns as floats. Raises ValueError for NaN or infinity."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if not all(np.isfinite(column).all() for column in arrays):
        raise ValueError("the numbers must be finite")
    return arrays


# Digits of a tuned threshold.
THRESHOLD_DIGITS = 4


@dataclass(frozen=True)
class ThresholdErrors:
    """Error rates of a similarity threshold on pairs of texts labelled as right or wrong.

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
        """Return all fields by name, as an entry of a summary."""
        return asdict(self)


def measure_threshold_errors(
    similarity: Floats, is_right: Booleans, threshold: float, source: str
) -> ThresholdErrors:
    """Return both error rates of a similarity threshold on labelled pairs.

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
    """Return the threshold with the smallest sum of both error rates; the greatest of ties.

    It is the middle between two neighbouring similarities of labelled pairs (Youden 1950). Both
    rates count alike, however many pairs of each kind there are.
    """
    distinct = np.unique(similarity)
    middles = (distinct[1:] + distinct[:-1]) / 2 if len(distinct) > 1 else distinct
    right, wrong = np.sort(similarity[is_right]), np.sort(similarity[~is_right])
    # side="right": a similarity equal to the threshold is taken for wrong, as in
    # `measure_threshold_errors`.
    missed = np.searchsorted(right, middles, side="right") / len(right)
    taken = 1.0 - np.searchsorted(wrong, middles, side="right") / len(wrong)
    errors = missed + taken
    return float(middles[np.flatnonzero(errors <= errors.min() + 1e-12)[-1]])


def draw_tuning_half(groups: Sequence[str], seed: int) -> Booleans:
    """Return flags of the pairs that belong to a random half of the groups, for tuning."""
    # Sorted, because the order of a set of texts differs between processes.
    distinct = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(distinct))
    chosen = {distinct[number] for number in order[: len(distinct) // 2]}
    return np.array([group in chosen for group in groups], dtype=np.bool_)


def tune_threshold(
    similarity: Floats, is_right: Booleans, groups: Sequence[str], source: str, seed: int = 0
) -> ThresholdErrors:
    """Return the threshold tuned on half of the groups, with its errors on the other half.

    Raises
    ------
    ValueError : a half has no right pair, or no wrong one.
    """
    tunes = draw_tuning_half(groups, seed)
    if not (is_right[tunes].any() and (~is_right[tunes]).any()):
        raise ValueError("right and wrong pairs are needed")
    threshold = round(choose_threshold(similarity[tunes], is_right[tunes]), THRESHOLD_DIGITS)
    return measure_threshold_errors(similarity[~tunes], is_right[~tunes], threshold, source)


def wilson_interval(share: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return both ends of Wilson's score interval of each share (1927); NaN where n is 0.

    Parameters
    ----------
    share : 0 to 1, of any shape; weighted shares need not be whole parts of n.
    n : how many each is a share of.

    Returns
    -------
    low, high : of the shape of both, within 0 to 1.
    """
    p, count = np.broadcast_arrays(np.asarray(share, np.float64), np.asarray(n, np.float64))
    z = stats.norm.ppf(0.5 + level / 2)
    whole = np.where(count > 0, 2 * (count + z**2), np.nan)
    centre = (2 * count * p + z**2) / whole
    reach = z / whole * np.sqrt(4 * count * p * (1 - p) + z**2)
    # Rounding may leave 1e-17 where the ends are 0 and 1.
    low = np.where(p == 0, 0.0 * whole, centre - reach)
    high = np.where(p == 1, 1.0 + 0.0 * whole, centre + reach)
    return low, high


def compute_cosine_distances(one: ArrayLike, other: ArrayLike) -> Floats:
    """Return 1 - cosine of each row of `one` with the same row of `other`, 0 to 2.

    Parameters
    ----------
    one, other : (Q, D) finite vectors of any length; NaN comes back for a row of zeros.

    Raises
    ------
    ValueError : shapes differ.
    """
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 2:
        raise ValueError(f"vectors of shapes {a.shape} and {b.shape} cannot be compared")
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    # A row of zeros has no direction: 0 / 0 is the NaN that is promised.
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.einsum("ij,ij->i", a, b) / lengths
    return np.asarray(1.0 - np.clip(cosine, -1.0, 1.0))


def estimate_chance_distances(
    dispersion_one: ArrayLike, n_one: ArrayLike, dispersion_other: ArrayLike, n_other: ArrayLike
) -> Floats:
    """Return the mean cosine distance expected of two samples of the same population.

    The mean of n unit vectors has the squared length R^2 + (1 - R^2) / n, where R is that of the
    population's mean, and two means of independent samples have the inner product R^2. So the
    expected cosine is about R^2 / (R1 R2), with R1 = 1 - dispersion as it was measured, and R^2
    estimated from each sample without bias, (n R1^2 - 1) / (n - 1), and weighted by n - 1: the
    correction for attenuation (Spearman 1904) turned round. It holds for equal weights; where some
    people have more weight, the distance expected by chance is larger.

    Parameters
    ----------
    dispersion_one, dispersion_other : (Q,) 1 - length of the mean of unit vectors, 0 to 1, NaN for
        null. n_one, n_other : (Q,) how many vectors.

    Returns
    -------
    (Q,) 0 to 1; NaN below 2 vectors in either sample, and where a dispersion is null.

    Raises
    ------
    ValueError : shapes do not fit.
    """
    distances = [
        np.asarray(part, dtype=np.float64)
        for part in (dispersion_one, n_one, dispersion_other, n_other)
    ]
    first, n_first, second, n_second = np.broadcast_arrays(*distances)
    enough = (n_first >= 2) & (n_second >= 2)
    n_first, n_second = np.where(enough, n_first, np.nan), np.where(enough, n_second, np.nan)
    length_first, length_second = 1.0 - first, 1.0 - second
    # (n - 1) times the unbiased square of each, summed: what n R^2 - 1 is.
    sums = n_first * length_first**2 - 1 + n_second * length_second**2 - 1
    square = np.clip(sums / (n_first + n_second - 2), 0.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = square / (length_first * length_second)
    return np.asarray(1.0 - np.clip(cosine, 0.0, 1.0))


def draw_stratified_sample(
    levels: Sequence[Sequence[str | int]], sizes: ArrayLike, wanted: int, seed: int = 0
) -> Integers:
    """Return the indices of randomly drawn units with at most `wanted` items, by strata.

    Each stratum of the first level gets its share of the units, rounded by the largest remainder
    (Hamilton), each stratum of the next level within it its share of these, and so on. So shares of
    the first level are right to one unit, however finely the others divide it. Within the last
    level units are drawn at random. Where units hold different numbers of items, some are taken
    out or added at random until the sample fits.

    Parameters
    ----------
    levels : stratum labels of the n units at each level, the most important level first.
    sizes : (n,) how many items a unit holds, from 1.
    wanted : largest number of items in the sample, from 0.
    seed : of the draws.

    Returns
    -------
    Indices of the chosen units, ascending. They hold `wanted` items, fewer only if no unit fits
    into the rest or none is left.
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
    """Return a random order of units in which every beginning has all strata in proportion.

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
    codes, names = encode_labels(np.asarray([str(stratum) for stratum in strata]))
    line = np.empty(len(codes))
    for code in range(len(names)):
        units = rng.permutation(np.flatnonzero(codes == code))
        line[units] = (np.arange(len(units)) + rng.random()) / len(units)
    return np.argsort(line, kind="stable")


def _draw_by_levels(codes: Sequence[Integers], order: Integers, n_units: int) -> Integers:
    """Return `n_units` units, the first of `order` in each stratum, with proportional quotas."""
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
    """Return each stratum's quota of `n_units` units, by largest remainder (Hamilton).

    Of equal remainders the first counts.

    Whole numbers throughout: a share that rounding makes a little smaller would lose its place.
    """
    total = sum(counts)
    quotas = [n_units * count // total for count in counts]
    remainders = [n_units * count % total for count in counts]
    first = sorted(range(len(counts)), key=lambda place: -remainders[place])
    for place in first[: n_units - sum(quotas)]:
        quotas[place] += 1
    return quotas
