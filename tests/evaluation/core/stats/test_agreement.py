"""Agreement of experts, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.core.stats.statistics.agreement import compare_experts


def test_two_experts_by_hand():
    # Differences 0, 1, 1, 2 of answers 1 to 4; answers 5 and 6 were graded by one only.
    [found] = compare_experts(
        {"eve": {1: 0, 2: 2, 3: 3, 4: 5, 6: 1}, "dan": {1: 0, 2: 1, 3: 4, 4: 3, 5: 2}}
    )
    assert (found.one, found.other, found.n) == ("dan", "eve", 4)
    assert found.difference == pytest.approx((0 + 1 + 1 + 2) / 4)


def test_kappa_weighs_squared_differences_of_grades_in_halves():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 11, 40)
    b = np.clip(a + rng.integers(-1, 2, 40), 0, 10)
    grades = [dict(enumerate(map(float, column / 2))) for column in (a, b)]
    [found] = compare_experts({"a": grades[0], "b": grades[1]})
    assert found.kappa == pytest.approx(cohen_kappa_score(a, b, weights="quadratic"))


def test_equal_grades_of_all_answers_have_no_kappa():
    [found] = compare_experts({"a": {1: 5.0, 2: 5.0}, "b": {1: 5.0, 2: 5.0}})
    assert (found.kappa, found.difference) == (None, 0.0)


def test_experts_without_a_common_answer_are_not_compared():
    assert compare_experts({"a": {1: 5.0}, "b": {2: 5.0}}) == []
