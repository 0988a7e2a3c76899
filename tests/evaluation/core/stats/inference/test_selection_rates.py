"""How often groups are selected: Wilson's and Katz's formulas by hand, empty and small groups."""

from math import exp, sqrt

import numpy as np
import pytest
from scipy.stats.contingency import relative_risk

from evaluation.core.stats.inference.intervals import compare_selection_rates

Z = 1.959964


def test_shares_have_wilsons_interval():
    found = compare_selection_rates([8, 5], [10, 10])
    # (2 n p + z^2 -+ z sqrt(z^2 + 4 n p (1 - p))) / (2 (n + z^2)), with z^2 = 3.8415:
    # of 8 in 10 (16 + 3.8415 -+ 1.96 sqrt(3.8415 + 6.4)) / 27.683 = .4902 and .9433,
    # of 5 in 10 (10 + 3.8415 -+ 1.96 sqrt(3.8415 + 10)) / 27.683 = .2366 and .7634.
    assert found.share.tolist() == [0.8, 0.5]
    assert found.low == pytest.approx([0.4902, 0.2366], abs=1e-4)
    assert found.high == pytest.approx([0.9433, 0.7634], abs=1e-4)
    assert found.high[0] == pytest.approx((16 + Z**2 + Z * sqrt(Z**2 + 6.4)) / (20 + 2 * Z**2))


def test_of_nobody_and_of_all_the_interval_ends_at_0_and_1_and_of_no_people_there_is_none():
    found = compare_selection_rates([0, 10, 0], [10, 10, 0])
    # Of 0 in 10 up to z^2 / (n + z^2) = 3.8415 / 13.8415, of 10 in 10 from 1 less that.
    assert (found.low[0], found.high[1]) == (0, 1)
    assert found.high[0] == pytest.approx(3.8415 / 13.8415, abs=1e-4)
    assert found.low[1] == pytest.approx(10 / 13.8415, abs=1e-4)
    assert np.isnan([found.share[2], found.low[2], found.high[2]]).all()
    assert found.small.tolist() == [False, False, True]


def test_a_ratio_has_katzs_interval_on_the_logarithmic_scale():
    found = compare_selection_rates([15, 6], [20, 12])
    # .5 / .75 = 2/3; variance of its logarithm 1/6 - 1/12 + 1/15 - 1/20 = .1, so the ends are
    # 2/3 / and x exp(1.96 sqrt(.1)) = 1.85857: .3587 and 1.2390. Below four fifths, and yet
    # chance may do that: the interval reaches beyond 1.
    assert found.best == 0
    assert found.ratio.tolist() == [1, pytest.approx(2 / 3)]
    assert exp(Z * sqrt(0.1)) == pytest.approx(1.85857, abs=1e-4)
    assert found.ratio_low[1] == pytest.approx(0.3587, abs=1e-4)
    assert found.ratio_high[1] == pytest.approx(1.2390, abs=1e-4)
    assert (found.unfair.tolist(), found.unclear.tolist()) == ([False, False], [False, True])
    # 5 of 20 beside 15 of 20: 1/3 x exp(1.96 sqrt(1/5 - 1/20 + 1/15 - 1/20)) = .7420.
    worse = compare_selection_rates([15, 5], [20, 20])
    assert worse.ratio_high[1] == pytest.approx(0.7420, abs=1e-4)
    assert (worse.unfair.tolist(), worse.unclear.tolist()) == ([False, True], [False, False])
    # The group that is selected most often is beside itself.
    assert np.isnan([found.ratio_low[0], found.ratio_high[0]]).all()


def test_a_lower_level_has_narrower_intervals():
    # z of 80% is 1.28155: 2/3 / and x exp(1.28155 sqrt(.1)) = 1.49971.
    found = compare_selection_rates([15, 6], [20, 12], level=0.8)
    assert found.ratio_low[1] == pytest.approx(2 / 3 / 1.49971, abs=1e-4)
    assert found.ratio_high[1] == pytest.approx(2 / 3 * 1.49971, abs=1e-4)


def test_the_interval_is_katzs_of_scipy():
    found = compare_selection_rates([15, 6], [20, 12])
    expected = relative_risk(6, 12, 15, 20).confidence_interval(0.95)
    assert (found.ratio_low[1], found.ratio_high[1]) == pytest.approx(tuple(expected))


def test_the_best_of_three_groups_is_chosen_and_the_interval_is_that_of_tukeys_range():
    # The 95% quantile of the range of three is 3.314493, / sqrt(2) = 2.343701 errors:
    # .5 / .75 x exp(2.343701 sqrt(.1)) = 2/3 x 2.09829.
    found = compare_selection_rates([15, 6, 15], [20, 12, 20])
    assert found.ratio_high[1] == pytest.approx(2 / 3 * 2.09829, abs=1e-4)
    # 18 of 20 and 12 of 20 differ, but not where a third group of 20 could have been the best.
    assert compare_selection_rates([18, 12], [20, 20]).unfair.tolist() == [False, True]
    of_three = compare_selection_rates([18, 12, 17], [20, 20, 20])
    assert (of_three.unfair.any(), of_three.unclear.tolist()) == (False, [False, True, False])
    # A group that is too small to be compared could not have been chosen.
    assert compare_selection_rates([18, 12, 9], [20, 20, 9]).unfair.tolist() == [False, True, False]


