"""Trends of a few numbers, and the mean over sets."""

from math import factorial, sqrt

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.clustered import compute_strata_mean
from evaluation.core.stats.inference.significance import (
    FEWEST,
    compute_least_p_value,
    estimate_trend,
)


def test_five_numbers_in_rising_order_rise_because_only_two_of_120_orders_are_as_clear():
    found = estimate_trend([0.1, 0.2, 0.4, 0.5, 0.9])
    assert found.direction == "rises"
    assert found.tau == pytest.approx(1)
    assert found.p_value == pytest.approx(2 / factorial(5))
    # The slopes from one to another: .1 .15 .133 .2 / .2 .15 .233 / .1 .25 / .4
    slopes = [0.1, 0.15, 0.4 / 3, 0.2, 0.2, 0.15, 0.7 / 3, 0.1, 0.25, 0.4]
    assert found.slope == pytest.approx(np.median(slopes))
    assert found.low <= found.slope <= found.high


def test_the_same_numbers_backwards_fall():
    found = estimate_trend([0.9, 0.5, 0.4, 0.2, 0.1])
    assert (found.direction, found.tau) == ("falls", pytest.approx(-1))


def test_four_numbers_cannot_tell_whatever_their_order():
    assert compute_least_p_value(4) == pytest.approx(1 / 12)
    assert compute_least_p_value(FEWEST) < 0.05
    found = estimate_trend([0.1, 0.2, 0.3, 0.4])
    assert (found.direction, found.p_value, found.slope) == ("too_few", None, None)


def test_numbers_in_no_order_are_unclear_and_equal_ones_are_said_to_be_equal():
    assert estimate_trend([0.3, 0.1, 0.5, 0.2, 0.4]).direction == "unclear"
    assert estimate_trend([0.3] * 6).direction == "all_equal"


def test_chance_seldom_looks_like_a_trend():
    rng = np.random.default_rng(0)
    clear = sum(
        estimate_trend(rng.normal(size=7)).direction in ("rises", "falls") for _ in range(400)
    )
    assert clear / 400 <= 0.05 + 2 * sqrt(0.05 * 0.95 / 400)


def test_what_is_no_row_of_numbers_is_refused():
    for bad in ([np.nan] * 5, [[1, 2], [3, 4]]):
        with pytest.raises(ValueError, match="finite"):
            estimate_trend(bad)
    with pytest.raises(ValueError, match="level"):
        estimate_trend([1, 2, 3, 4, 5], level=1)


def test_the_mean_over_sets_counts_each_once_and_has_the_interval_of_welch():
    found = compute_strata_mean([0.4, 0.8], [0.1, 0.05], [10, 40])
    assert found.value == pytest.approx(0.6)
    # Welch's test of the difference has the same standard error and degrees of freedom.
    error = sqrt(0.1**2 + 0.05**2)
    freedom = error**4 / (0.1**4 / 9 + 0.05**4 / 39)
    half = stats.t.ppf(0.975, freedom) * error / 2
    assert (found.low, found.high) == pytest.approx((0.6 - half, 0.6 + half))


def test_a_set_without_a_standard_error_leaves_the_mean_without_an_interval():
    assert compute_strata_mean([0.4, 0.8], [0.1, np.nan], [10, 1]).low is None
    assert compute_strata_mean([], [], []).value is None
    same = compute_strata_mean([0.5, 0.7], [0, 0], [3, 3])
    assert same.low == same.high == pytest.approx(0.6)
