"""Scores by group: means and differences agree with scipy and with the functions for one pair."""

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.comparison import compare_by_group, compute_group_means
from evaluation.core.stats.inference.paired import (
    compute_bootstrap_mean_difference,
    compute_permutation_test,
    compute_smallest_detectable_difference,
)
from evaluation.core.stats.inference.significance import (
    benjamini_hochberg,
    compute_corrected_levels,
    holm,
)

NAN = float("nan")
RNG = np.random.default_rng(3)
GROUPS = ["rivers"] * 30 + ["towns"] * 12 + ["hills"] * 3 + ["seas"]
FIRST = RNG.normal(0.6, 0.2, len(GROUPS))
SECOND = FIRST - RNG.normal(0.1, 0.1, len(GROUPS))


def rows_of(group):
    return [at for at, name in enumerate(GROUPS) if name == group]


def test_the_mean_of_a_group_and_its_interval_are_those_of_scipy():
    found = compute_group_means(FIRST, GROUPS)
    assert [group.group for group in found] == ["rivers", "towns", "hills", "seas"]
    for group in found[:3]:
        scores = FIRST[rows_of(group.group)]
        low, high = stats.t.interval(
            0.95, len(scores) - 1, loc=scores.mean(), scale=stats.sem(scores)
        )
        assert group.n == len(scores)
        assert (group.mean, group.low, group.high) == pytest.approx((scores.mean(), low, high))
    alone = found[3]
    assert (alone.n, alone.low, alone.reason) == (1, None, "fewer_than_2_questions")
    assert alone.mean == pytest.approx(FIRST[-1])
    assert [group.is_small for group in found] == [False, False, True, True]


def test_missing_scores_are_left_out_of_their_group():
    found = compute_group_means([0.2, NAN, 0.4, NAN], ["a", "a", "a", "b"])
    assert (found[0].n, found[0].mean) == (2, pytest.approx(0.3))  # (.2 + .4) / 2
    assert (found[1].n, found[1].mean, found[1].reason) == (0, None, "no_scores")


def test_a_difference_in_a_group_is_that_of_its_questions_alone():
    found = compare_by_group(FIRST, SECOND, GROUPS, seed=4)
    for group in found:
        rows = rows_of(group.group)
        one, other = FIRST[rows], SECOND[rows]
        alone = compute_bootstrap_mean_difference(one, other, seed=4)
        assert (group.difference, group.low, group.high) == (
            alone.difference, alone.low, alone.high,
        )  # fmt: skip
        assert group.p_value == compute_permutation_test(one, other, seed=4).p_value
    assert found[3].reason == "fewer_than_2_clusters"
    levels = compute_corrected_levels([group.p_value for group in found])
    for group, level in zip(found[:3], levels, strict=False):
        rows = rows_of(group.group)
        least = compute_smallest_detectable_difference(FIRST[rows], SECOND[rows], alpha=level)
        assert group.smallest_detectable == least.difference


def test_p_is_corrected_for_the_number_of_groups_that_have_one():
    raw = [group.p_value for group in compare_by_group(FIRST, SECOND, GROUPS)]
    assert raw[3] is None
    for name, correct in (("holm", holm), ("benjamini-hochberg", benjamini_hochberg)):
        found = compare_by_group(FIRST, SECOND, GROUPS, name)
        adjusted = [group.adjusted_p_value for group in found]
        assert adjusted[:3] == pytest.approx(list(correct(raw[:3])))
        assert adjusted[3] is None


def test_a_table_by_hand():
    # a: .5, .1; b: .3. Both questions of a differ by .2 and .4: mean .3, and of the four sign
    # patterns only ++ and -- lie as far from 0, so p = 2/4; sd = .141, / sqrt 2 = .1,
    # times t(.975, 1) + t(.8, 1) = 12.706205 + 1.376382.
    (a, b) = compare_by_group([0.7, 0.5, 0.4], [0.5, 0.1, 0.1], ["a", "a", "b"], n_draws=0)
    assert a.difference == pytest.approx(0.3)
    assert a.p_value == pytest.approx(0.5)
    assert a.smallest_detectable == pytest.approx(1.4082587)
    assert (b.n, b.difference, b.low) == (1, pytest.approx(0.3), None)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="as many"):
        compute_group_means([1.0], ["a", "b"])
    with pytest.raises(ValueError, match="finite"):
        compare_by_group([1.0, np.inf], [1.0, 1.0], ["a", "a"])
    with pytest.raises(ValueError, match="correction"):
        compare_by_group([1.0], [1.0], ["a"], "none")


def test_a_group_is_small_below_10_questions():
    for n, small in ((9, True), (10, False)):
        one, other = np.linspace(0, 1, n), np.zeros(n)
        assert compute_group_means(one, ["a"] * n)[0].is_small is small
        assert compare_by_group(one, other, ["a"] * n, n_draws=0)[0].is_small is small
