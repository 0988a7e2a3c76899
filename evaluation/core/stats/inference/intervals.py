"""Bootstrap draws, and intervals of many estimates and of selection rates.

Intervals of many estimates at once, from standard errors or bootstrap draws: Student's t with n - 1
degrees of freedom and the bootstrap standard error times sqrt(n/(n-1)), on the arctanh scale for
cosine scores; the widened percentile interval (Hesterberg 2015, "What teachers should know about
the bootstrap", section on expanded percentile intervals) where leave-one-out is off. n is the
number of questions that were resampled.

Selection rates of groups and their ratios to the highest rate. The four-fifths rule: a group that
is selected less than .8 times as often as the group with the highest rate deserves attention
(Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 D, 1978). It is a rule of thumb
and no test: chance alone breaks it in 46% of pairs of groups of 20 with equal rates. So a group is
flagged only if the interval of its ratio (Katz et al. 1978, "Obtaining confidence intervals for the
risk ratio in cohort studies", on the logarithmic scale) is also below 1; otherwise the groups are
too small to tell. The highest of several rates is high partly by chance: the interval of k groups
uses the quantile of the range of k normal values (Tukey 1953, "The problem of multiple
comparisons"), which for two groups is the usual one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from evaluation.core.stats.cells import Floats
from evaluation.core.stats.statistics.descriptive import wilson_interval

FloatArray = NDArray[np.float64]

# Cells of a block of draws: 32 MB.
BLOCK_CELLS = 4_000_000


def draw_multiplicities(
    count: int, n_draws: int, seed: int, kinds: NDArray[np.int64] | None = None
) -> Iterator[FloatArray]:
    """Yield bootstrap draws in blocks: each row is how often each cluster is drawn.

    Blocks of shape (draws, count), `n_draws` rows in all; each row sums to `count`. The same seed
    and count give the same draws.

    Parameters
    ----------
    kinds : (count,) numbers from 0 of clusters that are alike; then the columns are the kinds, and
        a kind is drawn whenever one of its clusters is.
    """
    rng = np.random.default_rng(seed)
    columns = count if kinds is None else int(kinds.max()) + 1
    step = max(1, BLOCK_CELLS // count)
    for start in range(0, n_draws, step):
        rows = min(step, n_draws - start)
        chosen = rng.integers(0, count, size=(rows, count))
        if kinds is not None:
            chosen = kinds[chosen]
        # An offset for each draw, so that one bincount counts all draws.
        chosen += columns * np.arange(rows)[:, None]
        times = np.bincount(chosen.ravel(), minlength=rows * columns).reshape(rows, columns)
        yield times.astype(np.float64)


def shape_draws(draws: ArrayLike, rows: int | None = None) -> FloatArray:
    """Return draws as floats, one row per statistic, one column per draw; a vector is one row.

    Raises
    ------
    ValueError : another shape or number of rows, or an infinite draw.
    """
    drawn = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    if drawn.ndim != 2 or (rows is not None and len(drawn) != rows):
        raise ValueError("draws must have shape (rows, n_draws), one row for every estimate")
    if np.isinf(drawn).any():
        raise ValueError("draws must be finite or NaN")
    return drawn


def compute_standard_deviations(drawn: FloatArray) -> FloatArray:
    """Return each row's standard deviation (ddof 1), NaN ignored; NaN below 2 draws."""
    if drawn.shape[1] == 0:
        return np.full(len(drawn), np.nan)
    known = ~np.isnan(drawn)
    count = known.sum(axis=1)
    filled = np.where(known, drawn, 0.0)
    mean = filled.sum(axis=1) / np.maximum(count, 1)
    centred = np.where(known, filled - mean[:, None], 0.0)
    sd = np.sqrt((centred**2).sum(axis=1) / np.maximum(count - 1, 1))
    # Equal draws have no spread, but their mean may be rounded and differ from them.
    first = np.take_along_axis(drawn, known.argmax(axis=1)[:, None], axis=1)
    constant = ((drawn == first) | ~known).all(axis=1)
    return np.where(count < 2, np.nan, np.where(constant, 0.0, sd))


