"""Two judges on the sets that both scored."""

import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.methods.eloquent.judges import judge_agreements


def test_two_judges_are_compared_on_what_both_scored():
    # Common: a 4 and 3, b 2 and 2, c 5 and 3: differences 1, 0, 2.
    one, other = {"a": 4.0, "b": 2.0, "c": 5.0, "d": 1.0}, {"c": 3.0, "b": 2.0, "a": 3.0, "e": 0.0}
    (found,) = judge_agreements({"small": one, "human": other})
    assert (found.judge, found.other, found.n) == ("small", "human", 3)
    assert found.difference == pytest.approx(1.0)
    assert found.absolute_difference == pytest.approx(1.0)
    assert found.kappa == pytest.approx(
        cohen_kappa_score([8, 4, 10], [6, 4, 6], weights="quadratic", labels=range(11))
    )
    # Ranks 2, 1, 3 and 2.5, 1, 2.5: r = 1.5 / sqrt(2 x 1.5).
    assert found.spearman == pytest.approx(1.5 / 3**0.5)


def test_the_sign_tells_who_is_milder():
    (found,) = judge_agreements({"a": {1: 1.0, 2: 1.0}, "b": {1: 4.0, 2: 2.0}})
    assert found.difference == -2.0
    assert found.absolute_difference == 2.0
    assert (found.pearson, found.spearman) == (None, None)  # a gives all the same score


def test_judges_without_a_common_set_are_not_compared():
    (found,) = judge_agreements({"a": {1: 1.0}, "b": {2: 4.0}})
    assert (found.n, found.difference, found.reason) == (0, None, "no_common_sets")


def test_every_two_of_three_judges_are_compared():
    same = {"x": 1.0}
    found = judge_agreements({"a": same, "b": same, "c": same})
    assert [(one.judge, one.other) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
