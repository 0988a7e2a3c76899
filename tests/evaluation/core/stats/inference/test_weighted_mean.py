"""Means of grades that stand for different numbers of things: by hand, and over seeded samples."""

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.prediction_powered import (
    compute_weighted_mean,
    has_equal_weights,
)


def test_a_grade_counts_as_often_as_it_stands_for_things():
    found = compute_weighted_mean([1, 4, 5], [1, 1, 2])
    # (1 + 4 + 2 x 5) / 4 = 3.75. As good as 4^2 / (1 + 1 + 4) = 2.6667 grades. Weighted variance
    # (2.75^2 + .25^2 + 2 x 1.25^2) / 4 = 2.6875; error sqrt(2.6875 / 1.6667) = 1.2698; t of two
    # degrees of freedom is 4.3027, so 5.4637 to each side.
    assert found.mean == 3.75
    assert found.low == pytest.approx(3.75 - 5.4637, abs=1e-4)
    assert found.high == pytest.approx(3.75 + 5.4637, abs=1e-4)
    assert (found.weight, found.n_graded, found.n_predicted, found.reason) == (0, 3, 0, None)


def test_equal_weights_are_those_of_the_t_interval():
    grades = [1, 3.5, 4, 2, 5]
    expected = stats.ttest_1samp(grades, 0).confidence_interval(0.9)
    for weight in (1, 7.3, 1e-200, 1e200):
        found = compute_weighted_mean(grades, [weight] * 5, 0.9)
        assert (found.mean, found.low, found.high) == (
            pytest.approx(3.1), pytest.approx(expected.low), pytest.approx(expected.high),
        )  # fmt: skip


def test_one_grade_with_nearly_all_of_the_weight_is_no_certainty():
    # As good as 1.002 grades: t of 4 degrees of freedom times an error of a grade or so.
    found = compute_weighted_mean([3, 4, 2, 5, 4], [4000, 1, 1, 1, 1])
    assert found.mean == pytest.approx(3, abs=1e-2)
    assert found.high - found.low > 3
    none = compute_weighted_mean([3, 4], [1, 1e-300])
    assert (none.mean, none.low, none.reason) == (3, None, "no_spread")


def test_without_grades_of_one_and_of_equal_ones_a_reason_is_given():
    assert compute_weighted_mean([], []).reason == "no_judgements"
    one = compute_weighted_mean([3], [2])
    assert (one.mean, one.low, one.reason) == (3, None, "fewer_than_2_judged")
    equal = compute_weighted_mean([0.1] * 3, [1, 2, 7])
    assert (equal.mean, equal.high, equal.reason) == (pytest.approx(0.1), None, "no_spread")


def test_what_will_not_do_is_refused():
    for grades, weights, level, said in (
        ([1, 2], [1], 0.95, "shape"),
        ([1, np.nan], [1, 1], 0.95, "finite"),
        ([1, 2], [1, 0], 0.95, "above 0"),
        ([1, 2], [1, np.inf], 0.95, "above 0"),
        ([1, 2], [1, 1], 1.0, "level"),
    ):
        with pytest.raises(ValueError, match=said):
            compute_weighted_mean(grades, weights, level)


def test_weights_that_differ_by_rounding_are_alike():
    assert has_equal_weights([0.1 + 0.2, 0.3])
    assert has_equal_weights([])
    assert not has_equal_weights([1, 1.001])


@pytest.mark.parametrize(("n", "ratio", "apart"), [(5, 4, 0), (8, 4, 1), (15, 10, 1), (30, 2, 0)])
def test_intervals_cover_the_mean_of_all_though_parts_were_drawn_more_densely(n, ratio, apart):
    rng = np.random.default_rng(1)
    # Of three parts as many are drawn of each; the second has sqrt(ratio) and the third ratio times
    # as many things as the first, and is better by `apart` of a standard deviation each.
    sizes = float(ratio) ** (np.arange(3) / 2)
    truth = sizes @ (3 + apart * np.array([-1, 0, 1])) / sizes.sum()
    covered, plain = [], []
    for _ in range(1000):
        part = rng.integers(0, 3, n)
        grades = 3 + apart * (part - 1) + rng.normal(size=n)
        found = compute_weighted_mean(grades, sizes[part])
        covered.append(found.low <= truth <= found.high)
        plain.append(grades.mean())
    # Of 1,000 intervals that cover 95% each, nearly all of the time between 93% and 97% do.
    assert 0.93 <= np.mean(covered) <= 0.98
    if apart:
        assert truth - np.mean(plain) > 0.3  # what the plain mean would be wrong by