def interpolate_rows(ordered: FloatArray, position: FloatArray) -> FloatArray:
    """Return each row's value at its fractional column, by numpy.quantile's linear rule."""
    below = np.floor(position).astype(np.int64)[:, None]
    above = np.ceil(position).astype(np.int64)[:, None]
    left = np.take_along_axis(ordered, below, axis=1)[:, 0]
    right = np.take_along_axis(ordered, above, axis=1)[:, 0]
    return np.asarray(left + (right - left) * (position - below[:, 0]), dtype=np.float64)


Scale = Literal["identity", "arctanh"]

FEWER_THAN_2_QUESTIONS = "fewer_than_2_questions"
FEWER_THAN_2_DRAWS = "fewer_than_2_draws"
NO_ESTIMATE = "no_estimate"
NO_STANDARD_ERROR = "no_standard_error"
ESTIMATE_AT_BOUND = "estimate_at_bound"

# A cosine this close to 1 or -1 is 1 or -1: rounding of float64 sums, not a smaller similarity.
_ROUNDING = 1e-12
# A cosine further outside -1..1 than this is a wrong input, not the rounding of float32 vectors.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Interval:
    """One confidence interval; both ends are None where it is undefined, with the reason."""

    low: float | None
    high: float | None
    reason: str | None


@dataclass(frozen=True, eq=False)
class Intervals:
    """Confidence intervals of k rows, with the ends as arrays.

    `low` and `high` have shape (k,), in the units of the estimate; NaN stands for null in these
    two arrays (they are for further computing; `intervals[row]` gives None instead), and
    `reasons[row]` then states why it is null.
    """

    low: FloatArray
    high: FloatArray
    reasons: tuple[str | None, ...]
    level: float
    method: str

    def __len__(self) -> int:
        return len(self.reasons)

    def __getitem__(self, row: int) -> Interval:
        reason = self.reasons[row]
        if reason is not None:
            return Interval(None, None, reason)
        return Interval(float(self.low[row]), float(self.high[row]), None)


def compute_t_interval(
    estimate: ArrayLike,
    standard_error: ArrayLike,
    n: ArrayLike,
    level: float = 0.95,
    scale: Scale = "identity",
) -> Intervals:
    """Return each row's Student t interval (n - 1 degrees of freedom) from its standard error.

    Parameters
    ----------
    estimate : array_like
        shape (k,) or a number (one row), NaN for null. With scale "arctanh" in -1..1.
    standard_error : array_like
        same shape, at least 0, NaN for null. With scale "arctanh" it is the
        standard error of arctanh(estimate), NOT of the estimate: no delta method is applied.
    n : array_like
        same shape, whole numbers: how many questions the estimate is the mean of.
    level : float
        coverage, strictly between 0 and 1.
    scale : {"identity", "arctanh"}
        where the interval is symmetric. "arctanh" keeps it inside -1..1.

    Returns
    -------
    One interval a row. Zero error gives [estimate, estimate], so a cosine of 1 with zero error
    [1, 1]. Null: n < 2, an estimate or error that is null, and on the arctanh scale an
    estimate of 1 or -1 (infinite there) with a positive error ("estimate_at_bound").

    Raises
    ------
    ValueError : unknown scale, level out of range, negative or infinite error, infinite
        estimate, a cosine outside -1..1, n negative or not whole, shapes that do not fit.
    """
    values, errors, n_rows = _broadcast_columns(estimate, standard_error, n)
    _check_level_and_scale(level, scale)
    _check_estimates(values, scale)
    if np.any(errors < 0) or np.any(np.isinf(errors)):
        raise ValueError("standard_error must be finite and not negative")
    reasons = _find_reasons(values, n_rows)
    reasons[(reasons == "") & np.isnan(errors)] = NO_STANDARD_ERROR
    if scale == "arctanh":
        reasons[(reasons == "") & _is_at_bound(values) & (errors > 0)] = ESTIMATE_AT_BOUND
        values = np.clip(values, -1.0, 1.0)
    low, high = np.full((2, len(values)), np.nan)
    defined = reasons == ""
    exact = defined & (errors == 0)
    # Not through arctanh, which is infinite at 1.
    low[exact] = high[exact] = values[exact]
    spread = defined & ~exact
    centre = np.arctanh(values[spread]) if scale == "arctanh" else values[spread]
    half_width = stats.t.ppf((1 + level) / 2, n_rows[spread] - 1) * errors[spread]
    low[spread], high[spread] = centre - half_width, centre + half_width
    if scale == "arctanh":
        low[spread], high[spread] = np.tanh(low[spread]), np.tanh(high[spread])
    return _build_intervals(low, high, reasons, level, f"t-{scale}")