def test_where_nobody_of_a_group_is_selected_half_a_person_is_counted_for_the_interval():
    # .5 of 12.5 beside 15.5 of 20.5: .0529, variance 1/.5 - 1/12.5 + 1/15.5 - 1/20.5 = 1.93574,
    # x exp(1.96 x 1.39131) = .8087: below 1.
    found = compare_selection_rates([15, 0], [20, 12])
    assert found.ratio.tolist() == [1, 0]
    assert (found.ratio_low[1], found.ratio_high[1]) == (0, pytest.approx(0.8087, abs=1e-4))
    assert found.unfair.tolist() == [False, True]
    # 2 of 10 and 0 of 10 may well be chance.
    few = compare_selection_rates([2, 0], [10, 10])
    assert (few.unfair.any(), few.unclear.tolist()) == (False, [False, True])


def test_where_all_of_both_are_selected_the_ratio_is_1_for_sure():
    # 1/12 - 1/12 + 1/20 - 1/20 = 0.
    found = compare_selection_rates([20, 12], [20, 12])
    assert (found.best, found.ratio[1]) == (0, 1)
    assert (found.ratio_low[1], found.ratio_high[1]) == (1, 1)


def test_where_nobody_is_selected_at_all_there_is_nothing_to_compare():
    found = compare_selection_rates([0, 0], [20, 12])
    assert found.best == -1
    assert np.isnan([*found.ratio, *found.ratio_low, *found.ratio_high]).all()
    assert not found.unfair.any()


def test_four_fifths_to_the_letter_is_not_below_it_however_it_rounds():
    # 12 of 20 beside 15 of 20: 5 x 12 x 20 = 4 x 15 x 20, while .6 / .75 is .7999999999999999.
    found = compare_selection_rates([15, 12, 11], [20, 20, 20])
    assert found.ratio[1] == pytest.approx(0.8)
    assert found.unclear.tolist() == [False, False, True]


def test_small_groups_are_neither_compared_nor_compared_with():
    # 9 of 9 is the highest share, but of fewer than 10 people: 12 of 20 are held against 15 of 20.
    found = compare_selection_rates([9, 15, 12], [9, 20, 20])
    assert (found.best, found.small.tolist()) == (1, [True, False, False])
    assert np.isnan(found.ratio[0])
    assert found.ratio[2] == pytest.approx(0.8)
    assert not (found.unfair | found.unclear).any()
    # Nine are enough where the caller says so; one large group alone has nobody beside it.
    assert compare_selection_rates([9, 15, 12], [9, 20, 20], fewest=9).best == 0
    assert compare_selection_rates([9, 15], [9, 20]).best == -1


@pytest.mark.parametrize(("selected", "n"), [([3], [2]), ([-1], [2])])
def test_counts_that_cannot_be_are_refused(selected, n):
    with pytest.raises(ValueError, match=r"^selected "):
        compare_selection_rates(selected, n)


@pytest.mark.long
@pytest.mark.parametrize(("k", "n", "before"), [(2, 20, 0.46), (3, 40, 0.57), (5, 100, 0.50)])
def test_groups_without_a_difference_are_flagged_in_at_most_5_percent(k, n, before):
    rng, times = np.random.default_rng(0), 2000
    found = [compare_selection_rates(rng.binomial(n, 0.5, k), [n] * k) for _ in range(times)]
    flagged = np.mean([rates.unfair.any() for rates in found])
    low = np.mean([(rates.unfair | rates.unclear).any() for rates in found])
    error = np.sqrt(0.05 * 0.95 / times)
    print(f"{k} groups of {n}: four fifths alone {low:.3f}, with the interval {flagged:.3f}")
    assert flagged <= 0.05 + 3 * error  # .0146
    assert low == pytest.approx(before, abs=4 * np.sqrt(0.25 / times))


@pytest.mark.long
def test_a_group_selected_half_as_often_is_flagged_by_most():
    # 36 of 40 and 18 of 40 expected: power of two groups, and of the same two beside a third.
    rng, times = np.random.default_rng(1), 1000
    for chances, least in (((0.9, 0.45), 0.95), ((0.9, 0.45, 0.9), 0.9)):
        drawn = [rng.binomial(40, chances) for _ in range(times)]
        power = np.mean([compare_selection_rates(hit, [40] * len(hit)).unfair[1] for hit in drawn])
        print(f"{chances}: power {power:.3f}, error {np.sqrt(power * (1 - power) / times):.3f}")
        assert power > least
