"""Test-retest agreement, by arithmetic on a few people."""

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.correlations import compute_retest_agreement


def test_five_people_by_hand():
    # Means .5 and .6; deviations -.2 -.1 0 .1 .2 and -.1 -.2 0 .1 .2: products .02 .02 0 .01 .04
    # = .09, squares .1 and .1, so r = .9. Error 1 / sqrt(2) on the scale of arctanh.
    found = compute_retest_agreement([0.3, 0.4, 0.5, 0.6, 0.7], [0.5, 0.4, 0.6, 0.7, 0.8])
    assert found.n == 5
    assert found.correlation == pytest.approx(0.9)
    t = stats.t.ppf(0.975, 4)  # 2.776
    assert found.interval.low == pytest.approx(math.tanh(math.atanh(0.9) - t / math.sqrt(2)))
    assert found.interval.high == pytest.approx(math.tanh(math.atanh(0.9) + t / math.sqrt(2)))
    # Ranks 1 2 3 4 5 and 2 1 3 4 5: 1 - 6 * 2 / (5 * 24).
    assert found.rank_correlation == pytest.approx(0.9)
    # Differences .2 0 .1 .1 .1: mean .1, squares of deviations .01 + .01, sd sqrt(.02 / 4).
    assert found.change == pytest.approx(0.1)
    half = t * math.sqrt(0.02 / 4) / math.sqrt(5)
    assert found.change_interval.high - found.change == pytest.approx(half)


def test_people_who_are_all_better_by_the_same_agree_in_order_and_not_in_size():
    found = compute_retest_agreement([0.2, 0.4, 0.6, 0.8], [0.3, 0.5, 0.7, 0.9])
    assert found.correlation == pytest.approx(1.0)
    # Variance of people 4 * .2^2 * 5 / 3 / 4 ... = .0667 each; of waves .005: .0667 / .0717.
    assert found.agreement == pytest.approx((0.2 / 3) / (0.2 / 3 + 0.01 / 2))
    assert (found.change_interval.low, found.change_interval.high) == pytest.approx((0.1, 0.1))


def test_who_has_no_score_in_one_wave_is_left_out():
    assert compute_retest_agreement([0.1, np.nan, 0.3], [0.2, 0.2, np.nan]).n == 1


@pytest.mark.parametrize(("n", "has_r"), [(0, False), (1, False), (2, True), (3, True)])
def test_below_four_people_there_is_no_interval(n, has_r):
    found = compute_retest_agreement(np.arange(n) / 10, np.arange(n) / 7)
    assert (found.correlation is not None) == has_r
    assert found.interval.low is None


def test_without_spread_there_is_no_correlation():
    found = compute_retest_agreement([0.5] * 5, [0.1, 0.2, 0.3, 0.4, 0.5])
    assert found.correlation is None
    assert found.interval.low is None
    with pytest.raises(ValueError, match="cannot be paired"):
        compute_retest_agreement([1, 2], [1])