def compute_bootstrap_t_interval(
    estimate: ArrayLike,
    draws: ArrayLike,
    n: ArrayLike,
    level: float = 0.95,
    scale: Scale = "identity",
) -> Intervals:
    """Return each row's t interval with the bootstrap error, sd(draws) x sqrt(n/(n-1)).

    The factor undoes the bootstrap's division by n. On the arctanh scale the draws are transformed
    before their sd (ddof 1) is taken. Where a draw is 1 or -1 its transform is infinite; any
    finite number put in its place would decide the width. (Simulated, 10 scores of which half are
    exactly 1: clipping at 1 - 1e-12 covers .98 with a mean width of .97, the rule here .96 with
    .30.) That row takes the first-order value of the same error, sd(draws) / (1 - estimate^2);
    and where the estimate itself is 1 or -1, an interval on the identity scale cut at the bound.

    Parameters
    ----------
    estimate : array_like
        shape (k,) or a number, NaN for null.
    draws : array_like
        shape (k, n_draws), or (n_draws,) for one row; NaN draws are ignored.
    n : array_like
        shape (k,) or a number: how many questions were resampled.
    level : float
        coverage, strictly between 0 and 1.
    scale : {"identity", "arctanh"}
        "arctanh" for cosine scores, "identity" for Euclidean scores and differences.

    Returns
    -------
    One interval a row; an estimate of 1 whose draws are all 1 gives [1, 1]. Null: n < 2, a
    null estimate, fewer than 2 draws that are not NaN.

    Raises
    ------
    ValueError : as in `compute_t_interval`, and for infinite draws or cosines outside -1..1.
    """
    values, n_rows = _broadcast_columns(estimate, n)
    rows = shape_draws(draws, len(values))
    _check_level_and_scale(level, scale)
    _check_estimates(values, scale)
    enough = np.count_nonzero(~np.isnan(rows), axis=1) >= 2
    # Where n < 2 the row is null in any case.
    factor = np.sqrt(n_rows / np.maximum(n_rows - 1, 1))
    if scale == "identity":
        result = compute_t_interval(
            values, compute_standard_deviations(rows) * factor, n_rows, level
        )
    else:
        _check_estimates(rows, scale)
        rows = np.where(_is_at_bound(rows), np.sign(rows), rows)
        bound = _is_at_bound(values)
        inside = compute_t_interval(
            np.where(bound, 0.0, values),
            _compute_arctanh_errors(values, rows) * factor,
            n_rows,
            level,
            scale,
        )
        edge = compute_t_interval(values, compute_standard_deviations(rows) * factor, n_rows, level)
        result = Intervals(
            np.where(bound, np.clip(edge.low, -1, 1), inside.low),
            np.where(bound, np.clip(edge.high, -1, 1), inside.high),
            edge.reasons,
            level,
            inside.method,
        )
    reasons = _find_reasons(values, n_rows)
    reasons[(reasons == "") & ~enough] = FEWER_THAN_2_DRAWS
    return _build_intervals(result.low, result.high, reasons, level, f"bootstrap-t-{scale}")


