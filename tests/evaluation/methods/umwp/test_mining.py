import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from evaluation.methods.umwp.mining import greedy_order, separation, wilson


def test_a_pattern_in_positive_replies_only_separates_as_fisher_s_test_says():
    # Of 5 positive and 5 negative replies the first stands in 4 and 0, the second in 2 and 2.
    found = separation(np.array([4, 2]), np.array([0, 2]), 5, 5)
    assert found.precision.tolist() == [1.0, 0.5]
    assert found.recall.tolist() == [0.8, 0.4]
    # All four of ten are positive: C(5,4) / C(10,4) = 5 / 210.
    assert found.p_value[0] == pytest.approx(5 / 210)
    second = fisher_exact([[2, 2], [3, 3]], alternative="greater").pvalue
    assert found.p_value[1] == pytest.approx(second)
    # Benjamini and Hochberg: the smaller of two is doubled.
    assert found.adjusted.tolist() == pytest.approx([10 / 210, second])


def test_a_pattern_that_stands_nowhere_has_no_precision():
    found = separation(np.array([0]), np.array([0]), 3, 3)
    assert np.isnan(found.precision[0])
    assert found.p_value[0] == 1


def test_more_replies_than_there_are_are_refused():
    with pytest.raises(ValueError, match="fewer replies"):
        separation(np.array([4]), np.array([0]), 3, 3)


def test_the_interval_is_that_of_scipy_and_none_of_nothing():
    interval = binomtest(7, 9).proportion_ci(0.95, method="wilson")
    assert wilson(7, 9) == (interval.low, interval.high)
    assert wilson(0, 0) is None


def test_each_choice_adds_most_to_those_before_it():
    covers = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]], bool)
    covered = np.array([1, 0, 0, 0, 0], bool)
    # 1 adds two (its first is there already), 2 as many but with two wrong ones, then nothing new.
    order = greedy_order(covers, covered, np.array([0, 1, 2, 0]))
    assert order == [(1, 2), (2, 2), (0, 0), (3, 0)]
    assert greedy_order(covers, covered, np.array([0, 3, 2, 0]))[0] == (2, 2)
    assert greedy_order(np.zeros((0, 5), bool), covered, np.zeros(0)) == []