def compute_widened_percentile_interval(
    draws: ArrayLike, n: ArrayLike, level: float = 0.95
) -> Intervals:
    """Return each row's percentile interval of bootstrap draws, widened for few questions.

    The plain percentile interval is too short for few questions: it lacks the factor and uses the
    normal quantile. This one repairs both and needs no scale.

    Parameters
    ----------
    draws : array_like
        shape (k, n_draws), or (n_draws,) for one row; NaN draws are ignored.
    n : array_like
        shape (k,) or a number: how many questions were resampled.
    level : float
        coverage, strictly between 0 and 1.

    Returns
    -------
    One interval a row, between linearly interpolated order statistics, never outside the
    draws. Null: n < 2, fewer than 2 draws that are not NaN.

    Raises
    ------
    ValueError : infinite draws, level out of range, n negative or not whole.
    """
    rows = shape_draws(draws)
    n_rows = np.broadcast_to(_check_counts(n), len(rows))
    _check_level_and_scale(level, "identity")
    n_defined = np.count_nonzero(~np.isnan(rows), axis=1)
    reasons = _find_reasons(np.zeros(len(rows)), n_rows)
    reasons[(reasons == "") & (n_defined < 2)] = FEWER_THAN_2_DRAWS
    low, high = np.full((2, len(rows)), np.nan)
    defined = reasons == ""
    if defined.any():
        tail, last = compute_percentile_tail(n_rows[defined], level), n_defined[defined] - 1
        ordered = np.sort(rows[defined], axis=1)  # NaN go last
        low[defined] = interpolate_rows(ordered, tail * last)
        high[defined] = interpolate_rows(ordered, (1 - tail) * last)
    return _build_intervals(low, high, reasons, level, "widened-percentile")


def compute_percentile_tail(n: ArrayLike, level: float = 0.95) -> FloatArray:
    """Return the share of draws below a widened percentile interval of n questions (2 or more)."""
    m = np.asarray(n, dtype=np.float64)
    quantile = np.sqrt(m / (m - 1)) * stats.t.ppf((1 - level) / 2, m - 1)
    return np.asarray(stats.norm.cdf(quantile), dtype=np.float64)


def _compute_arctanh_errors(values: FloatArray, rows: FloatArray) -> FloatArray:
    """Return each row's standard deviation of arctanh(draws), also with draws at 1 or -1."""
    infinite, bound = _is_at_bound(rows).any(axis=1), _is_at_bound(values)
    errors = np.full(len(values), np.nan)
    errors[~infinite] = compute_standard_deviations(np.arctanh(rows[~infinite]))
    first_order = infinite & ~bound
    errors[first_order] = compute_standard_deviations(rows[first_order]) / (
        1 - values[first_order] ** 2
    )
    return errors


def _broadcast_columns(*columns: ArrayLike) -> tuple[FloatArray, ...]:
    """Return the columns as float arrays of equal length; the last one must be counts."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns[:-1]]
    shaped = np.broadcast_arrays(*arrays, _check_counts(columns[-1]))
    if shaped[0].ndim > 1:
        raise ValueError("estimate must be a number or have one dimension")
    return tuple(np.atleast_1d(array) for array in shaped)


def _check_counts(n: ArrayLike) -> FloatArray:
    """Return the counts as floats. Raises ValueError unless all are whole and not negative."""
    counts = np.asarray(n, dtype=np.float64)
    if not np.all((counts >= 0) & np.isfinite(counts) & (np.floor(counts) == counts)):
        raise ValueError("n must be whole numbers, not negative")
    return counts


def _check_level_and_scale(level: float, scale: str) -> None:
    """Raise ValueError for a level outside 0 to 1 or an unknown scale."""
    if not 0 < level < 1:
        raise ValueError("level must lie strictly between 0 and 1")
    if scale not in ("identity", "arctanh"):
        raise ValueError('scale must be "identity" or "arctanh"')


def _check_estimates(values: FloatArray, scale: str) -> None:
    """Raise ValueError for an infinite estimate, or one outside -1 to 1 on the arctanh scale."""
    if np.isinf(values).any():
        raise ValueError("estimate must be finite or NaN")
    if scale == "arctanh" and np.any(np.abs(values) > 1 + _TOLERANCE):
        raise ValueError("on the arctanh scale values must lie in -1..1")


def _is_at_bound(values: FloatArray) -> NDArray[np.bool_]:
    """Return whether each value is 1 or -1 except for rounding."""
    return np.asarray(np.abs(values) >= 1 - _ROUNDING)


def _find_reasons(values: FloatArray, n: FloatArray) -> NDArray[np.object_]:
    """Return the reason code of each undefined interval, by estimate and n; "" if defined."""
    reasons = np.full(len(values), "", dtype=object)
    reasons[np.isnan(values)] = NO_ESTIMATE
    reasons[n < 2] = FEWER_THAN_2_QUESTIONS
    return reasons


def _build_intervals(
    low: FloatArray, high: FloatArray, reasons: NDArray[np.object_], level: float, method: str
) -> Intervals:
    """Create the intervals from their ends and reasons; the reason "" becomes None."""
    return Intervals(low, high, tuple(reason or None for reason in reasons), float(level), method)


FOUR_FIFTHS = 4, 5
FEWEST = 10
"""People of a group, below which nothing is said of it."""


@dataclass(frozen=True, eq=False)
class SelectionRates:
    """Selection rates of groups and their ratios to the best one, as arrays; NaN if undefined.

    Attributes
    ----------
    share, low, high : selected share of each group, with Wilson's 95% interval; NaN for an empty
        group.
    best : the group with the highest share among those that are large enough; -1 below two such.
    ratio, ratio_low, ratio_high : share over that of the best, with Katz's interval, adjusted for
        choosing the best. NaN for groups that are too small.
    small : whether a group has too few people to judge. unfair : whether its ratio is below .8 and
        the interval below 1. unclear : whether its ratio is below .8 and the interval is not.
    """

    share: Floats
    low: Floats
    high: Floats
    best: int
    ratio: Floats
    ratio_low: Floats
    ratio_high: Floats
    small: np.ndarray
    unfair: np.ndarray
    unclear: np.ndarray


def compare_selection_rates(
    selected: ArrayLike, n: ArrayLike, fewest: int = FEWEST, level: float = 0.95
) -> SelectionRates:
    """Return each group's selection rate and its ratio to the highest, with intervals.

    Parameters
    ----------
    selected, n : shape (k,), whole numbers from 0, selected at most n.
    fewest : smallest size of a group that is compared. level : coverage of the intervals.

    Raises
    ------
    ValueError : negative counts, or more selected than there are.
    """
    hit, count = np.asarray(selected, float), np.asarray(n, float)
    if np.any(hit < 0) or np.any(hit > count):
        raise ValueError("selected must be from 0 to n")
    share = np.divide(hit, count, out=np.full(hit.shape, np.nan), where=count > 0)
    low, high = wilson_interval(np.nan_to_num(share), count, level)
    small = count < fewest
    large = np.flatnonzero(~small)
    none = np.full(hit.shape, np.nan)
    best = int(large[np.argmax(share[large])]) if len(large) >= 2 else -1
    if best < 0 or share[best] == 0:
        is_empty = np.zeros(hit.shape, bool)
        return SelectionRates(share, low, high, -1, none, none, none, small, is_empty, is_empty)
    ratio = np.where(small, np.nan, share / share[best])
    # Half a person more where nobody was selected, or there were no interval (Walter 1975, "The
    # distribution of Levin's measure of attributable risk").
    more = np.where(hit == 0, 0.5, 0.0)
    own, best_own = (hit + more) / (count + more), (hit[best] + more) / (count[best] + more)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(
            1 / (hit + more)
            - 1 / (count + more)
            + 1 / (hit[best] + more)
            - 1 / (count[best] + more)
        )
        reach = np.exp(_compute_range_quantile(len(large), level) * error)
        ends = np.where(small, np.nan, [own / best_own / reach, own / best_own * reach])
    ends[0, (hit == 0) & ~small] = 0.0
    ends[:, best] = np.nan  # compared with itself
    # By whole numbers: 12 of 20 beside 15 of 20 is four fifths, and .6 / .75 rounds to less.
    numerator, denominator = FOUR_FIFTHS
    below = (denominator * hit * count[best] < numerator * hit[best] * count) & ~small
    sure = ends[1] < 1
    return SelectionRates(
        *(share, low, high, best, ratio, ends[0], ends[1], small, below & sure, below & ~sure)
    )


@lru_cache
def _compute_range_quantile(n_groups: int, level: float) -> float:
    """Return the quantile of the largest difference between any two of `n_groups` normal values.

    In standard errors of one difference: 1.96 for two groups, 2.34 for three.
    """
    if n_groups == 2:
        return float(stats.norm.ppf(0.5 + level / 2))
    return float(stats.studentized_range.ppf(level, n_groups, np.inf) / np.sqrt(2))
